//! The figures of an exchange point out of its samples: those of its summary, as the tables show them. Times are of
//! the right answers; the exchanges without one are a figure of their own, `lost`.

use crate::conditions::{self, Changed, schedule};
use crate::figure::{Figure, longest, part};
use crate::hosts;
use crate::key::{Key, Place};
use crate::outcome::{ComparedPoint, HostDifference};
use crate::portion::{self, Clocks, Portion};
use crate::side::{Comparable, Found, Read, by};
use wiregauge_quantity::exact_time;
use wiregauge_record::{
    Carried, Figure as Named, Part, Phase, Problem, Sample, Schedule, Starts, Throughput, Times,
    grouped,
};
use wiregauge_run::{Exchange, Run, RunError};
use wiregauge_stats::{Confidence, Estimate, Events, Series};

/// Values held exactly, 8 MiB a series: percentiles of more have a resolution of 1/1024.
const EXACT: usize = 1 << 20;

/// What is read of a sample.
const COLUMNS: &[&str] = &[
    "sequence",
    "phase",
    "status",
    "intended_ns",
    "start_ns",
    "rtt_ns",
];

/// What divides the time of an exchange, where that is known.
const CLOCKS: &[&str] = &["device_rx_ticks", "device_tx_ticks"];
const KERNEL: &[&str] = &["kernel_tx_ns", "kernel_rx_ns"];

/// Compared where nothing else is asked for.
const PARTS: [Part; 5] = [Part::Mean, Part::P50, Part::P90, Part::P99, Part::P999];

fn figures<'a>(
    runs: impl Iterator<Item = &'a Run<Exchange>> + Clone,
    asked: &[Figure],
) -> Vec<Figure> {
    let mut named: Vec<Named> = PARTS.map(|part| Named::Time(Times::Answer, part)).into();
    named.push(Named::Time(Times::Answer, Part::Max));
    named.extend([Named::Time(Times::Trt, Part::Mean), Named::Exchanges]);
    named.push(Named::Share(Problem::Lost));
    let mut schedules = runs.clone().map(|run| run.file.plan.schedule);
    let first = schedules.next();
    let same_schedule = schedules.all(|schedule| Some(schedule) == first);
    let mut figures: Vec<Figure> = named.into_iter().map(Figure::Named).collect();
    figures.extend(asked.iter().filter(|asked| match asked {
        Figure::Named(Named::Time(Times::Answer | Times::Trt, of)) => PARTS.contains(of),
        Figure::Named(figure) => matches!(figure, Named::Rate(_)),
        _ => false,
    }));
    // Of different schedules, these are what was planned, and no result.
    figures.retain(|figure| {
        let is_pace = matches!(
            figure,
            Figure::Named(Named::Time(Times::Trt, _) | Named::Exchanges | Named::Rate(_))
        );
        same_schedule || !is_pace
    });
    let portions = portion::of_all(runs.clone());
    let limits = |run: &Run<Exchange>| run.file.plan.below_ns.clone();
    let shared = runs.map(limits).reduce(|mut shared, run| {
        shared.retain(|limit| run.contains(limit));
        shared
    });
    let mut shared = shared.unwrap_or_default();
    shared.sort_unstable();
    shared.dedup();
    figures.extend(shared.into_iter().map(Figure::Below));
    figures.extend(portions.into_iter().map(Figure::Portion));
    figures
}

