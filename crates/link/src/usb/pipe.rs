//! One endpoint: its transfers, their buffers, and what is done when it stalls. Buffers are laid out
//! before and used again and again.

use super::errors;
use super::identity::Identity;
use crate::host::WakeEvent;
use nusb::transfer::TransferError;
use nusb::transfer::{Buffer, BulkOrInterrupt, Completion, EndpointDirection, In, Out};
use nusb::{Endpoint, MaybeFuture};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A cancelled transfer comes back at once; a host controller that keeps one longer is stuck.
const CANCEL: Duration = Duration::from_secs(2);

/// Transfers that ended in this process: the library's thread works for all of them.
static ENDED: AtomicU64 = AtomicU64::new(0);

/// One endpoint.
pub struct Pipe<T: BulkOrInterrupt, D: EndpointDirection> {
    endpoint: Endpoint<T, D>,
    identity: Arc<Identity>,
    /// Buffers that are not under way.
    free: Vec<Buffer>,
    buffer_bytes: usize,
    buffers: usize,
    /// Ended while a stall was cleared, not yet reported.
    held: VecDeque<Completion>,
    /// The library keeps one ended transfer to use it again; without one, a submission allocates.
    spare: bool,
    stalls: u64,
    ended: u64,
    wake_event: Arc<WakeEvent>,
    waker: Waker,
}

/// A transfer that is over.
pub struct Ended {
    /// Its buffer; IN: as long as what was received.
    pub buffer: Buffer,
    /// Bytes carried.
    pub bytes: usize,
    /// The endpoint had stalled.
    pub stalled: bool,
}

/// The oldest transfer ended otherwise than well; [`Pipe::poll`] tells how.
#[derive(Clone, Copy, Debug)]
pub struct PipeError;

impl<T: BulkOrInterrupt, D: EndpointDirection> Pipe<T, D> {
    /// Of an endpoint.
    pub fn new(endpoint: Endpoint<T, D>, identity: Arc<Identity>) -> Self {
        let (wake_event, waker) = WakeEvent::new();
        Pipe {
            endpoint,
            identity,
            free: Vec::new(),
            buffer_bytes: 0,
            buffers: 0,
            held: VecDeque::new(),
            spare: false,
            stalls: 0,
            ended: 0,
            wake_event,
            waker,
        }
    }

    /// Bytes of a full packet.
    pub fn packet_bytes(&self) -> usize {
        self.endpoint.max_packet_size()
    }

    /// Times that it stalled.
    pub fn stalls(&self) -> u64 {
        self.stalls
    }

    /// Transfers that ended here, and in the whole process.
    pub fn ended(&self) -> (u64, u64) {
        (self.ended, ENDED.load(Ordering::Relaxed))
    }

    /// Transfers under way, or over and not yet taken.
    pub fn pending(&self) -> usize {
        self.endpoint.pending() + self.held.len()
    }

    /// Bytes of each buffer.
    pub fn buffer_bytes(&self) -> usize {
        self.buffer_bytes
    }

    /// True if a transfer with a buffer can be submitted.
    pub fn has_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// By which the library's thread tells of a transfer that ended.
    pub fn wake_event(&self) -> (Arc<WakeEvent>, Waker) {
        (Arc::clone(&self.wake_event), self.waker.clone())
    }

    /// Lays out so many buffers; nothing may be pending. The system maps them into this program
    /// where it can, so that the controller reads and writes them without a copy.
    pub fn lay_out(&mut self, buffers: usize, bytes: usize) {
        if self.buffers == buffers && self.buffer_bytes == bytes && self.free.len() == buffers {
            return;
        }
        self.free.clear();
        self.free.reserve(buffers);
        self.held.reserve(buffers);
        for _ in 0..buffers {
            let mut buffer = self.endpoint.allocate(bytes);
            // Touched, so that no page is missing when it counts.
            buffer.extend_fill(bytes, 0xff);
            buffer.clear();
            self.free.push(buffer);
        }
        (self.buffers, self.buffer_bytes) = (buffers, bytes);
    }

    /// True if the controller works on the buffers themselves.
    pub fn is_zero_copy(&self) -> bool {
        self.free.iter().all(Buffer::is_zero_copy)
    }

    /// The oldest transfer if it is over; otherwise the waker will be called when it is.
    #[inline]
    pub fn poll(&mut self, waker: &Waker) -> io::Result<Option<Ended>> {
        if let Some(completion) = self.held.pop_front() {
            return self.conclude(completion).map(Some);
        }
        match self.next(waker) {
            Some(completion) => self.conclude(completion).map(Some),
            None => Ok(None),
        }
    }

    /// The same without ever waiting: a transfer that did not end well is kept for [`Pipe::poll`].
    #[inline]
    pub fn poll_sound(&mut self, waker: &Waker) -> Result<Option<Ended>, PipeError> {
        if !self.held.is_empty() {
            return Err(PipeError);
        }
        match self.next(waker) {
            Some(completion) if completion.status.is_ok() => Ok(Some(Ended {
                buffer: completion.buffer,
                bytes: completion.actual_len,
                stalled: false,
            })),
            Some(completion) => {
                self.held.push_back(completion);
                Err(PipeError)
            }
            None => Ok(None),
        }
    }

