//! All integration tests of this crate in one program, which links once.

mod answers;
mod datagrams;
mod descriptors;
mod differential;
mod small_sink;
mod vectors;
