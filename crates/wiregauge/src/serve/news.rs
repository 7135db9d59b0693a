//! What whoever serves is told meanwhile.

/// What a responder tells about itself while it serves.
pub enum News<'a> {
    /// It can be reached here; `remote` if from other hosts too.
    Ready {
        /// The address to give to `wiregauge exchange`.
        address: &'a str,
        /// True if it listens beyond loopback.
        remote: bool,
    },
    /// A peer came.
    Came(&'a str),
    /// A peer left.
    Left(&'a str),
    /// A peer was turned away, because there were as many as may be.
    TurnedAway(&'a str),
}
