//! What Linux and macOS share.

pub mod pty;
pub mod serial;
pub mod socket;
pub mod tty;
pub mod unix_socket;
