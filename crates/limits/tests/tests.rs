//! All integration tests of this crate in one program, which links once.

mod can;
mod documentation;
mod ethernet;
mod properties;
mod tables;
