//! What went wrong with a command, for a program: the words of the terminal with the kind beside them.

use clap::error::{ContextKind, ContextValue};
use std::io;
use wiregauge_link::LinkError;
use wiregauge_program::failure::{self, only_writing_has, text_of};
use wiregauge_run::RunError;

pub use wiregauge_program::failure::{FailureKind, StorageFailed, unless_nobody_reads};

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
            kind: kind_of(error),
            text: text_of(error),
            os_code,
            flag: None,
        }
    }
}

/// The kind of an error, which may be one of a run directory.
pub(crate) fn kind_of(error: &anyhow::Error) -> FailureKind {
    let of_run = |cause: &(dyn std::error::Error + 'static)| {
        let kind = cause.downcast_ref::<RunError>()?.io_kind()?;
        only_writing_has(kind).then_some(())
    };
    match failure::kind_of(error) {
        FailureKind::Usage if error.chain().find_map(of_run).is_some() => FailureKind::Storage,
        kind => kind,
    }
}
