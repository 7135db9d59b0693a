//! One open device that a program talks to: exchanges, batches, a pipeline, a control loop, streams. Where
//! `exchange` and `stream` measure a link with bytes of their own, this carries the caller's.

mod control;
mod framing;

pub use control::{ControlPlan, Cycle, CycleStatus, Step};
pub use framing::{Framing, LengthField};

use crate::error::LinkError;
use std::time::Duration;
use wiregauge_record::{LinkDetail, LinkOptions, Responder, Wait};

/// How a device is opened.
#[derive(Clone, Debug)]
pub struct DeviceOptions {
    /// How messages are told apart on the link; `None` says HELLO and speaks the wiregauge protocol.
    pub framing: Option<Framing>,
    /// After this long without a whole reply an exchange has failed.
    pub timeout: Duration,
    /// How to wait for a reply.
    pub wait: Wait,
    /// What only some kinds of link understand.
    pub link: LinkOptions,
}

impl Default for DeviceOptions {
    /// The wiregauge protocol, one second, asleep in the read.
    fn default() -> DeviceOptions {
        DeviceOptions {
            framing: None,
            timeout: Duration::from_secs(1),
            wait: Wait::Block,
            link: LinkOptions::default(),
        }
    }
}

/// When one exchange happened. Times are nanoseconds of the host's monotonic clock since the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Timing {
    /// Start of sending the request.
    pub start_ns: u64,
    /// Start of sending to the last byte of the reply.
    pub rtt_ns: u64,
    /// Device clock when the request had arrived, in ticks; 0 where the device has no clock.
    pub device_rx_ticks: u64,
    /// Device clock when the reply was handed over, in ticks.
    pub device_tx_ticks: u64,
}

/// A reply, in the device's own buffer until the next call.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// Its payload.
    pub payload: &'a [u8],
    /// When.
    pub timing: Timing,
}

/// Requests of a batch: rows of bytes, one behind the other.
#[derive(Clone, Copy, Debug)]
pub struct Requests<'a> {
    /// All payloads, one behind the other.
    pub bytes: &'a [u8],
    /// Where each of them ends in `bytes`, ascending; the first begins at 0.
    pub ends: &'a [usize],
}

/// Where the replies of a batch go: row `n` of `bytes` is the reply to request `n`.
#[derive(Debug)]
pub struct Replies<'a> {
    /// Rows of `row_bytes`, as many as requests.
    pub bytes: &'a mut [u8],
    /// Bytes of a row: the largest reply that is taken.
    pub row_bytes: usize,
    /// Bytes that came in each row.
    pub lengths: &'a mut [usize],
    /// When; empty if nobody wants to know.
    pub timings: &'a mut [Timing],
}

/// An open device. Used by one thread at a time.
pub struct Device {
    about: About,
}

/// What is known of an open device.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Its address.
    pub address: String,
    /// What it said of itself, where it speaks the wiregauge protocol.
    pub responder: Option<Responder>,
    /// Settings of the link.
    pub link: LinkDetail,
    /// The largest payload of a request, and of a reply, in bytes.
    pub largest_request: usize,
    /// See above.
    pub largest_reply: usize,
}

impl Device {
    /// Opens it, and with the wiregauge protocol asks it who it is.
    pub fn open(_address: &str, _options: &DeviceOptions) -> Result<Device, LinkError> {
        todo!()
    }

    /// What is known of it.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Whether a waiting call is to end: asked whenever a wait was interrupted by a signal, and every 100 ms.
    /// When it says so, the call fails with an error of kind `Interrupted`; replies that were outstanding are
    /// let go, and the device can be used on.
    pub fn set_interrupt(&mut self, _is_interrupted: Option<Box<dyn FnMut() -> bool + Send>>) {
        todo!()
    }

    /// One exchange: sends the payload, waits for the reply.
    ///
    /// `reply_bytes`: the payload asked for (wiregauge protocol), or to be waited for (a framing that does not
    /// tell by itself: [`Framing::Raw`]). `None`: as many as were sent.
    pub fn exchange(
        &mut self,
        _request: &[u8],
        _reply_bytes: Option<usize>,
    ) -> Result<Reply<'_>, LinkError> {
        todo!()
    }

    /// All requests, `depth` of them outstanding. Returns how many were answered: all, or with the error those
    /// before the one that failed.
    pub fn exchange_many(
        &mut self,
        _requests: Requests<'_>,
        _replies: Replies<'_>,
        _depth: u32,
    ) -> Result<(), (usize, LinkError)> {
        todo!()
    }

    /// Sends a request without waiting for its reply. Replies come in the order of the requests. It may have to
    /// wait until the system takes the bytes, and takes in replies meanwhile.
    pub fn submit(&mut self, _request: &[u8], _reply_bytes: Option<usize>) -> Result<(), LinkError> {
        todo!()
    }

    /// Waits for the reply to the oldest submitted request.
    pub fn next_reply(&mut self) -> Result<Reply<'_>, LinkError> {
        todo!()
    }

    /// Submitted requests whose replies were not taken yet.
    pub fn outstanding(&self) -> usize {
        todo!()
    }

    /// A loop at a fixed rate: each cycle's request is what `step` made of the newest reply. Every cycle leaves a row in
    /// `cycles`, which has room for all of them; returns how many there were.
    pub fn control(
        &mut self,
        _plan: &ControlPlan,
        _step: &mut Step<'_>,
        _cycles: &mut [Cycle],
    ) -> Result<usize, (usize, LinkError)> {
        todo!()
    }

    /// Fills `into` with what the device sends, in transfers of so many bytes, `queue` of them pending
    /// (USB only). With the wiregauge protocol the device is told to begin and to end, and what it sends is
    /// its own (a responder's pattern); otherwise bytes are taken as they come. Returns how many came.
    pub fn read_stream(
        &mut self,
        _into: &mut [u8],
        _transfer_bytes: usize,
        _queue: usize,
    ) -> Result<usize, (usize, LinkError)> {
        todo!()
    }

    /// Sends all of `from` likewise. Returns how many were taken.
    pub fn write_stream(
        &mut self,
        _from: &[u8],
        _transfer_bytes: usize,
        _queue: usize,
    ) -> Result<usize, (usize, LinkError)> {
        todo!()
    }
}
