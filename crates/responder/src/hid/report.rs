//! What every HID device of the responder is: reports of one size in each direction, on a vendor's usage page, and what
//! is answered to them. No I/O.

use crate::device::{Device, DeviceConfig, Trust};
use wiregauge_link::host::Clock;
use wiregauge_record::Protocol;
use wiregauge_wire as wire;

/// Sizes of a report that can be chosen: the largest is the largest packet of an interrupt endpoint.
pub const REPORT_BYTES: std::ops::RangeInclusive<u16> = 1..=1024;

/// The size of a report where nothing is said: what most raw HID boards have, or one that holds a HELLO.
pub fn default_bytes(protocol: Protocol) -> u16 {
    match protocol {
        Protocol::Wiregauge => 128,
        _ => 64,
    }
}

/// Why a protocol does not fit in reports of a size, if it does not.
pub fn check(protocol: Protocol, bytes: u16) -> Result<(), String> {
    let least = wire::HELLO_REQUEST.max(wire::HELLO_RESPONSE);
    match protocol {
        Protocol::Wiregauge if usize::from(bytes) < least => Err(format!(
            "the wiregauge protocol needs reports of {least} B (HELLO), not {bytes} B\n  hint: use --report-bytes {least} \
             or more, or --protocol echo"
        )),
        _ => Ok(()),
    }
}

/// Bytes of [`descriptor`].
pub const DESCRIPTOR: u16 = 26;

/// The report descriptor: one input and one output report of this size, of vendor usage page 0xff00 (HID 1.11, 6.2.2).
#[rustfmt::skip]
pub fn descriptor(bytes: u16) -> [u8; DESCRIPTOR as usize] {
    let [low, high] = bytes.to_le_bytes();
    [
        0x06, 0x00, 0xff, // Usage Page (vendor)
        0x09, 0x01, // Usage
        0xa1, 0x01, // Collection (application)
        0x15, 0x00, // Logical Minimum 0
        0x26, 0xff, 0x00, // Logical Maximum 255
        0x75, 0x08, // Report Size 8
        0x96, low, high, // Report Count
        0x09, 0x02, 0x81, 0x02, // Usage, Input
        0x09, 0x03, 0x91, 0x02, // Usage, Output
        0xc0, // End Collection
    ]
}

/// The same with a feature report of this size.
pub fn descriptor_with_feature(bytes: u16) -> Vec<u8> {
    let plain = descriptor(bytes);
    let (items, end) = plain.split_at(plain.len() - 1);
    // Usage, Feature
    [items, &[0x09, 0x04, 0xb1, 0x02], end].concat()
}

/// The request in a report: of the wiregauge protocol without the padding, else all of it.
pub fn request_in(report: &[u8], protocol: Protocol) -> &[u8] {
    let request = match protocol {
        Protocol::Wiregauge => wire::Request::decode(report).ok(),
        _ => None,
    };
    let bytes = request.map_or(report.len(), |request| {
        let payload = usize::try_from(request.out_payload).unwrap_or(usize::MAX);
        wire::REQUEST_HEADER.saturating_add(payload)
    });
    &report[..bytes.min(report.len())]
}

/// A reply padded to its report; `None` if it does not fit in one.
pub fn padded(mut reply: Vec<u8>, bytes: u16) -> Option<Vec<u8>> {
    let bytes = usize::from(bytes);
    if reply.len() > bytes {
        return None;
    }
    reply.resize(bytes, 0);
    Some(reply)
}

/// The settings of a device whose frames must fit in reports.
pub fn fitted(config: &DeviceConfig, bytes: u16) -> DeviceConfig {
    DeviceConfig {
        max_frame: config.max_frame.min(bytes.into()),
        ..config.clone()
    }
}

/// A device behind reports.
pub struct ReportDevice {
    device: Device,
    protocol: Protocol,
    bytes: u16,
    ready: Vec<u8>,
}

impl ReportDevice {
    /// A device at rest.
    pub fn new(config: &DeviceConfig, bytes: u16, clock: Clock) -> ReportDevice {
        ReportDevice {
            device: Device::new(fitted(config, bytes), clock),
            protocol: config.protocol,
            bytes,
            ready: Vec::new(),
        }
    }

    /// Takes a report; returns the one that is due at once in reply.
    pub fn take(&mut self, report: &[u8], now_ns: u64) -> Option<Vec<u8>> {
        let request = request_in(report, self.protocol);
        self.ready.clear();
        self.device
            .take_datagram(request, now_ns, Trust::Proved, &mut self.ready);
        if self.ready.is_empty() {
            return None;
        }
        padded(std::mem::take(&mut self.ready), self.bytes)
    }

    /// The next reply that is due.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        padded(self.device.pop_due(now_ns)?, self.bytes)
    }

    /// When the next reply is due.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.device.next_due_ns()
    }

    /// True if it has disconnected itself.
    pub fn is_gone(&self) -> bool {
        self.device.is_gone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(protocol: Protocol) -> DeviceConfig {
        DeviceConfig {
            protocol,
            ..DeviceConfig::default()
        }
    }

    #[test]
    fn the_descriptor_says_what_the_host_reads_in_it() {
        for bytes in [1, 64, 255, 1024] {
            let read = wiregauge_link::parse_report_descriptor(&descriptor(bytes)).unwrap();
            let expected = format!("input {bytes} B, output {bytes} B");
            assert_eq!(read.to_string(), expected);
            let more = descriptor_with_feature(bytes);
            let more = wiregauge_link::parse_report_descriptor(&more).unwrap();
            assert_eq!(more.to_string(), format!("{expected}, feature {bytes} B"));
            assert!(read.is_vendor() && !read.numbered);
        }
    }

    #[test]
    fn an_echo_is_the_whole_report() {
        let mut device = ReportDevice::new(&config(Protocol::Echo), 8, Clock::start());
        let found = device.take(&[1, 2, 0, 0, 0, 0, 0, 0], 0);
        assert_eq!(found, Some(vec![1, 2, 0, 0, 0, 0, 0, 0]));
        assert_eq!(device.take(&[9], 0), Some(vec![9, 0, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn a_padded_request_of_the_wiregauge_protocol_is_answered_in_a_padded_report() {
        let mut device = ReportDevice::new(&config(Protocol::Wiregauge), 128, Clock::start());
        let mut report = [0; 128];
        let request = wire::Request {
            kind: wire::Kind::Exchange,
            sequence: 7,
            out_payload: 4,
            in_bytes: 48,
        };
        let (header, payload) = report.split_at_mut(wire::REQUEST_HEADER);
        request.encode(header.try_into().unwrap());
        wire::fill_pattern(7, &mut payload[..4]);
        let reply = device.take(&report, 0).unwrap();
        assert_eq!(reply.len(), 128);
        let response = wire::Response::decode(&reply).unwrap();
        let found = (response.sequence, response.in_payload, response.flags);
        assert_eq!(found, (7, 16, 0));
        assert!(reply[48..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn what_does_not_fit_in_a_report_is_refused() {
        assert!(
            check(Protocol::Wiregauge, 64)
                .unwrap_err()
                .contains("--protocol echo")
        );
        assert_eq!(check(Protocol::Wiregauge, 104), Ok(()));
        assert_eq!(check(Protocol::Echo, 1), Ok(()));
        assert_eq!(padded(vec![1; 9], 8), None);
        for protocol in [Protocol::Wiregauge, Protocol::Echo] {
            assert_eq!(check(protocol, default_bytes(protocol)), Ok(()));
        }
    }
}
