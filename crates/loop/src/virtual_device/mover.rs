//! What a virtual device does that really moves its samples: it plays the DMA engine of a digitizer
//! and a generator, by its own clock. The same in a thread and in a process.
//!
//! A block that comes in is written into its place while it comes in, so that at its tick only the
//! position moves and the host is woken: what the device needs to move samples is not charged to the host.

use super::memory::RingMemory;
use super::places::{Places, Source, has_number};
use super::shared::{Asked, Shared, state, wish};
use crate::device::STALLS_KEPT;
use crate::platform;
use std::io;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use wiregauge_link::host::{self, Clock};
use wiregauge_record::{LoopPoint, Xrun};

/// A device that was late by more than this is counted as such.
const MUCH_NS: u64 = 100_000;

/// A device that does not come to rest between two blocks for this long is asked for more than it can.
const TIMEOUT_NS: u64 = 2_000_000_000;

/// Nothing needs to be looked after while the device rests.
const LONG_NS: u64 = 3_600_000_000_000;

/// Takes what the device is to be on this host; called by its own thread.
pub(crate) fn take_place(shared: &Shared, asked: Asked) {
    host::use_precise_timers();
    if let Some(cpu) = asked.keep_off {
        host::keep_off(cpu);
    }
    let granted = asked.priority.and_then(host::outrank).unwrap_or(0);
    shared.granted.store(granted.into(), Ordering::Relaxed);
}

/// Plays every point that the host wishes, until it wishes no more. `lay_out` gives the rings of a
/// point.
pub(crate) fn serve<M: Deref<Target = RingMemory>>(
    shared: &Shared,
    mut lay_out: impl FnMut(&LoopPoint) -> io::Result<M>,
) {
    loop {
        shared.device_event.clear();
        let is = shared.state.load(Ordering::Relaxed);
        match shared.wish.load(Ordering::Acquire) {
            wish::PLAY if is == state::RESTING => {
                let Some((point, copies)) = shared.point() else {
                    refuse(shared, 0);
                    continue;
                };
                match lay_out(&point) {
                    Ok(rings) => play(shared, &rings, &point, copies),
                    Err(error) => {
                        let code = error.raw_os_error().unwrap_or(platform::OUT_OF_MEMORY);
                        refuse(shared, code as u32);
                    }
                }
            }
            wish::PLAY => sleep(shared),
            wish::REST if is == state::RESTING => sleep(shared),
            wish::REST => tell(shared, state::RESTING),
            _ => return,
        }
    }
}

fn sleep(shared: &Shared) {
    let now_ns = Clock::start().zero_ns();
    shared.device_event.wait_until(now_ns + LONG_NS);
}

fn tell(shared: &Shared, state: u32) {
    shared.state.store(state, Ordering::Release);
    shared.host_event.set();
}

fn refuse(shared: &Shared, code: u32) {
    shared.error.store(code, Ordering::Relaxed);
    tell(shared, state::REFUSED);
}

/// Plays one point until the host wishes otherwise, or more is asked for than can be moved.
fn play(shared: &Shared, rings: &RingMemory, point: &LoopPoint, copies: bool) {
    let place = Places::of(point);
    let mut mover = Mover {
        shared,
        rings,
        place,
        copies,
        source: Source::new(),
        played: vec![0; place.block],
        lost: vec![0; place.ring_blocks().div_ceil(64) as usize],
        open: Vec::with_capacity(STALLS_KEPT),
        handed: 0,
    };
    let clock = Clock::start();
    shared.zero_ns.store(clock.zero_ns(), Ordering::Relaxed);
    tell(shared, state::RUNNING);
    let mut behind_since = None;
    for tick in 0.. {
        let at_ns = place.begins_ns(tick);
        let mut now_ns = clock.now();
        if now_ns >= at_ns {
            let since = *behind_since.get_or_insert(now_ns);
            if now_ns - since > TIMEOUT_NS {
                tell(shared, state::TOO_SLOW);
                break;
            }
        } else {
            behind_since = None;
        }
        while now_ns < at_ns && is_wished(shared) {
            shared.device_event.clear();
            if is_wished(shared) {
                shared.device_event.wait_until(clock.zero_ns() + at_ns);
            }
            now_ns = clock.now();
        }
        if !is_wished(shared) {
            break;
        }
        mover.tick(tick, now_ns);
    }
    mover.close(clock.now());
}

fn is_wished(shared: &Shared) -> bool {
    shared.wish.load(Ordering::Acquire) == wish::PLAY
}

