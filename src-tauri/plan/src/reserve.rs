use crate::{
    Registered, Seat, SeatKind, SeatingInput, Shape,
    router::{Candidates, standing},
};

/// Why no reserve stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoReserve {
    #[error("reserves are off (setting reserves)")]
    Off,
    #[error("the panel has used its {0} reserves (setting reserves)")]
    Used(usize),
    #[error("only a member's seat is handed on")]
    NotAMember,
    #[error("no other registered model may stand in")]
    NoCandidate,
}

/// Who takes over a member's seat (panel.md §4, §5): the best record for the shape, on a connection that nothing
/// on the panel uses (else on any), of a family that does not sit.
///
/// `panel` is every seat of the panel so far, earlier stand-ins included, in any order; `failed` is the name of
/// the seat that failed: `member1`, or `member1.r1` when a stand-in failed too. Evidence and availability are
/// those of now, not those of when the panel was seated. Whoever keeps the evidence marks the seat.
pub fn reserve(
    input: &SeatingInput<'_>,
    shape: &Shape,
    panel: &[Seat],
    failed: &str,
) -> Result<Seat, NoReserve> {
    let most = input.settings.reserves as usize;
    if most == 0 {
        return Err(NoReserve::Off);
    }
    let member = failed.split_once(".r").map_or(failed, |(member, _)| member);
    if !panel.iter().any(|seat| seat.seat == member && seat.kind == SeatKind::Member) {
        return Err(NoReserve::NotAMember);
    }
    let used: Vec<&Seat> = panel.iter().filter(|seat| seat.kind == SeatKind::Reserve).collect();
    if used.len() >= most {
        return Err(NoReserve::Used(most));
    }
    let seated: Vec<&Registered> = panel.iter().filter_map(|seat| input.roster.get(&seat.alias)).collect();
    let candidates = Candidates::beside_members(input, shape);
    let (found, connection) = apart_first(&candidates, &seated).ok_or(NoReserve::NoCandidate)?;
    let before = used.iter().filter(|seat| stands_in_for(&seat.seat, member)).count();
    let record = standing(&candidates.record(found), shape, found.paid);
    Ok(Seat {
        seat: format!("{member}.r{}", before + 1),
        kind: SeatKind::Reserve,
        alias: found.alias().to_owned(),
        why: format!("best record, {}: {record}", connection.in_words()),
    })
}

/// Where a reserve's connection stands to those of the panel.
#[derive(Clone, Copy)]
pub(crate) enum Connection {
    Apart,
    Shared,
}

/// The best record on a connection nothing on the panel uses, else on any.
pub(crate) fn apart_first<'a>(
    candidates: &Candidates<'a>,
    seated: &[&Registered],
) -> Option<(&'a Registered, Connection)> {
    let apart = |it: &Registered| !seated.iter().any(|other| other.connection == it.connection);
    let found = candidates.best(seated, apart).map(|it| (it, Connection::Apart));
    found.or_else(|| candidates.best(seated, |_| true).map(|it| (it, Connection::Shared)))
}

impl Connection {
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Connection::Apart => "on a connection of its own",
            Connection::Shared => "on a connection the panel uses, no other being free",
        }
    }
}

fn stands_in_for(seat: &str, member: &str) -> bool {
    seat.split_once(".r").is_some_and(|(before, _)| before == member)
}
