//! How a command ended.

/// How a command ended, as the exit code tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// 0: done.
    Done,
    /// 1: measured, but a stated limit was missed, or is undecided and `--undecided pass` is not given.
    Missed,
    /// 130, as shells number it: the user interrupted it; what was measured is kept.
    Interrupted,
}
