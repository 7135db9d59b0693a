//! HID devices: without a bus through the kernel's uhid, on USB through its function usb_f_hid, or on a modelled bus
//! (`usb_virtual`). `report` is what they have in common.

#[cfg(target_os = "linux")]
mod hidg;
pub(crate) mod report;
#[cfg(target_os = "linux")]
mod uhid;

pub use report::{REPORT_BYTES, check as check_reports, default_bytes as default_report_bytes};

#[cfg(target_os = "linux")]
pub(crate) use hidg::serve as serve_hidg;
#[cfg(target_os = "linux")]
pub(crate) use uhid::serve as serve_uhid;

/// What a uhid device is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UhidPlan {
    /// Vendor's number.
    pub vendor: u16,
    /// Product's number.
    pub product: u16,
    /// Serial number.
    pub serial: String,
    /// Bytes of a report.
    pub report_bytes: u16,
}

impl Default for UhidPlan {
    fn default() -> UhidPlan {
        UhidPlan {
            // The Linux Foundation's numbers for a composite gadget.
            vendor: 0x1d6b,
            product: 0x0104,
            serial: "uhid".into(),
            report_bytes: 64,
        }
    }
}

/// Serves a uhid device where there is none.
#[cfg(not(target_os = "linux"))]
pub(crate) fn serve_uhid(
    _plan: &UhidPlan,
    _config: &crate::DeviceConfig,
    _clock: wiregauge_link::host::Clock,
    _stop: &std::sync::atomic::AtomicBool,
    _on_event: &(dyn Fn(crate::ServeEvent<'_>) + Sync),
) -> Result<(), wiregauge_link::LinkError> {
    Err(wiregauge_link::LinkError::new(
        wiregauge_link::LinkErrorKind::Usage,
        "cannot create a HID device",
        "this needs Linux (/dev/uhid)",
    ))
}