/// The device while it plays a point.
struct Mover<'a> {
    shared: &'a Shared,
    rings: &'a RingMemory,
    place: Places,
    copies: bool,
    source: Source,
    /// The block that was last taken to be played.
    played: Vec<i16>,
    /// A bit for each place of the input ring: what was to come in there did not.
    lost: Vec<u64>,
    /// Stalls that last: where each is kept, and its block.
    open: Vec<(usize, u64)>,
    /// Blocks that the host has handed over, as of the last look.
    handed: u64,
}

impl Mover<'_> {
    /// What happens at an instant at which one block is in and the next begins.
    fn tick(&mut self, tick: u64, now_ns: u64) {
        let shared = self.shared;
        self.note_late(now_ns.saturating_sub(self.place.begins_ns(tick)));
        let was = shared.positions.tick();
        shared.host_event.set();
        // A host that hands over what it was not given is none to be believed; it is heard all the same,
        // because the samples of each block lie in one place whatever it says.
        self.handed = was.handed(self.handed);
        self.close_stalls(now_ns);
        if let Some(block) = tick.checked_sub(self.place.preload_blocks()) {
            self.take_out(block);
        }
        self.bring_in(tick);
    }

    /// The output needs this block.
    fn take_out(&mut self, block: u64) {
        let account = &self.shared.account;
        if self.handed <= block {
            add(&account.underruns);
            self.open_stall(Xrun::Underrun, self.place.played_ns(block), block);
            return;
        }
        let at = self.place.output(block);
        // SAFETY: the host has handed this block over and writes here again only after the tick at
        // which the block one ring later is in, which this thread has yet to publish.
        let output = unsafe { self.rings.output(at, self.played.len()) };
        self.played.copy_from_slice(output);
        if self.copies && !self.is_lost(block) {
            add(&account.checked);
            if !has_number(block, &self.played) {
                add(&account.wrong);
            }
        }
    }

    /// This block comes in, in the place of the one a ring before it.
    fn bring_in(&mut self, block: u64) {
        let before = block.checked_sub(self.place.ring_blocks());
        if let Some(before) = before.filter(|&before| self.handed <= before) {
            // What the host still reads is left as it is, so that the two never meet in one place:
            // what is lost is the block that comes in.
            add(&self.shared.account.overruns);
            self.open_stall(Xrun::Overrun, self.place.overwritten_ns(before), before);
            self.set_lost(block, true);
            return;
        }
        let at = self.place.input(block);
        // SAFETY: the host has released what was here, or nothing was, and reads here again only
        // after the next tick, which this thread has yet to publish.
        let input = unsafe { self.rings.input_mut(at, self.place.block) };
        self.source.write(block, input);
        self.set_lost(block, false);
    }

    fn slot(&self, block: u64) -> (usize, u64) {
        let slot = block % self.place.ring_blocks();
        ((slot / 64) as usize, 1 << (slot % 64))
    }

    fn is_lost(&self, block: u64) -> bool {
        let (word, bit) = self.slot(block);
        self.lost[word] & bit != 0
    }

    fn set_lost(&mut self, block: u64, lost: bool) {
        let (word, bit) = self.slot(block);
        match lost {
            true => self.lost[word] |= bit,
            false => self.lost[word] &= !bit,
        }
    }

    fn note_late(&self, late_ns: u64) {
        let account = &self.shared.account;
        account.late_ns.fetch_max(late_ns, Ordering::Relaxed);
        if late_ns > MUCH_NS {
            account.late_times.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn open_stall(&mut self, xrun: Xrun, at_ns: u64, block: u64) {
        if let Some(kept) = self.shared.account.keep(xrun, at_ns) {
            self.open.push((kept, block));
        }
    }

    /// Of the stalls whose block is there by now: so late it was, seen at the next tick.
    fn close_stalls(&mut self, now_ns: u64) {
        let (handed, account) = (self.handed, &self.shared.account);
        self.open.retain(|&(kept, block)| {
            let lasts = handed <= block;
            if !lasts {
                account.set_late(kept, now_ns);
            }
            lasts
        });
    }

    /// The point is over: what still lasts was late by at least so much.
    fn close(&mut self, now_ns: u64) {
        let account = &self.shared.account;
        self.open
            .drain(..)
            .for_each(|(kept, _)| account.set_late(kept, now_ns));
    }
}

/// One more. The device alone writes this count.
fn add(count: &AtomicU64) {
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
