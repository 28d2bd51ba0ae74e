//! `bench log CONVERSATION`: an agent's session with a collection, its turns, and why each model took one.

use control::Remote;
use control::dto::{ConversationId, Turns, TurnsBefore};
use control::view::{CandidateView, ConversationView, RoutedCall, TurnStatus, TurnView, WhyThisModel};
use serde_json::json;

use crate::args::Log;
use crate::clean::one_line;
use crate::failure::Failure;
use crate::log::{client, conversation_state};
use crate::out::Out;
use crate::paint::{Look, Painted};
use crate::spend::dollars;
use crate::status::counted;
use crate::table::Table;

/// What is shown of an error, in characters.
const ERROR: usize = 400;

pub async fn conversation(remote: &Remote, id: &str, args: &Log, out: Out) -> Result<(), Failure> {
    let conversation = remote.conversation(ConversationId { id: id.to_owned() }).await?;
    if let Some(turn) = args.turn {
        return one_turn(remote, id, turn, out).await;
    }
    let before = match args.before.as_deref().map(str::parse) {
        None => None,
        Some(Ok(turn)) => Some(turn),
        Some(Err(_)) => {
            return Err(Failure::Usage("of a conversation, --before is a turn's number".to_owned()));
        }
    };
    let asked = TurnsBefore { conversation: id.to_owned(), before, texts: false, limit: args.limit };
    let page = remote.turns(asked).await?;
    if out.json {
        let Turns { turns, more } = page;
        return Ok(out.json(&json!({"conversation": conversation, "turns": turns, "more": more}))?);
    }
    out.painted(&shown(&conversation, &page.turns, out))?;
    if let Some(oldest) = page.turns.last().filter(|_| page.more) {
        out.note(&format!("there are more: --before {}", oldest.turn));
    }
    Ok(())
}

async fn one_turn(remote: &Remote, id: &str, turn: u32, out: Out) -> Result<(), Failure> {
    let before = turn.checked_add(1);
    let asked = TurnsBefore { conversation: id.to_owned(), before, texts: true, limit: 1 };
    let found = remote.turns(asked).await?.turns.into_iter().find(|it| it.turn == turn);
    let Some(found) = found else {
        return Err(Failure::refused(format!("{id} has no turn {turn} that has ended")));
    };
    if out.json {
        return Ok(out.json(&found)?);
    }
    out.painted(&turn_shown(&found, out))?;
    for (title, text) in [("question", &found.question), ("answer", &found.answer)] {
        if !text.is_empty() {
            out.painted(&Painted::new(&format!("\n{title}"), Look::Dim, out.paint))?;
            out.line(text)?;
        }
    }
    Ok(())
}

/// The head, who answered, the turns, and why the newest has its model.
fn shown(conversation: &ConversationView, turns: &[TurnView], out: Out) -> Painted {
    let mut parts = vec![Painted::plain(&head(conversation))];
    if !conversation.calls.is_empty() {
        parts.push(calls(&conversation.calls).text(out.paint));
    }
    if turns.is_empty() {
        parts.push(Painted::plain("no turn has ended yet"));
    } else {
        parts.push(turn_table(turns).text(out.paint));
    }
    parts.extend(turns.iter().flat_map(remarks).map(|line| Painted::plain(&line)));
    parts.extend(turns.first().map(|newest| why(newest, out)));
    Painted::lines(parts)
}

fn head(it: &ConversationView) -> String {
    let practice = if it.practice { " (practice)" } else { "" };
    let (turns, tokens, cost) = totals(it);
    let with = if it.alias.is_empty() { String::new() } else { format!(", with {}", it.alias) };
    format!(
        "{} of bench/{}{practice}, by {}{with}, {}\n{}\n{turns}, {tokens}, {cost}",
        it.id,
        it.collection,
        client(it),
        conversation_state(it).0,
        one_line(&it.title, ERROR),
    )
}

/// What it took so far: turns, tokens, cost. What is not known is said to be.
pub fn totals(it: &ConversationView) -> (String, String, String) {
    let mut turns = format!("{}, {}", counted(it.turns, "turn"), counted(it.tool_calls, "tool call"));
    if it.failed_over > 0 {
        turns.push_str(&format!(", {} failed over", it.failed_over));
    }
    let tokens = match (it.tokens_in, it.tokens_out) {
        (None, None) => "tokens unknown".to_owned(),
        (read, written) => format!("{} in, {} out", amount(read), amount(written)),
    };
    let cost = match (it.cost, it.cost_unknown) {
        (None, _) => "cost unknown".to_owned(),
        (Some(cost), 0) => dollars(cost),
        (Some(cost), n) => format!("{} and {} of unknown cost", dollars(cost), counted(n, "turn")),
    };
    (turns, tokens, cost)
}

fn amount(tokens: Option<u64>) -> String {
    tokens.map_or_else(|| "unknown".to_owned(), |tokens| tokens.to_string())
}

fn calls(calls: &[RoutedCall]) -> Table {
    let mut table = Table::new(&["model", "status", "verdict", "call"]);
    for it in calls {
        let shadow = match (it.shadow, it.turn) {
            (true, Some(turn)) => format!(" (shadow of turn {turn})"),
            (true, None) => " (shadow)".to_owned(),
            (false, _) => String::new(),
        };
        let verdict = match &it.verdict {
            Some(verdict) if verdict.useful => ("useful".to_owned(), Look::Good),
            Some(_) => ("not useful".to_owned(), Look::Bad),
            None => (String::new(), Look::Plain),
        };
        table.row([
            (format!("{}{shadow}", it.alias), Look::Plain),
            status(it.status),
            verdict,
            (it.call.clone(), Look::Plain),
        ]);
    }
    table
}

