//! What the storage of runs needs of the system: the same names on each.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// Whether a program holds the lock of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// One does.
    Held,
    /// None does.
    Free,
    /// There is no such file, or it cannot be locked.
    Unknown,
}
