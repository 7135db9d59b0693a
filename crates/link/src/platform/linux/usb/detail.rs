//! What is kept with a run over endpoint 0 or an isochronous endpoint.

use super::sysfs::Node;
use crate::limits;
use crate::usb::choose::IsochronousFact;
use crate::usb::detail::{of_device, of_interface};
use crate::usb::identity::Identity;
use nusb::DeviceInfo;
use wiregauge_record::{BusLimit, LinkDetail};

/// Settings worth keeping of an isochronous endpoint.
pub fn of_isochronous(
    info: &DeviceInfo,
    place: &(u8, u8, u8),
    identity: &Identity,
    fact: &IsochronousFact,
) -> LinkDetail {
    let mut detail = of_interface(info, identity, *place);
    let name = match fact.address & 0x80 {
        0 => "USB endpoint OUT",
        _ => "USB endpoint IN",
    };
    let only = format!(
        "0x{:02x} isochronous, {} B in one interval, bInterval {}",
        fact.address, fact.bytes, fact.interval
    );
    detail.settings.push((name.into(), only));
    detail
}

/// The same of endpoint 0.
pub fn of_control(info: &DeviceInfo, identity: &Identity) -> LinkDetail {
    let mut settings = of_device(info, identity);
    let packet = Node::named(&identity.path).attribute("bMaxPacketSize0");
    let packet = packet.map_or(String::new(), |bytes| format!(", packets of {bytes} B"));
    settings.push(("USB endpoint".into(), format!("0x00 control{packet}")));
    LinkDetail { settings }
}

/// What control transfers carry at its speed.
pub fn limit_of_control(identity: &Identity) -> Option<BusLimit> {
    limits::of_usb_control(&Node::named(&identity.path).attribute("speed")?)
}
