//! From samples to a point's summary, one sample at a time, in memory that does not grow with the
//! length of the run (see `wiregauge_stats::Series`).

use crate::by_query::{ByQuery, UnexpectedReplies};
use crate::lateness::LatenessCounter;
use crate::plan::{Plan, Point, Schedule};
use crate::point_summary::{Counts, Ending, PointSummary, ResourceUse, Throughput};
use crate::sample::{Phase, Sample, Status};
use crate::stages::StageTimes;
use crate::{Connect, Responder};
use std::collections::BTreeMap;
use wiregauge_stats::{Series, Share};

/// The clocks of host and device may differ by this part of a time: an RC oscillator does by
/// several per cent, a crystal by less than a hundredth of that.
const CLOCKS_DIFFER: f64 = 0.05;

/// Takes the samples of one point in the order in which they ended.
pub struct Summariser {
    point: Point,
    /// Time between two starts, with a schedule.
    every_ns: Option<u64>,
    connect_each: bool,
    tick_bits: u32,
    ns_per_tick: f64,
    below_ns: Vec<u64>,
    counts: Counts,
    first_rtt_ns: Option<u64>,
    rtt: Series,
    from_intended: Series,
    start_delay: Series,
    /// With a schedule.
    lateness: Option<LatenessCounter>,
    trt: Starts,
    device: Series,
    connect: Series,
    access: Series,
    transfer: Series,
    stages: StageTimes,
    /// Nanoseconds under way, summed over the exchanges.
    under_way_ns: u128,
    bytes_out: u64,
    bytes_in: u64,
    queries: ByQuery,
    unexpected: UnexpectedReplies,
    begin_ns: u64,
    end_ns: u64,
}

impl Summariser {
    /// A summariser for one point of a plan; `responder` tells the tick rate of device timestamps.
    pub fn new(plan: &Plan, point: Point, responder: Option<&Responder>) -> Summariser {
        let tick_hz = responder.map_or(0, |r| r.tick_hz);
        let every_ns = match plan.schedule {
            Schedule::EveryNs(every) => Some(every),
            Schedule::AsFastAsPossible => None,
        };
        Summariser {
            point,
            every_ns,
            connect_each: plan.connect == Connect::Each,
            tick_bits: responder.map_or(64, |r| r.tick_bits),
            ns_per_tick: if tick_hz == 0 {
                0.0
            } else {
                1e9 / tick_hz as f64
            },
            below_ns: plan.below_ns.clone(),
            counts: Counts::default(),
            first_rtt_ns: None,
            rtt: Series::new(),
            from_intended: Series::new(),
            start_delay: Series::new(),
            lateness: every_ns.map(LatenessCounter::new),
            trt: Starts::from_sequence(plan.first_of_trt(point.depth)),
            device: Series::new(),
            connect: Series::new(),
            access: Series::new(),
            transfer: Series::new(),
            stages: StageTimes::default(),
            under_way_ns: 0,
            bytes_out: 0,
            bytes_in: 0,
            queries: ByQuery::new(plan.queries.as_ref()),
            unexpected: UnexpectedReplies::default(),
            begin_ns: u64::MAX,
            end_ns: 0,
        }
    }

    /// Takes one sample.
    pub fn push(&mut self, sample: &Sample) {
        if sample.phase != Phase::Measured {
            if sample.phase == Phase::First && sample.status.is_timed() {
                self.first_rtt_ns = Some(sample.rtt_ns);
            }
            return;
        }
        match sample.status {
            Status::Late => {
                self.counts.late += 1;
                return;
            }
            Status::Duplicated => {
                self.counts.duplicated += 1;
                return;
            }
            Status::Lost => self.counts.lost += 1,
            Status::Reordered => self.counts.reordered += 1,
            Status::Corrupted => self.counts.corrupted += 1,
            Status::Unexpected => self.counts.unexpected += 1,
            Status::Ok => {}
        }
        self.counts.exchanges += 1;
        self.queries.push(sample);
        self.under_way_ns += u128::from(sample.rtt_ns);
        self.begin_ns = self
            .begin_ns
            .min(sample.start_ns.saturating_sub(sample.connect_ns));
        // With a schedule, the last exchange takes up its whole period, as every other one does.
        let takes = sample.rtt_ns.max(self.every_ns.unwrap_or(0));
        self.end_ns = self.end_ns.max(sample.start_ns + takes);
        self.trt.push(sample.sequence, sample.start_ns);
        if let Some(lateness) = &mut self.lateness {
            self.start_delay.push(sample.start_delay_ns());
            lateness.push(sample.sequence, sample.start_delay_ns());
        }
        if sample.status.is_timed() {
            self.take_times(sample);
        }
    }

