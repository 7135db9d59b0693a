//! All integration tests of this crate in one program, which links once.

mod assessed;
mod long_run;
mod loops;
mod published;
mod replayed;
mod speed;
