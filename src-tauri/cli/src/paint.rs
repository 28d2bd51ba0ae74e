//! Colours on a terminal, over text that was cleaned before.

use std::fmt::{self, Display};

use crate::clean::clean;

/// Whether there is colour.
#[derive(Clone, Copy, Debug)]
pub struct Paint(pub bool);

/// How a word looks in a table on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Plain,
    Dim,
    Good,
    Bad,
}

/// Text that may be written as it is: it was cleaned, and the escape sequences in it are our own.
#[derive(Clone, Debug, Default)]
pub struct Painted(String);

impl Painted {
    /// Text from anywhere, without colour.
    pub fn plain(text: &str) -> Painted {
        Painted(clean(text))
    }

    /// Text from anywhere, in colour where there is any.
    pub fn new(text: &str, look: Look, paint: Paint) -> Painted {
        let text = clean(text);
        let code = match look {
            _ if !paint.0 || text.is_empty() => return Painted(text),
            Look::Plain => return Painted(text),
            Look::Dim => 2,
            Look::Good => 32,
            Look::Bad => 31,
        };
        Painted(format!("\u{1b}[{code}m{text}\u{1b}[0m"))
    }

    pub fn push(&mut self, more: &Painted) {
        self.0.push_str(&more.0);
    }

    pub fn spaces(&mut self, count: usize) {
        self.0.extend(std::iter::repeat_n(' ', count));
    }

    pub fn lines(lines: impl IntoIterator<Item = Painted>) -> Painted {
        Painted(lines.into_iter().map(|line| line.0).collect::<Vec<_>>().join("\n"))
    }
}

impl Display for Painted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Look, Paint, Painted};

    #[test]
    fn only_our_own_colours() {
        let text = "\u{1b}[8mkey\u{1b}[0m";
        assert_eq!(Painted::plain(text).to_string(), "key");
        assert_eq!(Painted::new(text, Look::Bad, Paint(false)).to_string(), "key");
        assert_eq!(Painted::new(text, Look::Bad, Paint(true)).to_string(), "\u{1b}[31mkey\u{1b}[0m");
    }
}
