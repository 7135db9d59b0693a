//! Windows.

pub(crate) use super::not_linux::*;
pub use super::not_linux::{
    be_device_if_asked, be_device_if_asked_with, serve_devices_with, serve_devices_with_program,
};

use std::io;
use std::ptr::{self, NonNull};
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};

/// How CUDA's driver is named.
#[cfg(feature = "gpu")]
pub(crate) const CUDA: &str = "nvcuda.dll";

/// Bytes of a page of every processor that Windows runs on.
const PAGE: usize = 4096;

/// Error numbers of the system: an argument that is wrong, and no memory.
pub(crate) const INVALID: i32 = 87;
/// See [`INVALID`].
pub(crate) const OUT_OF_MEMORY: i32 = 8;

/// Memory of whole pages, all zero at first.
pub(crate) struct Mapping {
    base: NonNull<u8>,
}

// SAFETY: it is only memory; who may touch what of it and when is stated where it is touched.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Memory of this process. Every page is touched, so that it is there before the loop begins.
    pub(crate) fn anonymous(bytes: usize) -> io::Result<Mapping> {
        let kind = MEM_COMMIT | MEM_RESERVE;
        // SAFETY: new memory at an address of the system's choice.
        let base = unsafe { VirtualAlloc(ptr::null(), bytes, kind, PAGE_READWRITE) };
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(io::Error::last_os_error)?;
        for page in (0..bytes).step_by(PAGE) {
            // SAFETY: within the memory that was just made, which nobody else knows yet.
            unsafe { base.as_ptr().add(page).write_volatile(0) };
        }
        Ok(Mapping { base })
    }

    /// Where it begins.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Bytes of a page.
    pub(crate) fn page_bytes() -> u64 {
        PAGE as u64
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: made here, whole, and nothing that borrows from it outlives it.
        unsafe { VirtualFree(self.base.as_ptr().cast(), 0, MEM_RELEASE) };
    }
}