fn notes(runs: &[&Run<Exchange>]) -> Vec<String> {
    let each = |of: &dyn Fn(&Run<Exchange>) -> String| {
        let mut values: Vec<String> = Vec::new();
        for value in runs.iter().map(|run| of(run)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        (values.len() > 1).then(|| values.join("; "))
    };
    let schedules = each(&|run| schedule(run.file.plan.schedule)).map(|schedules| {
        let times = match runs.iter().all(|run| Exchange::is_scheduled(run)) {
            true => "",
            false => ", and times count from the actual start",
        };
        format!("the schedules differ ({schedules}): they determine TRT and throughput{times}")
    });
    let points = || runs.iter().flat_map(|run| &run.file.points);
    let has_losses = points().any(|point| point.counts.answered < point.counts.exchanges);
    let timeouts = each(&|run| exact_time(run.file.plan.timeout_ns)).filter(|_| has_losses);
    let timeouts = timeouts.map(|timeouts| {
        format!(
            "the timeouts differ ({timeouts}): a shorter one loses responses that a longer one counts as slow"
        )
    });
    schedules.into_iter().chain(timeouts).collect()
}

impl Comparable for Exchange {
    fn figures(runs: &[&Run<Exchange>], asked: &[Figure]) -> Vec<Figure> {
        figures(runs.iter().copied(), asked)
    }

    fn is_scheduled(run: &Run<Exchange>) -> bool {
        matches!(run.file.plan.schedule, Schedule::EveryNs(_))
    }

    fn places(run: &Run<Exchange>) -> Vec<Place> {
        let points = run.file.points.iter().enumerate();
        points
            .filter(|(_, point)| point.counts.exchanges > 0)
            .map(|(at, point)| (Key::of_exchange(&point.point), at))
            .collect()
    }

    fn read(
        run: &Run<Exchange>,
        at: usize,
        figures: &[Figure],
        scheduled: bool,
        sure: Confidence,
    ) -> Result<Read, RunError> {
        let point = &run.file.points[at].point;
        let clocks = Clocks::new(run.file.conditions.responder_of(point.link));
        let mut accumulator = Accumulator::new(run, point.depth, figures, scheduled, clocks);
        let mut samples = run.samples_of(at, &columns(figures))?;
        while let Some(rows) = samples.next_rows() {
            rows?.iter().for_each(|sample| accumulator.push(sample));
        }
        let speed = &run.file.points[at].throughput;
        let mut read = accumulator.finish(figures, speed, sure);
        read.disturbed = by(&run.file.points[at].disturbances);
        Ok(read)
    }

    fn changed(before: &[&Run<Exchange>], after: &[&Run<Exchange>]) -> Vec<Changed> {
        conditions::of_exchange(before, after)
    }

    fn notes(runs: &[&Run<Exchange>]) -> Vec<String> {
        notes(runs)
    }

    fn hosts(
        before: &[&Run<Exchange>],
        after: &[&Run<Exchange>],
        points: &[ComparedPoint],
    ) -> Option<HostDifference> {
        hosts::of_exchange(before, after, points)
    }
}

/// The columns that these figures need.
fn columns(figures: &[Figure]) -> Vec<&'static str> {
    let has = |wanted: &[Portion]| {
        let mut figures = figures.iter();
        figures.any(|figure| matches!(figure, Figure::Portion(of) if wanted.contains(of)))
    };
    let device = has(&[Portion::Device, Portion::HostAndWire, Portion::Wire]);
    let host = has(&[Portion::Host, Portion::DeviceAndWire, Portion::Wire]);
    let mut columns = COLUMNS.to_vec();
    columns.extend(device.then_some(CLOCKS).into_iter().flatten());
    columns.extend(host.then_some(KERNEL).into_iter().flatten());
    columns
}

/// One point while it is read.
struct Accumulator {
    scheduled: bool,
    clocks: Clocks,
    exchanges: u64,
    /// Of the right answers, as the longest and the parts.
    times: Series,
    longest_ns: u64,
    portions: Vec<(Portion, Series)>,
    starts: Starts,
    /// From the end of a right answer to the end of the next.
    between_answers: Series,
    last_end_ns: Option<u64>,
    begin_ns: u64,
    end_ns: u64,
    /// The exchanges without a right answer in time.
    lost: Events,
    /// For each limit: those that took that long or were not answered.
    beyond: Vec<(u64, Events)>,
}

impl Accumulator {
    fn new(
        run: &Run<Exchange>,
        depth: u32,
        figures: &[Figure],
        scheduled: bool,
        clocks: Clocks,
    ) -> Accumulator {
        let plan = &run.file.plan;
        let series = || Series::with_exact_limit(EXACT);
        let limits = figures.iter().filter_map(|figure| match figure {
            Figure::Below(limit) => Some((*limit, Events::with_exact_limit(EXACT))),
            _ => None,
        });
        let portions = figures.iter().filter_map(|figure| match figure {
            Figure::Portion(portion) => Some((*portion, series())),
            _ => None,
        });
        Accumulator {
            scheduled,
            clocks,
            exchanges: 0,
            times: series(),
            longest_ns: 0,
            portions: portions.collect(),
            starts: Starts::from_sequence(plan.first_of_trt(depth)),
            between_answers: series(),
            last_end_ns: None,
            begin_ns: u64::MAX,
            end_ns: 0,
            lost: Events::with_exact_limit(EXACT),
            beyond: limits.collect(),
        }
    }

