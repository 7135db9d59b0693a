//! Linux.

pub use super::unix::*;
use std::ffi::OsString;

/// This executable, even if another one lies at its path meanwhile.
pub fn own_program() -> OsString {
    "/proc/self/exe".into()
}

/// Why `doctor` cannot look at this host; `None` where it can.
pub const NO_DOCTOR: Option<&str> = None;
