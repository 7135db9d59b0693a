//! macOS. This compiles and has never run.

pub(crate) use super::not_linux::*;
pub(crate) use super::unix::*;
