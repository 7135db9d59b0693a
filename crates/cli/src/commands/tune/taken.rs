//! What one setting gave.

use super::loop_cost::LoopResult;
use wiregauge_record::{PointSummary, StreamSummary};

/// What one setting gave.
#[derive(Clone, Debug)]
pub enum Taken {
    /// Exchanges.
    Exchanges {
        /// Their figures.
        point: Box<PointSummary>,
        /// What their delays do to a control loop, if the search is for one.
        control: Option<LoopResult>,
        /// True of a run that is stored: its figures are those that the run shows.
        stored: bool,
    },
    /// A stream.
    Stream(Box<StreamSummary>),
}

impl Taken {
    /// The physical limit of the link in bytes a second, where it is known.
    pub fn limit_bytes_s(&self) -> Option<f64> {
        match self {
            Taken::Exchanges { point, .. } => point.limit.as_ref().map(|limit| limit.bytes_s),
            Taken::Stream(point) => {
                let limits = point.flows.iter().filter_map(|flow| flow.limit.as_ref());
                limits.map(|limit| limit.bytes_s).reduce(f64::max)
            }
        }
    }

    /// What its delays do to the control loop of the search.
    pub fn control(&self) -> Option<&LoopResult> {
        match self {
            Taken::Exchanges { control, .. } => control.as_ref(),
            Taken::Stream(_) => None,
        }
    }

    /// Exchanges, or transfers in all directions.
    pub fn n(&self) -> u64 {
        match self {
            Taken::Exchanges { point, .. } => point.counts.exchanges,
            Taken::Stream(point) => point.flows.iter().map(|flow| flow.transfers).sum(),
        }
    }
}
