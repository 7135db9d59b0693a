//! What is kept with a run of the device and of the way to it, and what that way can carry.

use super::address::TransferKind;
use super::choose::{Choice, EndpointFact, OneWayChoice, class_name};
use super::find::{Present, speed_name};
use super::identity::Identity;
use crate::{limits, platform};
use nusb::DeviceInfo;
use wiregauge_record::{BusLimit, LinkDetail, Way};

/// Settings worth keeping.
pub fn detail(info: &DeviceInfo, choice: &Choice, identity: &Identity) -> LinkDetail {
    let mut detail = of_interface(
        info,
        identity,
        (choice.interface, choice.class, choice.setting),
    );
    let mut add = |name: &str, value| detail.settings.push((name.into(), value));
    add("USB endpoint IN", endpoint(&choice.in_));
    add("USB endpoint OUT", endpoint(&choice.out));
    detail
}

/// The same of a device with one endpoint.
pub fn of_one_way(info: &DeviceInfo, choice: &OneWayChoice, identity: &Identity) -> LinkDetail {
    let mut detail = of_interface(
        info,
        identity,
        (choice.interface, choice.class, choice.setting),
    );
    let name = match choice.way() {
        Way::In => "USB endpoint IN",
        Way::Out => "USB endpoint OUT",
    };
    let only = endpoint(&choice.endpoint);
    detail.settings.push((name.into(), only));
    detail
}

/// Settings of a device and of the interface that is used.
pub fn of_interface(
    info: &DeviceInfo,
    identity: &Identity,
    (interface, class, setting): (u8, u8, u8),
) -> LinkDetail {
    let mut settings = of_device(info, identity);
    let interface = format!("{interface} ({}), setting {setting}", class_name(class));
    settings.push(("USB interface".into(), interface));
    LinkDetail { settings }
}

/// Settings of a device.
pub fn of_device(info: &DeviceInfo, identity: &Identity) -> Vec<(String, String)> {
    let present = Present::of(info);
    let hubs = platform::usb::hubs(&identity.path);
    let hubs = match hubs.len() {
        0 => "none".to_string(),
        _ => hubs.join(", "),
    };
    let mut settings: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            settings.push((name.into(), value));
        }
    };
    add(
        "USB device",
        Some(format!("{:04x}:{:04x}", present.vendor, present.product)),
    );
    add("USB manufacturer", present.manufacturer);
    add("USB product", present.name);
    add("USB serial", present.serial);
    add("USB speed", info.speed().map(|s| speed_name(s).to_string()));
    add("USB path", Some(present.path));
    add("USB hubs in between", Some(hubs));
    add(
        "USB host controller",
        platform::usb::controller(&identity.path),
    );
    settings
}

fn endpoint(fact: &EndpointFact) -> String {
    let interval = match fact.kind {
        TransferKind::Bulk => String::new(),
        TransferKind::Interrupt => format!(", bInterval {}", fact.interval),
    };
    format!(
        "0x{:02x} {}, packets of {} B{interval}",
        fact.address,
        fact.kind.name(),
        fact.packet_bytes
    )
}

/// What the bus can carry over one endpoint.
pub fn one_way_limit(identity: &Identity, choice: &OneWayChoice) -> Option<BusLimit> {
    let megabits = identity.megabits()?;
    let EndpointFact {
        kind,
        packet_bytes,
        packets,
        interval,
        ..
    } = choice.endpoint;
    match kind {
        TransferKind::Bulk => limits::of_usb_bulk(&megabits),
        TransferKind::Interrupt => {
            limits::of_usb_interrupt(&megabits, packet_bytes, packets, interval)
        }
    }
}

/// What the bus can carry; the slower of the two endpoints where they differ.
pub fn limit(identity: &Identity, choice: &Choice) -> Option<BusLimit> {
    let megabits = identity.megabits()?;
    match choice.in_.kind {
        TransferKind::Bulk => limits::of_usb_bulk(&megabits),
        TransferKind::Interrupt => {
            let of = |e: &EndpointFact| {
                limits::of_usb_interrupt(&megabits, e.packet_bytes, e.packets, e.interval)
            };
            let (in_, out) = (of(&choice.in_)?, of(&choice.out)?);
            Some(if in_.bytes_s <= out.bytes_s { in_ } else { out })
        }
    }
}
