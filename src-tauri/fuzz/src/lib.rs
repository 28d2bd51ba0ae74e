//! What the fuzz targets share: how an input's bytes are read, and what must hold of any bytes.

mod hold;
mod input;
mod seeds;

pub use hold::{assert_in_order, bounded, decode, meaning};
pub use input::{Input, members};
pub use seeds::Seeds;
