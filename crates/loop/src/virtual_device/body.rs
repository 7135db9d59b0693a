//! How a virtual device is run.

use super::memory::{Header, RingMemory};
use std::sync::Arc;
use wiregauge_link::LinkError;

/// How the device is run, and where its memory comes from.
pub(crate) trait Body {
    /// The page by which host and device speak.
    fn header(&self) -> Arc<Header>;

    /// Two rings of this size, all zero or as a point before left them.
    fn rings(&mut self, ring_bytes: u64) -> Result<Arc<RingMemory>, LinkError>;

    /// Gives them to the device, for one point; a device that has its own way to them needs no more.
    fn lend(&mut self, _rings: &Arc<RingMemory>) {}

    /// Fails if the device is gone.
    fn look(&mut self) -> Result<(), LinkError>;

    /// What moves the samples, for the conditions of the run.
    fn what(&self) -> String;
}
