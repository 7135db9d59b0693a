//! All integration tests of this crate in one program, which links once.

mod behaviour;
mod devices;
mod optimum;
