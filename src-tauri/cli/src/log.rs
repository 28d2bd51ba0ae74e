//! `bench log`: what was asked, newest first, and where words stand.

use control::Remote;
use control::dto::{PanelsBefore, Search, SearchHit};
use control::view::{PanelState, PanelView, SeatStatus};

use crate::args::Log;
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::Look;
use crate::table::Table;

pub async fn log(remote: &Remote, args: &Log, out: Out) -> Result<(), Failure> {
    let (before, limit) = (args.before.clone(), args.limit);
    let (table, none, more, oldest) = match &args.search {
        Some(query) => {
            let found = remote.search(Search { query: query.clone(), before, limit }).await?;
            if out.json {
                return Ok(out.json(&found)?);
            }
            let oldest = found.hits.last().map(|hit| hit.panel.id.clone());
            (hits(&found.hits), "these words stand nowhere together", found.more, oldest)
        }
        None => {
            let page = remote.panels(PanelsBefore { before, limit }).await?;
            if out.json {
                return Ok(out.json(&page)?);
            }
            let oldest = page.panels.last().map(|panel| panel.id.clone());
            (panels(&page.panels), "no panels yet", page.more, oldest)
        }
    };
    table.print(out, none)?;
    if let Some(oldest) = oldest.filter(|_| more) {
        out.note(&format!("there are more: --before {oldest}"));
    }
    Ok(())
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

    use super::{hits, panels};
    use crate::ask::made::{panel, seat};
    use crate::paint::Paint;
    use control::view::{PanelState, SeatStatus};

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
}
