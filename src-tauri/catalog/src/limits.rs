use serde::{Deserialize, Serialize};
use wire::{Axis, StatedLimit};

use crate::FieldError;

/// Requests and tokens a minute, a day, a month (of 30 days). `None` is no rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    #[ts(type = "number | null")]
    pub rpm: Option<u64>,
    #[ts(type = "number | null")]
    pub rpd: Option<u64>,
    #[ts(type = "number | null")]
    pub tpm: Option<u64>,
    #[ts(type = "number | null")]
    pub tpd: Option<u64>,
    #[ts(type = "number | null")]
    pub rpmo: Option<u64>,
}

impl Limits {
    pub fn is_empty(&self) -> bool {
        *self == Limits::default()
    }

    /// The first number that is no limit. A model that is never to be called is retired, not limited to nothing.
    pub fn check(&self) -> Result<(), FieldError> {
        for (field, limit) in self.named() {
            if limit.is_some_and(|limit| !(1..=MOST).contains(&limit)) {
                return Err(FieldError::new(
                    format!("limits.{field}"),
                    format!("1 to {MOST}, or leave it out for no limit"),
                ));
            }
        }
        Ok(())
    }

    /// These, and of `known` what these say nothing about.
    pub fn over(&self, known: &Limits) -> Limits {
        Limits {
            rpm: self.rpm.or(known.rpm),
            rpd: self.rpd.or(known.rpd),
            tpm: self.tpm.or(known.tpm),
            tpd: self.tpd.or(known.tpd),
            rpmo: self.rpmo.or(known.rpmo),
        }
    }

    /// These, but for what `known` says something about.
    pub fn without(&self, known: &Limits) -> Limits {
        let unless = |own: Option<u64>, known: Option<u64>| own.filter(|_| known.is_none());
        Limits {
            rpm: unless(self.rpm, known.rpm),
            rpd: unless(self.rpd, known.rpd),
            tpm: unless(self.tpm, known.tpm),
            tpd: unless(self.tpd, known.tpd),
            rpmo: unless(self.rpmo, known.rpmo),
        }
    }

    /// A limit that a provider stated, where it is one of these; else none.
    pub fn stated(limit: &StatedLimit) -> Limits {
        let mut limits = Limits::default();
        let place = match (limit.axis, limit.window.as_secs()) {
            (Axis::Requests, MINUTE) => &mut limits.rpm,
            (Axis::Requests, DAY) => &mut limits.rpd,
            (Axis::Requests, MONTH) => &mut limits.rpmo,
            (Axis::Tokens, MINUTE) => &mut limits.tpm,
            (Axis::Tokens, DAY) => &mut limits.tpd,
            _ => return limits,
        };
        *place = Some(limit.allowed);
        limits
    }

    /// By the names that the set-up file and the commands have for them.
    pub fn named(&self) -> [(&'static str, Option<u64>); 5] {
        [("rpm", self.rpm), ("rpd", self.rpd), ("tpm", self.tpm), ("tpd", self.tpd), ("rpmo", self.rpmo)]
    }
}

/// Past any real limit; keeps sums far from overflow.
const MOST: u64 = 1_000_000_000_000;

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * MINUTE;
const MONTH: u64 = 30 * DAY;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_limit_is_at_least_one_and_within_reason() {
        let limits = |rpd, tpd| Limits { rpd, tpd, ..Limits::default() };
        assert_eq!(Limits::default().check(), Ok(()));
        assert_eq!(limits(Some(1), Some(MOST)).check(), Ok(()));
        for (bad, field) in [
            (limits(Some(0), None), "limits.rpd"),
            (limits(None, Some(0)), "limits.tpd"),
            (limits(Some(1), Some(MOST + 1)), "limits.tpd"),
            (limits(Some(u64::MAX), Some(0)), "limits.rpd"),
        ] {
            assert_eq!(bad.check().expect_err(field).field, field);
        }
    }

    #[test]
    fn what_is_said_nearer_goes_over() {
        let known = Limits { rpm: Some(10), tpm: Some(100), ..Limits::default() };
        let own = Limits { rpm: Some(3), rpmo: Some(7), ..Limits::default() };
        let wanted = Limits { rpm: Some(3), tpm: Some(100), rpmo: Some(7), ..Limits::default() };
        assert_eq!(own.over(&known), wanted);
        assert_eq!(known.without(&own), Limits { tpm: Some(100), ..Limits::default() });
    }

    #[test]
    fn a_stated_limit_is_kept_where_it_has_a_place() {
        for (axis, window, wanted) in [
            (Axis::Requests, 60, Some("rpm")),
            (Axis::Requests, 86_400, Some("rpd")),
            (Axis::Requests, 2_592_000, Some("rpmo")),
            (Axis::Tokens, 60, Some("tpm")),
            (Axis::Tokens, 86_400, Some("tpd")),
            (Axis::Tokens, 3600, None),
            (Axis::InputTokens, 60, None),
        ] {
            let stated = StatedLimit { axis, window: Duration::from_secs(window), allowed: 5, used: None };
            let limits = Limits::stated(&stated);
            let set: Vec<_> = limits.named().into_iter().filter(|(_, limit)| limit.is_some()).collect();
            assert_eq!(set, wanted.map(|name| (name, Some(5))).into_iter().collect::<Vec<_>>(), "{axis:?}");
        }
    }
}
