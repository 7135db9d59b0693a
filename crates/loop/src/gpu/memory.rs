//! Memory that the GPU can reach, streams and events: each is given back when it goes.

use super::driver::{check, is_hung};
use cudarc::driver::sys;
use std::ffi::{c_uint, c_void};
use std::ptr;
use sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING;
use sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING;
use wiregauge_link::LinkError;

/// Memory of the GPU.
pub(super) struct DeviceMemory {
    pub(super) at: sys::CUdeviceptr,
    bytes: usize,
}

impl DeviceMemory {
    /// So many bytes, of zeros once `stream` has come so far.
    pub(super) fn new(bytes: usize, stream: &Stream) -> Result<DeviceMemory, LinkError> {
        let (mut at, bytes) = (0, bytes.max(1));
        let doing = format!("cannot allocate {bytes} B in the GPU's memory");
        // SAFETY: writes an address.
        check(unsafe { sys::cuMemAlloc_v2(&mut at, bytes) }, &doing)?;
        let memory = DeviceMemory { at, bytes };
        memory.clear(stream)?;
        Ok(memory)
    }

    /// The same with these contents, at once.
    pub(super) fn of<T: Copy>(contents: &[T], stream: &Stream) -> Result<DeviceMemory, LinkError> {
        let bytes = size_of_val(contents);
        let memory = DeviceMemory::new(bytes, stream)?;
        stream.finish("cannot clear the GPU's memory")?;
        if bytes > 0 {
            // SAFETY: both are so long, and the call is over when the copy is.
            let copied =
                unsafe { sys::cuMemcpyHtoD_v2(memory.at, contents.as_ptr().cast(), bytes) };
            check(copied, "cannot fill the GPU's memory")?;
        }
        Ok(memory)
    }

    /// Zeros, once the stream has come so far.
    pub(super) fn clear(&self, stream: &Stream) -> Result<(), LinkError> {
        // SAFETY: so many bytes are there.
        let cleared = unsafe { sys::cuMemsetD8Async(self.at, 0, self.bytes, stream.0) };
        check(cleared, "cannot clear the GPU's memory")
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if !is_hung() {
            // SAFETY: allocated above, freed once. It waits for what still uses it.
            unsafe { sys::cuMemFree_v2(self.at) };
        }
    }
}

/// A ring of the host's that the GPU reaches, for as long as this is kept.
pub(super) struct Lent {
    host: *const i16,
    samples: usize,
    /// Where kernels find it.
    pub(super) device: sys::CUdeviceptr,
}

impl Lent {
    /// Tells the driver of the ring. It must stay where it is.
    pub(super) fn new(ring: &mut [i16]) -> Result<Lent, LinkError> {
        let doing = format!(
            "cannot register a ring of {} B with the driver",
            size_of_val(ring)
        );
        let host = ring.as_mut_ptr().cast::<c_void>();
        let flags = sys::CU_MEMHOSTREGISTER_DEVICEMAP | sys::CU_MEMHOSTREGISTER_PORTABLE;
        // SAFETY: the memory is there and stays there: the device keeps its rings while a point runs, and
        // this is gone before (`LoopDevice::lend`).
        let registered = unsafe { sys::cuMemHostRegister_v2(host, size_of_val(ring), flags) };
        check(registered, &doing)?;
        let mut lent = Lent {
            host: host.cast_const().cast(),
            samples: ring.len(),
            device: 0,
        };
        // SAFETY: registered above, so that it has an address for kernels, which is written.
        let mapped = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut lent.device, host, 0) };
        check(mapped, &doing)?;
        Ok(lent)
    }

    /// Where in the ring a block begins, in samples.
    ///
    /// # Panics
    /// If it is not of this ring: the GPU would read or write elsewhere.
    #[inline]
    pub(super) fn place(&self, block: &[i16]) -> usize {
        let bytes = (block.as_ptr() as usize).wrapping_sub(self.host as usize);
        let at = bytes / size_of::<i16>();
        let inside = self.samples.checked_sub(block.len());
        assert!(
            inside.is_some_and(|last| at <= last),
            "a block of the ring that was lent"
        );
        at
    }

    /// Where kernels find a block of it.
    #[inline]
    pub(super) fn of(&self, block: &[i16]) -> sys::CUdeviceptr {
        self.device + (self.place(block) * size_of::<i16>()) as u64
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !is_hung() {
            // SAFETY: registered above, given back once.
            unsafe { sys::cuMemHostUnregister(self.host.cast_mut().cast()) };
        }
    }
}

