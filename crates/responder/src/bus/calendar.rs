//! When the wire of a bus is taken: frames, each with the times and the bytes that are promised
//! already. Packets may be promised ahead, and others find their place in the gaps.

use super::timing::BusTiming;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
struct Frame {
    /// Begin and end of what is taken, in nanoseconds from the frame's begin, in order.
    taken: Vec<(u64, u64)>,
    bytes: u64,
}

/// The times of one bus.
#[derive(Debug)]
pub struct Calendar {
    timing: BusTiming,
    frames: BTreeMap<u64, Frame>,
}

impl Calendar {
    /// A bus with nothing on it.
    pub fn new(timing: BusTiming) -> Calendar {
        Calendar {
            timing,
            frames: BTreeMap::new(),
        }
    }

    /// What the bus is like.
    pub fn timing(&self) -> &BusTiming {
        &self.timing
    }

    /// When a packet of up to `bytes` can begin at the earliest, but not before `from_ns`. It is
    /// not begun in a frame that it could exceed (USB 2.0, 5.4).
    pub fn find(&self, from_ns: u64, bytes: u64) -> u64 {
        let timing = &self.timing;
        let needed = timing.wire_ns(bytes);
        let mut number = from_ns / timing.frame_ns;
        let mut from = from_ns % timing.frame_ns;
        loop {
            let begin = match self.frames.get(&number) {
                None => Some(from),
                Some(frame)
                    if frame.bytes + bytes > timing.quota_bytes
                        || frame.taken.len() >= timing.packets as usize =>
                {
                    None
                }
                Some(frame) => Some(frame.gap(from, needed)),
            };
            match begin {
                Some(begin) if begin + needed <= timing.frame_ns => {
                    return number * timing.frame_ns + begin;
                }
                _ => {
                    number += 1;
                    from = 0;
                }
            }
        }
    }

    /// Takes the wire for a packet of so many bytes at a time that [`Calendar::find`] gave; returns
    /// its end.
    pub fn take(&mut self, begin_ns: u64, bytes: u64) -> u64 {
        let needed = self.timing.wire_ns(bytes);
        let frame = self
            .frames
            .entry(begin_ns / self.timing.frame_ns)
            .or_default();
        let begin = begin_ns % self.timing.frame_ns;
        let at = frame.taken.partition_point(|&(taken, _)| taken < begin);
        frame.taken.insert(at, (begin, begin + needed));
        frame.bytes += bytes;
        begin_ns + needed
    }

    /// Forgets frames that ended before `now_ns`; nothing may be asked for there any more.
    pub fn forget_before(&mut self, now_ns: u64) {
        let now = now_ns / self.timing.frame_ns;
        while let Some(first) = self.frames.first_entry()
            && *first.key() < now
        {
            first.remove();
        }
    }
}

impl Frame {
    /// The begin of the first gap of this length from `from` on.
    fn gap(&self, from: u64, needed: u64) -> u64 {
        let mut begin = from;
        let next = self.taken.partition_point(|&(_, end)| end <= from);
        for &(taken, end) in &self.taken[next..] {
            if begin + needed <= taken {
                break;
            }
            begin = end;
        }
        begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_link::limits::Bus;

    #[test]
    fn a_packet_finds_the_gap_before_one_that_was_promised_ahead() {
        let mut calendar = Calendar::new(BusTiming::of(Bus::FullSpeed));
        calendar.take(500_000, 64);
        assert_eq!(calendar.find(0, 64), 0);
        let found = calendar.find(470_000, 64);
        assert_eq!(found, 500_000 + calendar.timing().wire_ns(64));
    }

    #[test]
    fn frames_gone_by_are_forgotten() {
        let mut calendar = Calendar::new(BusTiming::of(Bus::HighSpeed));
        for frame in 0..1000 {
            calendar.take(frame * 125_000, 512);
        }
        calendar.forget_before(999 * 125_000);
        assert_eq!(calendar.frames.len(), 1);
    }
}
