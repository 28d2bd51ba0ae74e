//! An input: which dialect, where the bytes are cut, and the bytes.

use wire::{Dialect, format};

/// `[choice] [number of cuts, n] [n sizes] [body …]`, whatever the bytes are: what is missing is 0.
pub struct Input<'a> {
    /// Picks what the target has a choice of.
    pub choice: u8,
    sizes: &'a [u8],
    pub body: &'a [u8],
}

/// More cuts than these add nothing: the last size repeats to the body's end.
const MOST_CUTS: usize = 15;

impl<'a> Input<'a> {
    pub fn read(bytes: &'a [u8]) -> Self {
        let choice = bytes.first().copied().unwrap_or_default();
        let cuts = usize::from(bytes.get(1).copied().unwrap_or_default()) & MOST_CUTS;
        let rest = bytes.get(2..).unwrap_or_default();
        let (sizes, body) = rest.split_at(cuts.min(rest.len()));
        Input { choice, sizes, body }
    }

    /// The bytes of an input that reads back so.
    pub fn written(choice: u8, sizes: &[u8], body: &[u8]) -> Vec<u8> {
        let sizes = &sizes[..sizes.len().min(MOST_CUTS)];
        [&[choice, sizes.len() as u8], sizes, body].concat()
    }

    pub fn dialect(&self) -> Dialect {
        pick(Dialect::ALL, self.choice)
    }

    /// One that members speak.
    pub fn member(&self) -> Dialect {
        let members: Vec<Dialect> = members().collect();
        pick(&members, self.choice)
    }

    /// The choice again, as a number that does not go with the dialect.
    pub fn option(&self) -> u8 {
        self.choice / 6
    }

    /// The body, cut: each size once, the last one for the rest. No sizes: whole.
    pub fn pieces(&self) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        let mut rest = self.body;
        let mut sizes = self.sizes.iter().copied();
        let mut size = None;
        while !rest.is_empty() {
            size = sizes.next().or(size);
            // 0 is a piece without a byte, which a transport may deliver; but then the body must go on.
            let at = size.map_or(rest.len(), usize::from).min(rest.len());
            let (piece, after) = rest.split_at(if sizes.len() == 0 { at.max(1) } else { at });
            pieces.push(piece);
            rest = after;
        }
        pieces
    }
}

/// The dialects that members speak.
pub fn members() -> impl Iterator<Item = Dialect> {
    Dialect::ALL.iter().copied().filter(|dialect| format(*dialect).is_spoken_to_members())
}

fn pick(of: &[Dialect], choice: u8) -> Dialect {
    of[usize::from(choice) % of.len()]
}
