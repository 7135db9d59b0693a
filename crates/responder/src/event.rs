//! Events of a responder while it serves.

use std::io;

/// An event of a responder while it serves.
pub enum ServeEvent<'a> {
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
    /// No client can be accepted for now; it is tried again. Each error is reported once.
    CannotAccept(&'a io::Error),
    /// A reply could not be sent and is lost. Each error is reported once.
    ReplyLost {
        /// The peer that waits for it.
        peer: &'a str,
        /// What the system says.
        error: &'a io::Error,
    },
}

/// The errors that were reported, by their code: each is reported once.
#[derive(Default)]
pub(super) struct Reported(Vec<Option<i32>>);

impl Reported {
    /// True for an error that was not reported before.
    pub(super) fn is_first(&mut self, error: &io::Error) -> bool {
        let code = error.raw_os_error();
        let is_first = !self.0.contains(&code);
        if is_first {
            self.0.push(code);
        }
        is_first
    }
}
