//! Text from outside (providers, files, people) made fit for a terminal and for a table.

/// The text without what would move a terminal's cursor, change its state or turn the reading direction.
/// Escape sequences and direction marks go as a whole, any other control character becomes U+FFFD; line ends
/// and tabs stay.
pub fn clean(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => kept.push(c),
            '\r' if rest.as_str().starts_with('\n') => {}
            '\u{1b}' => rest = after_escape(rest.as_str()).chars(),
            '\u{9b}' => rest = after_csi(rest.as_str()).chars(),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => rest = after_string(rest.as_str()).chars(),
            c if turns_direction(c) => {}
            c if c.is_control() => kept.push('\u{fffd}'),
            c => kept.push(c),
        }
    }
    kept
}

/// The same in one line of at most `most` characters; what is cut off leaves an ….
pub fn one_line(text: &str, most: usize) -> String {
    let line = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match (line.char_indices().nth(most.saturating_sub(1)), line.char_indices().nth(most)) {
        (Some((end, _)), Some(_)) => format!("{}…", &line[..end]),
        _ => line,
    }
}

/// The embeddings, overrides, isolates and marks of Unicode's bidirectional algorithm.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What follows the sequence that an ESC before `rest` began (ECMA-48).
fn after_escape(rest: &str) -> &str {
    match rest.chars().next() {
        Some('[') => after_csi(&rest[1..]),
        Some(']' | 'P' | 'X' | '^' | '_') => after_string(&rest[1..]),
        Some(' '..='~') => after_final(rest, '0'..='~'),
        _ => rest,
    }
}

/// `digits ; … letter`
fn after_csi(rest: &str) -> &str {
    after_final(rest.trim_start_matches(|c| matches!(c, '0'..='?')), '@'..='~')
}

fn after_final(rest: &str, last: std::ops::RangeInclusive<char>) -> &str {
    let rest = rest.trim_start_matches(|c| matches!(c, ' '..='/'));
    rest.strip_prefix(|c| last.contains(&c)).unwrap_or(rest)
}

/// A window title and its like end with BEL or ST on their line. One that does not is shown: nothing that a
/// person should read can hide behind it.
fn after_string(rest: &str) -> &str {
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    ["\u{7}", "\u{1b}\\", "\u{9c}"]
        .iter()
        .filter_map(|end| line.find(end).map(|at| at + end.len()))
        .min()
        .map_or(rest, |end| &rest[end..])
}

#[cfg(test)]
mod tests {
    use super::{clean, one_line};

    #[test]
    fn a_terminal_is_not_told_what_to_do() {
        let cases = [
            ("plain é\n\ttext", "plain é\n\ttext"),
            ("lines\r\nof Windows", "lines\nof Windows"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[8mhidden", "hidden"),
            ("a\u{1b}[2Jb\u{1b}[?25lc\u{1b}[1;31 qd", "abcd"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "alink"),
            ("\u{1b}]0;no end\nsecond\u{7}", "0;no end\nsecond\u{fffd}"),
            ("\u{1b}[m\u{1b}c\u{1b}(Bx\u{1b}é\u{1b}", "xé"),
            ("a\rb\u{8}\u{9b}2Jc\u{9d}0;t\u{9c}d", "a\u{fffd}b\u{fffd}cd"),
            ("\u{1b}[\nnext", "\nnext"),
            ("a\u{202e}b\u{2066}c\u{2069}d\u{200f}e\u{200e}f\u{61c}", "abcdef"),
            ("family 👩\u{200d}👧", "family 👩\u{200d}👧"),
        ];
        for (given, wanted) in cases {
            assert_eq!(clean(given), wanted, "{given:?}");
        }
    }

    #[test]
    fn lines() {
        let cases = [
            ("", ""),
            (" a\r\n\tb  c\u{1b}[2J\u{2028}d ", "a b c d"),
            ("12345", "12345"),
            ("123456", "1234…"),
            ("ééééé", "ééééé"),
            ("éééééé", "éééé…"),
        ];
        for (given, wanted) in cases {
            assert_eq!(one_line(given, if given.contains("a\r") { 99 } else { 5 }), wanted, "{given:?}");
        }
    }
}
