//! Memory of whole pages.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::io;
use std::ptr::{self, NonNull};

/// A mapping of whole pages, all zero at first.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is only memory; who may touch what of it and when is stated where it is touched.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(in crate::platform) const PROT: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

    /// Memory of this process.
    pub(in crate::platform) fn private(bytes: usize, flags: MapFlags) -> io::Result<Mapping> {
        let flags = MapFlags::PRIVATE | flags;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), bytes, Mapping::PROT, flags) };
        Mapping::of(base, bytes)
    }

    /// Where it begins.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Bytes of a page.
    pub(crate) fn page_bytes() -> u64 {
        rustix::param::page_size() as u64
    }

    /// What was mapped.
    pub(in crate::platform) fn of(
        mapped: rustix::io::Result<*mut std::ffi::c_void>,
        bytes: usize,
    ) -> io::Result<Mapping> {
        let base = NonNull::new(mapped?.cast::<u8>());
        let base = base.ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(Mapping { base, bytes })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped here, whole, and nothing that borrows from it outlives it.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// Error numbers of the system: an argument that is wrong, and no memory.
pub(crate) const INVALID: i32 = rustix::io::Errno::INVAL.raw_os_error();
/// See [`INVALID`].
pub(crate) const OUT_OF_MEMORY: i32 = rustix::io::Errno::NOMEM.raw_os_error();
