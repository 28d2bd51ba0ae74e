//! The verbs of route mode: conversations, their turns, and shadows.

use crate::{
    Ack, BegunCall, BegunTurn, CallRow, LedgerRow, OpenConversation, Store, StoreError, StoredConversation,
    TurnRow,
    tables::{calls, conversations, turns},
};

impl Store {
    /// A turn begins. What is noted of it is recorded at the next start, if the process ends before
    /// [`Store::turn_ended`]. No note is waited for, and no database is read.
    pub fn turn_begun(&self) -> BegunTurn {
        self.0.begun.turn()
    }

    /// A call to a provider begins that is part of no turn. `row` is what the ledger gets at the next start, if the
    /// process ends before a row of the same instant, connection, model, purpose and collection is written.
    pub fn call_begun(&self, row: &LedgerRow) -> BegunCall {
        self.0.begun.call(row)
    }

    /// A turn ended: it is written down, its conversation brought up to date, and where a model answered, counted
    /// into that model's work in the conversation, which is one call however many turns it has. A conflict when
    /// the conversation has a turn of this number already. It is written ahead: the ack is answered when a kill
    /// cannot lose it any more, before the database has it.
    pub fn turn_ended(&self, row: TurnRow) -> Ack<()> {
        self.holding(()).turn_ended(row)
    }

    /// Tokens, in and out, that shadows of a collection have taken from an instant on.
    pub fn shadow_tokens(&self, collection: &str, since_ms: i64) -> Result<u64, StoreError> {
        self.read(|connection| calls::shadow_tokens(connection, collection, since_ms))
    }

    /// A shadow's call ended; its panel is the conversation. A conflict when its id was used before.
    pub fn shadow_ended(&self, row: CallRow, collection: String, shape: String) -> Ack<()> {
        self.holding(()).shadow_ended(row, collection, shape)
    }

    /// At most so many conversations whose newest turn ended at an instant (Unix milliseconds) or later, newest
    /// first: what may go on after a start.
    pub fn open_conversations(&self, since_ms: i64, limit: u32) -> Result<Vec<OpenConversation>, StoreError> {
        self.read(|connection| conversations::open(connection, since_ms, limit))
    }

    /// The conversations with the newest turns, newest first, with their calls and verdicts; with `before`, those
    /// after that conversation.
    pub fn conversations(
        &self,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<StoredConversation>, StoreError> {
        self.read(|connection| conversations::newest(connection, before, limit))
    }

    /// One conversation with its calls and verdicts.
    pub fn conversation(&self, id: &str) -> Result<Option<StoredConversation>, StoreError> {
        self.read(|connection| conversations::one(connection, id))
    }

    /// A conversation's turns, newest first; with `before_n`, those older than that turn.
    pub fn turns(
        &self,
        conversation: &str,
        before_n: Option<u32>,
        limit: u32,
    ) -> Result<Vec<TurnRow>, StoreError> {
        self.read(|connection| turns::newest(connection, conversation, before_n, limit))
    }

    /// One turn.
    pub fn turn(&self, conversation: &str, n: u32) -> Result<Option<TurnRow>, StoreError> {
        self.read(|connection| turns::one(connection, conversation, n))
    }

    /// The first turn of a routed call: why it was made is why the model has the conversation.
    pub fn turn_of_call(&self, call: &str) -> Result<Option<TurnRow>, StoreError> {
        self.read(|connection| turns::of_call(connection, call))
    }
}
