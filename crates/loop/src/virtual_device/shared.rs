//! What host and device tell each other, as it lies in memory that both map. Every field is an atomic:
//! any bytes are valid, and whoever reads what the other side writes looks whether it can be true.
//!
//! ```text
//!            written by
//! header     host        once, before the device is started: what it is to be
//! point      host        while the device rests: what is to be played
//! wish       host        rest, play, quit                        then sets `device_event`
//! state      device      starting, resting, running, refused, too slow   then sets `host_event`
//! positions  both        blocks handed over (low half, host) and ticks (high half, device)
//! account    device      what it counted; the host reads it, and sets `late_*` to zero when the
//!                        start-up is over
//! ```
//!
//! In a file the rings follow at the next page: input ring, output ring, each in whole pages.

use crate::device::{DeviceEnd, STALLS_KEPT};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use wiregauge_link::host::SharedEvent;
use wiregauge_record::{Aim, DeviceLate, LoopPath, LoopPoint, SAMPLE_BYTES, Stall, Xrun};

/// "wgloop" and the number of this layout: to be raised with every change of it.
const MAGIC: u64 = u64::from_le_bytes(*b"wgloop\x01\0");

/// Another number than any processor's or priority's.
const NONE: u32 = u32::MAX;

/// What the host wishes.
pub(crate) mod wish {
    pub(crate) const REST: u32 = 0;
    pub(crate) const PLAY: u32 = 1;
    pub(crate) const QUIT: u32 = 2;
}

/// What the device does.
pub(crate) mod state {
    /// It is not there yet.
    pub(crate) const STARTING: u32 = 0;
    /// It waits for a point.
    pub(crate) const RESTING: u32 = 1;
    /// It moves samples.
    pub(crate) const RUNNING: u32 = 2;
    /// It could not lay out the point; `error` tells why.
    pub(crate) const REFUSED: u32 = 3;
    /// It could not move the samples as fast as was asked.
    pub(crate) const TOO_SLOW: u32 = 4;
}

/// What the device is to be on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The loop's real-time priority, if it has one.
    pub(crate) priority: Option<u8>,
    /// The loop's own processor, if it has one.
    pub(crate) keep_off: Option<u32>,
    /// Lock the memory of the device's process.
    pub(crate) lock_memory: bool,
}

/// All of it.
#[repr(C)]
pub(crate) struct Shared {
    magic: AtomicU64,
    bytes: AtomicU64,
    /// The process that started the device.
    parent: AtomicU32,
    priority: AtomicU32,
    keep_off: AtomicU32,
    lock_memory: AtomicU32,
    /// The priority that the device was granted; 0 for none.
    pub(crate) granted: AtomicU32,

    channels: AtomicU32,
    rate_hz: AtomicU64,
    ring_bytes: AtomicU64,
    preload_bytes: AtomicU64,
    notify_bytes: AtomicU32,
    copies: AtomicU32,

    pub(crate) wish: AtomicU32,
    pub(crate) device_event: SharedEvent,
    pub(crate) state: AtomicU32,
    /// With `REFUSED`: the system's number, 0 for a point that cannot be.
    pub(crate) error: AtomicU32,
    /// CLOCK_MONOTONIC at the point's first sample.
    pub(crate) zero_ns: AtomicU64,

    /// What both sides write a thousand times a second has lines of its own.
    pub(crate) host_event: OwnLine<SharedEvent>,
    pub(crate) positions: OwnLine<Positions>,

    pub(crate) account: OwnLine<Account>,
}

/// A value with a cache line of its own (two, because processors fetch neighbours).
#[derive(Default)]
#[repr(C, align(128))]
pub(crate) struct OwnLine<T>(T);

impl<T> std::ops::Deref for OwnLine<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl Shared {
    /// Says what the device is to be.
    pub(crate) fn ask(&self, asked: Asked) {
        let order = Ordering::Relaxed;
        self.bytes.store(size_of::<Shared>() as u64, order);
        self.parent.store(std::process::id(), order);
        let priority = asked.priority.map_or(0, u32::from);
        self.priority.store(priority, order);
        self.keep_off.store(asked.keep_off.unwrap_or(NONE), order);
        self.lock_memory.store(asked.lock_memory.into(), order);
        self.magic.store(MAGIC, Ordering::Release);
    }

