//! `bench ask`: a panel, seat by seat as each one finishes.

use std::collections::HashSet;
use std::io::{self, IsTerminal, Write};

use control::dto::Nothing;
use control::view::{FailedOverView, LiveEvent, PanelState, PanelView, SeatKind, SeatStatus, SeatView};
use control::{ControlError, RemoteEvents, dto};

use crate::args::Ask;
use crate::clean::{clean, one_line};
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::{Look, Painted};
use crate::reach::Reached;
use crate::table::Table;
use crate::vault::{Use, unlock};

/// What is shown of an error in the summary, in characters.
const ERROR: usize = 400;

/// The collection to ask, and the reply mode that may stand behind its name.
pub fn collection(name: &str) -> Result<(&str, &str), Failure> {
    match name.split_once(':') {
        Some((name, mode @ ("all" | "merged"))) => Ok((name, mode)),
        Some((name, "route")) => Err(Failure::Refused(ControlError::bad_input(
            "collection",
            format!(
                "collection: the reply mode \"route\" is not built in this version; ask {name}, which gives \
                 every member's answer, or {name}:merged"
            ),
        ))),
        // No collection has such a name, and the gateway says which there are.
        _ => Ok((name, "")),
    }
}

/// Asks `collection`, and tells each seat as it ends.
pub async fn ask(
    reached: &Reached,
    (collection, mode): (&str, &str),
    args: &Ask,
    prompt: String,
    out: Out,
) -> Result<(), Failure> {
    unlock(reached, Use::Call(&endpoints(reached, collection).await?), out).await?;
    let mut events = reached.remote.events().await?;
    // The snapshot. The gateway tells us everything from here on, so the panel cannot begin unseen.
    events.next().await?;
    let asked = reached
        .remote
        .ask(dto::Ask {
            collection: collection.to_owned(),
            prompt,
            system: args.system.clone(),
            images: Vec::new(),
            with: args.with.clone(),
            reply: if args.merged {
                "merged"
            } else if args.all {
                "all"
            } else {
                mode
            }
            .to_owned(),
            client: "bench ask".to_owned(),
        })
        .await?;
    let mut teller = Teller { panel: asked.panel, out, told: HashSet::new(), progress: Progress::new(out) };
    let ended = tokio::select! {
        ended = teller.follow(&mut events) => ended,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
    };
    teller.progress.clear();
    match ended {
        Ok(panel) => teller.close(&panel),
        Err(Failure::Interrupted) => {
            let panel = &teller.panel;
            out.note(&if reached.is_own() {
                format!("bench: stopping; panel {panel} is recorded as far as it comes")
            } else {
                format!("bench: left; panel {panel} goes on in the gateway and is recorded there")
            });
            Err(Failure::Interrupted)
        }
        Err(Failure::NoServer(why)) => {
            let panel = &teller.panel;
            Err(Failure::NoServer(format!("{why}; what panel {panel} had finished is recorded")))
        }
        Err(failure) => Err(failure),
    }
}

/// Where the collection's members are served from.
async fn endpoints(reached: &Reached, collection: &str) -> Result<Vec<String>, Failure> {
    let setup = reached.remote.setup(Nothing {}).await?;
    let asked = setup.collections.iter().find(|it| it.name == collection);
    let members = asked.map_or(&[][..], |collection| &collection.members);
    let models = setup.models.into_iter().filter(|model| members.contains(&model.alias));
    Ok(models.map(|model| model.endpoint).collect())
}

/// Tells each seat once, as it ends.
struct Teller {
    panel: String,
    out: Out,
    told: HashSet<String>,
    progress: Progress,
}

impl Teller {
    /// Until the panel has ended; gives it whole.
    async fn follow(&mut self, events: &mut RemoteEvents) -> Result<PanelView, Failure> {
        loop {
            let Some(event) = events.next().await? else {
                return Err(Failure::NoServer("the gateway stopped".to_owned()));
            };
            match event {
                LiveEvent::SeatChanged { panel, seat } if panel == self.panel => {
                    self.progress.changed(&seat);
                    self.tell(&seat)?;
                }
                LiveEvent::PanelStarted { panel } if panel.id == self.panel => {
                    panel.seats.iter().for_each(|seat| self.progress.changed(seat));
                    self.progress.draw();
                }
                LiveEvent::PanelEnded { panel } if panel.id == self.panel => return Ok(panel),
                // We were too slow, and this is how it stands.
                LiveEvent::Snapshot { panels, .. } => {
                    let Some(panel) = panels.into_iter().find(|panel| panel.id == self.panel) else {
                        continue;
                    };
                    if panel.state != PanelState::Running {
                        return Ok(panel);
                    }
                    panel.seats.iter().try_for_each(|seat| self.tell(seat))?;
                }
                _ => {}
            }
        }
    }

