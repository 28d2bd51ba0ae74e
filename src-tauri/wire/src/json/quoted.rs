//! Where a JSON string ends, and that it is one: sixty-four bytes at a time, because most of a body is strings and most
//! of them hold escapes.

use wide::u8x16;

/// Past the quote that ends the string whose text begins at `at`, and how many characters of it escapes fold away.
/// `None` when it has no end, holds a control character, or what is no escape.
pub(super) fn end(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut folded = 0;
    let mut is_escaped = false;
    loop {
        let block = Block::at(bytes, at)?;
        let escaped = escaped(block.is(b'\\'), &mut is_escaped);
        let quotes = block.is(b'"') & !escaped;
        // What stands before the first quote: all of them where there is none.
        let said = quotes.wrapping_sub(1) & !quotes;
        if block.controls() & said != 0 {
            return None;
        }
        let escaped = escaped & said;
        if escaped != 0 {
            folded += escaped.count_ones() as usize;
            for code in ones(escaped & !block.simple_escapes()) {
                folded += unicode(bytes, at + code)?;
            }
        }
        if quotes != 0 {
            return Some((at + quotes.trailing_zeros() as usize + 1, folded));
        }
        at += SIZE;
    }
}

const SIZE: usize = 64;

struct Block([u8x16; 4]);

impl Block {
    /// What is past the end of the text is control characters, which no string holds.
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        if let Some(block) = bytes.get(at..at + SIZE) {
            return Block::of(block.try_into().ok()?);
        }
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let mut padded = [0; SIZE];
        padded[..rest.len()].copy_from_slice(rest);
        Block::of(&padded)
    }

    fn of(bytes: &[u8; SIZE]) -> Option<Self> {
        let (quarters, _) = bytes.as_chunks::<16>();
        let [a, b, c, d] = quarters else { return None };
        Some(Block([*a, *b, *c, *d].map(u8x16::new)))
    }

    /// A bit for each byte that is this one, the first byte's the lowest.
    fn is(&self, byte: u8) -> u64 {
        self.bits(|quarter| quarter.simd_eq(u8x16::splat(byte)))
    }

    fn controls(&self) -> u64 {
        self.bits(|quarter| quarter.min(u8x16::splat(0x1f)).simd_eq(quarter))
    }

    /// What may stand behind a backslash alone.
    fn simple_escapes(&self) -> u64 {
        self.bits(|quarter| {
            let is = |byte| quarter.simd_eq(u8x16::splat(byte));
            is(b'n') | is(b'"') | is(b'\\') | is(b't') | is(b'r') | is(b'/') | is(b'b') | is(b'f')
        })
    }

    fn bits(&self, holds: impl Fn(u8x16) -> u8x16) -> u64 {
        let quarters = self.0.map(|quarter| u64::from(holds(quarter).to_bitmask() as u16));
        quarters[0] | quarters[1] << 16 | quarters[2] << 32 | quarters[3] << 48
    }
}

/// The bytes that a backslash escapes: of several in a row each second one is escaped itself. `is_first`: whether the
/// block's first byte is, and then, whether the next block's is. As simdjson does it
/// (<https://arxiv.org/abs/1902.08318>, section 3.1.1).
fn escaped(backslashes: u64, is_first: &mut bool) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let first = u64::from(std::mem::take(is_first));
    if backslashes == 0 {
        return first;
    }
    let backslashes = backslashes & !first;
    let follows = backslashes << 1 | first;
    let odd_starts = backslashes & !EVEN & !follows;
    let (even_sequences, goes_on) = odd_starts.overflowing_add(backslashes);
    *is_first = goes_on;
    (EVEN ^ (even_sequences << 1)) & follows
}

fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(at)
    })
}

/// How many characters more than one an escape by number folds away, whose `u` stands at `at`; `None` when it is none.
fn unicode(bytes: &[u8], at: usize) -> Option<usize> {
    (bytes[at] == b'u').then_some(())?;
    let code = bytes.get(at + 1..at + 5)?;
    code.iter().all(u8::is_ascii_hexdigit).then_some(())?;
    // The second half of a pair is of the character before it.
    let is_second = code[0].eq_ignore_ascii_case(&b'd') && matches!(code[1], b'c'..=b'f' | b'C'..=b'F');
    Some(if is_second { 5 } else { 4 })
}
