//! What a [`Measurement`](crate::Measurement) returns to its driver: what to do next, how the point ended, its rows.

use std::ops::Range;
use wiregauge_record::Sample;
use wiregauge_wire as wire;

/// What the driver is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Open the link, then report [`connected`](crate::Measurement::connected) or
    /// [`connect_failed`](crate::Measurement::connect_failed).
    Connect,
    /// Close the link.
    Disconnect,
    /// Hand over [`outgoing`](crate::Measurement::outgoing), as much as the system takes now, and report
    /// [`sent`](crate::Measurement::sent).
    Send,
    /// Wait for bytes, receive them into [`space`](crate::Measurement::space), report
    /// [`received`](crate::Measurement::received), then poll until there is no event.
    Receive {
        /// End the wait then.
        until_ns: u64,
        /// Another exchange would start late if this wait ended late; else only a timeout would be noticed late.
        exact: bool,
        /// End it too when more can be sent.
        or_writable: bool,
    },
    /// Nothing is outstanding: wait for the next start, and receive what comes meanwhile, as for
    /// [`Receive`](Next::Receive).
    Rest {
        /// When that is.
        until_ns: u64,
    },
    /// Nothing is outstanding, and a reply does not say which request it answers: receive what is there without
    /// waiting, and report it as for [`Receive`](Next::Receive), or [`drained`](crate::Measurement::drained) if
    /// nothing is there.
    Drain,
    /// The link is closed: wait for the next start.
    Sleep {
        /// When that is.
        until_ns: u64,
    },
    /// The point is over.
    Done,
}

/// How a point ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All was measured.
    Complete,
    /// It was stopped.
    Stopped,
    /// The link failed.
    Failed(Failure),
}

/// Why a point cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// So many exchanges in a row were lost.
    Silent {
        /// How many.
        in_a_row: u64,
        /// Whether any was answered before.
        answered_once: bool,
    },
    /// The device takes nothing more.
    Blocked {
        /// Bytes left of a request that has begun.
        rest: Option<usize>,
    },
    /// The device keeps sending unsolicited data.
    NeverQuiet,
    /// The device refuses the exchange.
    Refused(wire::Status),
    /// The proof of address could not be renewed.
    NoProof,
    /// The system reported an error.
    Link,
}

/// A row of the samples, and where the bytes of its answer lie; see
/// [`Measurement::received_at`](crate::Measurement::received_at).
#[derive(Clone, Debug)]
pub struct Row {
    /// The sample.
    pub sample: Sample,
    /// The whole answer.
    pub answer: Range<usize>,
}
