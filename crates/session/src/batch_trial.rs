//! How many requests to hand over in one call, found by a short trial. With all at once, host and device may take
//! turns, each asleep while the other works; with fewer, each call costs more. Which is faster depends on the link
//! and on the device.

use wiregauge_record::{BatchRate, BatchTrial as Record, Connect, Limit, Plan, Schedule};

/// Stands for all that may start.
const ALL: usize = usize::MAX;

/// Candidates at most.
const CANDIDATES: usize = 3;

/// Slots of each candidate. The median of its rates counts: on a busy machine, several of them are disturbed.
const ROUNDS: usize = 9;

/// Exchanges of a slot that are timed, for each request outstanding.
const TURNS: u64 = 8;

/// Exchanges before them, for each request outstanding, that end what the slot before has begun.
const SETTLE_TURNS: u64 = 2;

/// A slot is cut after this time, so that the trial takes 100 ms at most.
const SLOT_NS: u64 = 100_000_000 / (CANDIDATES * ROUNDS) as u64;

/// The run must be this many times longer than its trial.
const RUN_TO_TRIAL: u64 = 10;

/// Where an exchange takes longer, the calls that hand it over do not matter.
const SLOW_NS: u64 = 20_000;

/// After a first exchange that took longer, nothing is tried.
const SLOW_FIRST_NS: u64 = 20_000_000;

/// A candidate must be this many times faster than all at once.
const CLEARLY: f64 = 1.1;

/// The trial of one point: short slots of each candidate in turns.
#[derive(Debug)]
pub struct BatchTrial {
    candidates: [usize; CANDIDATES],
    count: usize,
    /// Exchanges of a slot that are not timed, and that are.
    settle: u64,
    timed: u64,
    /// Slots that are over.
    slots: usize,
    /// When the slot began, and how many exchanges had ended.
    began: Option<(u64, u64)>,
    /// When its timed part began, and how many exchanges had ended.
    timed_from: Option<(u64, u64)>,
    /// Exchanges a second, by candidate and round.
    rates: [[f64; ROUNDS]; CANDIDATES],
    over: bool,
}

impl BatchTrial {
    /// The trial of a point with this depth, if the plan leaves the choice open and its points are long enough.
    pub fn of(plan: &Plan, depth: u32) -> Option<BatchTrial> {
        let trial = BatchTrial::new(depth, TURNS)?;
        let is_long = match plan.limit {
            Limit::Count(count) => count / RUN_TO_TRIAL >= trial.exchanges(),
            Limit::DurationNs(ns) => ns / RUN_TO_TRIAL >= trial.slots_in_all() as u64 * SLOT_NS,
        };
        let wanted = plan.batch.is_none()
            && plan.connect == Connect::Once
            && plan.schedule == Schedule::AsFastAsPossible;
        (wanted && is_long).then_some(trial)
    }

    /// A trial at this depth, which times so many exchanges in each slot for each request outstanding; `None` if there
    /// is no choice.
    pub fn new(depth: u32, turns: u64) -> Option<BatchTrial> {
        if depth <= 2 {
            return None;
        }
        let (eighth, quarter) = ((depth / 8).max(1), (depth / 4).max(1));
        Some(BatchTrial {
            candidates: [ALL, eighth as usize, quarter as usize],
            count: if eighth == quarter { 2 } else { 3 },
            settle: SETTLE_TURNS * u64::from(depth),
            timed: turns * u64::from(depth),
            slots: 0,
            began: None,
            timed_from: None,
            rates: [[0.0; ROUNDS]; CANDIDATES],
            over: false,
        })
    }

    fn slots_in_all(&self) -> usize {
        self.count * ROUNDS
    }

    /// Exchanges of the whole trial, about.
    fn exchanges(&self) -> u64 {
        self.slots_in_all() as u64 * (self.settle + self.timed)
    }

    /// True once it is over.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Requests to hand over in one call now: the candidate's, or once it is over, those chosen.
    pub fn batch(&self) -> usize {
        match self.over {
            true => self.chosen(),
            false => self.candidates[self.slots % self.count],
        }
    }

    /// The first exchange, alone, took this long.
    pub fn first_ended(&mut self, rtt_ns: u64) {
        self.over |= rtt_ns > SLOW_FIRST_NS;
    }

    /// `ended` exchanges have ended so far, the last of them at `now_ns`.
    pub fn ended(&mut self, ended: u64, now_ns: u64) {
        if self.over {
            return;
        }
        let (began_ns, ended_before) = *self.began.get_or_insert((now_ns, ended));
        let is_cut = now_ns.saturating_sub(began_ns) >= SLOT_NS;
        match self.timed_from {
            None if is_cut => self.end_slot(ended, now_ns, 0.0),
            None if ended >= ended_before + self.settle => {
                self.timed_from = Some((now_ns, ended));
            }
            Some((from_ns, from)) if is_cut || ended >= from + self.timed => {
                let ns = now_ns.saturating_sub(from_ns).max(1);
                self.end_slot(ended, now_ns, (ended - from) as f64 * 1e9 / ns as f64);
            }
            _ => {}
        }
    }

    fn end_slot(&mut self, ended: u64, now_ns: u64, rate: f64) {
        let (round, candidate) = (self.slots / self.count, self.slots % self.count);
        self.rates[candidate][round] = rate;
        self.slots += 1;
        self.began = Some((now_ns, ended));
        self.timed_from = None;
        let is_slow = |rates: &[f64; ROUNDS]| rates[0] * (SLOW_NS as f64) < 1e9;
        let are_slow = || self.rates[..self.count].iter().all(is_slow);
        self.over = self.slots == self.slots_in_all() || (self.slots == self.count && are_slow());
    }

