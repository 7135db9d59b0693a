//! What one kind of run must give to be compared.

use crate::figure::Figure;
use crate::key::Place;
use wiregauge_record::Disturbance;
use wiregauge_run::RunError;
use wiregauge_stats::{Confidence, Estimate, Events, share_of};

/// One figure of one run.
pub(crate) enum Found {
    /// Its value, with bounds where the samples can bound it.
    Known(Estimate),
    /// A share of rare events. How many of them are one event, both sides must say: of a run without any
    /// it is not known.
    Events(Events),
    /// The share of all others.
    AllBut(Events),
    /// A share of so many, of which only the total is known, not in how many events.
    Total { share: f64, of: u64 },
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

/// What one kind of run must tell to be compared.
pub(crate) trait Side {
    /// The points that were measured.
    fn places(&self) -> Vec<Place>;
    /// Whether its plan says when an exchange starts.
    fn is_scheduled(&self) -> bool {
        false
    }
    /// Values of one point, with bounds that are so sure. `scheduled`: all runs have a schedule, so times count from
    /// the intended start.
    fn read(
        &self,
        at: usize,
        figures: &[Figure],
        scheduled: bool,
        sure: Confidence,
    ) -> Result<Read, RunError>;
}

/// What was found of one point of one run.
pub(crate) struct Read {
    /// In the order of the figures that were asked for.
    pub(crate) found: Vec<Option<Found>>,
    /// Samples behind it.
    pub(crate) samples: u64,
    /// What should be known of it.
    pub(crate) notes: Vec<String>,
    /// What disturbed it.
    pub(crate) disturbed: Vec<&'static str>,
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
