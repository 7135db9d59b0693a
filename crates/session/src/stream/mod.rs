//! A stream's two ends without I/O: the sender that orders, sends and ends it, the receiver that tells data from
//! answers. Who drives them owns the flows, the clock and the threads.

mod orders;
mod receiver;
mod sender;
#[cfg(test)]
mod sender_tests;

pub use orders::{ORDER, Order, Orders};
pub use receiver::{Heard, Received, StreamReceiver};
pub use sender::{
    BACKLOG_NS, KEEP_ALIVE_NS, REPEAT_NS, SenderConfig, SenderNext, StreamSender, Transferred,
};

use wiregauge_wire::{Response, Status, StreamReport};

/// An answer to an order.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Its header.
    pub header: Response,
    /// What the device counted, where the order was END.
    pub report: Option<StreamReport>,
}

/// What the sender has to know of the receiver and of its caller.
pub trait Coordination {
    /// The user wants an end.
    fn is_stopped(&self) -> bool;
    /// One of the two ends has failed.
    fn is_failed(&self) -> bool;
    /// The failure is one of the link itself: no order reaches the device any more.
    fn is_link_lost(&self) -> bool;
    /// When the stream began.
    fn began_ns(&self) -> Option<u64>;
    /// When something was last received.
    fn heard_ns(&self) -> u64;
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
}
