//! What can go wrong with a run directory. Each message says what was being done, to which path,
//! what the system said and what to try; the operating system's code is kept.

use parquet::errors::ParquetError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a run could not be written, found or read.
///
/// The cause is part of the message and is therefore not repeated by
/// [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The operating system refused.
    #[error("cannot {doing} {path}: {cause}. {}", advice(cause.kind()))]
    Io {
        /// What was being done: "write", "rename".
        doing: &'static str,
        /// To which path.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The output that an export was written to refused.
    #[error("cannot write the {format} export: {cause}. {}", advice(cause.kind()))]
    Output {
        /// `CSV` or `JSON`.
        format: &'static str,
        /// What the system said.
        cause: io::Error,
    },
    /// A new run would mix with what is there.
    #[error(
        "cannot start a run in {path}: the directory is not empty. Use a new directory, or move this one"
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// There is no `run.json`.
    #[error(
        "cannot open {path} as a run: it has no run.json. `wiregauge runs` lists the stored runs"
    )]
    NotARun {
        /// The directory.
        path: PathBuf,
    },
    /// `run.json` is not what this version writes.
    #[error(
        "cannot read {path}: {problem}. The file is damaged or was not written by wiregauge; the \
         samples beside it are plain Parquet and may still be readable"
    )]
    BadRunFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A later version of wiregauge wrote the run.
    #[error(
        "cannot read {path}: it has run format {found}, but this wiregauge supports formats up to {known}. \
         Read it with the version of wiregauge that wrote it, or a later one"
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u64,
        /// The version that this crate writes.
        known: u32,
    },
    /// The run measured something that this version knows nothing of.
    #[error(
        "cannot read {path}: it holds a run of kind `{kind}`, but this wiregauge supports only {}. Read it \
         with the version of wiregauge that wrote it",
        quoted(known)
    )]
    UnknownKind {
        /// The file.
        path: PathBuf,
        /// The kind in the file.
        kind: String,
        /// The kinds that are known.
        known: &'static [&'static str],
    },
    /// The run is of another kind than the caller can use.
    #[error(
        "cannot use {path} here: it holds a run of kind `{kind}`, but kind `{wanted}` is required. `wiregauge \
         runs` lists the kinds"
    )]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// The kind in the file.
        kind: String,
        /// The kind that is needed.
        wanted: &'static str,
    },
    /// A sample file is missing, cut short, foreign or holds impossible values.
    #[error(
        "cannot read samples from {path}: {problem}. The summary of this point in run.json is not affected; \
         copy the file again from its source, or measure the point again"
    )]
    BadSamples {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The run has no such point.
    #[error(
        "cannot read point {point} of {path}: the run has {points} finished points, counted from \
         0. `wiregauge show` lists them"
    )]
    NoSuchPoint {
        /// The run directory.
        path: PathBuf,
        /// The point asked for.
        point: usize,
        /// How many there are.
        points: usize,
    },
    /// The bytes of the answers were not kept.
    #[error(
        "cannot export the data of {path}: the run did not store the bytes of its answers. Measure again with \
         --keep-data, or export without --data"
    )]
    NoData {
        /// The run directory.
        path: PathBuf,
    },
    /// Several runs begin with this name.
    #[error(
        "ambiguous run name `{name}`: in {home}, it matches {}. Type more of the name",
        candidates.join(", ")
    )]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        home: PathBuf,
        /// All runs whose names begin so.
        candidates: Vec<String>,
    },
    /// No run has this name.
    #[error(
        "cannot find a run `{name}`: it is neither a directory nor a run in {home}. `wiregauge runs` lists the \
         stored runs; WIREGAUGE_RUNS sets another directory"
    )]
    NotFound {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        home: PathBuf,
    },
    /// The last run was requested, and there is none.
    #[error(
        "no stored runs in {home}\n  hint: measure one with wiregauge exchange ADDRESS; without a device, wiregauge demo"
    )]
    NoRuns {
        /// Where it was looked for.
        home: PathBuf,
    },
    /// Something to be stored would not come back as it is.
    #[error(
        "cannot store the {what} in {path}: {problem}. It probably holds a number that is not \
         finite; this is a bug in wiregauge, please report it"
    )]
    NotStorable {
        /// Which part of `run.json`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What reading it back said.
        problem: String,
    },
    /// The calls came in an order that makes no sense.
    #[error("cannot {doing} in {path}: {problem}. This is a bug in the caller")]
    Misuse {
        /// What was being done.
        doing: &'static str,
        /// The run directory.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
}

impl RunError {
    /// The operating system's kind of error, where it was the one to refuse:
    /// [`StorageFull`](io::ErrorKind::StorageFull) for a full disk,
    /// [`BrokenPipe`](io::ErrorKind::BrokenPipe) for an export whose reader has gone.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            RunError::Io { cause, .. } | RunError::Output { cause, .. } => Some(cause.kind()),
            _ => None,
        }
    }

    pub(crate) fn io(
        doing: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> RunError + use<> {
        let path = path.to_owned();
        move |cause| RunError::Io { doing, path, cause }
    }
}

impl From<RunError> for io::Error {
    fn from(error: RunError) -> io::Error {
        io::Error::new(error.io_kind().unwrap_or(io::ErrorKind::InvalidData), error)
    }
}

/// The system's own error out of the Parquet crate's wrapping, code and kind kept.
pub(crate) fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn advice(kind: io::ErrorKind) -> &'static str {
    use io::ErrorKind::*;
    match kind {
        StorageFull | QuotaExceeded => {
            "Free some space or write to another disk (WIREGAUGE_RUNS sets the directory); data stored earlier \
             is intact"
        }
        PermissionDenied => {
            "Check the permissions of the path or write elsewhere (WIREGAUGE_RUNS sets the directory)"
        }
        ReadOnlyFilesystem => "Write to another disk (WIREGAUGE_RUNS sets the directory)",
        NotFound => "Check the spelling of the path",
        NotADirectory => "A part of the path is a file; use another directory",
        FileTooLarge => "Raise the file size limit (`ulimit -f`), or measure fewer exchanges",
        BrokenPipe => "The program that was reading the output has ended",
        _ => "Check that the disk is connected and healthy, or use another one",
    }
}
