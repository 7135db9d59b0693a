//! What went wrong with a command: its kind, its text and its exit code.

use crate::platform::DEVICE_FAILED;
use crate::style::{BAD, RESET};
use std::error::Error;
use std::io::{self, Write};
use wiregauge_link::{LinkError, LinkErrorKind};

/// Exit code of a usage error.
pub const USAGE: u8 = 2;
/// Exit code of a link, a host or a disk that failed.
pub const FAILED: u8 = 3;

/// A file could not be written. What was stored before is there.
#[derive(Debug)]
pub struct StorageFailed(pub io::Error);

impl std::fmt::Display for StorageFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for StorageFailed {}

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The command is not possible with these flags.
    Usage,
    /// The link or the host failed.
    Link(LinkErrorKind),
    /// A file could not be written.
    Storage,
}

/// The kind of an error.
pub fn kind_of(error: &anyhow::Error) -> FailureKind {
    let link = error.downcast_ref::<LinkError>();
    match link.map(LinkError::kind) {
        Some(LinkErrorKind::Usage) => FailureKind::Usage,
        Some(kind) => FailureKind::Link(kind),
        None if error.is::<StorageFailed>() || error.chain().any(is_of_writing) => {
            FailureKind::Storage
        }
        None => FailureKind::Usage,
    }
}

/// The words of an error, with what to do about a file that cannot be made.
pub fn text_of(error: &anyhow::Error) -> String {
    let storage: Option<&StorageFailed> = error.downcast_ref();
    let hint = match storage.map(|StorageFailed(error)| error.kind()) {
        Some(
            io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem,
        ) => "\n  hint: check that the directory exists and that you have permission",
        _ => "",
    };
    format!("{error:#}{hint}")
}

/// Prints an error of this kind on standard error; returns the exit code.
pub fn print(error: &anyhow::Error, kind: FailureKind) -> u8 {
    // A reader that has seen enough (`| head`) is no failure.
    if error.downcast_ref().is_some_and(is_broken_pipe) {
        return 0;
    }
    // A standard error that is closed is no reason to panic.
    let _ = writeln!(anstream::stderr(), "{BAD}error:{RESET} {}", text_of(error));
    match kind {
        FailureKind::Usage => USAGE,
        FailureKind::Link(_) | FailureKind::Storage => FAILED,
    }
}

/// Prints what the parser of a command line says, which may be the help; returns the exit code.
pub fn print_parsing(error: &clap::Error) -> u8 {
    // Help and version are such errors too, and go to standard output.
    match error.print() {
        Ok(()) => u8::try_from(error.exit_code()).unwrap_or(USAGE),
        Err(unwritten) => {
            let unwritten = unwritten.into();
            print(&unwritten, kind_of(&unwritten))
        }
    }
}

/// True of an error that only writing has, and of a device that failed: whatever file or output it was, the system could
/// not write it.
fn is_of_writing(cause: &(dyn Error + 'static)) -> bool {
    let Some(error) = cause.downcast_ref::<io::Error>() else {
        return false;
    };
    error.raw_os_error() == Some(DEVICE_FAILED) || only_writing_has(error.kind())
}

/// True of an error that only writing has.
pub fn only_writing_has(kind: io::ErrorKind) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        kind,
        Kind::StorageFull
            | Kind::QuotaExceeded
            | Kind::FileTooLarge
            | Kind::ReadOnlyFilesystem
            | Kind::WriteZero
    )
}

/// What became of printing a result that is stored or counts: that nobody reads any more (`| head`) is no failure.
pub fn unless_nobody_reads(printed: anyhow::Result<()>) -> anyhow::Result<()> {
    match printed {
        Err(error) if error.downcast_ref().is_some_and(is_broken_pipe) => Ok(()),
        printed => printed,
    }
}

/// True where nobody reads any more.
pub fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}
