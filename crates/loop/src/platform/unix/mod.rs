//! What Linux and macOS have in common.

mod mapping;

pub(crate) use mapping::{INVALID, Mapping, OUT_OF_MEMORY};
