//! Overlapped operations: a read or write that the system goes on with by itself, with the memory that it uses.
//!
//! Everything unsafe about that memory is here: it stays in place, untouched, from the beginning of an operation until
//! the system has ended it, and whoever owns the handle ends the operation ([`Operation::cancel`]) before it is closed.

#![allow(unsafe_code)]

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;
use windows_sys::Win32::Foundation::{ERROR_IO_PENDING, HANDLE, STATUS_PENDING};
use windows_sys::Win32::System::IO::{CancelIoEx, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Threading::{
    CreateEventW, WaitForMultipleObjects, WaitForSingleObject,
};

/// One operation at a time and its memory.
pub struct Operation {
    /// Owned: from `Box::into_raw`, freed when dropped.
    overlapped: *mut OVERLAPPED,
    /// Owned, likewise.
    buffer: *mut [u8],
    event: OwnedHandle,
    is_under_way: bool,
}

// SAFETY: both pointers are to heap memory that only this owns.
unsafe impl Send for Operation {}

impl Operation {
    /// Memory for an operation of up to `bytes`.
    pub fn new(bytes: usize) -> io::Result<Operation> {
        // SAFETY: no pointers but null ones, which are allowed.
        let event = unsafe { CreateEventW(std::ptr::null(), 1, 0, std::ptr::null()) };
        if event.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the system has just given this handle to us alone.
        let event = unsafe { OwnedHandle::from_raw_handle(event) };
        let overlapped = OVERLAPPED {
            hEvent: event.as_raw_handle(),
            ..OVERLAPPED::default()
        };
        Ok(Operation {
            overlapped: Box::into_raw(Box::new(overlapped)),
            buffer: Box::into_raw(vec![0; bytes].into_boxed_slice()),
            event,
            is_under_way: false,
        })
    }

    /// True once it was begun, until its result is taken.
    pub fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// True if none is under way, or it has ended. No system call.
    #[inline]
    pub fn is_over(&self) -> bool {
        // SAFETY: the pointer is valid; the system writes the field while we read it, so the read is volatile.
        let status = unsafe { (&raw const (*self.overlapped).Internal).read_volatile() };
        let is_over = !self.is_under_way || status != STATUS_PENDING as usize;
        // What the system wrote before the status is seen after it.
        fence(Ordering::Acquire);
        is_over
    }

    /// The memory, which belongs to the system (here: is empty) while the operation is under way.
    #[inline]
    pub fn buffer(&mut self) -> &mut [u8] {
        if self.is_under_way {
            return &mut [];
        }
        // SAFETY: no operation is under way, so nobody else uses the memory.
        unsafe { &mut *self.buffer }
    }

    /// Begins an operation with `call`, which gets the memory and returns the system's error code or 0. True if it
    /// has ended already.
    #[inline]
    pub fn begin(
        &mut self,
        call: impl FnOnce(*mut u8, *mut OVERLAPPED) -> u32,
    ) -> io::Result<bool> {
        match call(self.buffer.cast::<u8>(), self.overlapped) {
            0 => Ok(true),
            ERROR_IO_PENDING => {
                self.is_under_way = true;
                Ok(false)
            }
            code => Err(io::Error::from_raw_os_error(code as i32)),
        }
    }

    /// As [`Operation::begin`], and [`Operation::result`] gives the result also if it has ended already.
    pub fn begin_for_result(
        &mut self,
        call: impl FnOnce(*mut u8, *mut OVERLAPPED) -> u32,
    ) -> io::Result<()> {
        self.begin(call)?;
        self.is_under_way = true;
        Ok(())
    }

    /// The bytes that an ended operation moved.
    pub fn result(&mut self, handle: HANDLE) -> io::Result<usize> {
        self.is_under_way = false;
        self.ended(handle, false)
    }

    fn ended(&self, handle: HANDLE, wait: bool) -> io::Result<usize> {
        let mut bytes = 0;
        // SAFETY: both pointers are valid for the call, and the handle is the one that the operation began on.
        let is_good =
            unsafe { GetOverlappedResult(handle, self.overlapped, &mut bytes, wait.into()) };
        match is_good {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(bytes as usize),
        }
    }

    /// Sleeps until the operation has ended, at most so long.
    pub fn wait(&self, at_most: Duration) {
        if !self.is_over() {
            // SAFETY: the event is open.
            unsafe { WaitForSingleObject(self.event.as_raw_handle(), milliseconds(at_most)) };
        }
    }

    /// Ends the operation, so that its memory is our own again.
    pub fn cancel(&mut self, handle: HANDLE) {
        if self.is_under_way {
            // SAFETY: the pointer is that of the operation on this handle.
            unsafe { CancelIoEx(handle, self.overlapped) };
            let _ = self.ended(handle, true);
            self.is_under_way = false;
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        // An owner that did not cancel leaves the memory to the system.
        if !self.is_under_way {
            // SAFETY: both come from `Box::into_raw`, and nobody else uses them any more.
            unsafe {
                drop(Box::from_raw(self.overlapped));
                drop(Box::from_raw(self.buffer));
            }
        }
    }
}

/// Sleeps until one of two operations has ended, at most so long.
pub fn wait_for_either(one: &Operation, other: &Operation, at_most: Duration) {
    if one.is_over() || other.is_over() {
        return;
    }
    let events = [one.event.as_raw_handle(), other.event.as_raw_handle()];
    // SAFETY: both events are open.
    unsafe { WaitForMultipleObjects(2, events.as_ptr(), 0, milliseconds(at_most)) };
}

/// Milliseconds, rounded up: the system counts no less.
pub fn milliseconds(time: Duration) -> u32 {
    let rounded = time.as_nanos().div_ceil(1_000_000);
    // The largest value means forever.
    u32::try_from(rounded).unwrap_or(u32::MAX).min(u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_rounded_up_to_milliseconds() {
        assert_eq!(milliseconds(Duration::ZERO), 0);
        assert_eq!(milliseconds(Duration::from_nanos(1)), 1);
        assert_eq!(milliseconds(Duration::from_millis(100)), 100);
        assert_eq!(milliseconds(Duration::MAX), u32::MAX - 1);
    }
}
