//! All integration tests of this crate in one program, which links once.

mod assessed;
mod loops;
mod plant;
mod published;
mod replayed;
mod speed;
