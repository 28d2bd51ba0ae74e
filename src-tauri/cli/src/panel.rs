//! `bench panel`: who would sit if a panel were asked now, and why.

use control::Remote;
use control::dto::PreviewPanel;
use control::view::{PanelPreview, PreviewGroup, PreviewModel};

use crate::args::Panel;
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::{Look, Painted};
use crate::status::counted;
use crate::table::Table;

pub async fn panel(remote: &Remote, args: &Panel, out: Out) -> Result<(), Failure> {
    let collection = args.collection.clone().unwrap_or_default();
    let asked = PreviewPanel { collection: collection.clone(), members: None, shape: args.shape.clone() };
    let preview = remote.preview_panel(asked).await?;
    if out.json {
        return Ok(out.json(&preview)?);
    }
    Ok(out.painted(&shown(&collection, &preview, out))?)
}

fn shown(collection: &str, preview: &PanelPreview, out: Out) -> Painted {
    let whose =
        if collection.is_empty() { "no collection".to_owned() } else { format!("bench/{collection}") };
    let head = format!("{whose}, shape {} ({})", preview.shape, preview.shape_by);
    let mut parts = vec![Painted::plain(&head)];
    parts.extend(preview.refused.iter().map(|why| Painted::new(why, Look::Bad, out.paint)));
    parts.push(seats(preview).text(out.paint));
    let skipped = preview.skipped.iter().map(|it| format!("not asked: {} ({})", it.alias, it.why));
    parts.extend(skipped.map(|line| Painted::plain(&line)));
    let beside = if collection.is_empty() { "" } else { " beside the members" };
    let candidates = format!("{}{beside}", counted(preview.candidates, "candidate"));
    parts.push(Painted::plain(&candidates));
    if !preview.not_candidates.is_empty() {
        parts.push(others(&preview.not_candidates).text(out.paint));
    }
    Painted::lines(parts)
}

/// Who sits, who would stand in, and to whom the shape is best left.
fn seats(preview: &PanelPreview) -> Table {
    let mut table = Table::new(&["seat", "model", "why"]);
    let mut row = |seat: &str, alias: &str, why: &str| {
        table.row([seat, alias, why].map(|text| (text.to_owned(), Look::Plain)));
    };
    for it in &preview.seats {
        row(&it.seat, &it.alias, &it.why);
    }
    let standing = |it: &PreviewModel, seat: &str, row: &mut dyn FnMut(&str, &str, &str)| {
        row(seat, &it.alias, &it.why);
    };
    preview.reserves.iter().for_each(|it| standing(it, "reserve", &mut row));
    preview.primary.iter().for_each(|it| standing(it, "primary", &mut row));
    preview.second.iter().for_each(|it| standing(it, "second", &mut row));
    table
}

fn others(groups: &[PreviewGroup]) -> Table {
    let mut table = Table::new(&["no candidate", "why", "models"]);
    for group in groups {
        let more = if group.count as usize > group.some.len() { ", …" } else { "" };
        table.row([
            (group.count.to_string(), Look::Plain),
            (group.why.clone(), Look::Plain),
            (format!("{}{more}", group.some.join(", ")), Look::Dim),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use control::view::{PanelPreview, PreviewGroup, PreviewModel, PreviewSeat, SeatKind, SkippedView};
    use expect_test::expect;

    use super::shown;
    use crate::args::{Color, Common};
    use crate::out::Out;

    fn out() -> Out {
        Out::new(&Common { json: false, data_dir: None, url: None, yes: false, color: Color::Never })
    }

    #[test]
    fn a_panel_and_why() {
        let seat = |seat: &str, kind, alias: &str, why: &str| PreviewSeat {
            seat: seat.to_owned(),
            kind,
            alias: alias.to_owned(),
            why: why.to_owned(),
        };
        let model = |alias: &str, why: &str| PreviewModel { alias: alias.to_owned(), why: why.to_owned() };
        let preview = PanelPreview {
            shape: "review".to_owned(),
            shape_by: "asked for".to_owned(),
            seats: vec![
                seat("member1", SeatKind::Member, "alpha", ""),
                seat("explorer", SeatKind::Explorer, "gamma", "never asked"),
            ],
            skipped: vec![SkippedView {
                seat: "member".to_owned(),
                alias: "old".to_owned(),
                why: "retired 2026-01-02: gone".to_owned(),
            }],
            refused: None,
            reserves: vec![model("delta", "another connection: 4 of 5 useful")],
            primary: Some(model("delta", "4 of 5 useful")),
            second: None,
            candidates: 2,
            not_candidates: vec![PreviewGroup {
                why: "its role light is not for review".to_owned(),
                count: 7,
                some: ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec(),
            }],
        };
        expect![[r#"
            bench/core, shape review (asked for)
            seat      model  why
            member1   alpha
            explorer  gamma  never asked
            reserve   delta  another connection: 4 of 5 useful
            primary   delta  4 of 5 useful
            not asked: old (retired 2026-01-02: gone)
            2 candidates beside the members
            no candidate  why                               models
            7             its role light is not for review  a, b, c, d, e, …"#]]
        .assert_eq(&shown("core", &preview, out()).to_string());
    }

    #[test]
    fn nobody_would_sit() {
        let preview = PanelPreview {
            shape: "general".to_owned(),
            shape_by: "the default".to_owned(),
            seats: Vec::new(),
            skipped: Vec::new(),
            refused: Some("nobody is left".to_owned()),
            reserves: Vec::new(),
            primary: None,
            second: None,
            candidates: 0,
            not_candidates: Vec::new(),
        };
        expect![[r#"
            no collection, shape general (the default)
            nobody is left
            seat  model  why
            0 candidates"#]]
        .assert_eq(&shown("", &preview, out()).to_string());
    }
}