    #[inline]
    fn next(&mut self, waker: &Waker) -> Option<Completion> {
        if self.endpoint.pending() == 0 {
            return None;
        }
        match self
            .endpoint
            .poll_next_complete(&mut Context::from_waker(waker))
        {
            Poll::Pending => None,
            Poll::Ready(completion) => {
                self.spare = true;
                self.ended += 1;
                ENDED.fetch_add(1, Ordering::Relaxed);
                Some(completion)
            }
        }
    }

    fn conclude(&mut self, completion: Completion) -> io::Result<Ended> {
        let (buffer, bytes) = (completion.buffer, completion.actual_len);
        let stalled = match completion.status {
            Ok(()) | Err(TransferError::Cancelled) => false,
            Err(TransferError::Stall) => {
                self.stalls += 1;
                self.recover()?;
                true
            }
            Err(error) => {
                self.give_back(buffer);
                return Err(errors::of_transfer(&self.identity, error));
            }
        };
        Ok(Ended {
            buffer,
            bytes,
            stalled,
        })
    }

    /// Clears a stall. It may only be cleared with nothing pending (usbfs warns otherwise), so the
    /// rest is cancelled first and reported later, in order.
    fn recover(&mut self) -> io::Result<()> {
        self.endpoint.cancel_all();
        while self.endpoint.pending() > 0 {
            let mut completion = self.next_within(CANCEL)?;
            if completion.status == Err(TransferError::Stall) {
                // The same stall, seen again by the next in the queue.
                completion.status = Err(TransferError::Cancelled);
            }
            self.held.push_back(completion);
        }
        self.spare = true;
        self.clear_halt().map_err(|error| {
            io::Error::other(format!(
                "the endpoint stalled, and clearing it failed: {error}"
            ))
        })
    }

    /// Clears the halt of the endpoint; nothing may be pending.
    pub fn clear_halt(&mut self) -> Result<(), nusb::Error> {
        self.endpoint.clear_halt().wait()
    }

    fn next_within(&mut self, at_most: Duration) -> io::Result<Completion> {
        self.endpoint.wait_next_complete(at_most).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::TimedOut,
                "the host controller does not return a cancelled transfer",
            )
        })
    }

    /// Takes a buffer back for the next transfer.
    pub fn give_back(&mut self, buffer: Buffer) {
        // Empty packets have no buffer worth keeping.
        if buffer.capacity() > 0 && self.free.len() < self.buffers {
            self.free.push(buffer);
        }
    }

    /// Cancels all that is pending and waits for it; `take` is given what had been carried.
    pub fn cancel(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        while let Some(completion) = self.held.pop_front() {
            take(&completion.buffer[..]);
            self.give_back(completion.buffer);
        }
        self.endpoint.cancel_all();
        while self.endpoint.pending() > 0 {
            let completion = self.next_within(CANCEL)?;
            take(&completion.buffer[..]);
            self.give_back(completion.buffer);
            self.spare = true;
        }
        Ok(())
    }
}

impl<T: BulkOrInterrupt> Pipe<T, In> {
    /// Asks for so many bytes, rounded up to whole packets.
    pub fn submit_free(&mut self, bytes: usize) {
        if let Some(buffer) = self.free.pop() {
            self.submit(buffer, bytes);
        }
    }

    /// The same with a buffer that was just taken.
    #[inline]
    pub fn submit(&mut self, mut buffer: Buffer, bytes: usize) {
        let packet = self.packet_bytes();
        buffer.set_requested_len(bytes.max(1).next_multiple_of(packet));
        self.spare = false;
        self.endpoint.submit(buffer);
    }

    /// Asks with every buffer that is not under way.
    pub fn submit_all(&mut self) {
        while let Some(buffer) = self.free.pop() {
            self.submit(buffer, self.buffer_bytes);
        }
    }
}

impl<T: BulkOrInterrupt> Pipe<T, Out> {
    /// Sends so many bytes, which `fill` writes. There must be a free buffer of that size.
    #[inline]
    pub fn submit_filled(&mut self, bytes: usize, fill: impl FnOnce(&mut [u8])) {
        let mut buffer = self.free.pop().expect("the caller saw a free buffer");
        // A buffer that carried as many bytes before is as long already.
        if buffer.len() != bytes {
            buffer.clear();
            buffer.extend_fill(bytes, 0);
        }
        fill(&mut buffer);
        self.spare = false;
        self.endpoint.submit(buffer);
    }

    /// Sends an empty packet.
    pub fn submit_empty(&mut self) {
        self.spare = false;
        // A buffer without capacity is no allocation.
        self.endpoint.submit(Buffer::new(0));
    }

    /// Takes back what was sent: as much as the next submission needs, so that the library always
    /// has a transfer to use again. The waker is called for what is still under way.
    #[inline]
    pub fn reap(&mut self, needs_buffer: bool, waker: &Waker) -> io::Result<()> {
        while !self.spare || (needs_buffer && self.free.is_empty()) {
            match self.poll(waker)? {
                Some(ended) => self.give_back(ended.buffer),
                None => break,
            }
        }
        Ok(())
    }
}

impl<T: BulkOrInterrupt, D: EndpointDirection> Drop for Pipe<T, D> {
    fn drop(&mut self) {
        // All transfers must be back before the interface is released, or the library's thread
        // would release it later.
        let _ = self.cancel(|_| {});
    }
}
