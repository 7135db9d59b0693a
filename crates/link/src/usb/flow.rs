//! Streams over a pair of endpoints: transfers are submitted, pend in the host controller, and end
//! in order. The bytes lie in the transfers' own buffers.

use super::pipe::{Ended, Pipe, PipeError};
use crate::flow::{Completed, Flow};
use crate::host::{Handoff, Helper, WakeEvent, Woken};
use nusb::transfer::{BulkOrInterrupt, In, Out};
use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// Device to host.
pub struct InFlow<'a, T: BulkOrInterrupt> {
    pipe: &'a mut Pipe<T, In>,
    wake_event: Arc<WakeEvent>,
    waker: Waker,
    share: Share,
    /// Where the library's thread and this one have one processor between them.
    handoff: Option<(Arc<Handoff>, Waker)>,
    lent: Lent,
}

/// Who works on an IN flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lent {
    /// The caller's thread.
    No,
    /// The library's.
    Yes,
    /// The library's, but only the caller's can see to what happened.
    Failed,
}

/// Host to device.
pub struct OutFlow<'a, T: BulkOrInterrupt> {
    pipe: &'a mut Pipe<T, Out>,
    wake_event: Arc<WakeEvent>,
    waker: Waker,
    share: Share,
}

impl<'a, T: BulkOrInterrupt> InFlow<'a, T> {
    /// Over a pipe whose buffers are laid out.
    pub fn new(pipe: &'a mut Pipe<T, In>, helper: Option<Helper>) -> Self {
        let (wake_event, waker) = pipe.wake_event();
        InFlow {
            pipe,
            wake_event,
            waker,
            share: Share::of(helper),
            handoff: helper
                .filter(Helper::shares_callers_only_processor)
                .map(|_| Handoff::new()),
            lent: Lent::No,
        }
    }
}

impl<T: BulkOrInterrupt> InFlow<'_, T> {
    #[inline]
    fn taken(&mut self, ended: Ended, take: &mut dyn FnMut(&[u8])) -> Completed {
        take(&ended.buffer[..]);
        self.pipe.give_back(ended.buffer);
        Completed {
            bytes: ended.bytes,
            stalled: ended.stalled,
        }
    }

    /// The same on the library's thread, which must not wait: not even for the end of a stall.
    fn complete_lent(&mut self, take: &mut dyn FnMut(&[u8])) -> Option<Completed> {
        let (_, waker) = self.handoff.as_ref()?;
        match self.pipe.poll_sound(waker) {
            Ok(ended) => ended.map(|ended| self.taken(ended, take)),
            Err(PipeError) => {
                self.lent = Lent::Failed;
                None
            }
        }
    }
}

impl<'a, T: BulkOrInterrupt> OutFlow<'a, T> {
    /// Over a pipe whose buffers are laid out.
    pub fn new(pipe: &'a mut Pipe<T, Out>, helper: Option<Helper>) -> Self {
        let (wake_event, waker) = pipe.wake_event();
        OutFlow {
            pipe,
            wake_event,
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
        "a transfer was submitted to a full queue, or is larger than its buffer",
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
        if self.lent != Lent::No {
            return Ok(self.complete_lent(take));
        }
        loop {
            self.wake_event.clear();
            if let Some(ended) = self.pipe.poll(&self.waker)? {
                return Ok(Some(self.taken(ended, take)));
            }
            if self.pipe.pending() == 0 || self.wake_event.wait(Some(at_most)) == Woken::Otherwise {
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

    fn lend(
        &mut self,
        at_most: Duration,
        step: &mut (dyn FnMut(&mut dyn Flow) -> bool + Send),
    ) -> bool {
        let Some((handoff, _)) = &self.handoff else {
            return false;
        };
        let handoff = Arc::clone(handoff);
        self.lent = Lent::Yes;
        handoff.lend(at_most, &mut || step(self) && self.lent == Lent::Yes);
        self.lent = Lent::No;
        true
    }

    fn lent_to(&self) -> Option<Helper> {
        self.share.helper.filter(|_| self.handoff.is_some())
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
            self.wake_event.clear();
            if let Some(ended) = self.pipe.poll(&self.waker)? {
                self.pipe.give_back(ended.buffer);
                return Ok(Some(Completed {
                    bytes: ended.bytes,
                    stalled: ended.stalled,
                }));
            }
            if self.pipe.pending() == 0 || self.wake_event.wait(Some(at_most)) == Woken::Otherwise {
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
