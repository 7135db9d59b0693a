//! Streams over a pair of endpoints: transfers are submitted, pend in the host controller, and end
//! in order. The bytes lie in the transfers' own buffers.

use super::pipe::Pipe;
use crate::host::{Bell, Helper, Woken};
use crate::link::flow::{Completed, Flow};
use nusb::transfer::{BulkOrInterrupt, In, Out};
use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// Device to host.
pub struct InFlow<'a, T: BulkOrInterrupt> {
    pipe: &'a mut Pipe<T, In>,
    bell: Arc<Bell>,
    waker: Waker,
    share: Share,
    /// The library's thread and this one have one processor between them.
    crowded: bool,
    /// Transfers taken since this thread last asked to be first.
    taken: usize,
}

/// Host to device.
pub struct OutFlow<'a, T: BulkOrInterrupt> {
    pipe: &'a mut Pipe<T, Out>,
    bell: Arc<Bell>,
    waker: Waker,
    share: Share,
}

impl<'a, T: BulkOrInterrupt> InFlow<'a, T> {
    /// Over a pipe whose buffers are laid out.
    pub fn new(pipe: &'a mut Pipe<T, In>, helper: Option<Helper>) -> Self {
        let (bell, waker) = pipe.bell();
        InFlow {
            pipe,
            bell,
            waker,
            share: Share::of(helper),
            crowded: helper.is_some_and(|helper| helper.shares_callers_only_processor()),
            taken: 0,
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
            share: Share::of(helper),
        }
    }
}

/// The part of the library's thread that works for this direction. It works for all transfers of the
/// process alike, so its processor time is divided by their number.
struct Share {
    helper: Option<Helper>,
    /// Its processor time, transfers of this direction and of all, when last looked at.
    last: Cell<(u64, (u64, u64))>,
    sum_ns: Cell<u64>,
}

impl Share {
    fn of(helper: Option<Helper>) -> Share {
        Share {
            helper,
            last: Cell::new((0, (0, 0))),
            sum_ns: Cell::new(0),
        }
    }

    fn cpu_ns(&self, (own, all): (u64, u64)) -> u64 {
        let cpu = self.helper.map_or(0, |helper| helper.cpu_ns());
        self.add(cpu, (own, all))
    }

    fn add(&self, cpu: u64, (own, all): (u64, u64)) -> u64 {
        let (cpu_before, (own_before, all_before)) = self.last.replace((cpu, (own, all)));
        let used = cpu.saturating_sub(cpu_before);
        let (own, all) = (own - own_before, all - all_before);
        if all > 0 {
            let part = u128::from(used) * u128::from(own.min(all)) / u128::from(all);
            self.sum_ns.set(self.sum_ns.get() + part as u64);
        }
        self.sum_ns.get()
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
                self.taken += 1;
                return Ok(Some(Completed {
                    bytes: ended.bytes,
                    stalled: ended.stalled,
                }));
            }
            // Of several that are over, the library's thread would take all before this thread could
            // submit the first again, and the bus may have nothing to do meanwhile. Once in a round of
            // the queue is enough to keep it going; more often costs only switches.
            let woken = match self.pipe.pending() {
                0 => return Ok(None),
                pending @ 2.. if self.crowded && self.taken >= pending => {
                    self.taken = 0;
                    self.bell.wait_to_be_first(Some(at_most))
                }
                _ => self.bell.wait(Some(at_most)),
            };
            if woken == Woken::Otherwise {
                return Ok(None);
            }
        }
    }

    fn pending(&self) -> usize {
        self.pipe.pending()
    }

    fn cancel(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.bell.go_on();
        self.pipe.cancel(take)
    }

    fn helper_cpu_ns(&self) -> u64 {
        self.share.cpu_ns(self.pipe.ended())
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
        self.share.cpu_ns(self.pipe.ended())
    }
}

impl<T: BulkOrInterrupt> Drop for InFlow<'_, T> {
    fn drop(&mut self) {
        self.bell.go_on();
        let _ = self.pipe.cancel(|_| {});
    }
}

impl<T: BulkOrInterrupt> Drop for OutFlow<'_, T> {
    fn drop(&mut self) {
        let _ = self.pipe.cancel(|_| {});
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_helpers_time_is_divided_by_the_transfers_that_it_worked_for() {
        let share = Share::of(None);
        assert_eq!(share.add(1_000, (0, 0)), 0);
        // A quarter of the transfers, a quarter of the time.
        assert_eq!(share.add(1_400, (10, 40)), 100);
        // Nothing ended: nothing is added, and nothing lost of what was.
        assert_eq!(share.add(1_500, (10, 40)), 100);
        assert_eq!(share.add(1_900, (30, 60)), 500);
    }
}