    /// What the device is to be, and for which process. `None` if this is another layout, or none.
    #[allow(dead_code)] // Only a process of its own asks, which only Linux has.
    pub(crate) fn asked(&self) -> Option<(Asked, u32)> {
        let order = Ordering::Relaxed;
        let bytes = size_of::<Shared>() as u64;
        if self.magic.load(Ordering::Acquire) != MAGIC || self.bytes.load(order) != bytes {
            return None;
        }
        let priority = u8::try_from(self.priority.load(order)).ok();
        let keep_off = self.keep_off.load(order);
        let asked = Asked {
            priority: priority.filter(|priority| (1..=99).contains(priority)),
            keep_off: (keep_off != NONE).then_some(keep_off),
            lock_memory: self.lock_memory.load(order) != 0,
        };
        Some((asked, self.parent.load(order)))
    }

    /// Says what is to be played, and forgets what was. Only while the device rests.
    pub(crate) fn put_point(&self, point: &LoopPoint, copies: bool) {
        let order = Ordering::Relaxed;
        self.rate_hz.store(point.rate_hz, order);
        self.channels.store(point.channels, order);
        self.notify_bytes.store(point.notify_bytes, order);
        self.ring_bytes.store(point.ring_bytes, order);
        self.preload_bytes.store(point.preload_bytes, order);
        self.copies.store(copies.into(), order);
        self.positions.word.store(0, order);
        self.account.clear();
    }

    /// What is to be played, and whether as it came in. `None` if it cannot be.
    pub(crate) fn point(&self) -> Option<(LoopPoint, bool)> {
        let order = Ordering::Relaxed;
        let point = LoopPoint {
            index: 0,
            rate_hz: self.rate_hz.load(order),
            channels: self.channels.load(order),
            notify_bytes: self.notify_bytes.load(order),
            ring_bytes: self.ring_bytes.load(order),
            preload_bytes: self.preload_bytes.load(order),
            aim: Aim::Hold,
            // What processes the blocks is the host's affair.
            path: LoopPath::Cpu,
        };
        let block = u64::from(point.notify_bytes);
        let can_be = point.rate_hz > 0
            && point.channels > 0
            && block >= u64::from(SAMPLE_BYTES)
            && block.is_multiple_of(SAMPLE_BYTES.into())
            && point.ring_bytes <= isize::MAX as u64 / 4
            && point.ring_bytes >= 2 * block
            && point.ring_bytes.is_multiple_of(block)
            && (block..=point.ring_bytes).contains(&point.preload_bytes)
            && point.preload_bytes.is_multiple_of(block);
        can_be.then(|| (point, self.copies.load(order) != 0))
    }
}

/// Where both are, in one word, so that which of two came first is never in doubt: whether a block
/// was handed over before its tick, both sides read in one and the same order of changes.
///
/// Tick `n` is the instant at which block `n` begins to come in: block `n` - 1 is in, and the output
/// needs block `n` less the preload.
#[derive(Default)]
#[repr(transparent)]
pub(crate) struct Positions {
    word: AtomicU64,
}

/// Both positions at one instant, each modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Where {
    handed: u32,
    ticks: u32,
}

impl Where {
    fn of(word: u64) -> Where {
        Where {
            handed: word as u32,
            ticks: (word >> 32) as u32,
        }
    }

    /// Ticks that happened, of which the host knows that it is about this many.
    pub(crate) fn ticks(self, about: u64) -> u64 {
        near(self.ticks, about)
    }

    /// Blocks handed over, of which the device knows that it is about this many.
    pub(crate) fn handed(self, about: u64) -> u64 {
        near(self.handed, about)
    }

    /// True if the host has handed over exactly so many.
    pub(crate) fn is_handed(self, handed: u64) -> bool {
        self.handed == handed as u32
    }
}

/// The number next to `about` that is `low` modulo 2^32.
fn near(low: u32, about: u64) -> u64 {
    let ahead = low.wrapping_sub(about as u32) as i32;
    about.saturating_add_signed(ahead.into())
}

impl Positions {
    /// Where both are.
    #[inline]
    pub(crate) fn look(&self) -> Where {
        Where::of(self.word.load(Ordering::Acquire))
    }

