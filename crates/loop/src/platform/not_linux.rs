//! What only Linux has: sound cards of ALSA, and memory that a device in another process maps (memfd, a futex).

use crate::kind::Kind;
use crate::virtual_device::body::Body;
use crate::virtual_device::memory::{Header, RingMemory};
use crate::virtual_device::shared::Asked;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use wiregauge_link::{LinkError, LinkErrorKind};

/// No kinds beside those that every system has.
pub(crate) const KINDS: &[Kind] = &[];

/// The virtual device in a process of its own: there is none.
pub(crate) enum Process {}

impl Process {
    /// Refused with the reason.
    pub(crate) fn start(_asked: Asked) -> Result<Process, LinkError> {
        Err(LinkError::new(
            LinkErrorKind::Usage,
            "cannot start the device's process",
            "virtual:process needs Linux",
        )
        .hint("use virtual or virtual:thread"))
    }
}

impl Body for Process {
    fn header(&self) -> Arc<Header> {
        match *self {}
    }

    fn rings(&mut self, _ring_bytes: u64) -> Result<Arc<RingMemory>, LinkError> {
        match *self {}
    }

    fn look(&mut self) -> Result<(), LinkError> {
        match *self {}
    }

    fn what(&self) -> String {
        match *self {}
    }
}

/// No program is started as a device: always `None`.
pub fn be_device_if_asked() -> Option<Result<(), LinkError>> {
    None
}

/// The same for a program with other arguments than those of the process.
pub fn be_device_if_asked_with(_arguments: &[OsString]) -> Option<Result<(), LinkError>> {
    None
}

/// The program that would be started as the device; returns that it was not taken.
pub fn serve_devices_with(_path: impl Into<PathBuf>, _arguments: Vec<OsString>) -> bool {
    false
}

/// The same for a program with arguments of its own.
pub fn serve_devices_with_program(_path: impl Into<PathBuf>, _before: &[OsString]) -> bool {
    false
}
