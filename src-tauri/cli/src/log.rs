//! `bench log`: what was asked, newest first, and where words stand.

use control::Remote;
use control::dto::{Conversations, ConversationsBefore, PanelId, Panels, PanelsBefore, Search, SearchHit};
use control::view::{ConversationView, PanelState, PanelView, SeatStatus, TurnStatus};
use serde::Serialize;

use crate::args::Log;
use crate::ask::{section, summary};
use crate::conversation::{conversation, totals};
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::Look;
use crate::table::Table;

pub async fn log(remote: &Remote, args: &Log, out: Out) -> Result<(), Failure> {
    match (&args.id, &args.search) {
        (Some(id), _) if is_conversation(id) => conversation(remote, id, args, out).await,
        (Some(id), _) => one_panel(remote, id, args, out).await,
        (None, Some(query)) => found(remote, query, args, out).await,
        (None, None) => newest(remote, args, out).await,
    }
}

async fn one_panel(remote: &Remote, id: &str, args: &Log, out: Out) -> Result<(), Failure> {
    if args.turn.is_some() {
        return Err(Failure::Usage("--turn is one of a conversation's; a panel has none".to_owned()));
    }
    let panel = remote.panel(PanelId { id: id.to_owned() }).await?;
    if out.json {
        return Ok(out.json(&panel)?);
    }
    for seat in panel.seats.iter().filter(|seat| !seat.answer.is_empty()) {
        out.line(&section(seat))?;
    }
    Ok(out.painted(&summary(&panel, Out { note_paint: out.paint, ..out }))?)
}

async fn found(remote: &Remote, query: &str, args: &Log, out: Out) -> Result<(), Failure> {
    let (before, limit) = (args.before.clone(), args.limit);
    let found = remote.search(Search { query: query.to_owned(), before, limit }).await?;
    if out.json {
        return Ok(out.json(&found)?);
    }
    hits(&found.hits).print(out, "these words stand nowhere together")?;
    there_are_more(found.hits.last().map(|hit| hit.panel.id.as_str()).filter(|_| found.more), out);
    Ok(())
}

/// Panels and conversations; `--before` names one of either, and leaves the other kind out.
async fn newest(remote: &Remote, args: &Log, out: Out) -> Result<(), Failure> {
    let (before, limit) = (args.before.clone(), args.limit);
    let of_conversation = before.as_deref().map(is_conversation);
    let mut page = Page::default();
    if of_conversation != Some(true) {
        let Panels { panels, more } = remote.panels(PanelsBefore { before: before.clone(), limit }).await?;
        (page.panels, page.more) = (panels, more);
    }
    if of_conversation != Some(false) {
        let asked = ConversationsBefore { before, limit };
        let Conversations { conversations, more } = remote.conversations(asked).await?;
        (page.conversations, page.more_conversations) = (conversations, more);
    }
    if out.json {
        return Ok(out.json(&page)?);
    }
    if page.conversations.is_empty() || !page.panels.is_empty() {
        panels(&page.panels).print(out, "no panels yet")?;
    }
    there_are_more(page.panels.last().map(|panel| panel.id.as_str()).filter(|_| page.more), out);
    if !page.conversations.is_empty() {
        conversations(&page.conversations).print(out, "")?;
    }
    let oldest = page.conversations.last().map(|it| it.id.as_str());
    there_are_more(oldest.filter(|_| page.more_conversations), out);
    Ok(())
}

#[derive(Default, Serialize)]
struct Page {
    panels: Vec<PanelView>,
    more: bool,
    conversations: Vec<ConversationView>,
    more_conversations: bool,
}

fn there_are_more(oldest: Option<&str>, out: Out) {
    if let Some(oldest) = oldest {
        out.note(&format!("there are more: --before {oldest}"));
    }
}

/// A panel's id begins with another letter.
fn is_conversation(id: &str) -> bool {
    id.starts_with('r')
}

fn conversations(conversations: &[ConversationView]) -> Table {
    let mut table = Table::new(&[
        "conversation",
        "collection",
        "client",
        "model",
        "state",
        "turns",
        "tokens",
        "cost",
        "title",
    ]);
    for it in conversations {
        let plain = |text: &str| (text.to_owned(), Look::Plain);
        let (turns, tokens, cost) = totals(it);
        table.row([
            plain(&it.id),
            plain(&it.collection),
            plain(&client(it)),
            plain(&it.alias),
            conversation_state(it),
            plain(&turns),
            plain(&tokens),
            plain(&cost),
            plain(&it.title),
        ]);
    }
    table
}

/// Who asks, and by which gateway key.
pub fn client(it: &ConversationView) -> String {
    match &it.caller {
        Some(key) => format!("{} (key {key})", it.client),
        None => it.client.clone(),
    }
}

