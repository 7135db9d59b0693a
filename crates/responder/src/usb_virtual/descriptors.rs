//! What the virtual device says that it is: the bytes of USB 2.0, chapter 9, and of the CDC specification (CDC 1.2 and
//! PSTN 1.2), made of the tables of its functions; nothing is decided here.

use super::interfaces::{Endpoint, EndpointKind, Interface, Item, interfaces_of, release_of};
use crate::bus::Direction;
use crate::gadget::Function;
use crate::ms_os;
use wiregauge_link::limits::Bus;

/// Who the device says it is.
#[derive(Clone, Debug)]
pub struct Identity {
    /// idVendor.
    pub vendor: u16,
    /// idProduct.
    pub product: u16,
    /// Its name.
    pub name: String,
    /// Its serial number.
    pub serial: String,
    /// How fast it is.
    pub speed: Bus,
    /// What it can do.
    pub functions: Vec<Function>,
    /// bInterval of its interrupt and isochronous endpoints at its speed.
    pub interval: u8,
    /// Bytes of a HID report.
    pub report_bytes: u16,
}

/// Index of the manufacturer's name; product and serial number follow, then the interfaces.
const MANUFACTURER: u8 = 1;
const FIRST_INTERFACE_NAME: u8 = 4;

impl Identity {
    /// The device descriptor (USB 2.0, table 9-8).
    pub fn device(&self) -> Vec<u8> {
        let mut bytes = vec![18, 1];
        bytes.extend(self.usb_version().to_le_bytes());
        bytes.extend(self.class());
        bytes.push(64);
        bytes.extend(self.vendor.to_le_bytes());
        bytes.extend(self.product.to_le_bytes());
        bytes.extend(release_of(&self.functions).to_le_bytes());
        bytes.extend([MANUFACTURER, MANUFACTURER + 1, MANUFACTURER + 2, 1]);
        bytes
    }

    /// The device qualifier (USB 2.0, table 9-9): only a device that can do high speed has one.
    pub fn qualifier(&self) -> Option<Vec<u8>> {
        (self.speed == Bus::HighSpeed).then(|| {
            let mut bytes = vec![10, 6];
            bytes.extend(self.usb_version().to_le_bytes());
            bytes.extend(self.class());
            bytes.extend([64, 1, 0]);
            bytes
        })
    }

    /// bcdUSB: only a device that says 2.1 or more is asked for a BOS.
    fn usb_version(&self) -> u16 {
        match self.ms_os() {
            Some(_) => ms_os::USB_VERSION,
            None => 0x0200,
        }
    }

    /// The Microsoft OS 2.0 descriptors, if it has vendor interfaces. An adapter has none: it is like its chip.
    pub fn ms_os(&self) -> Option<Vec<u8>> {
        let mut next = 0;
        let vendor: Vec<u8> = self
            .functions
            .iter()
            .filter_map(|function| {
                let first = next;
                next += interfaces_of(*function).len() as u8;
                function.is_vendor().then_some(first)
            })
            .collect();
        (!vendor.is_empty()).then(|| ms_os::set(&vendor, self.interface_count() > 1))
    }

    /// The BOS (USB 3.2, 9.6.2): only a device with Microsoft OS 2.0 descriptors has one.
    pub fn bos(&self) -> Option<Vec<u8>> {
        self.ms_os().map(|set| ms_os::bos(set.len()))
    }

    /// A function of several interfaces needs an association, and says so in the device's class
    /// (USB ECN "Interface Association Descriptors", 9-Z).
    fn class(&self) -> [u8; 3] {
        let associated = self.functions.iter().any(|f| interfaces_of(*f).len() > 1);
        if associated {
            [0xef, 0x02, 0x01]
        } else {
            [0, 0, 0]
        }
    }

