//! Devices of the literature.

use super::timing::{BusTiming, DeviceTiming};
use crate::limits::Bus;

/// A device, the bus that it was measured on, and its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name used in options.
    pub name: &'static str,
    /// Which device this is, and in whose hands.
    pub about: &'static str,
    /// Its speed.
    pub speed: Bus,
    /// The bus and the host.
    pub bus: BusTiming,
    /// The device.
    pub device: DeviceTiming,
}

/// All of them.
pub const PROFILES: &[Profile] = &[];
