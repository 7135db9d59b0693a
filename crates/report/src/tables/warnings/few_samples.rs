//! Points whose p99 has no upper confidence bound: because the times drift, or how many exchanges would give
//! it one.

use wiregauge_quantity::{grouped, rounded_up};
use wiregauge_record::{Limit, PointSummary};
use wiregauge_run::RunFile;
use wiregauge_stats::{Distribution, FEWEST_SHOWN, samples_to_bound};

/// Points without an upper bound of p99.
pub(in crate::tables) struct FewSamples {
    /// Which.
    pub(super) points: Vec<u32>,
    /// Those of them whose times drift.
    pub(super) drifting: Vec<u32>,
    /// The one of the others that requires most.
    pub(super) scarcest: Option<Scarcest>,
    /// Only the percentile from the intended start has no bound.
    pub(super) intended: bool,
}

impl FewSamples {
    /// Why a percentile has no upper bound, in a line below a table.
    pub(in crate::tables) fn note(&self) -> String {
        match (&self.scarcest, self.drifting.is_empty()) {
            (None, _) => "the times drift".into(),
            (Some(point), true) if !point.is_dependent => {
                format!("too few samples ({})", point.needed.flag())
            }
            (Some(point), _) => format!("too few samples ({}) or drift", point.needed.flag()),
        }
    }
}

/// The point that requires most.
pub(super) struct Scarcest {
    /// Its exchanges.
    pub(super) exchanges: u64,
    /// How many independent samples these are worth.
    pub(super) worth: f64,
    /// What would be enough.
    pub(super) needed: Needed,
    /// They depend on each other so strongly that it may be a drift.
    pub(super) is_dependent: bool,
}

/// Samples that are worth an independent one, from which on they depend on each other strongly.
const DEPENDENT: f64 = 3.0;

fn is_dependent(times: &Distribution) -> bool {
    times.effective_n < times.n as f64 / DEPENDENT
}

/// What would be enough: so many exchanges, or seconds, for each point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Needed {
    amount: u64,
    is_time: bool,
}

impl Needed {
    /// `--count 760`.
    fn flag(self) -> String {
        match self.is_time {
            false => format!("--count {}", self.amount),
            true => format!("--duration {}s", self.amount),
        }
    }

    /// `760 exchanges are required (--count 760)`.
    pub(super) fn words(self) -> String {
        let unit = if self.is_time { "s" } else { "exchanges" };
        let amount = grouped(self.amount);
        format!("{amount} {unit} are required ({})", self.flag())
    }
}

/// The times, if their p99 has no upper bound.
fn open(times: &Option<Distribution>) -> Option<&Distribution> {
    times.as_ref().filter(|times| times.p99.high.is_none())
}

/// The times of a point whose p99 has no upper bound.
fn scarce(point: &PointSummary) -> Option<&Distribution> {
    open(&point.rtt).or_else(|| open(&point.from_intended))
}

/// The warning, if a point deserves it.
pub(in crate::tables) fn of(file: &RunFile) -> Option<FewSamples> {
    let points: Vec<&PointSummary> = file.points.iter().filter(|p| scarce(p).is_some()).collect();
    points.first()?;
    let index = |point: &&PointSummary| point.point.index;
    let (drifting, few): (Vec<&PointSummary>, Vec<&PointSummary>) = points
        .iter()
        .partition(|point| scarce(point).is_some_and(drifts));
    let scarcest = few.iter().filter_map(|point| {
        let times = scarce(point)?;
        Some(Scarcest {
            exchanges: times.n,
            worth: worth(times),
            needed: needed(file.plan.limit, point, times),
            is_dependent: is_dependent(times),
        })
    });
    Some(FewSamples {
        points: points.iter().map(index).collect(),
        drifting: drifting.iter().map(index).collect(),
        scarcest: scarcest.max_by_key(|point| point.needed.amount),
        intended: points.iter().all(|point| open(&point.rtt).is_none()),
    })
}

/// Independent samples at p99; those of the whole where these alone are too few.
fn worth(times: &Distribution) -> f64 {
    match times.p99_effective_n {
        Some(worth) if times.effective_n >= FEWEST_SHOWN => worth,
        Some(worth) => worth.min(times.effective_n),
        None => times.effective_n,
    }
}

/// More samples than these are said to be required of a point that has too few.
const MORE: f64 = 1.1;

/// Samples that bound p99, with the dependence that was found.
fn required(times: &Distribution) -> f64 {
    let n = times.n.max(1) as f64;
    let tau = |worth: f64| n / worth.max(1.0);
    let bound = samples_to_bound(
        0.99,
        tau(times.p99_effective_n.unwrap_or(times.effective_n)),
    );
    (bound as f64).max(FEWEST_SHOWN * tau(times.effective_n))
}

/// True where a percentile has no bounds although the independent samples are clearly enough: parts of the
/// point differ by more than chance explains.
fn drifts(times: &Distribution) -> bool {
    let enough = times.effective_n >= FEWEST_SHOWN;
    let unbounded = times.p50.high.is_none() || times.p90.high.is_none();
    enough && (unbounded || times.p99.high.is_none() && required(times) * MORE < times.n as f64)
}

fn needed(limit: Limit, point: &PointSummary, times: &Distribution) -> Needed {
    let n = times.n.max(1) as f64;
    let samples = required(times).max(MORE * n);
    let seconds = samples / n * point.elapsed_ns as f64 / 1e9;
    let is_time = matches!(limit, Limit::DurationNs(_));
    Needed {
        amount: rounded_up(if is_time { seconds.max(1.0) } else { samples }),
        is_time,
    }
}
