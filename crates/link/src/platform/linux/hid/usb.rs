//! What sysfs shows of the USB interface behind a HID device: how often its endpoints are polled, and how fast the bus
//! is.

use super::find::Present;
use crate::limits;
use std::fs;
use std::path::Path;
use wiregauge_record::BusLimit;

/// The USB interface of a HID device.
#[derive(Clone, Debug)]
pub struct UsbInterface {
    /// Name of the USB device in sysfs, such as `3-1.4`.
    pub device: String,
    /// Its speed in Mbit/s, as sysfs writes it.
    pub megabits: String,
    /// The interrupt IN endpoint.
    pub in_: Option<Endpoint>,
    /// The interrupt OUT endpoint; without one, output reports take the control endpoint.
    pub out: Option<Endpoint>,
}

/// An interrupt endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// bEndpointAddress.
    pub address: u8,
    /// bInterval.
    pub interval: u8,
    /// The interval in words, such as `1ms` or `125us`.
    pub interval_text: String,
    /// Largest packet.
    pub packet_bytes: usize,
    /// Packets in an interval.
    pub packets: u32,
}

impl UsbInterface {
    /// Of a device, if it is one on USB.
    pub fn of(device: &Present) -> Option<UsbInterface> {
        device.interface?;
        let interface = device.node.parent()?;
        let usb = interface.parent()?;
        let endpoints: Vec<Endpoint> = fs::read_dir(interface)
            .ok()?
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("ep_"))
            .filter_map(|entry| Endpoint::read(&entry.path()))
            .collect();
        let of = |to_host: bool| {
            let mut fitting = endpoints.iter();
            fitting
                .find(|e| (e.address & 0x80 != 0) == to_host)
                .cloned()
        };
        Some(UsbInterface {
            device: usb.file_name()?.to_string_lossy().into_owned(),
            megabits: attribute(usb, "speed")?,
            in_: of(true),
            out: of(false),
        })
    }

    /// What the slower of its endpoints carries of reports of this size, if each fills its packets.
    pub fn limit(&self, in_bytes: usize, out_bytes: usize) -> Option<BusLimit> {
        let of = |endpoint: &Option<Endpoint>, report: usize| {
            let endpoint = endpoint.as_ref()?;
            let packet = report.min(endpoint.packet_bytes);
            limits::of_usb_interrupt(&self.megabits, packet, endpoint.packets, endpoint.interval)
        };
        let in_ = of(&self.in_, in_bytes)?;
        match of(&self.out, out_bytes) {
            Some(out) if out.bytes_s < in_.bytes_s => Some(out),
            _ => Some(in_),
        }
    }
}

impl Endpoint {
    fn read(node: &Path) -> Option<Endpoint> {
        let hex = |name| u32::from_str_radix(&attribute(node, name)?, 16).ok();
        if attribute(node, "type")? != "Interrupt" {
            return None;
        }
        let packet = hex("wMaxPacketSize")?;
        Some(Endpoint {
            address: hex("bEndpointAddress")? as u8,
            interval: hex("bInterval")? as u8,
            interval_text: attribute(node, "interval")?,
            // Bits 10 to 0; 12 and 11 are further packets in a microframe (USB 2.0, table 9-13).
            packet_bytes: (packet & 0x7ff) as usize,
            packets: 1 + (packet >> 11 & 3),
        })
    }

    /// `0x81, polled every 1ms (bInterval 1), packets of 64 B`.
    pub fn in_words(&self) -> String {
        format!(
            "0x{:02x}, polled every {} (bInterval {}), packets of {} B",
            self.address, self.interval_text, self.interval, self.packet_bytes
        )
    }
}

fn attribute(node: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(node.join(name)).ok()?;
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_in_sysfs_is_read_with_its_interval() {
        let folder = tempfile::tempdir().unwrap();
        for (name, value) in [
            ("type", "Interrupt\n"),
            ("bEndpointAddress", "81\n"),
            ("bInterval", "07\n"),
            ("interval", "8ms\n"),
            ("wMaxPacketSize", "0040\n"),
        ] {
            fs::write(folder.path().join(name), value).unwrap();
        }
        let read = Endpoint::read(folder.path()).unwrap();
        assert_eq!(
            read.in_words(),
            "0x81, polled every 8ms (bInterval 7), packets of 64 B"
        );
        let interface = UsbInterface {
            device: "1-1".into(),
            megabits: "480".into(),
            in_: Some(read),
            out: None,
        };
        // One packet of 64 B in 64 microframes.
        assert_eq!(interface.limit(64, 64).unwrap().bytes_s, 8_000.0);
        fs::write(folder.path().join("type"), "Bulk\n").unwrap();
        assert_eq!(Endpoint::read(folder.path()), None);
    }
}
