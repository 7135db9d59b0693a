//! What one kind of run must give to be compared.

use crate::figure::Figure;
use crate::key::Place;
use wiregauge_record::Disturbance;
use wiregauge_run::RunError;
use wiregauge_stats::{Confidence, Estimate};

/// One figure of one run, with bounds where the samples can bound it.
pub(crate) type Found = (Figure, Option<Estimate>);

/// What one kind of run must tell to be compared.
pub(crate) trait Side {
    /// The points that were measured.
    fn places(&self) -> Vec<Place>;
    /// Values of one point, with bounds that are so sure.
    fn read(&self, at: usize, figures: &[Figure], sure: Confidence) -> Result<Read, RunError>;
}

/// What was found of one point of one run.
pub(crate) struct Read {
    pub(crate) found: Vec<Found>,
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
