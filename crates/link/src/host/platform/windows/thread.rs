//! Threads by their number.

use windows_sys::Win32::Foundation::{CloseHandle, FILETIME, HANDLE};
use windows_sys::Win32::System::Threading::{
    GetCurrentThreadId, GetThreadTimes, OpenThread, THREAD_ACCESS_RIGHTS,
    THREAD_QUERY_LIMITED_INFORMATION,
};

/// An opened thread.
pub struct Opened(HANDLE);

impl Opened {
    /// The thread with this number, if there is one and it may be opened with these rights.
    pub fn new(thread: i32, rights: THREAD_ACCESS_RIGHTS) -> Option<Opened> {
        // SAFETY: it takes numbers; the handle is closed when this is dropped.
        let handle = unsafe { OpenThread(rights, 0, thread as u32) };
        (!handle.is_null()).then_some(Opened(handle))
    }

    /// The handle, valid while this lives.
    pub fn handle(&self) -> HANDLE {
        self.0
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: the handle was opened by `new` and is used by nobody any more.
        unsafe { CloseHandle(self.0) };
    }
}

/// The calling thread's number.
pub fn thread_number() -> i32 {
    // SAFETY: it takes nothing and returns a number.
    unsafe { GetCurrentThreadId() as i32 }
}

/// Processor time in nanoseconds that a thread of this process has used; 0 if it has ended.
pub fn thread_cpu_ns_of(thread: i32) -> u64 {
    Opened::new(thread, THREAD_QUERY_LIMITED_INFORMATION)
        .and_then(|opened| cpu_ns(opened.handle()))
        .unwrap_or(0)
}

/// Processor time in nanoseconds, in the kernel and outside.
pub fn cpu_ns(thread: HANDLE) -> Option<u64> {
    let mut times = [FILETIME::default(); 4];
    let [created, ended, kernel, user] = &mut times;
    // SAFETY: the pointers are valid for the call; a handle that is not valid is an error.
    let read = unsafe { GetThreadTimes(thread, created, ended, kernel, user) };
    let ticks =
        |time: &FILETIME| (u64::from(time.dwHighDateTime) << 32) | u64::from(time.dwLowDateTime);
    (read != 0).then(|| (ticks(&times[2]) + ticks(&times[3])) * 100)
}
