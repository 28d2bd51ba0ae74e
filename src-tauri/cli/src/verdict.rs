//! `bench verdict` and `bench owed`: judging what was answered.

use control::Remote;
use control::dto::{CallId, GiveVerdict, Nothing, Recorded};

use crate::args::Verdict;
use crate::clean::one_line;
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::{Look, Painted};
use crate::table::Table;

/// What is shown of a prompt in the owed list, in characters.
const PROMPT: usize = 70;

pub async fn verdict(remote: &Remote, args: &Verdict, out: Out) -> Result<(), Failure> {
    let call = args.call.clone();
    let recorded: Recorded = if args.clear {
        remote.clear_verdict(CallId { call }).await?
    } else {
        remote.give_verdict(given(args)).await?
    };
    if out.json {
        out.json(&recorded)?;
    } else {
        let line = match (args.clear, recorded.recorded) {
            (true, true) => "withdrawn",
            (true, false) => "there was no verdict to withdraw",
            (false, true) => "recorded",
            (false, false) => "recorded already; nothing changed",
        };
        out.line(line)?;
    }
    Ok(())
}

/// Absent lists keep what was there.
fn given(args: &Verdict) -> GiveVerdict {
    let list = |claims: &[String]| (!claims.is_empty()).then(|| claims.to_vec());
    GiveVerdict {
        call: args.call.clone(),
        useful: args.useful,
        note: args.note.clone(),
        real: list(&args.real),
        false_claims: list(&args.false_claims),
    }
}

pub async fn owed(remote: &Remote, out: Out) -> Result<(), Failure> {
    let owed = remote.owed(Nothing {}).await?;
    if out.json {
        return Ok(out.json(&owed)?);
    }
    if owed.calls.is_empty() {
        return Ok(out.line("nothing is owed")?);
    }
    for panel in &owed.panels {
        let seats: Vec<_> = panel.seats.iter().filter(|seat| owed.calls.contains(&seat.call)).collect();
        if seats.is_empty() {
            continue;
        }
        let mut table = Table::default();
        for seat in seats {
            // The empty cell indents.
            table.row([String::new(), seat.call.clone(), seat.alias.clone()].map(|text| (text, Look::Plain)));
        }
        let head = format!("{} — {}", panel.collection, one_line(&panel.prompt, PROMPT));
        out.painted(&Painted::lines([Painted::plain(&head), table.text(out.paint)]))?;
    }
    Ok(())
}
