//! Time stamps of the kernel, as the taker of them sees them: when each request was handed to the network card's driver,
//! and when the last packet of each response came from there.

use crate::host::Offset;

/// A stamp: by which time so many bytes of a direction had passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// CLOCK_REALTIME in nanoseconds.
    pub real_ns: u64,
    /// Bytes since the stamp before of this direction.
    pub bytes: u32,
    /// True of a response, false of a request.
    pub received: bool,
}

/// The taker's end. The times are those of CLOCK_MONOTONIC.
pub struct Stamps {
    stamps: rtrb::Consumer<Stamp>,
    offset: Offset,
    clock_set: u64,
}

impl Stamps {
    /// The taker's end of a queue of stamps.
    pub(crate) fn new(stamps: rtrb::Consumer<Stamp>) -> Stamps {
        Stamps {
            stamps,
            offset: Offset::read(),
            clock_set: 0,
        }
    }

    /// Takes the stamps so far: direction (true: received), time, bytes. Those of a moment at which the real-time
    /// clock was set are dropped.
    pub fn take(&mut self, mut to: impl FnMut(bool, u64, u32)) {
        let count = self.stamps.slots();
        let offset = Offset::read();
        let is_step = offset.is_step_from(&self.offset);
        if is_step {
            self.offset = offset;
        }
        for _ in 0..count {
            let Ok(stamp) = self.stamps.pop() else { break };
            match is_step {
                true => self.clock_set += 1,
                false => {
                    let at_ns = self.offset.monotonic_ns(stamp.real_ns);
                    to(stamp.received, at_ns, stamp.bytes);
                }
            }
        }
    }

    /// Stamps dropped so far because the real-time clock was set.
    pub fn clock_set(&self) -> u64 {
        self.clock_set
    }
}
