//! What a kind of digitizer and generator is.

use super::device::LoopDevice;
use wiregauge_link::LinkError;
use wiregauge_record::HostPlan;

/// A device, or why it could not be had.
pub(crate) type Opened = Result<Box<dyn LoopDevice>, LinkError>;

/// A kind of device.
pub(crate) struct Kind {
    /// What the address begins with, up to the colon.
    pub(crate) scheme: &'static str,
    /// How an address of it is written.
    pub(crate) form: &'static str,
    /// True if it lends its rings (`LoopDevice::lend`).
    pub(crate) lends: bool,
    /// Opens what stands behind the colon; `None` if nothing like that is there.
    pub(crate) open: fn(&str, &HostPlan) -> Option<Opened>,
}