    /// The configuration with all that belongs to it (USB 2.0, 9.4.3 and table 9-10), as it is at
    /// `speed`; of `kind` 2, or 7 for that of the other speed.
    pub fn configuration(&self, kind: u8, speed: Bus) -> Vec<u8> {
        let mut bytes = vec![9, kind, 0, 0, self.interface_count(), 1, 0, 0xc0, 0];
        let mut number = 0;
        let mut endpoints = self.endpoints();
        for &function in &self.functions {
            let interfaces = interfaces_of(function);
            let first = number;
            if interfaces.len() > 1 {
                bytes.extend([8, 11, first, interfaces.len() as u8]);
                bytes.extend(interfaces[0].class);
                bytes.push(FIRST_INTERFACE_NAME + first);
            }
            for interface in interfaces {
                let setting = interface.setting();
                for (setting, endpoints) in (0..setting)
                    .map(|idle| (idle, 0))
                    .chain([(setting, interface.endpoints.len())])
                {
                    bytes.extend([9, 4, number, setting, endpoints as u8]);
                    bytes.extend(interface.class);
                    bytes.push(FIRST_INTERFACE_NAME + number);
                }
                bytes.extend(interface.extra.iter().map(|item| match item {
                    Item::Byte(byte) => *byte,
                    Item::Interface(offset) => first + offset,
                }));
                for placed in endpoints.by_ref().take(interface.endpoints.len()) {
                    self.put(&placed, speed, &mut bytes);
                }
                number += 1;
            }
        }
        let total = (bytes.len() as u16).to_le_bytes();
        bytes[2..4].copy_from_slice(&total);
        bytes
    }

    /// A string descriptor (USB 2.0, 9.6.7), or nothing if there is no such string.
    pub fn string(&self, index: u8) -> Option<Vec<u8>> {
        const ENGLISH: [u8; 4] = [4, 3, 0x09, 0x04];
        if index == 0 {
            return Some(ENGLISH.to_vec());
        }
        let interface = |at: u8| {
            let all = self.functions.iter().flat_map(|f| interfaces_of(*f));
            all.map(|interface| interface.name).nth(usize::from(at))
        };
        let text = match index {
            MANUFACTURER => "wiregauge",
            2 => &self.name,
            3 => &self.serial,
            _ => interface(index - FIRST_INTERFACE_NAME)?,
        };
        // A descriptor's length is one byte.
        let units: Vec<u16> = text.encode_utf16().take(126).collect();
        let mut bytes = vec![2 + 2 * units.len() as u8, 3];
        bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        Some(bytes)
    }

    /// How many interfaces there are.
    pub fn interface_count(&self) -> u8 {
        self.functions
            .iter()
            .map(|f| interfaces_of(*f).len() as u8)
            .sum()
    }

    /// The highest alternate setting of an interface.
    pub fn setting_of(&self, interface: u8) -> Option<u8> {
        let mut all = self.functions.iter().flat_map(|f| interfaces_of(*f));
        all.nth(usize::from(interface)).map(Interface::setting)
    }

    /// Which of the functions an interface belongs to.
    pub fn function_of(&self, interface: u8) -> Option<usize> {
        let mut first_after = 0;
        self.functions.iter().position(|f| {
            first_after += interfaces_of(*f).len() as u8;
            interface < first_after
        })
    }