    fn take_times(&mut self, sample: &Sample) {
        self.counts.answered += 1;
        self.bytes_out += u64::from(sample.bytes_out);
        self.bytes_in += u64::from(sample.bytes_in);
        self.rtt.push(sample.rtt_ns);
        if self.every_ns.is_some() {
            self.from_intended.push(sample.from_intended_ns());
        }
        if self.connect_each {
            self.connect.push(sample.connect_ns);
            self.access.push(sample.access_ns);
            self.transfer.push(sample.transfer_ns());
        }
        self.stages.push(sample);
        if self.ns_per_tick > 0.0 {
            let ticks = sample.device_ticks(self.tick_bits);
            let device_ns = ticks as f64 * self.ns_per_tick;
            // Its two readings lie within the RTT; each may be late by less than a tick.
            let most_ns = sample.rtt_ns as f64 * (1.0 + CLOCKS_DIFFER) + self.ns_per_tick;
            if device_ns <= most_ns {
                self.device.push(device_ns.round() as u64);
            } else {
                self.counts.impossible_device_times += 1;
            }
        }
    }

    /// Takes what an unexpected reply said.
    pub fn unexpected(&mut self, sample: &Sample, what: String) {
        if sample.phase == Phase::Measured {
            self.unexpected.push(what);
        }
    }

    /// The summary. `stray_bytes`, `open_ns` and `resources` come from the engine, which alone
    /// sees them; the bus limit and the disturbances are added by whoever knows the link and host.
    pub fn finish(
        mut self,
        ending: Ending,
        stray_bytes: u64,
        open_ns: Option<u64>,
        resources: ResourceUse,
    ) -> PointSummary {
        // A late answer was first counted as lost.
        self.counts.lost = self.counts.lost.saturating_sub(self.counts.late);
        self.counts.stray_bytes = stray_bytes;
        let elapsed_ns = self.end_ns.saturating_sub(self.begin_ns.min(self.end_ns));
        let seconds = elapsed_ns as f64 / 1e9;
        let rate = |amount: u64| {
            if seconds > 0.0 {
                amount as f64 / seconds
            } else {
                0.0
            }
        };
        let throughput = Throughput {
            exchanges_s: rate(self.counts.answered),
            out_bytes_s: rate(self.bytes_out),
            in_bytes_s: rate(self.bytes_in),
        };
        let deadline = if self.every_ns.is_some() {
            &self.from_intended
        } else {
            &self.rtt
        };
        let missed = self.counts.exchanges - self.counts.answered;
        let below: Vec<Share> = self
            .below_ns
            .iter()
            .map(|&limit| deadline.share_below(limit, missed))
            .collect();
        PointSummary {
            point: self.point,
            ending,
            counts: self.counts,
            elapsed_ns,
            first_rtt_ns: self.first_rtt_ns,
            open_ns,
            below,
            modes: self.rtt.modes(),
            rtt: self.rtt.distribution(),
            from_intended: self.from_intended.distribution(),
            start_delay: self.start_delay.distribution(),
            lateness: self.lateness.and_then(LatenessCounter::finish),
            trt: self.trt.finish().distribution(),
            // Little's law (Operations Research 9, 1961): mean number under way.
            achieved_depth: self.under_way_ns as f64 / elapsed_ns.max(1) as f64,
            throughput,
            limit: None,
            device: self.device.distribution(),
            connect: self.connect.distribution(),
            access: self.access.distribution(),
            transfer: self.transfer.distribution(),
            stages: self.stages.finish(),
            batch: None,
            surplus: None,
            queries: self.queries.finish(),
            unexpected: self.unexpected.finish(),
            instrument_errors: Vec::new(),
            can: None,
            resources,
            disturbances: Vec::new(),
        }
    }
}

/// TRT from start times that may come out of order: samples end in another order than they start.
pub struct Starts {
    series: Series,
    order: StartOrder,
}

/// Puts starts into the order of their sequence numbers, and gives the time from each to the next.
#[derive(Clone, Debug)]
pub struct StartOrder {
    /// The sequence number to be joined next.
    next: u64,
    last_start_ns: Option<u64>,
    /// Starts whose predecessor has not ended yet; at most what one timeout can hold.
    waiting: BTreeMap<u64, u64>,
}

