//! The endpoints behind a tty that a USB driver made: where usbmon sees its bytes.

use super::facts::facts_of;
use super::sysfs::Node;
use crate::host::{PacketStatus, UsbPlace};
use crate::usb::address::TransferKind;
use crate::usb::choose::{EndpointFact, InterfaceFact};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of modem and line status at the beginning of each IN packet of an FTDI adapter (its driver, ftdi_sio).
const FTDI_STATUS: u32 = 2;

/// The endpoints of a tty; `None` if it is not on USB, or if it cannot be found out which ones they are.
pub fn place_of_tty(path: &Path) -> Option<UsbPlace> {
    let real = fs::canonicalize(path).ok()?;
    let name = real.strip_prefix("/dev").ok()?;
    let interface = interface_of(&Path::new("/sys/class/tty").join(name).join("device"))?;
    let number = fs::read_to_string(interface.join("bInterfaceNumber")).ok()?;
    let number = u8::from_str_radix(number.trim(), 16).ok()?;
    let device = Node::named(interface.parent()?.file_name()?.to_str()?);
    let descriptors = device.descriptors()?;
    let active: u8 = device.attribute("bConfigurationValue")?.parse().ok()?;
    let found = endpoints(&descriptors, active, number)?;
    let is_ftdi = device.driver(number).as_deref() == Some("ftdi_sio");
    Some(UsbPlace {
        bus: device.attribute("busnum")?.parse().ok()?,
        address: device.attribute("devnum")?.parse().ok()?,
        in_endpoint: found.in_endpoint,
        out_endpoint: found.out_endpoint,
        transfers: false,
        status: is_ftdi.then_some(PacketStatus {
            bytes: FTDI_STATUS,
            packet_bytes: found.in_packet_bytes,
        }),
    })
}

/// The node of the USB interface at or above this node.
fn interface_of(node: &Path) -> Option<PathBuf> {
    let mut node = fs::canonicalize(node).ok()?;
    while !node.join("bInterfaceNumber").exists() {
        if !node.pop() {
            return None;
        }
    }
    Some(node)
}

#[derive(Debug, PartialEq, Eq)]
struct Found {
    in_endpoint: u8,
    out_endpoint: u8,
    in_packet_bytes: u32,
}

/// The only bulk endpoints of the interface, or of the data interface that its union names.
fn endpoints(descriptors: &[u8], configuration: u8, interface: u8) -> Option<Found> {
    let facts = facts_of(descriptors, configuration)?;
    let is_data = |fact: &InterfaceFact| fact.controlled_by == Some(interface);
    let has_data = facts.iter().any(is_data);
    let its = facts.iter().filter(|fact| match has_data {
        true => is_data(fact),
        false => fact.number == interface,
    });
    let bulk: Vec<_> = its
        .flat_map(|fact| &fact.endpoints)
        .filter(|endpoint| endpoint.kind == TransferKind::Bulk)
        .collect();
    let is_in = |endpoint: &EndpointFact| endpoint.address & 0x80 != 0;
    let (in_, out) = match bulk[..] {
        [one, other] if is_in(one) && !is_in(other) => (one, other),
        [one, other] if !is_in(one) && is_in(other) => (other, one),
        _ => return None,
    };
    Some(Found {
        in_endpoint: in_.address,
        out_endpoint: out.address,
        in_packet_bytes: in_.packet_bytes as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(body: &[&[u8]]) -> Vec<u8> {
        let body = body.concat();
        let mut bytes = vec![18, 1, 0, 2, 2, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        let total = (9 + body.len() as u16).to_le_bytes();
        bytes.extend([9, 2, total[0], total[1], 4, 1, 0, 0x80, 50]);
        bytes.extend(body);
        bytes
    }

    fn two_ports() -> Vec<u8> {
        device(&[
            &[9, 4, 0, 0, 1, 2, 2, 0, 0],
            &[5, 0x24, 0x06, 0, 1],
            &[7, 5, 0x81, 3, 8, 0, 16],
            &[9, 4, 1, 0, 2, 10, 0, 0, 0],
            &[7, 5, 0x82, 2, 64, 0, 0],
            &[7, 5, 0x02, 2, 64, 0, 0],
            &[9, 4, 2, 0, 1, 2, 2, 0, 0],
            &[5, 0x24, 0x06, 2, 3],
            &[7, 5, 0x83, 3, 8, 0, 16],
            &[9, 4, 3, 0, 2, 10, 0, 0, 0],
            &[7, 5, 0x04, 2, 64, 0, 0],
            &[7, 5, 0x84, 2, 32, 0, 0],
        ])
    }

    #[test]
    fn a_cdc_port_has_the_endpoints_of_the_data_interface_that_its_union_names() {
        let found = |interface| {
            let found = endpoints(&two_ports(), 1, interface).unwrap();
            (found.in_endpoint, found.out_endpoint, found.in_packet_bytes)
        };
        assert_eq!(found(0), (0x82, 0x02, 64));
        assert_eq!(found(2), (0x84, 0x04, 32));
    }

    #[test]
    fn an_adapter_has_the_endpoints_of_its_own_interface() {
        let adapter = device(&[
            &[9, 4, 0, 0, 2, 255, 255, 255, 2],
            &[7, 5, 0x81, 2, 64, 0, 0],
            &[7, 5, 0x02, 2, 64, 0, 0],
        ]);
        let found = endpoints(&adapter, 1, 0).unwrap();
        assert_eq!((found.in_endpoint, found.out_endpoint), (0x81, 0x02));
    }

    #[test]
    fn an_interface_of_several_ports_gives_no_endpoints() {
        let several = device(&[
            &[9, 4, 0, 0, 4, 255, 0, 0, 0],
            &[7, 5, 0x81, 2, 64, 0, 0],
            &[7, 5, 0x01, 2, 64, 0, 0],
            &[7, 5, 0x82, 2, 64, 0, 0],
            &[7, 5, 0x02, 2, 64, 0, 0],
        ]);
        assert_eq!(endpoints(&several, 1, 0), None);
        assert_eq!(endpoints(&several, 2, 0), None);
    }

    #[test]
    fn a_pseudo_terminal_is_not_on_usb() {
        let (_master, path) = crate::platform::pty::open_pty().unwrap();
        assert_eq!(place_of_tty(&path), None);
    }
}
