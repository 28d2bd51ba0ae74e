//! Several edits of one JSON text, made together: what is between them stays byte for byte.

use std::ops::Range;

use crate::json::Found;

/// Edits of values that were found in `text`.
pub(crate) struct Edits<'t> {
    text: &'t str,
    made: Vec<(Range<usize>, String)>,
}

impl<'t> Edits<'t> {
    pub fn new(text: &'t str) -> Self {
        Edits { text, made: Vec::new() }
    }

    /// Writes other JSON text where the value stands.
    pub fn set(&mut self, value: Found<'t>, json: String) {
        self.made.push((value.place(), json));
    }

    /// Takes items out of a list, each with the comma that it no longer needs. `items` are all of the list's.
    pub fn remove(&mut self, items: &[Found<'t>], is_gone: impl Fn(usize) -> bool) {
        let mut kept_before = false;
        for at in 0..items.len() {
            if !is_gone(at) {
                kept_before = true;
                continue;
            }
            let own = items[at].place();
            let taken = match items.get(at + 1) {
                _ if kept_before => items[at - 1].place().end..own.end,
                Some(next) => own.start..next.place().start,
                None => own,
            };
            self.made.push((taken, String::new()));
        }
    }

    /// The edited text; `None` when nothing is edited.
    pub fn apply(mut self) -> Option<String> {
        if self.made.is_empty() {
            return None;
        }
        self.made.sort_by_key(|(place, _)| place.start);
        let mut out = String::with_capacity(self.text.len());
        let mut copied = 0;
        for (place, json) in self.made {
            out.push_str(&self.text[copied..place.start]);
            out.push_str(&json);
            copied = place.end;
        }
        out.push_str(&self.text[copied..]);
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    #[test]
    fn items_leave_with_the_comma_that_they_need_no_longer() {
        let text = "[ 1 ,\t2, 3\n,4 ]";
        let json = Json::of(text.to_owned()).unwrap();
        for (gone, wanted) in [
            (&[][..], None),
            (&[0], Some("[ 2, 3\n,4 ]")),
            (&[1], Some("[ 1, 3\n,4 ]")),
            (&[3], Some("[ 1 ,\t2, 3 ]")),
            (&[0, 1], Some("[ 3\n,4 ]")),
            (&[2, 3], Some("[ 1 ,\t2 ]")),
            (&[0, 3], Some("[ 2, 3 ]")),
            (&[0, 2], Some("[ 2\n,4 ]")),
            (&[0, 1, 2, 3], Some("[  ]")),
        ] {
            let items: Vec<Found<'_>> = json.root().items().collect();
            let mut edits = Edits::new(text);
            edits.remove(&items, |at| gone.contains(&at));
            assert_eq!(edits.apply().as_deref(), wanted, "{gone:?}");
        }
        let items: Vec<Found<'_>> = json.root().items().collect();
        let mut edits = Edits::new(text);
        edits.set(items[3], "\"d\"".to_owned());
        edits.remove(&items, |at| at == 1);
        edits.set(items[0], "{}".to_owned());
        assert_eq!(edits.apply().as_deref(), Some("[ {}, 3\n,\"d\" ]"));
    }
}
