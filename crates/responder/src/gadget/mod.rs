//! This Linux as a USB device: a gadget in configfs whose vendor interfaces are served through
//! FunctionFS, and whose serial ports and HID functions are the kernel's own.
//!
//! One thread looks after endpoint 0, one after each vendor interface, serial port and HID function; the
//! caller's waits for the end. `plan` says what is made, `setup` makes it and takes it down,
//! `functionfs` and `queue` speak to the kernel, `control` answers on endpoint 0, `pair` and `sync` move the bytes of a
//! device, `tmc` those of a USBTMC instrument.

#[cfg(target_os = "linux")]
mod answers;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod functionfs;
#[cfg(target_os = "linux")]
mod pair;
mod plan;
#[cfg(target_os = "linux")]
mod queue;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod setup;
#[cfg(target_os = "linux")]
mod sync;
#[cfg(target_os = "linux")]
mod tmc;

pub use plan::{Function, GadgetPlan, Speed, Transfers, parse_usb_id};
#[cfg(target_os = "linux")]
pub(super) use serve::serve;

/// Serves a gadget where there is none.
#[cfg(not(target_os = "linux"))]
pub(super) fn serve(
    _plan: &GadgetPlan,
    _character: &super::DeviceConfig,
    _clock: wiregauge_link::host::Clock,
    _stop: &std::sync::atomic::AtomicBool,
    _news: &(dyn Fn(super::ServeEvent<'_>) + Sync),
) -> Result<(), wiregauge_link::LinkError> {
    Err(plan::not_linux())
}
