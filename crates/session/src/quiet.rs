//! The two waits of a point in which nothing is sent: behind the first answer, and for stragglers after the last.

use crate::next::Next;

/// Behind the first answer the line must be quiet for as long as that took, within these bounds, where the protocol
/// has to know what follows an answer. The longer one is that of a byte on the slowest lines.
const LISTEN_NS: [u64; 2] = [5_000_000, 100_000_000];

/// After the last answer of a point, stragglers are awaited for so long.
const STRAGGLERS_NS: u64 = 5_000_000;

fn receive(until_ns: u64) -> Next {
    Next::Receive {
        until_ns,
        exact: true,
        or_writable: false,
    }
}

/// The wait behind the first answer, until the line is quiet.
#[derive(Clone, Copy, Debug)]
pub struct Listening {
    /// Until when the line must be quiet, and for how long.
    until_ns: u64,
    quiet_ns: u64,
}

impl Listening {
    /// The first answer came at `end_ns`, after `took_ns`.
    pub fn new(end_ns: u64, took_ns: u64) -> Listening {
        let quiet_ns = took_ns.clamp(LISTEN_NS[0], LISTEN_NS[1]);
        Listening {
            until_ns: end_ns + quiet_ns,
            quiet_ns,
        }
    }

    /// Bytes came: the line must be quiet for as long again.
    pub fn received(&mut self, now_ns: u64) {
        self.until_ns = now_ns + self.quiet_ns;
    }

    /// What to do, or `None` if the line was quiet for long enough.
    #[inline]
    pub fn next(&self, now_ns: u64) -> Option<Next> {
        (now_ns < self.until_ns).then(|| receive(self.until_ns))
    }
}

/// The wait after the last answer: late and doubled answers of this point belong to it, and not to the next.
#[derive(Clone, Copy, Debug)]
pub struct Stragglers {
    since_ns: u64,
}

impl Stragglers {
    /// The last exchange ended at `now_ns`.
    pub fn new(now_ns: u64) -> Stragglers {
        Stragglers { since_ns: now_ns }
    }

    /// What to do, or `None` if the wait is over. It is as long as a timeout if answers are `missing`.
    pub fn next(&self, now_ns: u64, missing: usize, timeout_ns: u64) -> Option<Next> {
        let longest = match missing {
            0 => STRAGGLERS_NS,
            _ => timeout_ns.max(STRAGGLERS_NS),
        };
        let until_ns = self.since_ns.saturating_add(longest);
        (now_ns < until_ns).then(|| receive(until_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::{Listening, receive};

    const MS: u64 = 1_000_000;

    #[test]
    fn the_line_must_be_quiet_for_as_long_as_the_first_answer_took() {
        let mut listening = Listening::new(100 * MS, 30 * MS);
        assert_eq!(listening.next(130 * MS - 1), Some(receive(130 * MS)));
        listening.received(129 * MS);
        assert_eq!(listening.next(158 * MS), Some(receive(159 * MS)));
        assert_eq!(listening.next(159 * MS), None);
    }

    #[test]
    fn that_time_has_bounds() {
        assert_eq!(Listening::new(0, 1).next(0), Some(receive(5 * MS)));
        assert_eq!(Listening::new(0, u64::MAX).next(0), Some(receive(100 * MS)));
    }
}
