//! All integration tests of this crate in one program, which links once.

mod buffers;
mod common;
mod compare;
mod coverage;
mod deadline;
mod modes;
mod properties;
mod reference;
mod size;
