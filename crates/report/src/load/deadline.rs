//! The responses of an exchange run, put onto the cycles of a control loop: what `wiregauge deadline`
//! tells. Read in one pass, in two with a limit of jitter, in memory that does not grow with the run.

use super::cycle_answers::{OF_RESPONSE, Taken, each_measured};
use super::points::{histogram, record};
use crate::tables::Places;
use crate::tables::{Extent, no_tail};
use hdrhistogram::Histogram;
use serde::Serialize;
use wiregauge_record::{Point, Sample, Schedule};
use wiregauge_run::{Exchange, Run, RunError, Stored};
use wiregauge_stats::{
    Confidence, CycleRule, Cycles, Distribution, Exceeding, FittedTail, Missed, NoTail, Responses,
};

/// Steps of the drawn tail.
const STEPS: u32 = 24;

/// The loop that a run is held against. Times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ControlLoop {
    /// From one tick to the next.
    pub period_ns: u64,
    /// The time in which an answer must be there.
    pub deadline_ns: u64,
    /// How far the response may lie from its median.
    pub jitter_ns: Option<u64>,
    /// One in how many responses is asked about; without, the rarest that the run can tell.
    pub beyond: Option<f64>,
}

/// What a run means for a control loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deadlines {
    /// The loop.
    #[serde(flatten)]
    pub control_loop: ControlLoop,
    /// How exchanges became cycles.
    pub taken: Taken,
    /// One entry a chosen point, in the order of the sweep.
    pub points: Vec<DeadlinePoint>,
    /// The names of all points of the run.
    #[serde(skip)]
    pub places: Places,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeadlinePoint {
    /// Which.
    pub point: Point,
    /// Measured exchanges without a right answer in time.
    pub unanswered: u64,
    /// Response times in nanoseconds, as a cycle sees them; `None` if there was no answer.
    pub response: Option<Distribution>,
    /// The cycles.
    #[serde(flatten)]
    pub cycles: Missed,
    /// The response time that misses: the deadline, or the upper limit of jitter if that is less.
    pub limit_ns: f64,
    /// What lies beyond the samples.
    pub beyond: Beyond,
    /// Every response in nanoseconds, three significant digits.
    #[serde(skip)]
    pub responses: Histogram<u64>,
}

/// What the tail says beyond the samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Beyond {
    /// Why nothing is said.
    pub refused: Option<NoTail>,
    /// The same in words, with what would help.
    pub why: Option<String>,
    /// The tail, where it could be fitted.
    pub tail: Option<FittedTail>,
    /// Tables down to one in so many responses.
    pub one_in: Option<f64>,
    /// How often a response takes longer than `limit_ns`.
    pub late: Option<Exceeding>,
    /// The response time in nanoseconds that one in `one_in` exceeds at most.
    pub level: Option<f64>,
    /// The upper bound of the tail as a curve: one in how many exceeds at most which response time.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
}

/// The cycles of a run with a schedule: each must be answered before the next begins. `None` of other runs.
pub fn cycles_of_schedule(run: &dyn Stored) -> Option<ControlLoop> {
    let run = run.as_kind::<Exchange>()?;
    match run.file.plan.schedule {
        Schedule::EveryNs(period_ns) if period_ns > 0 => Some(ControlLoop {
            period_ns,
            deadline_ns: period_ns,
            jitter_ns: None,
            beyond: None,
        }),
        _ => None,
    }
}

/// All points of an exchange run on such cycles. `None` of other runs and where samples cannot be read, which the page
/// says beside the figures.
pub fn deadlines_of_all(run: &dyn Stored, control_loop: ControlLoop) -> Option<Deadlines> {
    let run = run.as_kind::<Exchange>()?;
    let all: Vec<usize> = (0..run.file.points.len()).collect();
    if all.is_empty() {
        return None;
    }
    deadlines(run, &all, control_loop, &mut |_| {}).ok()
}

/// Reads the chosen points (by their place in `run.file.points`) and puts them onto the loop's cycles.
/// `progress` gets the part done, 0 to 1.
pub fn deadlines(
    run: &Run<Exchange>,
    chosen: &[usize],
    control_loop: ControlLoop,
    progress: &mut dyn FnMut(f64),
) -> Result<Deadlines, RunError> {
    let taken = Taken::of(run.file.plan.schedule, control_loop.period_ns);
    let mut points = Vec::new();
    for (done, &at) in chosen.iter().enumerate() {
        points.push(point(run, at, control_loop, taken)?);
        progress((done + 1) as f64 / chosen.len() as f64);
    }
    points.sort_by_key(|point| point.point.index);
    Ok(Deadlines {
        places: Places::of_run(&run.file.plan, &run.file.points),
        control_loop,
        taken,
        points,
    })
}

