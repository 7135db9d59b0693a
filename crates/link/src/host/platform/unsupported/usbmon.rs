//! usbmon is Linux's own.

use crate::error::{LinkError, LinkErrorKind};
use crate::host::{Finished, Losses, UrbTimes};
use std::convert::Infallible;

/// Linux's record of the URBs of a USB bus. There is none here: starting it is an error.
pub struct UsbMon {
    never: Infallible,
}

impl UsbMon {
    /// An error: only Linux has usbmon.
    pub fn start(bus: u16, _address: u8) -> Result<UsbMon, LinkError> {
        Err(LinkError::new(
            LinkErrorKind::Usage,
            format!("cannot record USB bus {bus} with usbmon"),
            "this needs Linux: no other system has usbmon",
        )
        .hint("run without the record of URBs, or on a host with Linux"))
    }

    /// Takes the URBs that completed since the last call.
    pub fn take(&mut self, _to: impl FnMut(UrbTimes)) {
        match self.never {}
    }

    /// Waits for the URBs that completed before this call, and takes them.
    pub fn catch_up(&mut self, _to: impl FnMut(UrbTimes)) {
        match self.never {}
    }

    /// What was missed so far.
    pub fn losses(&self) -> Losses {
        match self.never {}
    }

    /// What is watched and how exactly.
    pub fn describe(&self) -> &str {
        match self.never {}
    }

    /// Ends it.
    pub fn finish(self) -> Finished {
        match self.never {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usbmon_is_refused_with_the_reason() {
        let error = UsbMon::start(1, 2).err().expect("refused");
        assert_eq!(error.kind(), LinkErrorKind::Usage);
        assert!(error.to_string().contains("needs Linux"), "{error}");
    }
}
