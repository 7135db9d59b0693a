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
        "cannot compare {before} with {after}: no point was measured on both sides with the same \
         sizes, depth and link (or direction, transfer and queue). `wiregauge show` tells what was"
    )]
    NoPointInCommon {
        /// Names of the runs.
        before: String,
        /// Names of the runs.
        after: String,
    },
    /// None of the figures that were asked for.
    #[error("none of the figures asked for is known of a run of kind `{kind}`")]
    NoFigure {
        /// The kind.
        kind: &'static str,
    },
    /// A kind whose figures this version does not compare.
    #[error(
        "runs of kind `{kind}` are not compared by this version; `wiregauge report` lays them over \
         each other"
    )]
    Kind {
        /// The kind.
        kind: &'static str,
    },
    /// No run at all.
    #[error("there is no run to compare")]
    NothingToCompare,
    /// A run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}
