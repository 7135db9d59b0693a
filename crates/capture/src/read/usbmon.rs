//! What Linux's usbmon reports of URBs: a header and the first bytes of the data (Documentation/usb/usbmon.rst).

use super::ReadError;
use super::error::DAMAGED;
use super::frame::Framed;

/// What happened to a URB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UrbStage {
    /// A driver or a program submitted it.
    Submitted,
    /// It is over.
    Completed,
    /// It could not be submitted.
    Refused,
}

/// The type of the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UrbType {
    /// At fixed times, without repetition.
    Isochronous,
    /// Polled.
    Interrupt,
    /// Requests.
    Control,
    /// All else.
    Bulk,
}

/// A URB of a host that was submitted or is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Urb {
    /// When, in nanoseconds of the capture's clock; the resolution is a microsecond.
    pub at_ns: u64,
    /// Its number, which is used again after it is over.
    pub id: u64,
    /// What happened.
    pub stage: UrbStage,
    /// The type of the transfer.
    pub transfer: UrbType,
    /// Bus of the host.
    pub bus: u16,
    /// Address of the device.
    pub device: u8,
    /// Endpoint; the highest bit is set for IN.
    pub endpoint: u8,
    /// 0, or the negative number of an error.
    pub status: i32,
    /// Bytes requested when submitted, transferred when over.
    pub length: u32,
}

pub(super) fn urb(framed: Framed, bytes: &[u8], header: usize) -> Result<Urb, ReadError> {
    let wrong = |wrong: String| Err(ReadError::format(framed.offset, wrong, DAMAGED));
    if bytes.len() < header {
        return wrong(format!(
            "{} bytes of usbmon, expected a header of {header}",
            bytes.len()
        ));
    }
    let stage = match bytes[8] {
        b'S' => UrbStage::Submitted,
        b'C' => UrbStage::Completed,
        b'E' => UrbStage::Refused,
        other => {
            return wrong(format!(
                "an event 0x{other:02x} of usbmon, expected S, C or E"
            ));
        }
    };
    let transfer = match bytes[9] {
        0 => UrbType::Isochronous,
        1 => UrbType::Interrupt,
        2 => UrbType::Control,
        3 => UrbType::Bulk,
        other => return wrong(format!("a transfer type {other}, expected 0 to 3")),
    };
    let order = framed.order;
    Ok(Urb {
        at_ns: framed.at_ns,
        id: order.u64(bytes, 0),
        stage,
        transfer,
        bus: order.u16(bytes, 12),
        device: bytes[11],
        endpoint: bytes[10],
        status: order.u32(bytes, 28) as i32,
        length: order.u32(bytes, 32),
    })
}
