//! What only Linux can serve, refused with the reason.

use crate::device::DeviceConfig;
use crate::event::ServeEvent;
use crate::gadget::GadgetPlan;
use crate::hid::UhidPlan;
use crate::trace::Trace;
use crate::usb_virtual::VirtualPlan;
use std::sync::atomic::AtomicBool;
use wiregauge_link::host::Clock;
use wiregauge_link::{LinkError, LinkErrorKind};

/// A gadget needs configfs and FunctionFS.
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
        "this needs Linux (configfs and FunctionFS)",
    )
    .hint("use a board with Linux and a USB device port, or dummy_hcd in a virtual machine"))
}

/// A HID device without a bus needs uhid.
pub(crate) fn serve_uhid(
    _plan: &UhidPlan,
    _config: &DeviceConfig,
    _clock: Clock,
    _stop: &AtomicBool,
    _on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        "cannot create a HID device",
        "this needs Linux (/dev/uhid)",
    ))
}

/// A virtual USB device needs vhci_hcd.
pub(crate) fn serve_usb_virtual(
    _plan: &VirtualPlan,
    _config: &DeviceConfig,
    _clock: Clock,
    _trace: Option<Trace>,
    _stop: &AtomicBool,
    _on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        "cannot attach a virtual USB device to vhci_hcd",
        "vhci_hcd exists only on Linux",
    )
    .hint("use wiregauge serve tcp:// with --bus full-speed on this system"))
}
