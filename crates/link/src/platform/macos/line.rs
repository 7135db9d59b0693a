//! Ttys of macOS, where they differ from Linux's.

use rustix::fd::BorrowedFd;
use rustix::pty::OpenptFlags;
use rustix::termios::ControlModes;
use std::io;
use wiregauge_limits::{Framing, Parity};

/// What became of the wish for low latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowLatency {
    /// It was left as it is.
    Unchanged,
    /// There is no such flag.
    Unknown,
}

impl LowLatency {
    /// As it is kept with a run.
    pub fn in_words(self) -> &'static str {
        match self {
            LowLatency::Unchanged => "unchanged",
            LowLatency::Unknown => "not supported by the driver",
        }
    }

    /// Nothing was switched on.
    pub fn is_to_be_undone(self) -> bool {
        false
    }
}

/// There is no such parity.
pub const STICK_PARITY: ControlModes = ControlModes::empty();

/// How the master of a pseudo-terminal is opened.
pub const OPEN_PTY: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY);

/// Refuses a framing that no line of this system has.
pub fn check(framing: Framing) -> io::Result<()> {
    match framing.parity {
        Parity::Mark | Parity::Space => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "macOS has no mark or space parity",
        )),
        Parity::None | Parity::Even | Parity::Odd => Ok(()),
    }
}

/// Exclusive use shows when the tty is opened.
pub fn is_exclusive(_fd: BorrowedFd<'_>) -> bool {
    false
}

/// There is no such flag.
pub fn write_low_latency(_fd: BorrowedFd<'_>, _on: bool) -> bool {
    false
}

/// There is no such flag.
pub fn set_low_latency(_fd: BorrowedFd<'_>) -> LowLatency {
    LowLatency::Unknown
}
