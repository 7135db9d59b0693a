//! A stream's two ends without I/O: the sender that orders, sends and ends it, the receiver that tells data from
//! answers. Who drives them owns the flows, the clock and the threads.

mod ask;
mod orders;
mod pattern;
mod payload;
mod receiver;
mod sender;
mod shared;

pub use orders::{Answer, Answers, Heard, ORDER, ORDERS, Order, Orders};
pub use pattern::{PatternBytes, PatternChecker, PatternCounts};
pub use payload::Payload;
pub use receiver::{Received, ReceiverConfig, ReceiverNext, StreamReceiver};
pub use sender::{SenderConfig, SenderNext, StreamSender};
pub use shared::Shared;

use wiregauge_record::TransferStatus;
use wiregauge_wire::Status;

/// A transfer that is over; times in nanoseconds since the stream began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When it was submitted.
    pub submit_ns: u64,
    /// When it was seen completed.
    pub complete_ns: u64,
    /// Bytes that it carried.
    pub bytes: u32,
    /// Transfers pending just after it was submitted.
    pub pending: u32,
    /// How it ended.
    pub status: TransferStatus,
}

/// A transfer that is pending.
#[derive(Clone, Copy, Debug)]
struct Pending {
    submit_ns: u64,
    /// Transfers pending just after it was submitted.
    pending: u32,
    /// Bytes of the stream to send; 0 for an order, or to receive.
    bytes: u32,
}

impl Pending {
    fn row(&self, began_ns: u64, now_ns: u64, bytes: u32, status: TransferStatus) -> Row {
        Row {
            submit_ns: self.submit_ns.saturating_sub(began_ns),
            complete_ns: now_ns.saturating_sub(began_ns),
            bytes,
            pending: self.pending,
            status,
        }
    }
}

/// Why a stream failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamFailure {
    /// An order was not answered.
    NoAnswer {
        /// Which.
        order: Order,
        /// For how long.
        within_ns: u64,
    },
    /// The device refused to begin.
    Refused {
        /// Which order.
        order: Order,
        /// With what status.
        status: Status,
    },
    /// The device took no whole transfer.
    NothingTaken {
        /// For how long.
        within_ns: u64,
    },
    /// The device sent nothing.
    NothingCame {
        /// For how long.
        within_ns: u64,
    },
}
