//! The menu's words.

use control::{dto::BaseUrls, view::AlertKind};

use crate::pulse::Pulse;

/// Where the gateway listens.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// `http://127.0.0.1:8123`
    pub(crate) url: String,
    pub(crate) urls: BaseUrls,
    /// The port that was wanted, when another program had it.
    pub(crate) taken: Option<u16>,
}

pub(super) fn state(pulse: &Pulse) -> String {
    match (pulse.alert(), pulse.running()) {
        (Some((AlertKind::KeyRefused, endpoint)), _) => format!("{} refused its key", plain(endpoint)),
        (Some((AlertKind::PanelFailed, collection)), _) => {
            format!("No answer in bench/{}", plain(collection))
        }
        (Some((AlertKind::RecordingStopped, _)), _) => "Recording stopped".to_owned(),
        (Some((AlertKind::RecordsMoved, _)), _) => "Damaged records were moved aside".to_owned(),
        (Some((AlertKind::WentPaid, model)), _) => format!("{} costs money now", plain(model)),
        (Some((AlertKind::Retiring, model)), _) => format!("{} has failed for days", plain(model)),
        (Some((AlertKind::PortTaken | AlertKind::FailedOver | AlertKind::TurnFailedOver, _)) | None, n) => {
            running(n, pulse.turning())
        }
    }
}

fn running(panels: usize, turns: usize) -> String {
    let of_panels = match panels {
        0 => "No panel running".to_owned(),
        1 => "1 panel running".to_owned(),
        n => format!("{n} panels running"),
    };
    let of_agents = match turns {
        0 => return of_panels,
        1 => "1 agent at work".to_owned(),
        n => format!("{n} agents at work"),
    };
    if panels == 0 { of_agents } else { format!("{of_panels}, {of_agents}") }
}

pub(super) fn serving(address: &Address) -> String {
    let place = address.url.strip_prefix("http://").unwrap_or(&address.url);
    match address.taken {
        None => format!("Serving on {place}"),
        Some(port) => format!("Serving on {place} ({port} was taken)"),
    }
}

pub(super) fn owed(owed: u32) -> String {
    match owed {
        0 => "No verdicts owed".to_owned(),
        1 => "1 verdict owed".to_owned(),
        n => format!("{n} verdicts owed"),
    }
}

pub(super) fn tooltip(pulse: &Pulse, address: &Address) -> String {
    format!("Benchwarmers: {}\n{}", state(pulse), serving(address))
}

/// `&` marks an access key in menu texts.
fn plain(text: &str) -> String {
    text.replace('&', "&&")
}

#[cfg(test)]
mod tests {
    use control::view::LiveEvent;

    use super::*;
    use crate::notice::tests::alert;

    #[test]
    fn the_state_line_says_what_waits_for_somebody() {
        let cases = [
            (AlertKind::KeyRefused, "groq", "groq refused its key"),
            (AlertKind::KeyRefused, "a&b", "a&&b refused its key"),
            (AlertKind::PanelFailed, "core", "No answer in bench/core"),
            (AlertKind::RecordingStopped, "records", "Recording stopped"),
            (AlertKind::RecordsMoved, "records", "Damaged records were moved aside"),
            (AlertKind::WentPaid, "alpha", "alpha costs money now"),
            (AlertKind::Retiring, "alpha", "alpha has failed for days"),
            (AlertKind::PortTaken, "8123", "No panel running"),
        ];
        for (kind, subject, says) in cases {
            let mut pulse = Pulse::default();
            pulse.apply(&LiveEvent::AlertRaised { alert: alert(kind, subject) });
            assert_eq!(state(&pulse), says);
        }
    }

    #[test]
    fn the_address_is_the_real_one() {
        let url = "http://127.0.0.1:8123".to_owned();
        let urls = BaseUrls {
            openai: format!("{url}/v1"),
            anthropic: url.clone(),
            ollama: url.clone(),
            gemini: url.clone(),
        };
        let mut address = Address { url, urls, taken: None };
        assert_eq!(serving(&address), "Serving on 127.0.0.1:8123");
        address.url = "http://127.0.0.1:8124".into();
        address.taken = Some(8123);
        assert_eq!(serving(&address), "Serving on 127.0.0.1:8124 (8123 was taken)");
    }

    #[test]
    fn numbers_agree_with_their_nouns() {
        let cases = [
            (0, 0, "No panel running"),
            (1, 0, "1 panel running"),
            (2, 0, "2 panels running"),
            (0, 1, "1 agent at work"),
            (0, 2, "2 agents at work"),
            (1, 2, "1 panel running, 2 agents at work"),
        ];
        for (panels, turns, says) in cases {
            assert_eq!(running(panels, turns), says);
        }
        assert_eq!([owed(0), owed(1), owed(5)], ["No verdicts owed", "1 verdict owed", "5 verdicts owed"]);
    }
}
