//! What became of the packets: counts by status, intervals without a packet, and jitter. No I/O and no clock here.

use std::collections::VecDeque;
use wiregauge_record::{IsochronousCounts, PacketErrors};
use wiregauge_stats::Series;

/// Transfers that come after one and show whether it was seen late.
const AHEAD: usize = 16;

/// Part of what a transfer is off that the reference follows: the device's clock is not this host's.
const FOLLOW: f64 = 1.0 / 32.0;

/// A packet of a transfer that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Bytes that there was room for.
    pub room: u32,
    /// Bytes that it carried.
    pub bytes: u32,
    /// 0, or an error number negated.
    pub status: i32,
}

/// Counts the packets of one stream.
#[derive(Debug)]
pub struct Accounting {
    packet_bytes: u32,
    interval_ns: u64,
    packets: u64,
    empty: u64,
    short: u64,
    errors: Vec<PacketErrors>,
    arrivals: Arrivals,
    /// Grows as it is filled, at most once in a power of two of transfers.
    jitter: Series,
}

/// When transfers arrived, compared with the packets that they had.
#[derive(Debug, Default)]
struct Arrivals {
    first_ns: Option<u64>,
    last_ns: u64,
    /// Packets after the first transfer.
    packets: u64,
    /// The latest transfers.
    ahead: VecDeque<Arrival>,
    level: Level,
}

/// A transfer that arrived.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// Nanoseconds after the time of its packets.
    late: f64,
    /// Somebody was waiting for it.
    awaited: bool,
}

/// How far the schedule of the bus moved.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    reference: Option<f64>,
    skipped: i64,
}

impl Accounting {
    /// For packets of this size, one in each interval.
    pub fn new(packet_bytes: u32, interval_ns: u64) -> Accounting {
        Accounting {
            packet_bytes,
            interval_ns,
            packets: 0,
            empty: 0,
            short: 0,
            errors: Vec::with_capacity(16),
            arrivals: Arrivals::default(),
            jitter: Series::new(),
        }
    }

    /// Takes a transfer that was seen completed at this time; `awaited` if this thread slept until then.
    pub fn take(&mut self, at_ns: u64, awaited: bool, packets: impl Iterator<Item = Packet>) {
        let before = self.packets;
        for packet in packets {
            self.packets += 1;
            match packet {
                Packet {
                    status: 0,
                    bytes: 0,
                    ..
                } => self.empty += 1,
                Packet {
                    status: 0,
                    bytes,
                    room,
                } => self.short += u64::from(bytes < room),
                Packet { status, .. } => self.failed(-status),
            }
        }
        let packets = self.packets - before;
        let jitter = self
            .arrivals
            .take(at_ns, awaited, packets, self.interval_ns);
        if let Some(jitter_ns) = jitter {
            self.jitter.push(jitter_ns);
        }
    }

    fn failed(&mut self, errno: i32) {
        match self.errors.iter_mut().find(|error| error.errno == errno) {
            Some(error) => error.packets += 1,
            None => self.errors.push(PacketErrors { errno, packets: 1 }),
        }
    }

    /// What was counted.
    pub fn counts(&self) -> IsochronousCounts {
        IsochronousCounts {
            packet_bytes: self.packet_bytes,
            interval_ns: self.interval_ns,
            packets: self.packets,
            empty: self.empty,
            short: self.short,
            errors: self.errors.clone(),
            skipped: self.arrivals.skipped(self.interval_ns),
            jitter: self.jitter.distribution(),
        }
    }
}

impl Arrivals {
    /// Takes a transfer; returns its jitter, which the first one does not have.
    ///
    /// A transfer is seen late for many reasons, but never early, so the earliest of some in a row shows the schedule of
    /// the bus. Where that moves by whole intervals and stays, the bus had no packet in as many. What moves back later was
    /// a host that looked late; so steps count in both directions.
    fn take(&mut self, at_ns: u64, awaited: bool, packets: u64, interval_ns: u64) -> Option<u64> {
        let is_first = self.first_ns.is_none();
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        let gap_ns = at_ns.saturating_sub(self.last_ns);
        self.last_ns = at_ns;
        if !is_first {
            self.packets += packets;
        }
        let late = (at_ns - first_ns) as f64 - self.packets as f64 * interval_ns as f64;
        self.ahead.push_back(Arrival { late, awaited });
        if self.ahead.len() > AHEAD {
            let earliest = earliest(&self.ahead, 0);
            self.level.pass(earliest, interval_ns);
            self.ahead.pop_front();
        }
        (!is_first).then(|| gap_ns.abs_diff(packets * interval_ns))
    }

    /// Intervals skipped. The last transfers have few behind them; those that nobody waited for may all be late.
    fn skipped(&self, interval_ns: u64) -> u64 {
        let mut level = self.level;
        let awaited = self.ahead.iter().rposition(|arrival| arrival.awaited);
        for at in 0..awaited.map_or(0, |last| last + 1) {
            level.pass(earliest(&self.ahead, at), interval_ns);
        }
        level.skipped.max(0) as u64
    }
}