    /// All endpoints in the order of their interfaces.
    pub fn endpoints(&self) -> impl Iterator<Item = Placed> + '_ {
        // Number 0 is the control endpoint.
        let mut next = 1;
        let functions = self.functions.iter().enumerate();
        functions.flat_map(move |(function, kind)| {
            let all = || {
                interfaces_of(*kind)
                    .iter()
                    .flat_map(|interface| interface.endpoints)
            };
            let first = next;
            next += all().map(|endpoint| endpoint.number + 1).max().unwrap_or(0);
            all().map(move |endpoint| Placed {
                function,
                number: first + endpoint.number,
                endpoint,
            })
        })
    }

    /// The largest packet of an endpoint at this speed.
    pub fn packet_bytes(&self, endpoint: &Endpoint, speed: Bus) -> u16 {
        let most = match speed {
            Bus::FullSpeed => 64,
            Bus::HighSpeed => 1024,
        };
        match endpoint.kind {
            EndpointKind::Bulk => speed.packet_bytes() as u16,
            EndpointKind::BulkOf(bytes) => bytes,
            EndpointKind::Interrupt { bytes, .. } => bytes,
            EndpointKind::Polled { of_report: true } => self.report_bytes.min(most),
            EndpointKind::Polled { of_report: false } => 64,
            // USB 2.0, 5.6.3.
            EndpointKind::Isochronous => match speed {
                Bus::FullSpeed => 1023,
                Bus::HighSpeed => 1024,
            },
        }
    }

    /// bInterval of an endpoint at this speed; 0 for bulk.
    fn interval(&self, endpoint: &Endpoint, speed: Bus) -> u8 {
        match (endpoint.kind, speed) {
            (EndpointKind::Bulk | EndpointKind::BulkOf(_), _) => 0,
            (EndpointKind::Interrupt { full, .. }, Bus::FullSpeed) => full,
            (EndpointKind::Interrupt { high, .. }, Bus::HighSpeed) => high,
            (EndpointKind::Polled { .. } | EndpointKind::Isochronous, speed)
                if speed == self.speed =>
            {
                self.interval
            }
            (EndpointKind::Polled { .. } | EndpointKind::Isochronous, _) => 1,
        }
    }

    /// How often an endpoint is asked; 0 for bulk.
    pub fn interval_ns(&self, endpoint: &Endpoint) -> u64 {
        let is_isochronous = endpoint.kind == EndpointKind::Isochronous;
        match (self.interval(endpoint, self.speed), self.speed) {
            (0, _) => 0,
            (exponent, Bus::FullSpeed) if is_isochronous => self.speed.frame_ns() << (exponent - 1),
            (frames, Bus::FullSpeed) => u64::from(frames) * self.speed.frame_ns(),
            (exponent, Bus::HighSpeed) => self.speed.frame_ns() << (exponent - 1),
        }
    }

    /// The descriptor of an endpoint (USB 2.0, table 9-13).
    fn put(&self, placed: &Placed, speed: Bus, to: &mut Vec<u8>) {
        let endpoint = placed.endpoint;
        let attributes = match endpoint.kind {
            EndpointKind::Isochronous => 1,
            EndpointKind::Bulk | EndpointKind::BulkOf(_) => 2,
            EndpointKind::Interrupt { .. } | EndpointKind::Polled { .. } => 3,
        };
        let address = match endpoint.direction {
            Direction::In => 0x80 | placed.number,
            Direction::Out => placed.number,
        };
        let [low, high] = self.packet_bytes(endpoint, speed).to_le_bytes();
        let interval = self.interval(endpoint, speed);
        to.extend([7, 5, address, attributes, low, high, interval]);
    }

    /// True if there are endpoint numbers for all functions: USB 2.0, 5.3.1.2 has fifteen.
    pub fn fits(&self) -> bool {
        self.endpoints().all(|placed| placed.number <= 15)
    }
}

