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
    /// Exchanges, or transfers in all directions.
    pub fn n(&self) -> u64 {
        match self {
            Taken::Exchanges(point) => point.counts.exchanges,
            Taken::Stream(point) => point.flows.iter().map(|flow| flow.transfers).sum(),
        }
    }
}