/// Memory of the host's that kernels watch, for one value.
pub(super) struct Shared<T> {
    host: *mut T,
    /// Where kernels find it.
    pub(super) device: sys::CUdeviceptr,
}

impl<T: Default> Shared<T> {
    /// With the default value in it.
    pub(super) fn new() -> Result<Shared<T>, LinkError> {
        let doing = "cannot allocate memory that the GPU watches";
        let mut host = ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: writes an address of so many bytes, of whole pages.
        let laid_out = unsafe { sys::cuMemHostAlloc(&mut host, size_of::<T>(), flags) };
        check(laid_out, doing)?;
        let mut shared = Shared {
            host: host.cast::<T>(),
            device: 0,
        };
        // SAFETY: nobody else has it yet; it is large enough and begins a page.
        unsafe { shared.host.write(T::default()) };
        // SAFETY: allocated so that it has an address for kernels, which is written.
        let mapped = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut shared.device, host, 0) };
        check(mapped, doing)?;
        Ok(shared)
    }

    /// What both sides write to: a type of atomics.
    pub(super) fn get(&self) -> &T {
        // SAFETY: written in `new`, there until this goes.
        unsafe { &*self.host }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if !is_hung() {
            // SAFETY: allocated above, freed once.
            unsafe { sys::cuMemFreeHost(self.host.cast()) };
        }
    }
}

/// Work in order. None of them waits for the driver's default stream, nor that one for them.
pub(super) struct Stream(pub(super) sys::CUstream);

impl Stream {
    pub(super) fn new() -> Result<Stream, LinkError> {
        let mut stream = ptr::null_mut();
        // SAFETY: writes a handle.
        let made = unsafe { sys::cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING as c_uint) };
        check(made, "cannot create a stream of the GPU")?;
        Ok(Stream(stream))
    }

    /// Waits until all of it is done.
    #[inline]
    pub(super) fn finish(&self, doing: &str) -> Result<(), LinkError> {
        // SAFETY: the stream is there until this goes.
        check(unsafe { sys::cuStreamSynchronize(self.0) }, doing)
    }

    /// True if all of it is done; what went wrong, if something did.
    pub(super) fn is_done(&self, doing: &str) -> Result<bool, LinkError> {
        // SAFETY: the stream is there until this goes.
        match unsafe { sys::cuStreamQuery(self.0) } {
            sys::cudaError_enum::CUDA_ERROR_NOT_READY => Ok(false),
            other => check(other, doing).map(|()| true),
        }
    }

    /// What comes after waits for that event.
    #[inline]
    pub(super) fn wait_for(&self, event: &Event) -> Result<(), LinkError> {
        // SAFETY: both are there; 0 are no flags.
        let made = unsafe { sys::cuStreamWaitEvent(self.0, event.0, 0) };
        check(made, "cannot make a stream of the GPU wait for another")
    }
}

impl Drop for Stream {
    /// What is under way, after an error, uses memory that goes next.
    fn drop(&mut self) {
        if !is_hung() {
            // SAFETY: made above, given back once; a failure was reported before.
            unsafe {
                sys::cuStreamSynchronize(self.0);
                sys::cuStreamDestroy_v2(self.0);
            }
        }
    }
}

/// A place in a stream that others can wait for.
pub(super) struct Event(sys::CUevent);

impl Event {
    pub(super) fn new() -> Result<Event, LinkError> {
        let mut event = ptr::null_mut();
        // SAFETY: writes a handle.
        let made = unsafe { sys::cuEventCreate(&mut event, CU_EVENT_DISABLE_TIMING as c_uint) };
        check(made, "cannot create an event of the GPU")?;
        Ok(Event(event))
    }

    /// Is where the stream is now.
    #[inline]
    pub(super) fn record(&self, stream: &Stream) -> Result<(), LinkError> {
        // SAFETY: both are there.
        let recorded = unsafe { sys::cuEventRecord(self.0, stream.0) };
        check(recorded, "cannot mark a place in a stream of the GPU")
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !is_hung() {
            // SAFETY: made above, given back once.
            unsafe { sys::cuEventDestroy_v2(self.0) };
        }
    }
}