impl Starts {
    /// Nothing yet; `next` is the sequence number of the exchange from which on there are TRTs.
    pub fn from_sequence(next: u64) -> Starts {
        Starts {
            series: Series::new(),
            order: StartOrder::from_sequence(next),
        }
    }

    /// Takes the start of an exchange.
    pub fn push(&mut self, sequence: u64, start_ns: u64) {
        let series = &mut self.series;
        self.order
            .push(sequence, start_ns, &mut |_, trt_ns| series.push(trt_ns));
    }

    /// Every TRT, in the order of the starts.
    pub fn finish(self) -> Series {
        let mut series = self.series;
        self.order.finish(&mut |_, trt_ns| series.push(trt_ns));
        series
    }
}

impl StartOrder {
    /// Nothing yet; `next` is the sequence number of the exchange from which on there are TRTs.
    pub fn from_sequence(next: u64) -> StartOrder {
        StartOrder {
            next,
            last_start_ns: None,
            waiting: BTreeMap::new(),
        }
    }

    /// Takes the start of an exchange; `each` gets a start and the time from it to the next.
    pub fn push(&mut self, sequence: u64, start_ns: u64, each: &mut dyn FnMut(u64, u64)) {
        if sequence != self.next {
            if sequence > self.next {
                self.waiting.insert(sequence, start_ns);
            }
            return;
        }
        self.join(start_ns, each);
        while let Some(start_ns) = self.waiting.remove(&self.next) {
            self.join(start_ns, each);
        }
    }

    fn join(&mut self, start_ns: u64, each: &mut dyn FnMut(u64, u64)) {
        if let Some(before) = self.last_start_ns.replace(start_ns) {
            each(before, start_ns.saturating_sub(before));
        }
        self.next += 1;
    }

    /// Gives what is left: it follows a gap, exchanges that an interruption cut off before they ended.
    pub fn finish(mut self, each: &mut dyn FnMut(u64, u64)) {
        for (sequence, start_ns) in std::mem::take(&mut self.waiting) {
            if sequence != self.next {
                self.last_start_ns = None;
                self.next = sequence;
            }
            self.join(start_ns, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure_value::tests as figure_tests;

    /// What exchanges with an RTT of 1 ms amount to, whose device took so many ticks of a clock of
    /// 1 MHz that wraps after so many bits.
    fn with_device_ticks(tick_bits: u32, ticks: &[(u64, u64)]) -> PointSummary {
        let responder = Responder {
            tick_hz: 1_000_000,
            tick_bits,
            ..Responder::default()
        };
        let (plan, point) = (figure_tests::plan(), figure_tests::POINT);
        let mut summariser = Summariser::new(&plan, point, Some(&responder));
        for (sequence, &(device_rx_ticks, device_tx_ticks)) in (0..).zip(ticks) {
            summariser.push(&Sample {
                sequence,
                start_ns: sequence * 1_000_000,
                rtt_ns: 1_000_000,
                device_rx_ticks,
                device_tx_ticks,
                ..Sample::default()
            });
        }
        summariser.finish(Ending::Complete, 0, None, ResourceUse::default())
    }

    #[test]
    fn a_device_time_longer_than_the_rtt_is_counted_and_in_no_figure() {
        // Sent before it was received, longer than the RTT, random.
        let impossible = [(500, 400), (0, 2_000), (9, u64::MAX / 3)];
        let possible = [(100, 300), (u64::MAX - 99, 100), (7, 1_007)];
        let ticks = [impossible, possible].concat();
        let summary = with_device_ticks(64, &ticks);
        assert_eq!(summary.counts.impossible_device_times, 3);
        let device = summary.device.unwrap();
        assert_eq!((device.n, device.min, device.max), (3, 200e3, 1e6));
        assert_eq!(summary.counts.answered, 6);
        assert!(summary.counts.is_clean());
    }

    #[test]
    fn of_impossible_device_times_alone_no_figure_is_made() {
        for bits in [32, 64] {
            let summary = with_device_ticks(bits, &[(1000, 1); 5]);
            assert_eq!(summary.counts.impossible_device_times, 5);
            assert_eq!(summary.device, None);
        }
    }

    #[test]
    fn a_fast_or_coarse_device_clock_is_not_wrong() {
        // 4 % fast; a tick more than the RTT; wrapped within the exchange.
        for (bits, ticks) in [(64, (0, 1_040)), (64, (0, 1_001)), (16, (65_000, 400))] {
            let summary = with_device_ticks(bits, &[ticks]);
            assert_eq!(summary.counts.impossible_device_times, 0, "{ticks:?}");
            assert!(summary.device.is_some());
        }
    }
}
