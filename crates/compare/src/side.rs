//! What one kind of run must give to be compared.

use crate::conditions::{self, Changed};
use crate::figure::Figure;
use crate::key::Place;
use crate::outcome::{ComparedPoint, HostDifference};
use wiregauge_record::Disturbance;
use wiregauge_run::{Files, Run, RunError};
use wiregauge_stats::{Confidence, Estimate, Events, share_of};

/// One figure of one run.
pub enum Found {
    /// Its value, with bounds where the samples can bound it.
    Known(Estimate),
    /// A share of rare events. How many of them are one event, both sides must say: of a run without any
    /// it is not known.
    Events(Events),
    /// The share of all others.
    AllBut(Events),
    /// A share of so many, of which only the total is known, not in how many events.
    Total {
        /// Its value.
        share: f64,
        /// Of how many.
        of: u64,
    },
}

impl Found {
    /// How many are one event, if this run shows it.
    pub(crate) fn per_event(&self) -> Option<f64> {
        match self {
            Found::Events(events) | Found::AllBut(events) => events.per_event(),
            _ => None,
        }
    }

    /// With bounds that are so sure, where at least `per_event` are one event and there are this many
    /// `runs` on the side.
    pub(crate) fn estimate(
        &self,
        per_event: f64,
        runs: usize,
        sure: Confidence,
    ) -> Option<Estimate> {
        match self {
            Found::Known(estimate) => Some(*estimate),
            Found::Events(events) => events.share(per_event, sure),
            Found::AllBut(events) => events.share(per_event, sure).map(|share| Estimate {
                value: 1.0 - share.value,
                low: share.high.map(|high| 1.0 - high),
                high: share.low.map(|low| 1.0 - low),
            }),
            Found::Total { share, of } if *share == 0.0 => Some(share_of(*of, 0.0, sure)),
            // The scatter between runs bounds it; a single run does not.
            Found::Total { share, .. } => {
                let bound = (runs > 1).then_some(*share);
                Some(Estimate {
                    value: *share,
                    low: bound,
                    high: bound,
                })
            }
        }
    }
}

/// A kind of run that can be compared.
pub trait Comparable: Files {
    /// The figures that all of these runs have: those that are always compared, and of those that are asked for.
    fn figures(runs: &[&Run<Self>], asked: &[Figure]) -> Vec<Figure>;

    /// The points that were measured.
    fn places(run: &Run<Self>) -> Vec<Place>;

    /// Whether its plan says when an exchange starts.
    fn is_scheduled(_run: &Run<Self>) -> bool {
        false
    }

    /// Values of one point, with bounds that are so sure. `scheduled`: all runs have a schedule, so times count from
    /// the intended start.
    fn read(
        run: &Run<Self>,
        at: usize,
        figures: &[Figure],
        scheduled: bool,
        sure: Confidence,
    ) -> Result<Read, RunError>;

    /// What else differs and may be the cause: what the runs ran on.
    fn changed(before: &[&Run<Self>], after: &[&Run<Self>]) -> Vec<Changed> {
        conditions::of_runs(before, after, |_| Vec::new())
    }

    /// What in the plans makes figures hard to compare.
    fn notes(_runs: &[&Run<Self>]) -> Vec<String> {
        Vec::new()
    }

    /// Which host is slower, where the sides ran on two.
    fn hosts(
        _before: &[&Run<Self>],
        _after: &[&Run<Self>],
        _points: &[ComparedPoint],
    ) -> Option<HostDifference> {
        None
    }
}

/// What was found of one point of one run.
pub struct Read {
    /// In the order of the figures that were asked for.
    pub found: Vec<Option<Found>>,
    /// Samples behind it.
    pub samples: u64,
    /// What should be known of it.
    pub notes: Vec<String>,
    /// What disturbed it.
    pub disturbed: Vec<&'static str>,
}

/// What disturbed a point, in a few words.
pub(crate) fn by(disturbances: &[Disturbance]) -> Vec<&'static str> {
    let name = |disturbance: &Disturbance| match disturbance {
        Disturbance::Steal { .. } => "CPU time stolen by the hypervisor",
        Disturbance::Preempted { .. } => "preempted",
        Disturbance::SharedProcessor { .. } => "other programs on the same CPU",
        Disturbance::ClockGap { .. } => "clock jumps",
        Disturbance::EndpointStalled { .. } => "endpoint stalls",
        Disturbance::UrbEventsLost { .. } => "lost URB events",
        Disturbance::StorageTooSlow { .. } => "slow storage",
        Disturbance::DeviceLate(_) => "late device",
    };
    disturbances.iter().map(name).collect()
}
