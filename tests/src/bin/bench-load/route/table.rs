//! One line a measure: what was wanted, what came, and the figures behind it.

use std::fmt;

/// A measure's line, and below it what each way did.
pub struct Row {
    pub what: String,
    pub target: Target,
    /// `None` where it could not be measured; the figures say why.
    pub measured: Option<f64>,
    pub figures: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    AtMost(f64, &'static str),
    AtLeast(f64, &'static str),
    /// Nothing may fail.
    NoFailure,
}

const TIMES_NGINX: &str = "× nginx";

impl Target {
    pub const fn times_nginx(most: f64) -> Target {
        Target::AtMost(most, TIMES_NGINX)
    }

    fn verdict(self, measured: f64) -> String {
        let share = match self {
            Target::AtMost(most, _) => measured / most - 1.0,
            Target::AtLeast(least, _) => 1.0 - measured / least,
            Target::NoFailure if measured > 0.0 => return format!("missed by {measured} failed"),
            Target::NoFailure => 0.0,
        };
        if share <= 0.0 { "met".to_owned() } else { format!("missed by {:.0} %", (share * 100.0).ceil()) }
    }

    fn unit(self) -> &'static str {
        match self {
            Target::AtMost(_, unit) | Target::AtLeast(_, unit) => unit,
            Target::NoFailure => "failed",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::AtMost(most, unit) => write!(formatter, "≤ {most} {unit}"),
            Target::AtLeast(least, unit) => write!(formatter, "≥ {least} {unit}"),
            Target::NoFailure => formatter.write_str("0 failed"),
        }
    }
}

pub fn head() -> String {
    format!("{:<58}{:<16}{:<16}verdict", "measure", "target", "measured")
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (measured, verdict) = match self.measured {
            Some(measured) => {
                (format!("{} {}", short(measured), self.target.unit()), self.target.verdict(measured))
            }
            None => ("not measured".to_owned(), String::new()),
        };
        let target = self.target.to_string();
        writeln!(formatter, "{:<58}{target:<16}{measured:<16}{verdict}", self.what)?;
        self.figures.iter().try_for_each(|line| writeln!(formatter, "    {line}"))
    }
}

/// Two digits that say something.
pub fn short(number: f64) -> String {
    if number.fract() == 0.0 || number.abs() >= 100.0 {
        format!("{number:.0}")
    } else if number.abs() >= 10.0 {
        format!("{number:.1}")
    } else {
        format!("{number:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_how_much_is_missing() {
        assert_eq!(Target::times_nginx(2.0).verdict(2.0), "met");
        assert_eq!(Target::times_nginx(2.0).verdict(3.0), "missed by 50 %");
        assert_eq!(Target::AtLeast(0.5, "× nginx").verdict(0.25), "missed by 50 %");
        assert_eq!(Target::AtLeast(0.5, "× nginx").verdict(0.6), "met");
        assert_eq!(Target::NoFailure.verdict(0.0), "met");
        assert_eq!(Target::NoFailure.verdict(12.0), "missed by 12 failed");
    }
}
