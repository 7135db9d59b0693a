//! Streams over a pair of endpoints: transfers are submitted, pend in the host controller, and end
//! in order. The bytes lie in the transfers' own buffers.

use super::pipe::Pipe;
use crate::host::{Bell, Helper, Woken};
use crate::link::flow::{Completed, Flow};
use nusb::transfer::{BulkOrInterrupt, In, Out};
use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// Device to host.
pub struct InFlow<'a, T: BulkOrInterrupt> {
    pipe: &'a mut Pipe<T, In>,
    bell: Arc<Bell>,
    waker: Waker,
    helper: Option<Helper>,
}

/// Host to device.
pub struct OutFlow<'a, T: BulkOrInterrupt> {
    pipe: &'a mut Pipe<T, Out>,
    bell: Arc<Bell>,
    waker: Waker,
    helper: Option<Helper>,
}

impl<'a, T: BulkOrInterrupt> InFlow<'a, T> {
    /// Over a pipe whose buffers are laid out.
    pub fn new(pipe: &'a mut Pipe<T, In>, helper: Option<Helper>) -> Self {
        let (bell, waker) = pipe.bell();
        InFlow {
            pipe,
            bell,
            waker,
            helper,
        }
    }
}

impl<'a, T: BulkOrInterrupt> OutFlow<'a, T> {
    /// Over a pipe whose buffers are laid out.
    pub fn new(pipe: &'a mut Pipe<T, Out>, helper: Option<Helper>) -> Self {
        let (bell, waker) = pipe.bell();
        OutFlow {
            pipe,
            bell,
            waker,
            helper,
        }
    }
}

fn full() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "a transfer was submitted with the queue full or larger than its buffer",
    )
}

impl<T: BulkOrInterrupt> Flow for InFlow<'_, T> {
    fn submit(
        &mut self,
        bytes: usize,
        _at_most: Duration,
        _fill: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()> {
        if !self.pipe.has_free() || bytes > self.pipe.buffer_bytes() {
            return Err(full());
        }
        self.pipe.submit_free(bytes);
        Ok(())
    }

    fn complete(
        &mut self,
        at_most: Duration,
        take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>> {
        loop {
            self.bell.hush();
            if let Some(ended) = self.pipe.poll(&self.waker)? {
                take(&ended.buffer[..]);
                self.pipe.give_back(ended.buffer);
                return Ok(Some(Completed {
                    bytes: ended.bytes,
                    stalled: ended.stalled,
                }));
            }
            if self.pipe.pending() == 0 || self.bell.wait(Some(at_most)) == Woken::Otherwise {
                return Ok(None);
            }
        }
    }

    fn pending(&self) -> usize {
        self.pipe.pending()
    }

    fn cancel(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.pipe.cancel(take)
    }

    fn helper_cpu_ns(&self) -> u64 {
        self.helper.map_or(0, |helper| helper.cpu_ns())
    }
}

impl<T: BulkOrInterrupt> Flow for OutFlow<'_, T> {
    fn submit(
        &mut self,
        bytes: usize,
        _at_most: Duration,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()> {
        if !self.pipe.has_free() || bytes > self.pipe.buffer_bytes() {
            return Err(full());
        }
        self.pipe.submit_filled(bytes, fill);
        Ok(())
    }

    fn complete(
        &mut self,
        at_most: Duration,
        _take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>> {
        loop {
            self.bell.hush();
            if let Some(ended) = self.pipe.poll(&self.waker)? {
                self.pipe.give_back(ended.buffer);
                return Ok(Some(Completed {
                    bytes: ended.bytes,
                    stalled: ended.stalled,
                }));
            }
            if self.pipe.pending() == 0 || self.bell.wait(Some(at_most)) == Woken::Otherwise {
                return Ok(None);
            }
        }
    }

    fn pending(&self) -> usize {
        self.pipe.pending()
    }

    fn cancel(&mut self, _take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.pipe.cancel(|_| {})
    }

    fn helper_cpu_ns(&self) -> u64 {
        self.helper.map_or(0, |helper| helper.cpu_ns())
    }
}

impl<T: BulkOrInterrupt> Drop for InFlow<'_, T> {
    fn drop(&mut self) {
        let _ = self.pipe.cancel(|_| {});
    }
}

impl<T: BulkOrInterrupt> Drop for OutFlow<'_, T> {
    fn drop(&mut self) {
        let _ = self.pipe.cancel(|_| {});
    }
}