    fn push(&mut self, sample: &Sample) {
        if sample.phase != Phase::Measured || !sample.status.is_first_row() {
            return;
        }
        let is_right = sample.status.is_timed();
        let time = match self.scheduled {
            true => sample.from_intended_ns(),
            false => sample.rtt_ns,
        };
        self.exchanges += 1;
        self.starts.push(sample.sequence, sample.start_ns);
        self.lost.push(!is_right);
        for (limit, events) in &mut self.beyond {
            events.push(!is_right || time >= *limit);
        }
        self.begin_ns = self.begin_ns.min(sample.start_ns);
        let end_ns = sample.start_ns.saturating_add(sample.rtt_ns);
        self.end_ns = self.end_ns.max(end_ns);
        if is_right {
            self.times.push(time);
            self.longest_ns = self.longest_ns.max(time);
            for (portion, series) in &mut self.portions {
                series.push(self.clocks.part(*portion, sample));
            }
            let last_ns = self.last_end_ns.unwrap_or(self.begin_ns);
            self.between_answers.push(end_ns.saturating_sub(last_ns));
            self.last_end_ns = Some(end_ns.max(last_ns));
        }
    }

    fn finish(self, figures: &[Figure], speed: &Throughput, sure: Confidence) -> Read {
        let trt = self.starts.finish();
        let (times, trt) = (self.times.read(), trt.read());
        let answers = self.between_answers.read();
        let elapsed_ns = self.end_ns.saturating_sub(self.begin_ns.min(self.end_ns));
        let lost = self.lost.happened();
        let found = |figure: &Figure| -> Option<Found> {
            let exchanges = || match &answers {
                Some(answers) => Some(per_second(speed.exchanges_s, answers.mean(sure))),
                None => none_a_second(elapsed_ns, sure),
            };
            let known = match *figure {
                Figure::Named(Named::Time(Times::Answer, Part::Max)) => {
                    times.as_ref().map(|_| longest(self.longest_ns as f64))
                }
                Figure::Named(Named::Time(Times::Answer, of)) => part(of, times.as_ref()?, sure),
                Figure::Named(Named::Time(Times::Trt, of)) => part(of, trt.as_ref()?, sure),
                Figure::Named(Named::Exchanges) => exchanges(),
                Figure::Named(Named::Rate(carried)) => {
                    exchanges().map(|found| scaled(found, bytes_each(speed, carried)))
                }
                Figure::Named(Named::Share(Problem::Lost)) => {
                    return Some(Found::Events(self.lost.clone()));
                }
                Figure::Below(limit) => {
                    let beyond = self.beyond.iter().find(|(of, _)| *of == limit)?;
                    return Some(Found::AllBut(beyond.1.clone()));
                }
                Figure::Portion(portion) => {
                    let of_portion = self.portions.iter().find(|(of, _)| *of == portion)?;
                    part(Part::P50, &of_portion.1.read()?, sure)
                }
                _ => None,
            };
            known.map(Found::Known)
        };
        let notes = (lost > 0).then(|| {
            format!(
                "{} of {} exchanges got no correct response in time; times are of the others",
                grouped(lost),
                grouped(self.exchanges)
            )
        });
        Read {
            found: figures.iter().map(found).collect(),
            samples: self.exchanges,
            notes: notes.into_iter().collect(),
            disturbed: Vec::new(),
        }
    }
}

/// Bytes of an exchange on average.
fn bytes_each(speed: &Throughput, carried: Carried) -> f64 {
    let bytes_s = match carried {
        Carried::In => speed.in_bytes_s,
        Carried::Out => speed.out_bytes_s,
        Carried::Both => speed.in_bytes_s + speed.out_bytes_s,
    };
    match speed.exchanges_s > 0.0 {
        true => bytes_s / speed.exchanges_s,
        false => 0.0,
    }
}

fn scaled(found: Estimate, by: f64) -> Estimate {
    Estimate {
        value: found.value * by,
        low: found.low.map(|low| low * by),
        high: found.high.map(|high| high * by),
    }
}

/// The rate of the summary, as sure as the mean time between two responses.
fn per_second(rate: f64, between_ns: Estimate) -> Estimate {
    let bound = |ns: Option<f64>| {
        let ns = ns.filter(|&ns| ns > 0.0)?;
        Some(rate * between_ns.value / ns)
    };
    Estimate {
        value: rate,
        low: bound(between_ns.high),
        high: bound(between_ns.low),
    }
}

/// None came in all that time: the rate is at most the one that would have given one with the
/// probability that an interval may miss on a side.
fn none_a_second(elapsed_ns: u64, sure: Confidence) -> Option<Estimate> {
    (elapsed_ns > 0).then(|| Estimate {
        value: 0.0,
        low: Some(0.0),
        high: Some(-(sure.missed() / 2.0).ln() * 1e9 / elapsed_ns as f64),
    })
}
