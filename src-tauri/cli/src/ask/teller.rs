//! Tells a panel as it runs: its answers to standard output, everything about them to standard error.

use std::collections::HashSet;
use std::io;

use control::RemoteEvents;
use control::view::{LiveEvent, PanelState, PanelView, SeatKind, SeatStatus, SeatView};

use super::progress::Progress;
use super::summary::{section, summary};
use crate::failure::Failure;
use crate::out::Out;

pub struct Teller {
    panel: String,
    out: Out,
    /// Every answer, or one that is merged of them.
    merged: bool,
    /// Seats whose answer was told.
    told: HashSet<String>,
    merge: Merge,
    progress: Progress,
}

/// The merged answer as far as it was written.
#[derive(Default)]
struct Merge {
    call: String,
    /// In UTF-16 code units, as events count.
    written: usize,
    ended_line: bool,
}

impl Teller {
    pub fn new(panel: String, out: Out) -> Teller {
        Teller {
            panel,
            out,
            merged: false,
            told: HashSet::new(),
            merge: Merge::default(),
            progress: Progress::new(out),
        }
    }

    pub fn panel(&self) -> &str {
        &self.panel
    }

    /// Wipes the line that says who is still thinking.
    pub fn stop(&mut self) {
        self.progress.end();
    }

    /// Until the panel has ended; gives it whole.
    pub async fn follow(&mut self, events: &mut RemoteEvents) -> Result<PanelView, Failure> {
        loop {
            let Some(event) = events.next().await? else {
                return Err(Failure::NoServer("the gateway stopped".to_owned()));
            };
            if let Some(ended) = self.heard(event)? {
                return Ok(ended);
            }
        }
    }

    /// The panel, when this was its end.
    fn heard(&mut self, event: LiveEvent) -> io::Result<Option<PanelView>> {
        match event {
            LiveEvent::PanelStarted { panel } if panel.id == self.panel => {
                self.merged = panel.reply == "merged";
                panel.seats.iter().for_each(|seat| self.progress.changed(seat));
                self.progress.draw();
            }
            LiveEvent::PanelShaped { panel, shape, shape_by, .. } if panel == self.panel => {
                self.note(&format!("shape {shape} ({shape_by})"));
            }
            LiveEvent::SeatAdded { panel, seat } if panel == self.panel => {
                if seat.kind == SeatKind::Merger {
                    self.merge = Merge { call: seat.call.clone(), ..Merge::default() };
                }
                self.progress.changed(&seat);
                self.progress.draw();
            }
            LiveEvent::SeatDelta { panel, call, at, text }
                if panel == self.panel && call == self.merge.call && at as usize == self.merge.written =>
            {
                self.merged_text(&text)?;
            }
            LiveEvent::SeatFailedOver { panel, failed_over } if panel == self.panel => {
                self.note(&format!(
                    "{}: {} failed, {} stands in",
                    failed_over.seat, failed_over.from, failed_over.to
                ));
            }
            LiveEvent::SeatChanged { panel, seat } if panel == self.panel => {
                self.progress.changed(&seat);
                self.tell(&seat)?;
            }
            LiveEvent::PanelEnded { panel } if panel.id == self.panel => return Ok(Some(panel)),
            // We were too slow, and this is how it stands.
            LiveEvent::Snapshot { panels, .. } => {
                let Some(panel) = panels.into_iter().find(|panel| panel.id == self.panel) else {
                    return Ok(None);
                };
                if panel.state != PanelState::Running {
                    return Ok(Some(panel));
                }
                self.merged = panel.reply == "merged";
                if let Some(merger) = panel.seats.iter().rfind(|seat| seat.kind == SeatKind::Merger) {
                    self.catch_up(merger)?;
                }
                for seat in &panel.seats {
                    self.progress.changed(seat);
                    self.tell(seat)?;
                }
            }
            // What is noticed of this panel has an event of its own above; the rest is others' business.
            _ => {}
        }
        Ok(None)
    }

    fn note(&mut self, text: &str) {
        self.progress.clear();
        if !self.out.json {
            self.out.note(text);
        }
        self.progress.draw();
    }

    fn tell(&mut self, seat: &SeatView) -> io::Result<()> {
        if !self.merged {
            self.tell_answer(seat)?;
        }
        self.progress.draw();
        Ok(())
    }

    fn tell_answer(&mut self, seat: &SeatView) -> io::Result<()> {
        let is_answer = seat.status == SeatStatus::Ok && seat.kind != SeatKind::Merger;
        if is_answer && !self.out.json && self.told.insert(seat.call.clone()) {
            self.progress.clear();
            self.out.line(&section(seat))?;
        }
        Ok(())
    }

    fn merged_text(&mut self, text: &str) -> io::Result<()> {
        self.merge.written += text.encode_utf16().count();
        if self.out.json || text.is_empty() {
            return Ok(());
        }
        self.progress.end();
        self.merge.ended_line = text.ends_with('\n');
        self.out.piece(text)
    }

    /// What was not written yet of a merger's answer.
    fn catch_up(&mut self, merger: &SeatView) -> io::Result<()> {
        if self.merge.call != merger.call {
            self.merge = Merge { call: merger.call.clone(), ..Merge::default() };
        }
        let units: Vec<u16> = merger.answer.encode_utf16().skip(self.merge.written).collect();
        self.merged_text(&String::from_utf16_lossy(&units))
    }

    /// Whatever was not told yet, then the table of seats.
    pub fn close(&mut self, panel: &PanelView) -> Result<(), Failure> {
        if self.out.json {
            self.out.json(panel)?;
        } else {
            self.rest(panel)?;
            self.progress.end();
            self.out.note_painted(&summary(panel, self.out));
        }
        let answered = panel.seats.iter().any(|seat| seat.status == SeatStatus::Ok);
        if answered { Ok(()) } else { Err(Failure::Said) }
    }

    fn rest(&mut self, panel: &PanelView) -> io::Result<()> {
        if panel.reply != "merged" {
            let begun = panel.seats.iter().find(|seat| seat.call == self.merge.call);
            if let Some(begun) = begun.filter(|_| self.merge.written > 0) {
                // A merge that broke off: what there is of it stays apart from the answers.
                self.catch_up(begun)?;
                self.out.line("\n\n---\n")?;
            }
            return panel.seats.iter().try_for_each(|seat| self.tell_answer(seat));
        }
        let is_merge = |seat: &&SeatView| seat.kind == SeatKind::Merger && seat.status == SeatStatus::Ok;
        if let Some(merger) = panel.seats.iter().find(is_merge) {
            self.catch_up(merger)?;
            return if self.merge.ended_line { Ok(()) } else { self.out.line("") };
        }
        // The only answer is given as it is.
        match panel.seats.iter().find(|seat| seat.status == SeatStatus::Ok) {
            Some(only) => self.out.line(only.answer.trim_end()),
            None => Ok(()),
        }
    }
}
