//! One direction of a link for `stream`: transfers that are submitted, pend, and complete in order.
//! Where the system has no such thing (a socket, a tty), a transfer is one system call and at most
//! one pends.

use crate::host::Helper;
use std::io;
use std::time::Duration;

/// Room that every transfer has beyond its size, so that the orders which begin and end a stream
/// go the same way as its data.
pub const ORDER_BYTES: usize = 512;

/// The transfers that a stream wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowShape {
    /// Bytes of one transfer.
    pub transfer_bytes: usize,
    /// Transfers pending at once.
    pub queue: usize,
}

/// Both directions of a link, borrowed from it for one point.
pub struct Flows<'a> {
    /// Host to device.
    pub out: Box<dyn Flow + 'a>,
    /// Device to host.
    pub in_: Box<dyn Flow + 'a>,
}

/// A transfer that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Bytes that it carried.
    pub bytes: usize,
    /// The endpoint had stalled and was cleared; nothing was carried.
    pub stalled: bool,
}

/// One direction. Driven by one thread. Nothing here allocates once it is made.
pub trait Flow: Send {
    /// Submits a transfer of `bytes` (at most the shape's size, or [`ORDER_BYTES`] if that is
    /// more). OUT: `fill` writes them into the transfer's own buffer first. IN: `fill` is not
    /// called, and as many bytes are asked for (USB: rounded up to whole packets, so that a device
    /// that sends shorter transfers ends each with a short packet). Must not be called with the
    /// queue full.
    ///
    /// It does not wait: where a transfer is one system call, OUT hands over what the system takes
    /// at once, and [`Flow::complete`] the rest. Where submitting itself may have to wait for the
    /// system, it does so for at most `at_most`, then it fails with an error of kind `TimedOut`.
    fn submit(
        &mut self,
        bytes: usize,
        at_most: Duration,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()>;

    /// Waits for the oldest pending transfer, at most so long; `None` if it is not over by then.
    /// IN: `take` is given its bytes, in the transfer's own buffer. The clock of a transfer stops
    /// when this is about to call `take`; `take` therefore gets nothing else, and reads it.
    fn complete(
        &mut self,
        at_most: Duration,
        take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>>;

    /// Transfers pending.
    fn pending(&self) -> usize;

    /// Cancels what is pending and waits until it is over. What an IN transfer had received by then
    /// is given to `take`, and so are the bytes of an OUT transfer that were handed over in part.
    fn cancel(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<()>;

    /// Where a thread of the link hears first of what is over, and has one processor only with the
    /// caller's: lets that thread call `step`, so that no switch of threads lies between the end of
    /// a transfer and the next submission. Returns true after it was lent: once `step` returned
    /// false, something happened that the caller must see to ([`Flow::complete`] tells it), a signal
    /// came, or the time was over. Elsewhere it returns false at once.
    ///
    /// `step` takes what is over with [`Flow::complete`] and submits anew, until nothing more is over;
    /// there `complete` never waits. Then it returns true to be called when something is.
    fn lend(
        &mut self,
        _at_most: Duration,
        _step: &mut (dyn FnMut(&mut dyn Flow) -> bool + Send),
    ) -> bool {
        false
    }

    /// The thread that [`Flow::lend`] lends it to.
    fn lent_to(&self) -> Option<Helper> {
        None
    }

    /// Processor time in nanoseconds that a helper thread of the link (not the caller) has used for
    /// it so far; 0 where there is none.
    fn helper_cpu_ns(&self) -> u64 {
        0
    }
}
