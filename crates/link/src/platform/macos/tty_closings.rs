//! Closings of a tty, of which macOS does not report any.

use rustix::fd::BorrowedFd;
use std::path::Path;

/// None.
pub struct Closings;

impl Closings {
    /// None.
    pub fn of(_tty: &Path) -> Closings {
        Closings
    }

    /// There is none.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Never.
    pub fn happened(&self) -> bool {
        false
    }
}
