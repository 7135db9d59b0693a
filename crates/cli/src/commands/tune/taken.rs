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
