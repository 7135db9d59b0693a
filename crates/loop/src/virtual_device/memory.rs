//! Memory that host and device see at once: mapped, touched, and given back when both are done.

use super::shared::Shared;
use rustix::fd::AsFd;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use std::io;
use std::ptr::{self, NonNull};
use wiregauge_record::SAMPLE_BYTES;

/// A mapping of whole pages, all zero at first.
struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is only memory; who may touch what of it and when is stated where it is touched.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    const PROT: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

    /// Memory of this process.
    fn anonymous(bytes: usize) -> io::Result<Mapping> {
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), bytes, Mapping::PROT, flags) };
        Mapping::of(base, bytes)
    }

    /// Memory of a file that another process maps as well.
    fn shared(file: impl AsFd, offset: u64, bytes: usize) -> io::Result<Mapping> {
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { mmap(ptr::null_mut(), bytes, Mapping::PROT, flags, file, offset) };
        Mapping::of(base, bytes)
    }

    fn of(mapped: rustix::io::Result<*mut std::ffi::c_void>, bytes: usize) -> io::Result<Mapping> {
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

fn whole_pages(bytes: u64) -> u64 {
    bytes.next_multiple_of(rustix::param::page_size() as u64)
}

/// Bytes of a file that has room for these rings.
pub(super) fn file_bytes(ring_bytes: u64) -> u64 {
    header_bytes().saturating_add(RingMemory::bytes(ring_bytes))
}

/// Bytes before the rings in shared memory: whole pages.
pub(super) fn header_bytes() -> u64 {
    whole_pages(size_of::<Shared>() as u64)
}

/// The page by which host and device speak.
pub(super) struct Header(Mapping);

impl Header {
    /// For two threads.
    pub(super) fn anonymous() -> io::Result<Header> {
        Mapping::anonymous(header_bytes() as usize).map(Header)
    }

    /// At the begin of a file of at least [`header_bytes`], which cannot shrink.
    pub(super) fn of_file(file: impl AsFd) -> io::Result<Header> {
        Mapping::shared(file, 0, header_bytes() as usize).map(Header)
    }
}

impl std::ops::Deref for Header {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        // SAFETY: the mapping is larger than the struct and begins at a page. All of the struct's
        // fields are atomics, of which any bytes are a valid value, whoever writes them.
        unsafe { self.0.base.cast::<Shared>().as_ref() }
    }
}

/// Input ring and output ring, each in whole pages.
pub(super) struct RingMemory {
    mapping: Mapping,
    /// Samples of each ring.
    samples: usize,
    /// Bytes from the begin of the one to that of the other.
    apart: usize,
}

impl RingMemory {
    /// Bytes that two rings of this size take.
    pub(super) fn bytes(ring_bytes: u64) -> u64 {
        whole_pages(ring_bytes).saturating_mul(2)
    }

    /// For two threads.
    pub(super) fn anonymous(ring_bytes: u64) -> io::Result<RingMemory> {
        let mapping = Mapping::anonymous(RingMemory::bytes(ring_bytes) as usize)?;
        Ok(RingMemory::of(mapping, ring_bytes))
    }

    /// Behind the header of a file that is large enough and cannot shrink.
    pub(super) fn of_file(file: impl AsFd, ring_bytes: u64) -> io::Result<RingMemory> {
        let bytes = RingMemory::bytes(ring_bytes) as usize;
        let mapping = Mapping::shared(file, header_bytes(), bytes)?;
        Ok(RingMemory::of(mapping, ring_bytes))
    }

    fn of(mapping: Mapping, ring_bytes: u64) -> RingMemory {
        RingMemory {
            mapping,
            samples: (ring_bytes / u64::from(SAMPLE_BYTES)) as usize,
            apart: whole_pages(ring_bytes) as usize,
        }
    }

    /// Samples of each ring.
    pub(super) fn samples(&self) -> usize {
        self.samples
    }

    fn begin(&self, output: bool, at: usize, length: usize) -> *mut i16 {
        let fits = at
            .checked_add(length)
            .is_some_and(|end| end <= self.samples);
        assert!(fits, "a block lies within its ring");
        let ring = if output { self.apart } else { 0 };
        // SAFETY: within the mapping: the ring's begin is, and `at` was checked to lie in the ring.
        unsafe { self.mapping.base.as_ptr().add(ring).cast::<i16>().add(at) }
    }

    /// Samples of the input ring.
    ///
    /// # Safety
    /// Nobody in this process writes them meanwhile.
    pub(super) unsafe fn input(&self, at: usize, length: usize) -> &[i16] {
        // SAFETY: `begin` has checked the place; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.begin(false, at, length), length) }
    }

    /// The same, to be written.
    ///
    /// # Safety
    /// Nobody else in this process reads or writes them meanwhile.
    #[allow(clippy::mut_from_ref)]
    pub(super) unsafe fn input_mut(&self, at: usize, length: usize) -> &mut [i16] {
        // SAFETY: `begin` has checked the place; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.begin(false, at, length), length) }
    }

    /// Samples of the output ring.
    ///
    /// # Safety
    /// Nobody in this process writes them meanwhile.
    pub(super) unsafe fn output(&self, at: usize, length: usize) -> &[i16] {
        // SAFETY: `begin` has checked the place; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.begin(true, at, length), length) }
    }

    /// The same, to be written.
    ///
    /// # Safety
    /// Nobody else in this process reads or writes them meanwhile.
    #[allow(clippy::mut_from_ref)]
    pub(super) unsafe fn output_mut(&self, at: usize, length: usize) -> &mut [i16] {
        // SAFETY: `begin` has checked the place; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.begin(true, at, length), length) }
    }
}
