//! What an [`Engine`](crate::Engine) reports: exchanges that ended, received bytes that are no answer, a device that
//! is never quiet.

use crate::framing::Malformed;
use std::ops::Range;
use wiregauge_record::Status;
use wiregauge_wire as wire;

/// What became of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Answered rightly, in time.
    Answered,
    /// The same, but after the answer to a later request.
    Reordered,
    /// A whole answer came in time, but not the expected one.
    Unexpected,
    /// A damaged answer came.
    Damaged,
    /// The request arrived damaged, and the device did not act on it.
    RequestDamaged,
    /// The device refused the request.
    Refused(wire::Status),
    /// No answer came in time.
    Lost,
    /// A further event of a lost exchange: its answer came after all.
    Late,
    /// A further event of an answered exchange: its answer came again.
    Duplicated,
}

impl Outcome {
    /// As it is stored in a sample.
    pub fn status(self) -> Status {
        match self {
            Outcome::Answered => Status::Ok,
            Outcome::Reordered => Status::Reordered,
            Outcome::Unexpected => Status::Unexpected,
            Outcome::Damaged | Outcome::RequestDamaged => Status::Corrupted,
            Outcome::Refused(_) | Outcome::Lost => Status::Lost,
            Outcome::Late => Status::Late,
            Outcome::Duplicated => Status::Duplicated,
        }
    }
}

/// An exchange that ended, or a further answer to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its number.
    pub sequence: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// When its first byte was handed over; of a duplicate, when that came.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Outstanding just after it started, itself included.
    pub outstanding: u32,
    /// Device clock when the request had arrived, in ticks.
    pub rx_ticks: u64,
    /// Device clock when the answer was handed over, in ticks.
    pub tx_ticks: u64,
    /// Where the whole answer lies; see [`Engine::received_at`](crate::Engine::received_at).
    pub answer: Range<usize>,
    /// Where the bytes lie that are meant for the program.
    pub payload: Range<usize>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An exchange ended, or a further answer to one came.
    Ended(Ended),
    /// What was received is no answer, and where the next one begins is unknown; where its bytes lie, see
    /// [`Engine::received_at`](crate::Engine::received_at).
    Malformed(Malformed, Range<usize>),
    /// The device keeps sending unsolicited data.
    NeverQuiet,
}
