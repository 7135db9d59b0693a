//! The network: what listens on the responders' port of this host, and which neighbours may be
//! asked. Neighbours are those that this host already talks to; ranges are never searched.

pub use crate::platform::neighbours::{listeners, neighbours};

use super::Answer;
use serde::Serialize;

/// The port that the documentation uses for responders.
pub const PORT: u16 = 7700;

/// Somebody on the network.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NetworkDevice {
    /// What to give to wiregauge.
    pub address: String,
    /// Where it is.
    pub place: String,
    /// What is known of the program behind it.
    pub answer: Answer,
}
