use std::io::{self, IsTerminal, Write};

use control::view::{SeatStatus, SeatView};

use super::summary::status;
use crate::clean::clean;
use crate::out::Out;

/// One line on a terminal that says who is still thinking; it is wiped before anything else is written.
pub struct Progress {
    seats: Vec<(String, String, SeatStatus)>,
    shown: bool,
    wanted: bool,
}

impl Progress {
    pub fn new(out: Out) -> Progress {
        Progress { seats: Vec::new(), shown: false, wanted: !out.json && io::stderr().is_terminal() }
    }

    pub fn changed(&mut self, seat: &SeatView) {
        match self.seats.iter_mut().find(|(call, ..)| *call == seat.call) {
            Some((.., status)) => *status = seat.status,
            None => self.seats.push((seat.call.clone(), seat.alias.clone(), seat.status)),
        }
    }

    pub fn draw(&mut self) {
        let open = |(_, alias, at): &(String, String, SeatStatus)| {
            matches!(at, SeatStatus::Waiting | SeatStatus::Answering)
                .then(|| format!("{alias} {}", status(*at)))
        };
        let open: Vec<String> = self.seats.iter().filter_map(open).collect();
        self.clear();
        if self.wanted && !open.is_empty() {
            let _ = write!(io::stderr().lock(), "{}", clean(&open.join(", ")));
            let _ = io::stderr().lock().flush();
            self.shown = true;
        }
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[2K");
        }
    }

    /// Nothing is drawn from now on: a text is being written, and its lines are unfinished.
    pub fn end(&mut self) {
        self.clear();
        self.wanted = false;
    }

    #[cfg(test)]
    pub fn is_shown(&self) -> bool {
        self.shown
    }
}
