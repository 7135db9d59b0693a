//! HID devices: without a bus through the kernel's uhid, on USB through its function usb_f_hid, or on a modelled bus
//! (`usb_virtual`). `report` is what they have in common; `platform` has what the first two need of the system.

pub(crate) mod report;

pub use report::{REPORT_BYTES, check as check_reports, default_bytes as default_report_bytes};

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
