//! What can go wrong with a USB device, worded so that a user can act.

use super::identity::Identity;
use crate::error::{LinkError, LinkErrorKind};
use crate::platform::usb::{ENOMEM, out_of_memory};
use nusb::transfer::TransferError;
use std::io;
use std::time::{Duration, Instant};

/// How long after a bus error a device that was unplugged may still seem to be there: the hub's
/// change is noticed at its next interrupt transfer, every 256 ms (bInterval 12 at high speed).
const UNPLUG_NOTICED: Duration = Duration::from_millis(600);

/// The device went away.
pub fn gone(doing: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Disconnected,
        doing,
        "the device was unplugged or reset",
    )
    .hint("plug it in again; for a bad cable or low power see dmesg")
}

/// A transfer that failed, as the engine understands it. A stall is not among these: it is cleared.
pub fn of_transfer(device: &Identity, error: TransferError) -> io::Error {
    match error {
        TransferError::Disconnected => unplugged(),
        // A device that is being unplugged answers with bus errors before it is known to be gone.
        TransferError::Fault if vanishes(|| device.is_gone()) => unplugged(),
        TransferError::Fault => io::Error::other(
            "a USB transfer failed on the bus (no response, a corrupted packet, or too much data); check \
             cable, hub and power",
        ),
        TransferError::Unknown(ENOMEM) => out_of_memory(),
        TransferError::InvalidArgument => io::Error::new(
            io::ErrorKind::InvalidInput,
            "the system rejects a USB transfer of this size",
        ),
        other => io::Error::from(other),
    }
}

/// After a bus error: true if the device turns out to be unplugged. It waits for that.
pub fn vanishes(is_gone: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < UNPLUG_NOTICED {
        if is_gone() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

fn unplugged() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the USB device was unplugged or reset",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_went_away_reads_like_a_closed_link() {
        let error = LinkError::from_io("exchange 7", &unplugged());
        assert_eq!(error.kind(), LinkErrorKind::Disconnected);
    }
}
