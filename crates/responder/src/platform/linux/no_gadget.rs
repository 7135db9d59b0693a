//! A program that was built without the gadget says so.

use crate::device::DeviceConfig;
use crate::event::ServeEvent;
use crate::gadget::GadgetPlan;
use std::sync::atomic::AtomicBool;
use wiregauge_link::host::Clock;
use wiregauge_link::{LinkError, LinkErrorKind};

pub(crate) fn serve_gadget(
    _plan: &GadgetPlan,
    _config: &DeviceConfig,
    _clock: Clock,
    _stop: &AtomicBool,
    _on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        "cannot become a USB device",
        "this program was built without the feature usb-gadget",
    )
    .hint("use the program of `make build`"))
}
