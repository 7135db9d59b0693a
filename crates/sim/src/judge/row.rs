//! A row as the judge sees it, of a measurement or of a program.

/// What a row says of its exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Answered.
    Ok,
    /// Answered, after a later one.
    Reordered,
    /// Answered with something else than expected.
    Unexpected,
    /// Not answered.
    Lost,
    /// Answered after it was lost.
    Late,
    /// Answered again.
    Duplicated,
    /// Answered with wrong bytes, or its request was damaged.
    Corrupted,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The exchange.
    pub sequence: u64,
    /// What became of it.
    pub kind: Kind,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Bytes of the answer.
    pub bytes: u64,
}
