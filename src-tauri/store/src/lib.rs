//! What is written down: panels, calls, verdicts, conversations, responses, what was spent, what was learned of models,
//! gateway keys, the set-up and who changed it.
//!
//! The interface names what the product needs (a panel started, a call ended, a verdict was given) and never
//! how it is kept, so that another backend can stand behind the same verbs. Here it is one SQLite file with
//! one writer thread and read-only readers.
//!
//! - A verb that writes returns an [`Ack`] at once and never blocks: the write is queued, and the ack is
//!   answered after its transaction is committed. Dropping an ack does not cancel the write.
//! - A verb that reads blocks for as long as the disk takes: call it from a thread that may block. It never
//!   waits for the writer.
//! - A disk that cannot be written stops recording, not the caller: see [`RecordingState`].
//!
//! The store knows no wire format and no clock: text and times are given to it.

mod ack;
mod ahead;
mod backup;
mod begun;
mod damage;
mod error;
mod files;
mod job;
mod migrate;
mod open;
mod queue;
mod readers;
mod recording;
mod store;
mod tables;
mod writer;

pub use crate::{
    ack::Ack,
    backup::restore,
    begun::{BegunCall, BegunTurn},
    error::StoreError,
    migrate::SCHEMA_VERSION,
    open::{MovedAside, Now, OpenOptions},
    recording::RecordingState,
    store::{Opened, Store},
    tables::{
        audit::{AuditEntry, AuditRow},
        calls::{CallRow, StoredCall},
        conversations::{ConversationRow, OpenConversation, StoredConversation, Totals},
        facts::{FactsRow, RefreshedRow},
        gateway_keys::GatewayKeyRow,
        ledger::{LedgerRow, StoredSpent},
        limits::{CooldownRow, LearnedRow, PaidNowRow, QuotaRow},
        names::NameRow,
        onboarding::OnboardingRow,
        panels::{PanelEnd, PanelOutcome, PanelRow, PanelState, StoredPanel},
        probes::ProbeRow,
        record::{AliasRecord, RecordFilter, ShapeRecord},
        responses::{ResponseChain, ResponseRow},
        search::Hit,
        seats::PlannedSeat,
        setup::{SetupChange, SetupItem},
        sums::{DaySpend, FailureRow, PaceRow, SentRow, Spend, SpendBy},
        turns::TurnRow,
        verdicts::{ClearOutcome, Judged, NewVerdict, VerdictEvent, VerdictOutcome, VerdictRow},
    },
};
