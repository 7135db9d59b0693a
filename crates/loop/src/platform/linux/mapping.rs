//! Memory whose pages are there before they are touched, and memory of several processes.

use crate::platform::unix::Mapping;
use rustix::fd::AsFd;
use rustix::mm::{MapFlags, mmap};
use std::io;
use std::ptr;

impl Mapping {
    /// Memory of this process.
    pub(crate) fn anonymous(bytes: usize) -> io::Result<Mapping> {
        Mapping::private(bytes, MapFlags::POPULATE)
    }

    /// Memory of a file that another process maps as well.
    pub(crate) fn shared(file: impl AsFd, offset: u64, bytes: usize) -> io::Result<Mapping> {
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { mmap(ptr::null_mut(), bytes, Mapping::PROT, flags, file, offset) };
        Mapping::of(base, bytes)
    }
}