/// Where a conversation stands, in a word or two.
pub fn conversation_state(it: &ConversationView) -> (String, Look) {
    match it.status {
        _ if it.running => ("running".to_owned(), Look::Good),
        TurnStatus::Ok | TurnStatus::Running => ("answered".to_owned(), Look::Plain),
        TurnStatus::Empty => ("last turn empty".to_owned(), Look::Bad),
        TurnStatus::Error => ("last turn failed".to_owned(), Look::Bad),
        TurnStatus::Cancelled => ("last turn cancelled".to_owned(), Look::Plain),
    }
}

fn panels(panels: &[PanelView]) -> Table {
    let mut table = Table::new(&["panel", "collection", "shape", "answers", "prompt"]);
    panels.iter().for_each(|panel| table.row(cells(panel, None)));
    table
}

fn hits(hits: &[SearchHit]) -> Table {
    let mut table = Table::new(&["panel", "collection", "shape", "answers", "found in", "prompt"]);
    hits.iter().for_each(|hit| table.row(cells(&hit.panel, Some(place(hit)))));
    table
}

fn cells(panel: &PanelView, place: Option<String>) -> Vec<(String, Look)> {
    let answered = panel.seats.iter().filter(|seat| seat.status == SeatStatus::Ok).count();
    let (answers, look) = match panel.state {
        PanelState::Running => ("running".to_owned(), Look::Good),
        PanelState::Interrupted => ("interrupted".to_owned(), Look::Bad),
        PanelState::Failed => ("none".to_owned(), Look::Bad),
        PanelState::Done => (format!("{answered} of {}", panel.seats.len()), Look::Plain),
    };
    let plain = |text: &str| (text.to_owned(), Look::Plain);
    let mut cells = vec![plain(&panel.id), plain(&panel.collection), plain(&panel.shape), (answers, look)];
    cells.extend(place.map(|place| (place, Look::Plain)));
    cells.push(plain(&panel.prompt));
    cells
}

/// `prompt, member1`: the calls' seats, for the panel stands beside.
fn place(hit: &SearchHit) -> String {
    let seats = hit.calls.iter().map(|call| call.split_once('.').map_or(call.as_str(), |(_, seat)| seat));
    hit.in_prompt.then_some("prompt").into_iter().chain(seats).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use control::dto::SearchHit;
    use expect_test::expect;

    use super::{conversations, hits, panels};
    use crate::ask::made::{panel, seat};
    use crate::conversation::made::conversation;
    use crate::paint::Paint;
    use control::view::{PanelState, SeatStatus, TurnStatus};

    #[test]
    fn panels_and_where_words_were_found() {
        let answered = panel(vec![
            seat(1, "alpha", SeatStatus::Ok, ""),
            seat(2, "beta", SeatStatus::Error, "429: too many"),
        ]);
        let mut failed = panel(vec![seat(1, "alpha", SeatStatus::Late, "")]);
        failed.prompt = "two\nlines".to_owned();
        let mut running = panel(vec![seat(1, "alpha", SeatStatus::Waiting, "")]);
        running.state = PanelState::Running;
        expect![[r#"
            panel                      collection  shape    answers  prompt
            p20261129-154501-9f3a6c01  core        general  1 of 2   look
            p20261129-154501-9f3a6c01  core        general  none     two lines
            p20261129-154501-9f3a6c01  core        general  running  look"#]]
        .assert_eq(&panels(&[answered.clone(), failed, running]).text(Paint(false)).to_string());
        let calls = answered.seats.iter().map(|seat| seat.call.clone()).collect();
        let hit = SearchHit { panel: answered, in_prompt: true, calls };
        expect![[r#"
            panel                      collection  shape    answers  found in                  prompt
            p20261129-154501-9f3a6c01  core        general  1 of 2   prompt, member1, member2  look"#]]
        .assert_eq(&hits(&[hit]).text(Paint(false)).to_string());
    }

    #[test]
    fn conversations_and_what_is_not_known_of_them() {
        let known = conversation();
        let mut bare = conversation();
        (bare.alias, bare.running, bare.failed_over) = (String::new(), true, 0);
        (bare.tokens_in, bare.tokens_out, bare.cost, bare.cost_unknown) = (None, None, None, 1);
        let mut failed = conversation();
        (failed.status, failed.tokens_out, failed.cost_unknown) = (TurnStatus::Error, None, 0);
        expect![[r#"
            conversation               collection  client      model  state             turns                                tokens                cost                                title
            r20261129-154501-9f3a6c01  agents      claude-cli  beta   answered          2 turns, 1 tool call, 1 failed over  3000 in, 40 out       $0.0061 and 1 turn of unknown cost  Make the loop honour Retry-After
            r20261129-154501-9f3a6c01  agents      claude-cli         running           2 turns, 1 tool call                 tokens unknown        cost unknown                        Make the loop honour Retry-After
            r20261129-154501-9f3a6c01  agents      claude-cli  beta   last turn failed  2 turns, 1 tool call, 1 failed over  3000 in, unknown out  $0.0061                             Make the loop honour Retry-After"#]].assert_eq(&conversations(&[known, bare, failed]).text(Paint(false)).to_string());
    }
}
