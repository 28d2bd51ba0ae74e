//! The verbs of names that were given up, and of models that nobody wants to see.

use crate::{Ack, NameRow, Store, StoreError, job::Waits, tables::names};

impl Store {
    /// Every alias that a model once had and has not any more, by name.
    pub fn names(&self) -> Result<Vec<NameRow>, StoreError> {
        self.read(names::all)
    }

    /// Models of an endpoint's listing that are not to be shown. While recording is stopped it is refused and not made
    /// later.
    pub fn dismiss(&self, endpoint: String, served: Vec<String>) -> Ack<()> {
        let at_ms = self.now();
        self.write(Waits::No, 0, move |connection| names::dismiss(connection, &endpoint, &served, at_ms))
    }

    /// They are to be shown again. While recording is stopped it is refused and not made later.
    pub fn restore_dismissed(&self, endpoint: String, served: Vec<String>) -> Ack<()> {
        self.write(Waits::No, 0, move |connection| names::restore(connection, &endpoint, &served))
    }

    /// The served names of an endpoint's models that were dismissed, in order.
    pub fn dismissed(&self, endpoint: &str) -> Result<Vec<String>, StoreError> {
        self.read(|connection| names::dismissed(connection, endpoint))
    }
}
