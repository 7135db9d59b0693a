//! What is kept with a run of a HID device and of the way to it.

use super::choose::Choice;
use super::find::Present;
use super::usb::{Endpoint, UsbInterface};
use crate::platform::usb::sysfs::{self, Node};
use wiregauge_record::LinkDetail;

/// Settings worth keeping.
pub fn detail(device: &Present, choice: &Choice, usb: Option<&UsbInterface>) -> LinkDetail {
    let mut settings: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            settings.push((name.into(), value));
        }
    };
    let ids = format!("{:04x}:{:04x}", device.vendor, device.product);
    add("HID device", Some(ids));
    add("HID name", device.product_name.clone());
    add("HID serial", device.serial.clone());
    add("HID bus", Some(device.bus_name()));
    add("HID usage", device.usage());
    let reports = device.reports.as_ref().ok();
    add("HID reports", reports.map(ToString::to_string));
    let of = |report: crate::hid::descriptor::Report| {
        let (kind, bytes) = (report.kind.name(), report.bytes);
        match choice.numbered {
            true => format!("{kind} report {} of {bytes} B", report.id),
            false => format!("{kind} report of {bytes} B"),
        }
    };
    add("HID requests in", Some(of(choice.out)));
    add("HID replies in", Some(of(choice.in_)));
    if let Some(usb) = usb {
        let hubs = sysfs::hubs(&usb.device);
        add("USB speed (Mbit/s)", Some(usb.megabits.clone()));
        add("USB path", Some(usb.device.clone()));
        if !hubs.is_empty() {
            add("USB hubs in between", Some(hubs.join(", ")));
        }
        add("USB host controller", Node::named(&usb.device).controller());
        add("USB interface", device.interface.map(|n| n.to_string()));
        add("USB endpoint IN", usb.in_.as_ref().map(Endpoint::in_words));
        let out = usb.out.as_ref().map(Endpoint::in_words);
        let out = out.unwrap_or("none: output reports take the control endpoint".into());
        add("USB endpoint OUT", Some(out));
    }
    LinkDetail { settings }
}