    /// An exchange was not answered as it should be: what was timed says nothing.
    pub fn cancel(&mut self) {
        self.over = true;
        self.slots = 0;
    }

    /// Rounds in which each candidate had its slot.
    fn rounds(&self) -> usize {
        self.slots / self.count
    }

    fn is_whole(&self) -> bool {
        self.rounds() == ROUNDS
    }

    fn rate(&self, candidate: usize) -> f64 {
        let mut rates = self.rates[candidate];
        let rates = &mut rates[..self.rounds()];
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    }

    fn chosen(&self) -> usize {
        let best = (1..self.count).max_by(|a, b| self.rate(*a).total_cmp(&self.rate(*b)));
        match best {
            Some(best) if self.is_whole() && self.rate(best) > CLEARLY * self.rate(0) => {
                self.candidates[best]
            }
            _ => ALL,
        }
    }

    /// What there is to know of it, once it is over; it used so many exchanges. Allocates.
    pub fn record(&self, exchanges: u64) -> Record {
        let named = |batch: usize| u32::try_from(batch).ok();
        let tried = match self.is_whole() {
            true => self.count,
            false => 0,
        };
        Record {
            chosen: named(self.batch()),
            exchanges,
            rates: (0..tried)
                .map(|candidate| BatchRate {
                    batch: named(self.candidates[candidate]),
                    exchanges_s: self.rate(candidate),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a trial at depth 16 to its end, where an exchange takes `of(batch, round)` nanoseconds.
    fn run(of: impl Fn(usize, usize) -> u64) -> (BatchTrial, u64) {
        let mut trial = BatchTrial::new(16, TURNS).expect("there is a choice at depth 16");
        let (mut now_ns, mut ended) = (0, 1);
        while !trial.is_over() {
            trial.ended(ended, now_ns);
            now_ns += of(trial.batch(), trial.slots / trial.count);
            ended += 1;
        }
        (trial, now_ns)
    }

    #[test]
    fn the_fastest_is_chosen() {
        let (trial, _) = run(|batch, _| if batch == 2 { 2_000 } else { 3_000 });
        assert_eq!(trial.batch(), 2);
        let (trial, _) = run(|batch, _| if batch == ALL { 2_000 } else { 3_000 });
        assert_eq!(trial.batch(), ALL);
    }

    #[test]
    fn all_at_once_is_chosen_unless_another_is_clearly_faster() {
        let (trial, _) = run(|batch, _| if batch == ALL { 2_100 } else { 2_000 });
        assert_eq!(trial.batch(), ALL);
    }

    #[test]
    fn a_disturbed_round_does_not_decide() {
        let (trial, _) = run(|batch, round| match (batch, round) {
            (ALL, 0 | 3) => 15_000,
            (ALL, _) => 2_000,
            _ => 2_500,
        });
        assert_eq!(trial.batch(), ALL);
    }

    #[test]
    fn what_the_slot_before_has_begun_is_not_timed() {
        let mut trial = BatchTrial::new(16, TURNS).expect("there is a choice at depth 16");
        let (mut now_ns, mut ended, mut of_slot) = (0, 1, (0, 0));
        while !trial.is_over() {
            trial.ended(ended, now_ns);
            of_slot = match of_slot {
                (slots, count) if slots == trial.slots => (slots, count + 1),
                _ => (trial.slots, 0),
            };
            now_ns += if of_slot.1 < 16 { 19_000 } else { 1_000 };
            ended += 1;
        }
        assert!((trial.rate(0) - 1e6).abs() < 1.0, "{}", trial.rate(0));
    }

    #[test]
    fn a_slow_device_is_given_up_after_one_round() {
        let (trial, took_ns) = run(|batch, _| if batch == 2 { 25_000 } else { 50_000 });
        assert_eq!((trial.batch(), trial.rounds()), (ALL, 1));
        assert!(took_ns <= 3 * SLOT_NS + 200_000, "{took_ns}");
        let mut trial = BatchTrial::new(16, TURNS).expect("there is a choice at depth 16");
        trial.first_ended(21_000_000);
        assert!(trial.is_over());
    }

    #[test]
    fn a_stall_in_the_first_slot_does_not_end_it() {
        let mut trial = BatchTrial::new(16, TURNS).expect("there is a choice at depth 16");
        trial.ended(1, 0);
        trial.ended(2, 30_000_000);
        assert!(!trial.is_over());
    }

    #[test]
    fn it_takes_no_longer_than_100_ms() {
        for ns in [100, 1_000, 10_000, 19_999] {
            let (trial, took_ns) = run(|_, _| ns);
            assert_eq!(trial.rounds(), ROUNDS);
            assert!(took_ns <= 101_000_000, "{took_ns}");
        }
    }

    #[test]
    fn there_is_no_trial_without_a_choice() {
        assert!(BatchTrial::new(2, TURNS).is_none());
        let candidates = |depth| {
            let trial = BatchTrial::new(depth, TURNS).expect("there is a choice");
            trial.candidates[..trial.count].to_vec()
        };
        assert_eq!(candidates(3), [ALL, 1]);
        assert_eq!(candidates(16), [ALL, 2, 4]);
    }
}
