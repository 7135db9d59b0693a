//! What the oracle objects to.

/// What the engine did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When.
    pub at_ns: u64,
    /// What.
    pub what: String,
}

impl Fault {
    /// A fault found at a time.
    pub fn new(at_ns: u64, what: impl Into<String>) -> Fault {
        Fault {
            at_ns,
            what: what.into(),
        }
    }
}
