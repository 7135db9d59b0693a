//! Closings of a tty, by any program.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use std::path::Path;

/// Closings of a tty by programs that had it open for writing.
pub struct Closings(Option<OwnedFd>);

impl Closings {
    /// Those of a tty, from now on; never any if the user has reached the limit of inotify(7).
    pub fn of(tty: &Path) -> Closings {
        let watched = || {
            let watch = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            add_watch(&watch, tty, WatchFlags::CLOSE_WRITE)?;
            rustix::io::Result::Ok(watch)
        };
        Closings(watched().ok())
    }

    /// Readable after a closing.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.0.as_ref().map(AsFd::as_fd)
    }

    /// True if the tty was closed since the last call.
    pub fn happened(&self) -> bool {
        let Some(watch) = &self.0 else {
            return false;
        };
        let mut has_any = false;
        let mut events = [0; 1024];
        while rustix::io::read(watch, &mut events).is_ok_and(|bytes| bytes > 0) {
            has_any = true;
        }
        has_any
    }
}
