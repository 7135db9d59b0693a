//! What Linux and macOS share.

#[cfg(test)]
mod flow_tests;
pub mod in_use;
pub mod pty;
pub mod serial;
pub mod socket;
pub mod tty;
pub mod unix_socket;
