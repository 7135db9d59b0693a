//! What went wrong with a command: for a terminal an exit code, for a program the same words with
//! the kind beside them.

use crate::platform;
use clap::error::{ContextKind, ContextValue};
use std::io;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_run::RunError;

/// What the user mistyped.
pub(crate) const USAGE: u8 = 2;
/// What the device or the disk did.
pub(crate) const FAILED: u8 = 3;

/// The samples could not be stored. What was stored before is there.
#[derive(Debug)]
pub struct StorageFailed(pub std::io::Error);

impl std::fmt::Display for StorageFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for StorageFailed {}

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// What was asked for cannot be done as it was said.
    Usage,
    /// The link or the host failed.
    Link(LinkErrorKind),
    /// A file could not be written.
    Storage,
}

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it was.
    pub kind: FailureKind,
    /// The words that a terminal shows behind `error:`.
    pub text: String,
    /// The operating system's error number, if it came from there.
    pub os_code: Option<i32>,
    /// The flag whose value is wrong, such as `--in`, if it is one.
    pub flag: Option<String>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.text.fmt(f)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// Of words that are no command.
    pub(crate) fn of_words(error: &clap::Error) -> Failure {
        let whole = error.render().to_string();
        // How to type it is of no use to a program, and how to get help neither.
        let text = whole.split("\n\nUsage:").next().unwrap_or(&whole);
        let text = text
            .split("\n\nFor more information")
            .next()
            .unwrap_or(text);
        let text = text.strip_prefix("error: ").unwrap_or(text).trim_end();
        let flag = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(arg)) => arg.split(' ').next().map(str::to_owned),
            _ => None,
        };
        Failure {
            kind: FailureKind::Usage,
            text: text.to_owned(),
            os_code: None,
            flag,
        }
    }

    /// Of a command that did not come to its end.
    pub(crate) fn of_command(error: &anyhow::Error) -> Failure {
        let link = error.downcast_ref::<LinkError>();
        let storage = error.downcast_ref::<StorageFailed>();
        let kind = match link.map(LinkError::kind) {
            Some(LinkErrorKind::Usage) => FailureKind::Usage,
            Some(kind) => FailureKind::Link(kind),
            None if storage.is_some() || error.chain().any(is_of_writing) => FailureKind::Storage,
            None => FailureKind::Usage,
        };
        let said_by_the_system = |error: &anyhow::Error| {
            error
                .chain()
                .find_map(|cause| cause.downcast_ref::<io::Error>()?.raw_os_error())
        };
        let os_code = match (link, storage) {
            (Some(link), _) => link.os_code(),
            (None, Some(StorageFailed(error))) => error.raw_os_error(),
            (None, None) => said_by_the_system(error),
        };
        Failure {
            kind,
            text: text_of(error),
            os_code,
            flag: None,
        }
    }
}

/// The words of an error, with what to do about a file that cannot be made.
pub(crate) fn text_of(error: &anyhow::Error) -> String {
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

/// The exit code of an error.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    match Failure::of_command(error).kind {
        FailureKind::Usage => USAGE,
        FailureKind::Link(_) | FailureKind::Storage => FAILED,
    }
}

/// True of an error that only writing has, and of a device that failed: whatever file or output it was, the system could
/// not write it.
fn is_of_writing(cause: &(dyn std::error::Error + 'static)) -> bool {
    use io::ErrorKind as Kind;
    let of_run = || cause.downcast_ref::<RunError>()?.io_kind();
    let of_system = || Some(cause.downcast_ref::<io::Error>()?.kind());
    let is_broken_device = cause
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.raw_os_error() == Some(platform::DEVICE_FAILED));
    let kind = of_run().or_else(of_system);
    is_broken_device
        || matches!(
            kind,
            Some(
                Kind::StorageFull
                    | Kind::QuotaExceeded
                    | Kind::FileTooLarge
                    | Kind::ReadOnlyFilesystem
                    | Kind::WriteZero
            )
        )
}

/// What became of printing a result that is stored or counts: that nobody reads any more (`| head`) is no failure.
pub(crate) fn unless_nobody_reads(printed: anyhow::Result<()>) -> anyhow::Result<()> {
    match printed {
        Err(error) if error.downcast_ref().is_some_and(is_broken_pipe) => Ok(()),
        printed => printed,
    }
}

/// True where nobody reads any more.
pub(crate) fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}
