//! What the frames of an interface hold, by the numbers of <https://www.tcpdump.org/linktypes.html>.

use super::ReadError;
use crate::packet::Speed;

/// What the frames of an interface hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkType {
    /// A packet of a USB 2.0 bus.
    Bus(Option<Speed>),
    /// A header of usbmon and the data of a URB.
    Usbmon {
        /// Bytes of the header.
        header: usize,
    },
}

const CAPTURE_USB: &str = "capture the bus with an analyzer, or the URBs of the host with usbmon: \
     sudo modprobe usbmon; tshark -i usbmon1 -w FILE.pcapng";

impl LinkType {
    pub(super) fn of(number: u32, offset: u64) -> Result<LinkType, ReadError> {
        Ok(match number {
            189 => LinkType::Usbmon { header: 48 },
            220 => LinkType::Usbmon { header: 64 },
            288 => LinkType::Bus(None),
            293 => LinkType::Bus(Some(Speed::Low)),
            294 => LinkType::Bus(Some(Speed::Full)),
            295 => LinkType::Bus(Some(Speed::High)),
            249 => {
                return Err(ReadError::format(
                    offset,
                    "link type 249: USBPcap is not supported",
                    "use a bus analyzer, or usbmon on Linux: sudo modprobe usbmon; tshark -i usbmon1 -w FILE.pcapng",
                ));
            }
            other => {
                let name = match other {
                    0 => " (loopback)",
                    1 => " (Ethernet)",
                    101 => " (IP)",
                    105 | 127 => " (Wi-Fi)",
                    113 | 276 => " (any interface of Linux)",
                    186 => " (USB of FreeBSD)",
                    227 => " (CAN)",
                    266 => " (USB of macOS)",
                    _ => "",
                };
                return Err(ReadError::format(
                    offset,
                    format!(
                        "link type {other}{name}, expected USB: 189, 220, 288, 293, 294 or 295"
                    ),
                    CAPTURE_USB,
                ));
            }
        })
    }
}
