//! Points whose p99 has no upper confidence bound: because the times drift, or how many exchanges would give
//! it one.

use wiregauge_quantity::rounded_up;
use wiregauge_record::{Figure, Limit, Part, PointSummary};
use wiregauge_run::RunFile;
use wiregauge_stats::{Distribution, FEWEST_SHOWN, samples_to_bound};

/// Points without an upper bound of p99.
pub(in crate::tables) struct FewSamples {
    /// Which.
    pub(super) points: Vec<u32>,
    /// The flag that would be enough for those whose times do not drift; `None` if all drift.
    enough: Option<String>,
    /// The times of some drift, or depend on each other so strongly that it may be a drift.
    pub(super) may_drift: bool,
    /// Only the percentile from the intended start has no bound.
    pub(super) intended: bool,
}

impl FewSamples {
    /// Why a percentile has no upper bound.
    pub(in crate::tables) fn note(&self) -> String {
        match (&self.enough, self.may_drift) {
            (None, _) => "the times drift".into(),
            (Some(flag), false) => format!("too few samples ({flag})"),
            (Some(flag), true) => format!("too few samples ({flag}) or drift"),
        }
    }
}

/// Samples that are worth an independent one, from which on they depend on each other strongly.
const DEPENDENT: f64 = 3.0;

fn is_dependent(times: &Distribution) -> bool {
    times.effective_n < times.n as f64 / DEPENDENT
}

/// The times, if their p99 has no upper bound.
fn open(times: &Option<Distribution>) -> Option<&Distribution> {
    times.as_ref().filter(|times| times.p99.high.is_none())
}

/// The times of a point whose p99 has no upper bound.
fn scarce(point: &PointSummary) -> Option<&Distribution> {
    open(&point.rtt).or_else(|| open(&point.from_intended))
}

/// What is to be said of a run, if a point has too few.
pub(in crate::tables) fn of(file: &RunFile) -> Option<FewSamples> {
    let limit = file.plan.limit;
    let points = file.points.iter();
    let points = points.filter_map(|point| Some((point, scarce(point)?)));
    let points: Vec<(&PointSummary, &Distribution)> = points.collect();
    points.first()?;
    let steady = points.iter().filter(|(_, times)| !drifts(times));
    let needed =
        |point: &PointSummary, times: &Distribution| needed(limit, point, times, required(times));
    let scarcest = steady.max_by_key(|(point, times)| needed(point, times));
    let enough = scarcest.map(|(point, times)| flag(limit, needed(point, times)));
    let is_dependent = scarcest.is_some_and(|(_, times)| is_dependent(times));
    Some(FewSamples {
        points: points.iter().map(|(point, _)| point.point.index).collect(),
        enough,
        may_drift: is_dependent || points.iter().any(|(_, times)| drifts(times)),
        intended: points.iter().all(|(point, _)| open(&point.rtt).is_none()),
    })
}

/// The flag that limits a run, with this number.
fn flag(limit: Limit, needed: u64) -> String {
    match limit {
        Limit::Count(_) => format!("--count {needed}"),
        Limit::DurationNs(_) => format!("--duration {needed}s"),
    }
}

/// Why a figure of a point of a run that ended by this limit has no upper bound; `None` where that is not known.
pub fn no_bound(limit: Limit, point: &PointSummary, figure: Figure) -> Option<String> {
    let (times, part) = match figure {
        Figure::Time(times, part) => (times.of(point)?, Some(part)),
        Figure::Exchanges | Figure::Rate(_) | Figure::LimitUsed => (point.trt.as_ref()?, None),
        _ => return None,
    };
    if drifts(times) {
        return Some("the times drift".into());
    }
    let of_independent = |p: f64| bound(p, times, times.effective_n);
    let required = match part? {
        Part::P50 => of_independent(0.5),
        Part::P90 => of_independent(0.9),
        Part::P99 => required(times),
        Part::P999 => of_independent(0.999),
        _ => return None,
    };
    let enough = flag(limit, needed(limit, point, times, required));
    Some(match is_dependent(times) {
        true => format!("too few samples ({enough}) or drift"),
        false => format!("too few samples ({enough})"),
    })
}

/// More samples than these are said to be required of a point that has too few.
const MORE: f64 = 1.1;

/// Samples that bound p99, with the dependence that was found.
fn required(times: &Distribution) -> f64 {
    let worth = times.p99_effective_n.unwrap_or(times.effective_n);
    bound(0.99, times, worth)
}

/// Samples that bound percentile `p`, of which these are worth so many independent ones.
fn bound(p: f64, times: &Distribution, worth: f64) -> f64 {
    let n = times.n.max(1) as f64;
    let tau = |worth: f64| n / worth.max(1.0);
    let bound = samples_to_bound(p, tau(worth));
    (bound as f64).max(FEWEST_SHOWN * tau(times.effective_n))
}

/// True where a percentile has no bounds although the independent samples are clearly enough: parts of the
/// point differ by more than chance explains.
fn drifts(times: &Distribution) -> bool {
    let enough = times.effective_n >= FEWEST_SHOWN;
    let unbounded = times.p50.high.is_none() || times.p90.high.is_none();
    enough && (unbounded || times.p99.high.is_none() && required(times) * MORE < times.n as f64)
}

/// Exchanges, or seconds, that would be enough for a point of which so many samples are required.
fn needed(limit: Limit, point: &PointSummary, times: &Distribution, required: f64) -> u64 {
    let n = times.n.max(1) as f64;
    let samples = required.max(MORE * n);
    match limit {
        Limit::Count(_) => rounded_up(samples),
        Limit::DurationNs(_) => {
            let seconds = samples / n * point.elapsed_ns as f64 / 1e9;
            rounded_up(seconds.max(1.0))
        }
    }
}
