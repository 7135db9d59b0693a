//! Linux: ALSA's sound cards, and a virtual device in a process of its own.

#[cfg(target_endian = "little")]
mod alsa;
mod mapping;
pub(crate) mod process;

pub(crate) use super::unix::{INVALID, Mapping, OUT_OF_MEMORY};
pub(crate) use process::Process;
pub use process::{
    be_device_if_asked, be_device_if_asked_with, serve_devices_with, serve_devices_with_program,
};

use crate::kind::Kind;

/// How CUDA's driver is named.
#[cfg(feature = "gpu")]
pub(crate) const CUDA: &str = "libcuda.so.1";

/// The kinds of device that only Linux has. ALSA's samples are read as they lie in memory: little-endian.
pub(crate) const KINDS: &[Kind] = &[
    #[cfg(target_endian = "little")]
    Kind {
        scheme: "alsa",
        form: "alsa:hw:CARD[,DEVICE[,SUBDEVICE]]",
        // They are the buffers of the kernel's driver.
        lends: false,
        open: |rest, _host| Some(alsa::Alsa::open(rest).map(|card| Box::new(card) as _)),
    },
];
