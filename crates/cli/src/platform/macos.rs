//! macOS. This compiles and has never run.

pub use super::unix::*;
use std::ffi::OsString;

/// This executable.
pub fn own_program() -> OsString {
    std::env::current_exe().map_or_else(|_| "wiregauge".into(), Into::into)
}

/// Why `doctor` cannot look at this host; `None` where it can.
pub const NO_DOCTOR: Option<&str> = Some("its checks are for Linux");