/// The smallest lateness from one transfer on.
fn earliest(ahead: &VecDeque<Arrival>, from: usize) -> f64 {
    let late = ahead.iter().skip(from).map(|arrival| arrival.late);
    late.fold(f64::INFINITY, f64::min)
}

impl Level {
    fn pass(&mut self, earliest: f64, interval_ns: u64) {
        let interval = interval_ns as f64;
        let reference = self.reference.unwrap_or(earliest);
        let steps = ((earliest - reference) / interval).round();
        self.skipped += steps as i64;
        let moved = reference + steps * interval;
        self.reference = Some(moved + (earliest - moved) * FOLLOW);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: u64 = 1_000_000;
    const FULL: Packet = Packet {
        room: 192,
        bytes: 192,
        status: 0,
    };

    fn counted(arrivals: impl Iterator<Item = u64>, packets: usize) -> IsochronousCounts {
        let mut accounting = Accounting::new(192, FRAME);
        for at_ns in arrivals {
            accounting.take(at_ns, true, std::iter::repeat_n(FULL, packets));
        }
        accounting.counts()
    }

    #[test]
    fn packets_are_counted_by_what_became_of_them() {
        let mut accounting = Accounting::new(192, FRAME);
        let packet = |bytes, status| Packet {
            bytes,
            status,
            ..FULL
        };
        let transfer = [
            FULL,
            packet(0, 0),
            packet(100, 0),
            packet(0, -18),
            packet(0, -84),
            packet(50, -84),
        ];
        accounting.take(0, true, transfer.into_iter());
        let counts = accounting.counts();
        assert_eq!((counts.packets, counts.empty, counts.short), (6, 1, 1));
        let errors: Vec<(i32, u64)> = counts.errors.iter().map(|e| (e.errno, e.packets)).collect();
        assert_eq!(errors, [(18, 1), (84, 2)]);
        assert_eq!(counts.missed(), 4);
        assert_eq!(counts.jitter, None, "one transfer has no gap");
    }

    #[test]
    fn transfers_that_come_as_the_bus_carries_them_skip_nothing_and_have_no_jitter() {
        let counts = counted((0..200).map(|k| 5_000 + k * 8 * FRAME), 8);
        assert_eq!((counts.packets, counts.skipped), (1600, 0));
        assert_eq!(counts.jitter.unwrap().max, 0.0);
    }

    #[test]
    fn a_pause_of_whole_intervals_that_stays_is_skipped() {
        let arrivals = (0..200).map(|k| k * 8 * FRAME + if k >= 70 { 5 * FRAME } else { 0 });
        let counts = counted(arrivals, 8);
        assert_eq!(counts.skipped, 5);
        assert_eq!(counts.jitter.unwrap().max, 5.0 * FRAME as f64);
    }

    #[test]
    fn a_host_that_looks_late_for_a_while_has_jitter_and_skips_nothing() {
        // For longer than a window, and then all at once.
        let arrivals = (0..200_u64).map(|k| match k {
            60..100 => 100 * 8 * FRAME,
            _ => k * 8 * FRAME,
        });
        let counts = counted(arrivals, 8);
        assert_eq!(counts.skipped, 0);
        assert!(counts.jitter.unwrap().max > 300.0 * FRAME as f64);
    }

    #[test]
    fn random_delays_below_an_interval_and_clocks_that_differ_skip_nothing() {
        let mut random = 1_u64;
        let mut delay = || {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) % 900_000
        };
        // 300 parts in a million faster: 24 intervals in all.
        let arrivals = (0..10_000_u64).map(|k| k * 7_997_600 + delay());
        assert_eq!(counted(arrivals, 8).skipped, 0);
    }

    #[test]
    fn a_queue_that_runs_dry_after_each_transfer_skips_what_lies_in_between() {
        // Each transfer of 8 packets is submitted two frames after the one before it.
        let counts = counted((0..160).map(|k| k * 10 * FRAME), 8);
        assert_eq!(counts.skipped, 159 * 2, "one pause less than transfers");
    }

    #[test]
    fn what_nobody_waited_for_at_the_end_proves_no_pause() {
        let counted = |awaited| {
            let mut accounting = Accounting::new(192, FRAME);
            for k in 0..100 {
                // The last eight all at once, after the host slept for long.
                let (at_ns, awaited) = match k {
                    92.. => (150 * 8 * FRAME, awaited),
                    _ => (k * 8 * FRAME, true),
                };
                accounting.take(at_ns, awaited, std::iter::repeat_n(FULL, 8));
            }
            accounting.counts().skipped
        };
        assert_eq!(counted(false), 0);
        // If they were waited for, the bus had none before them.
        assert_eq!(counted(true), 51 * 8);
    }
}
