//! What a watch of a USB bus by usbmon yields. Only Linux has usbmon; elsewhere starting it is an error.

use super::urb::UrbTimes;

pub use super::platform::UsbMon;

/// What a watch was worth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// URBs that were not taken before.
    pub urbs: Vec<UrbTimes>,
    /// What was lost, and why.
    pub losses: Losses,
}

/// What a watch missed so far. Nothing is made up for it: transfers stay without URB times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Events (two a URB) that the kernel dropped because its ring was full.
    pub dropped: u64,
    /// URBs dropped because nobody took them.
    pub not_taken: u64,
    /// Events dropped because the real-time clock, by which usbmon goes, was set meanwhile.
    pub clock_set: u64,
}

impl Losses {
    /// True if nothing was.
    pub fn is_none(&self) -> bool {
        *self == Losses::default()
    }
}
