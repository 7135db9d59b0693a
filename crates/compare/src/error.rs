//! Why runs cannot be compared.

use wiregauge_run::RunError;

/// Why runs cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// Runs of different kinds.
    #[error(
        "cannot compare {one} with {other}: one is a run of kind `{kind}`, the other of kind \
         `{other_kind}`. `wiregauge runs` lists the kind of every run"
    )]
    Kinds {
        /// A run.
        one: String,
        /// Its kind.
        kind: &'static str,
        /// One of another kind.
        other: String,
        /// Its kind.
        other_kind: &'static str,
    },
    /// No point was measured on both sides.
    #[error(
        "cannot compare {before} with {after}: no point was measured on both sides with the same sizes, depth \
         and link (or direction, transfer and queue). `wiregauge show` lists the points of a run"
    )]
    NoPointInCommon {
        /// Names of the runs.
        before: String,
        /// Names of the runs.
        after: String,
    },
    /// None of the figures that were asked for.
    #[error("runs of kind `{kind}` have none of the requested figures")]
    NoFigure {
        /// The kind.
        kind: &'static str,
    },
    /// A kind whose figures this version does not compare.
    #[error(
        "this version cannot compare runs of kind `{kind}`; `wiregauge report` draws them in the same figures"
    )]
    Kind {
        /// The kind.
        kind: &'static str,
    },
    /// No run at all.
    #[error("no run to compare")]
    NothingToCompare,
    /// A run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}
