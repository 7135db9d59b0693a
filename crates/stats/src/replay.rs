//! Responses that were measured as fast as possible, put onto the ticks of a clock: when could a control loop have sent
//! each request?

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No time comes near this (34 years); what a damaged file claims beyond it counts as this.
const LONGEST_NS: u64 = 1 << 60;

/// A control loop that sends a request at each tick, unless all that it may have outstanding are.
///
/// ```
/// use wiregauge_stats::Replay;
///
/// let mut replay = Replay::new(1000, 1);
/// // The answer to the first request comes after 2.5 periods: two ticks pass without a request.
/// let skipped = [2500, 400, 400].map(|response| replay.request(response));
/// assert_eq!(skipped, [0, 2, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct Replay {
    period: u64,
    outstanding: u32,
    tick: u64,
    /// The ticks from which on the outstanding requests are answered.
    answered_at: BinaryHeap<Reverse<u64>>,
}

impl Replay {
    /// Of a loop with this period, which may have so many requests outstanding.
    pub fn new(period: u64, outstanding: u32) -> Replay {
        Replay {
            period,
            outstanding,
            tick: 0,
            answered_at: BinaryHeap::new(),
        }
    }

    /// Sends a request that takes this long at the first tick at which the loop can send it. Returns how many ticks
    /// before that pass without a request.
    pub fn request(&mut self, response: u64) -> u64 {
        let skipped = self.wait();
        let ticks = response.min(LONGEST_NS).div_ceil(self.period.max(1));
        self.answered_at
            .push(Reverse(self.tick.saturating_add(ticks.max(1))));
        self.tick = self.tick.saturating_add(1);
        skipped
    }

    /// Waits until a further request could be sent. Returns how many ticks pass until then.
    pub fn wait(&mut self) -> u64 {
        self.take_answered();
        if self.answered_at.len() >= self.outstanding.max(1) as usize
            && let Some(&Reverse(free)) = self.answered_at.peek()
        {
            let skipped = free - self.tick;
            self.tick = free;
            self.take_answered();
            return skipped;
        }
        0
    }

    /// Takes out what is answered by now.
    fn take_answered(&mut self) {
        while let Some(&Reverse(at)) = self.answered_at.peek()
            && at <= self.tick
        {
            self.answered_at.pop();
        }
    }
}
