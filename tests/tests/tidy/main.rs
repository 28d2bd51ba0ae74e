//! The rules about the tree itself: what may depend on what, how long a file may be, what the documents claim.
//!
//! Every rule of `ARCHITECTURE.md` that a machine can hold is held here, so that it stays true.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod crates;
mod documents;
mod files;
mod tree;
