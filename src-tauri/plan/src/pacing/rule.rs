use std::fmt;

use catalog::Limits;

use super::window::Measure;
use crate::{DAY_MS, Place};

/// A rule that is in the way. Its display is for a person: `30 requests a minute on groq`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub place: Place,
    pub axis: Axis,
    pub limit: u64,
}

/// What a rule counts, and over how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    Rpm,
    Rpd,
    Tpm,
    Tpd,
    Rpmo,
}

/// How long a rule looks back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    Minute,
    Day,
    Month,
}

impl Axis {
    /// As in the set-up file: `rpm`.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Rpm => "rpm",
            Axis::Rpd => "rpd",
            Axis::Tpm => "tpm",
            Axis::Tpd => "tpd",
            Axis::Rpmo => "rpmo",
        }
    }

    /// How far back it counts; a month is 30 days.
    pub fn window_ms(self) -> i64 {
        self.span().ms()
    }

    pub(super) fn measure(self) -> Measure {
        match self {
            Axis::Rpm | Axis::Rpd | Axis::Rpmo => Measure::Requests,
            Axis::Tpm | Axis::Tpd => Measure::Tokens,
        }
    }

    pub(super) fn span(self) -> Span {
        match self {
            Axis::Rpm | Axis::Tpm => Span::Minute,
            Axis::Rpd | Axis::Tpd => Span::Day,
            Axis::Rpmo => Span::Month,
        }
    }
}

impl Span {
    pub(super) fn ms(self) -> i64 {
        match self {
            Span::Minute => 60_000,
            Span::Day => DAY_MS,
            Span::Month => 30 * DAY_MS,
        }
    }

    /// So long that a window has some hundred buckets, so short that nobody waits long for the rest of one.
    pub(super) fn bucket_ms(self) -> i64 {
        match self {
            Span::Minute => 100,
            Span::Day => 60_000,
            Span::Month => 3_600_000,
        }
    }
}

/// The rules that are set.
pub(super) fn set(limits: &Limits) -> impl Iterator<Item = (Axis, u64)> {
    [
        (Axis::Rpm, limits.rpm),
        (Axis::Rpd, limits.rpd),
        (Axis::Tpm, limits.tpm),
        (Axis::Tpd, limits.tpd),
        (Axis::Rpmo, limits.rpmo),
    ]
    .into_iter()
    .filter_map(|(axis, limit)| Some((axis, limit?)))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (self.axis.measure(), self.limit) {
            (Measure::Requests, 1) => "request",
            (Measure::Requests, _) => "requests",
            (Measure::Tokens, 1) => "token",
            (Measure::Tokens, _) => "tokens",
        };
        let span = match self.axis.span() {
            Span::Minute => "minute",
            Span::Day => "day",
            Span::Month => "month",
        };
        write!(f, "{} {what} a {span}", self.limit)?;
        match &self.place {
            Place::Connection(connection) => write!(f, " on {connection}"),
            Place::Model { endpoint, served } => write!(f, " for {served} on {endpoint}"),
        }
    }
}