    /// One block more is handed over, behind `handed` before it. Returns where both were.
    #[inline]
    pub(crate) fn hand_over(&self, handed: u64) -> Where {
        // Where the low half comes round, what it carries into the high one is taken back.
        let carry = u64::from(handed as u32 == u32::MAX) << 32;
        let step = 1_u64.wrapping_sub(carry);
        Where::of(self.word.fetch_add(step, Ordering::AcqRel))
    }

    /// One tick more has happened. Returns where both were.
    #[inline]
    pub(crate) fn tick(&self) -> Where {
        Where::of(self.word.fetch_add(1 << 32, Ordering::AcqRel))
    }
}

/// What the device counted. It alone writes, but for `late_*`.
#[repr(C)]
pub(crate) struct Account {
    pub(crate) overruns: AtomicU64,
    pub(crate) underruns: AtomicU64,
    pub(crate) checked: AtomicU64,
    pub(crate) wrong: AtomicU64,
    /// The most by which the device itself was late, and how often it was so by much.
    pub(crate) late_ns: AtomicU64,
    pub(crate) late_times: AtomicU64,
    stalls_kept: AtomicU64,
    stalls: [StallCell; STALLS_KEPT],
}

#[repr(C)]
struct StallCell {
    xrun: AtomicU64,
    at_ns: AtomicU64,
    late_ns: AtomicU64,
}