/// The part of the measured exchanges of the point at this place of `run.file.points` that have no right response by the
/// end of their period, counted as [`deadlines`] does; 0 without a schedule.
pub(crate) fn late_responses(run: &Run<Exchange>, at: usize) -> Result<f64, RunError> {
    let Some(schedule) = cycles_of_schedule(run) else {
        return Ok(0.0);
    };
    let summary = &run.file.points[at];
    let rule = CycleRule {
        period: schedule.period_ns,
        deadline: schedule.deadline_ns,
        between: None,
        outstanding: summary.point.depth,
    };
    let is_whole = summary.counts.answered == summary.counts.exchanges;
    let latest = summary.from_intended.as_ref().map(|times| times.max);
    if is_whole && latest.is_some_and(|latest| latest <= rule.deadline as f64) {
        return Ok(0.0);
    }
    let connect = run.file.plan.connect;
    let (mut cycles, mut late) = (0_u64, 0_u64);
    each_measured(run, at, &OF_RESPONSE, |sample| {
        let response_ns = Taken::AsScheduled.response_ns(sample, connect);
        let is_in_time = sample.status.is_timed() && rule.is_kept(response_ns);
        cycles += 1;
        late += u64::from(!is_in_time);
    })?;
    Ok(late as f64 / cycles.max(1) as f64)
}

fn point(
    run: &Run<Exchange>,
    at: usize,
    control_loop: ControlLoop,
    taken: Taken,
) -> Result<DeadlinePoint, RunError> {
    let point = run.file.points[at].point;
    let mut responses = Responses::new();
    let mut drawn = histogram();
    let mut unanswered = 0;
    let mut rule = CycleRule {
        period: control_loop.period_ns,
        deadline: control_loop.deadline_ns,
        between: None,
        outstanding: point.depth,
    };
    let mut cycles = Cycles::new(rule);
    let connect = run.file.plan.connect;
    let put = |cycles: &mut Cycles, sample: &Sample| {
        let is_right = sample.status.is_timed();
        let response_ns = taken.response_ns(sample, connect);
        match taken {
            Taken::AsScheduled => cycles.take(response_ns, is_right),
            Taken::Replayed | Taken::ReplayedFrom { .. } => cycles.replay(response_ns, is_right),
        }
    };
    each_measured(run, at, &OF_RESPONSE, |sample| {
        if sample.status.is_timed() {
            let response_ns = taken.response_ns(sample, connect);
            responses.push(response_ns);
            record(&mut drawn, response_ns);
        } else {
            unanswered += 1;
        }
        put(&mut cycles, sample);
    })?;
    let response = responses.series().distribution();
    if let (Some(jitter), Some(response)) = (control_loop.jitter_ns, &response) {
        let median = response.p50.value as u64;
        rule.between = Some((median.saturating_sub(jitter), median.saturating_add(jitter)));
        cycles = Cycles::new(rule);
        each_measured(run, at, &OF_RESPONSE, |sample| put(&mut cycles, sample))?;
    }
    let latest = rule.between.map_or(u64::MAX, |(_, latest)| latest);
    let limit_ns = rule.deadline.min(latest) as f64;
    let extent = Extent::of(
        &run.file,
        point,
        response.as_ref().map_or(0, |found| found.n),
        taken == Taken::AsScheduled,
    );
    Ok(DeadlinePoint {
        point,
        unanswered,
        response,
        cycles: cycles.finish(responses.together(), Confidence::NINETY_FIVE),
        limit_ns,
        beyond: beyond(&responses, limit_ns, control_loop.beyond, extent),
        responses: drawn,
    })
}

fn beyond(responses: &Responses, limit_ns: f64, asked: Option<f64>, extent: Extent) -> Beyond {
    let sure = Confidence::NINETY_FIVE;
    let fitted = responses.tail();
    let tables = fitted.as_ref().map_err(|&why| why).and_then(|tail| {
        let one_in = asked.unwrap_or(tail.carried);
        tail.carries(one_in).map(|()| one_in)
    });
    let refused = tables.err();
    let tail = fitted.ok();
    let one_in = tables.ok();
    let both = tail.as_ref().zip(one_in);
    Beyond {
        why: refused.map(|why| no_tail(&why, extent)),
        refused,
        one_in,
        late: both.map(|(tail, one_in)| tail.exceeding(limit_ns, one_in, sure)),
        level: both.and_then(|(tail, one_in)| tail.level(one_in, sure)),
        curve: both.map_or(Vec::new(), |(tail, one_in)| tail.curve(one_in, STEPS, sure)),
        tail,
    }
}
