//! All integration tests of this crate in one program, which links once.

mod common;
mod exchange;
mod modbus;
mod models;
mod proposals;
mod stream;