impl Account {
    fn clear(&self) {
        for count in [
            &self.overruns,
            &self.underruns,
            &self.checked,
            &self.wrong,
            &self.late_ns,
            &self.late_times,
            &self.stalls_kept,
        ] {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// Keeps when a stall began, if there is room; returns where it is kept.
    pub(crate) fn keep(&self, xrun: Xrun, at_ns: u64) -> Option<usize> {
        let kept = self.stalls_kept.load(Ordering::Relaxed) as usize;
        let cell = self.stalls.get(kept)?;
        cell.xrun.store(xrun as u64, Ordering::Relaxed);
        cell.at_ns.store(at_ns, Ordering::Relaxed);
        cell.late_ns.store(0, Ordering::Relaxed);
        self.stalls_kept.store(kept as u64 + 1, Ordering::Release);
        Some(kept)
    }

    /// How late the block was that stalled.
    pub(crate) fn set_late(&self, kept: usize, now_ns: u64) {
        if let Some(cell) = self.stalls.get(kept) {
            let late_ns = now_ns.saturating_sub(cell.at_ns.load(Ordering::Relaxed));
            cell.late_ns.store(late_ns, Ordering::Relaxed);
        }
    }

    /// What the host makes of it after so many ticks in so long: no more than can be true.
    pub(crate) fn end(&self, ticks: u64, elapsed_ns: u64) -> DeviceEnd {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let of_ticks = |of: &AtomicU64| count(of).min(ticks);
        let kept = self.stalls_kept.load(Ordering::Acquire) as usize;
        let stalls = self.stalls.iter().take(kept).filter_map(|cell| {
            let stall = Stall {
                xrun: *Xrun::ALL.get(count(&cell.xrun) as usize)?,
                at_ns: count(&cell.at_ns),
                late_ns: count(&cell.late_ns),
            };
            (stall.at_ns.max(stall.late_ns) <= elapsed_ns).then_some(stall)
        });
        let checked = of_ticks(&self.checked);
        DeviceEnd {
            overruns: of_ticks(&self.overruns),
            underruns: of_ticks(&self.underruns),
            stalls: stalls.collect(),
            checked,
            wrong: count(&self.wrong).min(checked),
            late: Some(DeviceLate {
                longest_ns: count(&self.late_ns).min(elapsed_ns),
                times: of_ticks(&self.late_times),
            }),
        }
    }
}

// A page of its own is enough to speak by.
const _: () = assert!(size_of::<Shared>() < 1 << 16);

#[cfg(test)]
mod tests {
    use super::super::memory::Header;
    use super::*;

    fn point() -> LoopPoint {
        LoopPoint {
            index: 0,
            rate_hz: 1_000_000,
            channels: 2,
            notify_bytes: 4_000,
            ring_bytes: 800_000,
            preload_bytes: 40_000,
            aim: Aim::Hold,
            path: LoopPath::Cpu,
        }
    }

    #[test]
    fn what_is_asked_for_arrives_and_another_layout_is_refused() {
        let header = Header::anonymous().unwrap();
        assert_eq!(header.asked(), None);
        let asked = Asked {
            priority: Some(50),
            keep_off: Some(1),
            lock_memory: true,
        };
        header.ask(asked);
        assert_eq!(header.asked(), Some((asked, std::process::id())));
        header.ask(Asked::default());
        assert_eq!(header.asked().unwrap().0, Asked::default());
        header.bytes.store(1, Ordering::Relaxed);
        assert_eq!(header.asked(), None);
    }

    #[test]
    fn a_point_that_cannot_be_is_not_played() {
        let header = Header::anonymous().unwrap();
        assert_eq!(header.point(), None);
        header.put_point(&point(), true);
        assert_eq!(header.point(), Some((point(), true)));
        let changes: [fn(&mut LoopPoint); 9] = [
            |p| p.rate_hz = 0,
            |p| p.channels = 0,
            |p| p.notify_bytes = 0,
            |p| p.notify_bytes = 3,
            |p| p.ring_bytes = 4_000,
            |p| p.ring_bytes = 5_000,
            |p| p.ring_bytes = u64::MAX / 4_000 * 4_000,
            |p| p.preload_bytes = 0,
            |p| p.preload_bytes = 804_000,
        ];
        for change in changes {
            let mut point = point();
            change(&mut point);
            header.put_point(&point, true);
            assert_eq!(header.point(), None, "{point:?}");
        }
    }

    #[test]
    fn each_side_knows_from_one_word_who_came_first() {
        let positions = Positions::default();
        assert_eq!(positions.tick().ticks(0), 0);
        assert_eq!(positions.hand_over(0).ticks(1), 1);
        let was = positions.tick();
        assert!(was.is_handed(1) && was.ticks(1) == 1);
        assert_eq!(positions.look().ticks(2), 2);
    }

    #[test]
    fn positions_come_round_without_touching_each_other() {
        let positions = Positions::default();
        let last = u64::from(u32::MAX);
        positions.word.store((7 << 32) | last, Ordering::Relaxed);
        let was = positions.hand_over(last);
        assert!(was.is_handed(last) && was.ticks(7) == 7);
        let is = positions.look();
        assert!(is.is_handed(last + 1) && is.ticks(7) == 7, "{is:?}");
        assert_eq!(is.handed(last), last + 1);
        positions.word.store((last << 32) | 5, Ordering::Relaxed);
        positions.tick();
        let is = positions.look();
        assert!(is.is_handed(5));
        assert_eq!(is.ticks(last), last + 1);
        assert_eq!(near(u32::MAX, 1 << 32), last);
    }

    #[test]
    fn an_account_that_cannot_be_true_is_read_without_harm() {
        let header = Header::anonymous().unwrap();
        let account = &header.account;
        account.stalls_kept.store(u64::MAX, Ordering::Relaxed);
        account.stalls[0].xrun.store(77, Ordering::Relaxed);
        account.stalls[1].late_ns.store(101, Ordering::Relaxed);
        for count in [&account.overruns, &account.underruns, &account.late_ns] {
            count.store(u64::MAX, Ordering::Relaxed);
        }
        account.wrong.store(9, Ordering::Relaxed);
        let end = account.end(7, 100);
        assert_eq!(end.stalls.len(), STALLS_KEPT - 2);
        assert_eq!((end.overruns, end.underruns), (7, 7));
        assert_eq!((end.checked, end.wrong), (0, 0));
        assert_eq!(end.late.unwrap().longest_ns, 100);
    }

    #[test]
    fn more_stalls_than_are_kept_are_not() {
        let header = Header::anonymous().unwrap();
        for at in 0..STALLS_KEPT + 5 {
            let kept = header.account.keep(Xrun::Underrun, at as u64);
            assert_eq!(kept, (at < STALLS_KEPT).then_some(at));
        }
        header.account.set_late(3, 10);
        let end = header.account.end(2_000, 2_000);
        assert_eq!(end.stalls.len(), STALLS_KEPT);
        assert_eq!((end.stalls[3].at_ns, end.stalls[3].late_ns), (3, 7));
    }
}
