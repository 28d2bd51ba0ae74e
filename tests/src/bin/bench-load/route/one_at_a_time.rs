//! What a way adds to a call when nothing else is asked: its time less the direct call's.

use super::{
    questions::{Api, Size},
    replies::Script,
    socket::Connection,
    table::{Row, Target, short},
    ways::{Way, Ways},
};
use crate::numbers::{median, milliseconds, percentile};

const WARM_UP: usize = 20;

/// A measure of every way, one call after the other.
pub struct Measure {
    pub what: &'static str,
    pub script: Script,
    pub size: Size,
    /// What the gateway is asked in; the others are always asked in chat, and relay.
    pub api: Api,
    pub most: f64,
    pub calls: usize,
    pub rounds: usize,
}

struct Entrant {
    way: Way,
    request: Vec<u8>,
    connection: Connection,
    /// Per round: microseconds of each call.
    rounds: Vec<Vec<f64>>,
    refused: Option<String>,
}

pub async fn measure(ways: &Ways, measure: &Measure) -> Row {
    let mut entrants = Vec::new();
    for way in entering(ways, measure) {
        let api = if way.name == ways.gateway.name { measure.api } else { Api::Chat };
        let request = way.request(api, measure.script, measure.size, 1);
        let connection = Connection::open(way.address).await.expect("a connection");
        entrants.push(Entrant { way, request, connection, rounds: Vec::new(), refused: None });
    }
    for round in 0..measure.rounds {
        // Whoever comes after another finds the caches as that one left them.
        let first = round % entrants.len();
        let (before, after) = entrants.split_at_mut(first);
        for entrant in after.iter_mut().chain(before).filter(|entrant| entrant.refused.is_none()) {
            let done = entrant.round(measure).await;
            entrant.refused = done.err();
        }
    }
    row(measure, &entrants)
}

fn entering(ways: &Ways, measure: &Measure) -> Vec<Way> {
    let mut entering: Vec<Way> = ways.all().into_iter().cloned().collect();
    if let (Size::Conversation(_), Some(nginx)) = (measure.size, &ways.nginx) {
        // Either may be the faster.
        entering.insert(2, nginx.unbuffered());
    }
    entering
}

impl Entrant {
    async fn round(&mut self, measure: &Measure) -> Result<(), String> {
        let mut times = Vec::with_capacity(measure.calls);
        for call in 0..WARM_UP.min(measure.calls / 4 + 1) + measure.calls {
            let took = self.connection.call(&self.request).await.map_err(|error| error.to_string())?;
            if call == 0 {
                self.connection.check(measure.script.marks(), measure.script.is_streamed())?;
            }
            times.push(milliseconds(took.whole) * 1000.0);
        }
        self.rounds.push(times.split_off(times.len() - measure.calls));
        Ok(())
    }

    /// The median over the rounds of what a round comes to, less what it comes to directly.
    fn added(&self, direct: &Entrant, of_round: impl Fn(&[f64]) -> f64) -> f64 {
        let rounds = self.rounds.iter().zip(&direct.rounds);
        median(&rounds.map(|(own, direct)| of_round(own) - of_round(direct)).collect::<Vec<f64>>())
    }

    fn figure(&self, of_round: impl Fn(&[f64]) -> f64) -> f64 {
        median(&self.rounds.iter().map(|round| of_round(round)).collect::<Vec<f64>>())
    }
}

fn p99(values: &[f64]) -> f64 {
    percentile(values, 0.99)
}

fn row(measure: &Measure, entrants: &[Entrant]) -> Row {
    let direct = &entrants[0];
    let added = |entrant: &Entrant| entrant.added(direct, median);
    // nginx stands for a plain proxy at its best.
    let nginx = entrants.iter().filter(|it| it.way.name.starts_with("nginx") && it.refused.is_none());
    let nginx = nginx.map(added).min_by(f64::total_cmp);
    let gateway = entrants.iter().find(|it| it.way.name == "gateway" && it.refused.is_none()).map(added);
    let figures = entrants.iter().map(|entrant| {
        let name = entrant.way.name;
        if let Some(refused) = &entrant.refused {
            return format!("{name:<26} failed: {refused}");
        }
        let (p50, p99_of) = (entrant.figure(median), entrant.figure(p99));
        let times = format!("{name:<26} p50 {:>7} µs   p99 {:>7} µs", short(p50), short(p99_of));
        if name == direct.way.name {
            return times;
        }
        let ratio =
            nginx.map(|nginx| format!("   {} × nginx", short(added(entrant) / nginx))).unwrap_or_default();
        let more = (short(added(entrant)), short(entrant.added(direct, p99)));
        format!("{times}   added p50 {:>7} µs   p99 {:>7} µs{ratio}", more.0, more.1)
    });
    Row {
        what: measure.what.to_owned(),
        target: Target::times_nginx(measure.most),
        measured: nginx.zip(gateway).map(|(nginx, gateway)| gateway / nginx),
        figures: figures.collect(),
    }
}
