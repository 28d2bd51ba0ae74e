//! Columns of text, as wide as their widest cell.

use crate::clean::one_line;
use crate::out::Out;
use crate::paint::{Look, Paint, Painted};

/// What is shown of a cell with others behind it, and of the last one in its row, in characters. Every row is
/// padded to the widest cell of a column; the last column pads nothing.
const CELL: usize = 80;
const LAST: usize = 400;

/// Cells come from anywhere: each becomes one line of clean text, cut where it is too long.
#[derive(Default)]
pub struct Table {
    rows: Vec<Vec<(String, Look)>>,
}

impl Table {
    pub fn new(heads: &[&str]) -> Table {
        let mut table = Table::default();
        table.row(heads.iter().map(|head| (head.to_string(), Look::Dim)));
        table
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = (String, Look)>) {
        let cells: Vec<(String, Look)> = cells.into_iter().collect();
        let count = cells.len();
        let cut = |(at, (text, look)): (usize, (String, Look))| {
            (one_line(&text, if at + 1 < count { CELL } else { LAST }), look)
        };
        self.rows.push(cells.into_iter().enumerate().map(cut).collect());
    }

    pub fn text(&self, paint: Paint) -> Painted {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|(text, _)| text.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        Painted::lines(self.rows.iter().map(|row| line(row, &widths, paint)))
    }

    /// To standard output; `none` when there is no row under the head.
    pub fn print(&self, out: Out, none: &str) -> std::io::Result<()> {
        if self.rows.len() < 2 { out.line(none) } else { out.painted(&self.text(out.paint)) }
    }
}

fn line(row: &[(String, Look)], widths: &[usize], paint: Paint) -> Painted {
    let mut line = Painted::default();
    for (at, (text, look)) in row.iter().enumerate() {
        line.push(&Painted::new(text, *look, paint));
        if row[at + 1..].iter().any(|(text, _)| !text.is_empty()) {
            line.spaces(widths[at] - text.chars().count() + 2);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{CELL, LAST, Table};
    use crate::paint::{Look, Paint};

    #[test]
    fn a_cell_is_one_line_of_a_sane_width() {
        let mut table = Table::new(&["model", "alias"]);
        let plain = |text: &str| (text.to_owned(), Look::Plain);
        table.row([plain(&"m".repeat(5000)), plain(&"a".repeat(5000))]);
        table.row([plain("two\r\nlines\u{1b}[2J \u{202e}and\ta"), plain("x")]);
        let text = table.text(Paint(false)).to_string();
        let lines: Vec<&str> = text.lines().collect();
        let wide = CELL - 1;
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(lines[0], format!("{:<CELL$}  alias", "model"));
        assert_eq!(lines[1], format!("{}…  {}…", "m".repeat(wide), "a".repeat(LAST - 1)));
        assert_eq!(lines[2], format!("{:<CELL$}  x", "two lines and a"));
    }
}