/// An endpoint of a device.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Which of the functions it belongs to.
    pub function: usize,
    /// Its number, 1 to 15.
    pub number: u8,
    /// What it is.
    pub endpoint: &'static Endpoint,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hid::report;
    use crate::usb_virtual::machine_tests::identity;
    use std::collections::HashSet;

    const ACM: Function = Function::Acm;
    const BULK: Function = Function::Bulk;
    const SETS: [&[Function]; 6] = [
        &[ACM],
        &[BULK],
        &[BULK, ACM],
        &[ACM, BULK],
        &[BULK, Function::Interrupt, ACM, ACM],
        &[Function::Hid, ACM],
    ];

    /// Takes a configuration apart as a host does: by the length byte of each descriptor.
    fn parts(bytes: &[u8]) -> Vec<&[u8]> {
        let mut rest = bytes;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let (part, after) = rest.split_at(usize::from(rest[0]));
            parts.push(part);
            rest = after;
        }
        parts
    }

    #[test]
    fn a_configuration_read_back_has_the_lengths_and_counts_that_it_says() {
        for speed in [Bus::FullSpeed, Bus::HighSpeed] {
            for functions in SETS {
                let device = identity(speed, functions);
                let bytes = device.configuration(2, speed);
                assert_eq!(u16::from_le_bytes([bytes[2], bytes[3]]), bytes.len() as u16);
                let parts = parts(&bytes);
                let interfaces: Vec<_> = parts.iter().filter(|part| part[1] == 4).collect();
                assert_eq!(interfaces.len(), usize::from(bytes[4]));
                for (number, interface) in interfaces.iter().enumerate() {
                    assert_eq!(usize::from(interface[2]), number);
                    assert!(device.string(interface[8]).is_some());
                }
                let endpoints: Vec<_> = parts.iter().filter(|part| part[1] == 5).collect();
                let said: u8 = interfaces.iter().map(|interface| interface[4]).sum();
                assert_eq!(endpoints.len(), usize::from(said));
                let addresses: HashSet<u8> = endpoints.iter().map(|e| e[2]).collect();
                assert_eq!(addresses.len(), endpoints.len());
                assert!(device.fits());
            }
        }
    }

    #[test]
    fn only_a_device_with_a_vendor_interface_has_a_bos_and_says_that_it_is_of_usb_2_1() {
        use Function::{Acm, Bulk, Cp210x, Ftdi, Hid, Interrupt, Iso};
        for (functions, expected) in [
            (&[Acm][..], None),
            (&[Hid, Acm], None),
            (&[Ftdi], None),
            (&[Cp210x], None),
            (&[Iso], Some(ms_os::set(&[0], false))),
            (&[Bulk], Some(ms_os::set(&[0], false))),
            (&[Bulk, Acm], Some(ms_os::set(&[0], true))),
            (
                &[Acm, Hid, Interrupt, Bulk],
                Some(ms_os::set(&[3, 4], true)),
            ),
        ] {
            let device = identity(Bus::HighSpeed, functions);
            let version: u16 = if expected.is_some() { 0x210 } else { 0x200 };
            assert_eq!(device.device()[2..4], version.to_le_bytes());
            let qualifier = device.qualifier().expect("that of a high-speed device");
            assert_eq!(qualifier[2..4], version.to_le_bytes());
            let length = expected.as_ref().map(Vec::len);
            assert_eq!(device.bos(), length.map(ms_os::bos), "{functions:?}");
            assert_eq!(device.ms_os(), expected, "{functions:?}");
        }
    }

    #[test]
    fn the_interfaces_in_the_microsoft_os_descriptors_are_those_of_the_vendor_class() {
        for functions in SETS {
            let device = identity(Bus::FullSpeed, functions);
            let bytes = device.configuration(2, Bus::FullSpeed);
            let vendor: Vec<u8> = parts(&bytes)
                .into_iter()
                .filter(|part| part[1] == 4 && part[5] == 0xff)
                .map(|part| part[2])
                .collect();
            let is_composite = bytes[4] > 1;
            let expected = (!vendor.is_empty()).then(|| ms_os::set(&vendor, is_composite));
            assert_eq!(device.ms_os(), expected, "{functions:?}");
        }
    }

    #[test]
    fn bulk_packets_are_64_bytes_at_full_and_512_at_high_speed() {
        for (speed, expected) in [(Bus::FullSpeed, 64), (Bus::HighSpeed, 512)] {
            let bytes = identity(speed, SETS[2]).configuration(2, speed);
            let bulk = parts(&bytes).into_iter().filter(|p| p[1] == 5 && p[3] == 2);
            for endpoint in bulk {
                assert_eq!(u16::from_le_bytes([endpoint[4], endpoint[5]]), expected);
            }
        }
    }

    #[test]
    fn the_union_of_a_serial_port_names_its_own_interfaces_wherever_it_stands() {
        for (functions, first) in [(SETS[2], 1), (SETS[3], 0)] {
            let bytes = identity(Bus::FullSpeed, functions).configuration(2, Bus::FullSpeed);
            let parts = parts(&bytes);
            let union = parts.iter().find(|p| p[1] == 0x24 && p[2] == 6).unwrap();
            assert_eq!(union[3..5], [first, first + 1]);
            let association = parts.iter().find(|p| p[1] == 11).unwrap();
            assert_eq!(association[2..4], [first, 2]);
        }
    }

    #[test]
    fn an_interface_is_known_by_its_function_and_fifteen_endpoints_are_the_most() {
        let device = identity(Bus::FullSpeed, SETS[4]);
        let functions: Vec<_> = (0..7).map(|at| device.function_of(at)).collect();
        let expected = [0, 1, 2, 2, 3, 3].map(Some);
        assert_eq!(functions[..6], expected);
        assert_eq!(functions[6], None);
        assert!(identity(Bus::FullSpeed, &[Function::Bulk; 15]).fits());
        assert!(!identity(Bus::FullSpeed, &[Function::Acm; 8]).fits());
    }

    #[test]
    fn a_hid_device_names_its_report_descriptor_its_report_size_and_its_interval() {
        for (speed, interval, packet, ns) in [
            (Bus::FullSpeed, 1, 64, 1_000_000),
            (Bus::FullSpeed, 8, 64, 8_000_000),
            (Bus::HighSpeed, 1, 128, 125_000),
            (Bus::HighSpeed, 7, 128, 8_000_000),
        ] {
            let device = Identity {
                interval,
                report_bytes: 128,
                ..identity(speed, &[Function::Hid])
            };
            let bytes = device.configuration(2, speed);
            let parts = parts(&bytes);
            let hid = parts.iter().find(|part| part[1] == 0x21).unwrap();
            let length = report::descriptor(128).len() as u16;
            assert_eq!(hid[7..9], length.to_le_bytes());
            let endpoints: Vec<_> = parts.iter().filter(|part| part[1] == 5).collect();
            assert_eq!(endpoints.len(), 2);
            for endpoint in endpoints {
                let found = (u16::from_le_bytes([endpoint[4], endpoint[5]]), endpoint[6]);
                assert_eq!(found, (packet, interval), "{}", speed.name());
            }
            let placed = device.endpoints().next().unwrap();
            assert_eq!(device.interval_ns(placed.endpoint), ns);
        }
    }

    #[test]
    fn adapters_have_the_endpoints_and_releases_of_their_chips() {
        let bulk = |address, bytes| [7, 5, address, 2, bytes, 0, 0];
        let ftdi = vec![bulk(0x81, 64), bulk(0x02, 64)];
        let cp210x = vec![bulk(0x81, 64), bulk(0x01, 64)];
        let ch341 = vec![[7, 5, 0x81, 3, 8, 0, 1], bulk(0x82, 32), bulk(0x02, 32)];
        for (function, release, expected) in [
            (Function::Ftdi, 0x0600_u16, ftdi),
            (Function::Cp210x, 0x0100, cp210x),
            (Function::Ch341, 0x0264, ch341),
        ] {
            let device = identity(Bus::FullSpeed, &[function]);
            assert_eq!(device.device()[12..14], release.to_le_bytes());
            let bytes = device.configuration(2, Bus::FullSpeed);
            let parts = parts(&bytes);
            let found: Vec<_> = parts.into_iter().filter(|part| part[1] == 5).collect();
            assert_eq!(found, expected, "{function:?}");
        }
    }

    #[test]
    fn isochronous_endpoints_are_in_an_alternate_setting_and_the_default_one_has_none() {
        for (speed, interval, packet, ns) in [
            (Bus::FullSpeed, 1, 1023, 1_000_000),
            (Bus::FullSpeed, 3, 1023, 4_000_000),
            (Bus::HighSpeed, 1, 1024, 125_000),
            (Bus::HighSpeed, 4, 1024, 1_000_000),
        ] {
            let device = Identity {
                interval,
                ..identity(speed, &[Function::Iso])
            };
            let bytes = device.configuration(2, speed);
            assert_eq!(usize::from(bytes[2]), bytes.len());
            let found: Vec<(u8, &[u8])> = parts(&bytes).iter().map(|p| (p[1], &p[2..])).collect();
            let [low, high] = u16::to_le_bytes(packet);
            let endpoint = |address| [address, 1, low, high, interval];
            assert_eq!(found[1], (4, &[0, 0, 0, 0xff, 0, 0, 4][..]));
            assert_eq!(found[2], (4, &[0, 1, 2, 0xff, 0, 0, 4][..]));
            assert_eq!(found[3], (5, &endpoint(0x81)[..]));
            assert_eq!(found[4], (5, &endpoint(0x01)[..]));
            assert_eq!(device.interface_count(), 1);
            assert_eq!(device.setting_of(0), Some(1));
            let placed = device.endpoints().next().unwrap();
            assert_eq!(device.interval_ns(placed.endpoint), ns);
        }
    }

    #[test]
    fn only_a_high_speed_device_has_a_qualifier() {
        assert!(identity(Bus::FullSpeed, SETS[0]).qualifier().is_none());
        let device = identity(Bus::HighSpeed, SETS[0]);
        assert_eq!(device.qualifier().unwrap().len(), 10);
        assert_eq!(device.device().len(), 18);
    }

    #[test]
    fn strings_are_utf_16_and_there_are_no_more_than_named() {
        let device = identity(Bus::FullSpeed, SETS[1]);
        assert_eq!(device.string(3).unwrap(), [4, 3, b'1', 0]);
        assert!(device.string(4).is_some());
        assert!(device.string(5).is_none());
    }
}
