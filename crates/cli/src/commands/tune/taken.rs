//! What one setting gave.

use wiregauge_record::{PointSummary, StreamSummary};

/// What one setting gave.
#[derive(Clone, Debug)]
pub enum Taken {
    /// Exchanges.
    Exchanges(Box<PointSummary>),
    /// A stream.
    Stream(Box<StreamSummary>),
}

impl Taken {
    /// The physical limit of the link in bytes a second, where it is known.
    pub fn limit_bytes_s(&self) -> Option<f64> {
        match self {
            Taken::Exchanges(point) => point.limit.as_ref().map(|limit| limit.bytes_s),
            Taken::Stream(point) => {
                let limits = point.flows.iter().filter_map(|flow| flow.limit.as_ref());
                limits.map(|limit| limit.bytes_s).reduce(f64::max)
            }
        }
    }

    /// Exchanges, or transfers in all directions.
    pub fn n(&self) -> u64 {
        match self {
            Taken::Exchanges(point) => point.counts.exchanges,
            Taken::Stream(point) => point.flows.iter().map(|flow| flow.transfers).sum(),
        }
    }
}
