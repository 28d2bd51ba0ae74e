//! What a person or a program reads: standard output for results, standard error for everything about them.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::args::{Color, Common};
use crate::clean::clean;
use crate::paint::{Paint, Painted};

#[derive(Clone, Copy, Debug)]
pub struct Out {
    /// Results are JSON.
    pub json: bool,
    /// For standard output.
    pub paint: Paint,
    /// For standard error.
    pub note_paint: Paint,
}

impl Out {
    pub fn new(common: &Common) -> Out {
        let allowed = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let paint = |terminal: bool| match common.color {
            Color::Always => Paint(true),
            Color::Never => Paint(false),
            Color::Auto => Paint(allowed && terminal),
        };
        Out {
            json: common.json,
            paint: paint(io::stdout().is_terminal()),
            note_paint: paint(io::stderr().is_terminal()),
        }
    }

    /// A line, or a text of several, to standard output: as it is into a pipe or a file, cleaned on a
    /// terminal.
    pub fn line(self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        if stdout.is_terminal() {
            writeln!(stdout, "{}", clean(text))?;
        } else {
            writeln!(stdout, "{text}")?;
        }
        stdout.flush()
    }

    /// A piece of a text that goes on, to standard output: as it is, or cleaned on a terminal.
    pub fn piece(self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        if stdout.is_terminal() {
            write!(stdout, "{}", clean(text))?;
        } else {
            write!(stdout, "{text}")?;
        }
        stdout.flush()
    }

    /// Lines that may hold our own colours, to standard output.
    pub fn painted(self, text: &Painted) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{text}")?;
        stdout.flush()
    }

    /// One line of JSON to standard output.
    pub fn json(self, value: &impl Serialize) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        serde_json::to_writer(&mut stdout, value)?;
        writeln!(stdout)?;
        stdout.flush()
    }

    /// A line to standard error. Nobody reading it is no error.
    pub fn note(self, text: &str) {
        self.note_painted(&Painted::plain(text));
    }

    /// Lines that may hold our own colours, to standard error.
    pub fn note_painted(self, text: &Painted) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
