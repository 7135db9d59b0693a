//! Memory that host and device see at once: mapped, touched, and given back when both are done.

use super::shared::Shared;
use crate::platform::Mapping;
use std::io;
use wiregauge_record::SAMPLE_BYTES;

/// Rounds up to whole pages.
fn whole_pages(bytes: u64) -> u64 {
    bytes.next_multiple_of(Mapping::page_bytes())
}

/// Bytes before the rings in shared memory: whole pages.
pub(crate) fn header_bytes() -> u64 {
    whole_pages(size_of::<Shared>() as u64)
}

/// The page by which host and device speak.
pub(crate) struct Header(pub(crate) Mapping);

impl Header {
    /// For two threads.
    pub(crate) fn anonymous() -> io::Result<Header> {
        Mapping::anonymous(header_bytes() as usize).map(Header)
    }
}

impl std::ops::Deref for Header {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        // SAFETY: the mapping is larger than the struct and begins at a page. All of the struct's
        // fields are atomics, of which any bytes are a valid value, whoever writes them.
        unsafe { self.0.base().cast::<Shared>().as_ref() }
    }
}

/// Input ring and output ring, each in whole pages.
pub(crate) struct RingMemory {
    mapping: Mapping,
    /// Samples of each ring.
    samples: usize,
    /// Bytes from the begin of the one to that of the other.
    apart: usize,
}

impl RingMemory {
    /// Bytes that two rings of this size take.
    pub(crate) fn bytes(ring_bytes: u64) -> u64 {
        whole_pages(ring_bytes).saturating_mul(2)
    }

    /// For two threads.
    pub(crate) fn anonymous(ring_bytes: u64) -> io::Result<RingMemory> {
        let mapping = Mapping::anonymous(RingMemory::bytes(ring_bytes) as usize)?;
        Ok(RingMemory::of(mapping, ring_bytes))
    }

    /// In memory of at least [`RingMemory::bytes`].
    pub(crate) fn of(mapping: Mapping, ring_bytes: u64) -> RingMemory {
        RingMemory {
            mapping,
            samples: (ring_bytes / u64::from(SAMPLE_BYTES)) as usize,
            apart: whole_pages(ring_bytes) as usize,
        }
    }

    /// Samples of each ring.
    pub(crate) fn samples(&self) -> usize {
        self.samples
    }

    fn begin(&self, output: bool, at: usize, length: usize) -> *mut i16 {
        let fits = at
            .checked_add(length)
            .is_some_and(|end| end <= self.samples);
        assert!(fits, "a block lies within its ring");
        let ring = if output { self.apart } else { 0 };
        // SAFETY: within the mapping: the ring's begin is, and `at` was checked to lie in the ring.
        unsafe { self.mapping.base().as_ptr().add(ring).cast::<i16>().add(at) }
    }

    /// Samples of the input ring.
    ///
    /// # Safety
    /// Nobody in this process writes them meanwhile.
    pub(crate) unsafe fn input(&self, at: usize, length: usize) -> &[i16] {
        // SAFETY: `begin` has checked the place; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.begin(false, at, length), length) }
    }

    /// The same, to be written.
    ///
    /// # Safety
    /// Nobody else in this process reads or writes them meanwhile.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn input_mut(&self, at: usize, length: usize) -> &mut [i16] {
        // SAFETY: `begin` has checked the place; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.begin(false, at, length), length) }
    }

    /// Samples of the output ring.
    ///
    /// # Safety
    /// Nobody in this process writes them meanwhile.
    pub(crate) unsafe fn output(&self, at: usize, length: usize) -> &[i16] {
        // SAFETY: `begin` has checked the place; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.begin(true, at, length), length) }
    }

    /// The same, to be written.
    ///
    /// # Safety
    /// Nobody else in this process reads or writes them meanwhile.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn output_mut(&self, at: usize, length: usize) -> &mut [i16] {
        // SAFETY: `begin` has checked the place; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.begin(true, at, length), length) }
    }
}