fn turn_table(turns: &[TurnView]) -> Table {
    let mut table =
        Table::new(&["turn", "model", "status", "seconds", "tools", "tokens", "cost", "ended by"]);
    let plain = |text: String| (text, Look::Plain);
    for it in turns {
        table.row([
            plain(it.turn.to_string()),
            plain(it.alias.clone()),
            status(it.status),
            plain(it.seconds.map_or_else(String::new, |seconds| format!("{seconds:.1}"))),
            plain(it.tool_calls.to_string()),
            plain(format!("{} in, {} out", amount(it.tokens_in), amount(it.tokens_out))),
            plain(it.cost.map_or_else(|| "unknown".to_owned(), dollars)),
            plain(it.finish.clone().unwrap_or_default()),
        ]);
    }
    table
}

fn status(status: TurnStatus) -> (String, Look) {
    match status {
        TurnStatus::Ok => ("ok".to_owned(), Look::Good),
        TurnStatus::Running => ("running".to_owned(), Look::Good),
        TurnStatus::Empty => ("empty".to_owned(), Look::Bad),
        TurnStatus::Error => ("error".to_owned(), Look::Bad),
        TurnStatus::Cancelled => ("cancelled".to_owned(), Look::Bad),
    }
}

/// One line each.
fn remarks(turn: &TurnView) -> Vec<String> {
    let n = turn.turn;
    let passed = turn.failed_over.iter().map(|it| {
        let to = if it.to.is_empty() { "nobody" } else { &it.to };
        format!("turn {n} passed from {} to {to}: {}", it.from, one_line(&it.why, ERROR))
    });
    let error = (!turn.error.is_empty()).then(|| format!("turn {n}: {}", one_line(&turn.error, ERROR)));
    passed.chain(error).collect()
}

/// A turn by itself: what it took, who was passed by, and why its model.
fn turn_shown(turn: &TurnView, out: Out) -> Painted {
    let mut facts = Table::default();
    let translated = match turn.member_api.as_str() {
        "" => turn.api.clone(),
        api if api == turn.api => format!("{api}, passed on as it is"),
        api => format!("{}, translated to {api}", turn.api),
    };
    let served = match &turn.served_as {
        Some(said) if turn.swapped => format!("{}, answered as {said}", turn.served),
        _ => turn.served.clone(),
    };
    let first = turn.first_token_s.map_or_else(String::new, |seconds| format!("{seconds:.1} s"));
    let known = |tokens: Option<u64>| tokens.map_or_else(String::new, |tokens| tokens.to_string());
    for (title, text) in [
        ("call", turn.call.clone()),
        ("endpoint", turn.endpoint.clone()),
        ("served", served),
        ("API", translated),
        ("first token", first),
        ("reasoning tokens", known(turn.tokens_reasoning)),
        ("read from cache", known(turn.cache_read)),
        ("written to cache", known(turn.cache_write)),
        ("gateway's own time", format!("{:.1} ms", turn.overhead_ms)),
    ] {
        if !text.is_empty() {
            facts.row([(title.to_owned(), Look::Dim), (text, Look::Plain)]);
        }
    }
    let mut parts = vec![turn_table(std::slice::from_ref(turn)).text(out.paint), facts.text(out.paint)];
    parts.extend(remarks(turn).iter().map(|line| Painted::plain(line)));
    let skipped = turn.skipped.iter().map(|it| format!("could not take it: {} ({})", it.alias, it.why));
    parts.extend(skipped.map(|line| Painted::plain(&line)));
    if !turn.lossy.is_empty() {
        let fields: Vec<String> =
            turn.lossy.iter().map(|it| format!("{} ({})", it.field, it.reason)).collect();
        parts.push(Painted::plain(&format!("left out or changed on the way: {}", fields.join("; "))));
    }
    parts.push(why(turn, out));
    Painted::lines(parts)
}

/// Why this model: the reason, then everybody who could take the turn, with their counts.
fn why(turn: &TurnView, out: Out) -> Painted {
    let WhyThisModel { by, candidates } = &turn.why;
    let who = if turn.alias.is_empty() { "nobody" } else { &turn.alias };
    let by = if by.is_empty() { "not recorded" } else { by };
    let line = Painted::plain(&format!("why {who} in turn {}: {by}", turn.turn));
    if candidates.is_empty() {
        return line;
    }
    let mut table = Table::new(&["", "candidate", "this shape", "all", "work", "record"]);
    for (at, it) in candidates.iter().enumerate() {
        let CandidateView { useful, judged, useful_overall, judged_overall, .. } = it;
        table.row(
            [
                (at + 1).to_string(),
                it.alias.clone(),
                rate(*useful, *judged),
                rate(*useful_overall, *judged_overall),
                it.offloads.to_string(),
                it.why.clone(),
            ]
            .map(|text| (text, Look::Plain)),
        );
    }
    Painted::lines([line, table.text(out.paint)])
}

fn rate(useful: u32, judged: u32) -> String {
    if judged == 0 { "no evidence yet".to_owned() } else { format!("{useful} of {judged} useful") }
}

#[cfg(test)]
pub mod made;
#[cfg(test)]
mod tests;