    fn tell(&mut self, seat: &SeatView) -> io::Result<()> {
        let answered = matches!(seat.status, SeatStatus::Ok);
        if answered && !self.out.json && self.told.insert(seat.call.clone()) {
            self.progress.clear();
            self.out.line(&format!(
                "## {} — {}\n\n{}\n",
                kind(seat.kind),
                seat.alias,
                seat.answer.trim_end()
            ))?;
        }
        self.progress.draw();
        Ok(())
    }

    /// Whatever was not told yet, then the table of seats.
    fn close(&mut self, panel: &PanelView) -> Result<(), Failure> {
        if self.out.json {
            self.out.json(panel)?;
        } else {
            panel.seats.iter().try_for_each(|seat| self.tell(seat))?;
            self.progress.clear();
            self.out.note_painted(&summary(panel, self.out));
        }
        let answered = panel.seats.iter().any(|seat| seat.status == SeatStatus::Ok);
        if answered { Ok(()) } else { Err(Failure::Said) }
    }
}

/// Every seat with its call id, who was not asked and why, and how to judge.
fn summary(panel: &PanelView, out: Out) -> Painted {
    let mut table = Table::new(&["seat", "model", "status", "seconds", "tokens", "call"]);
    let plain = |text: String| (text, Look::Plain);
    for seat in &panel.seats {
        let good = if seat.status == SeatStatus::Ok { Look::Good } else { Look::Bad };
        table.row([
            plain(seat.seat.clone()),
            plain(seat.alias.clone()),
            (status(seat.status).to_owned(), good),
            plain(seat.seconds.map_or_else(String::new, |seconds| format!("{seconds:.1}"))),
            plain(tokens(seat)),
            plain(seat.call.clone()),
        ]);
    }
    let mut lines: Vec<String> = Vec::new();
    let failed = panel.seats.iter().filter(|seat| !seat.error.is_empty());
    lines.extend(failed.map(|seat| format!("{}: {}", seat.alias, one_line(&seat.error, ERROR))));
    lines.extend(
        panel.skipped.iter().map(|skipped| format!("not asked: {} ({})", skipped.alias, skipped.why)),
    );
    let handed = |it: &FailedOverView| format!("{} took the seat of {}, which failed", it.to, it.from);
    lines.extend(panel.failed_over.iter().map(handed));
    lines.extend(panel.note.iter().map(|note| one_line(note, ERROR)));
    lines.extend(panel.error.iter().map(|error| one_line(error, ERROR)));
    let practice = if panel.practice { " (practice)" } else { "" };
    let seconds = panel.seconds.map_or_else(String::new, |seconds| format!(", {seconds:.1} s"));
    lines.push(format!("panel {} of bench/{}{practice}{seconds}", panel.id, panel.collection));
    if let Some(seat) = panel.seats.iter().find(|seat| seat.status == SeatStatus::Ok) {
        lines.push(format!("judge with: bench verdict {} --useful | --not-useful", seat.call));
    }
    Painted::lines([table.text(out.note_paint), Painted::plain(&lines.join("\n"))])
}

fn tokens(seat: &SeatView) -> String {
    match (seat.tokens_in, seat.tokens_out) {
        (None, None) => String::new(),
        (given, made) => {
            let count =
                |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string());
            format!("{} → {}", count(given), count(made))
        }
    }
}

fn kind(kind: SeatKind) -> &'static str {
    match kind {
        SeatKind::Member => "member",
        SeatKind::Explorer => "explorer",
        SeatKind::Merger => "merger",
        SeatKind::Reserve => "reserve",
    }
}

fn status(status: SeatStatus) -> &'static str {
    match status {
        SeatStatus::Waiting => "waiting",
        SeatStatus::Answering => "answering",
        SeatStatus::Ok => "ok",
        SeatStatus::Empty => "empty",
        SeatStatus::Error => "error",
        SeatStatus::Late => "late",
        SeatStatus::Cancelled => "cancelled",
    }
}

/// One line on a terminal that says who is still thinking; it is wiped before anything else is written.
struct Progress {
    seats: Vec<(String, String, SeatStatus)>,
    shown: bool,
    wanted: bool,
}

impl Progress {
    fn new(out: Out) -> Progress {
        Progress { seats: Vec::new(), shown: false, wanted: !out.json && io::stderr().is_terminal() }
    }

    fn changed(&mut self, seat: &SeatView) {
        match self.seats.iter_mut().find(|(call, ..)| *call == seat.call) {
            Some((.., status)) => *status = seat.status,
            None => self.seats.push((seat.call.clone(), seat.alias.clone(), seat.status)),
        }
    }

    fn draw(&mut self) {
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

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[2K");
        }
    }
}

#[cfg(test)]
mod tests;
