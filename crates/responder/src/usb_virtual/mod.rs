//! A USB device without hardware: Linux' virtual host controller enumerates it, its drivers make a
//! real `/dev/ttyACM0`, a real `/dev/hidraw0` and a real vendor interface of it, and a modelled bus says when each packet
//! passes. Without I/O and without a clock: `platform` plugs it in.
//!
//! The crate `usbip` is a server for that import phase. Its handlers answer each transfer at once
//! (`UsbInterfaceHandler::handle_urb`), so that an IN transfer cannot wait for data or for its
//! turn on a bus, and it speaks over TCP on an asynchronous runtime; hence none of it is used.

mod adapter;
mod adapter_pair;
#[cfg(test)]
mod adapter_tests;
mod control;
mod descriptors;
mod interfaces;
mod isochronous;
mod machine;
#[cfg(test)]
mod machine_tests;
pub(crate) mod usbip;

use super::gadget::Function;
use crate::bus::{BusTiming, DeviceTiming};
pub(crate) use descriptors::Identity;
pub(crate) use machine::Machine;
use wiregauge_link::limits::Bus;

/// What devices, on what bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualPlan {
    /// Speed of the devices.
    pub speed: Bus,
    /// The bus that all of them share.
    pub bus: BusTiming,
    /// How fast each device is.
    pub device: DeviceTiming,
    /// How many there are.
    pub devices: u32,
    /// What each can do.
    pub functions: Vec<Function>,
    /// Vendor's number.
    pub vendor: u16,
    /// Product's number.
    pub product: u16,
    /// Serial number; with several devices theirs end in -1, -2 and so on.
    pub serial: String,
    /// bInterval of its interrupt endpoints.
    pub interval: u8,
    /// Bytes of a HID report.
    pub report_bytes: u16,
}

impl Default for VirtualPlan {
    fn default() -> VirtualPlan {
        VirtualPlan {
            speed: Bus::FullSpeed,
            bus: BusTiming::of(Bus::FullSpeed),
            device: DeviceTiming::default(),
            devices: 1,
            functions: vec![Function::Bulk, Function::Acm],
            // The Linux Foundation's numbers for a composite gadget.
            vendor: 0x1d6b,
            product: 0x0104,
            serial: "virtual".into(),
            interval: 1,
            report_bytes: 64,
        }
    }
}
