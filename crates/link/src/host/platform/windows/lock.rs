//! Locked memory: a working set that the system does not take from.

use crate::error::LinkError;
use std::io;
use windows_sys::Win32::System::Memory::{
    QUOTA_LIMITS_HARDWS_MAX_DISABLE, QUOTA_LIMITS_HARDWS_MIN_ENABLE, SetProcessWorkingSetSizeEx,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// Bytes that stay in memory once they were used: more than a run has, its samples included.
const KEPT_BYTES: usize = 256 << 20;

/// Windows wants an upper bound too, and does not enforce it.
const MOST_BYTES: usize = 1 << 30;

/// Keeps the memory of this process that is in use, up to 256 MiB, from being written to disk. Windows does not load
/// what was not used yet.
pub fn lock_memory() -> Result<(), LinkError> {
    let flags = QUOTA_LIMITS_HARDWS_MIN_ENABLE | QUOTA_LIMITS_HARDWS_MAX_DISABLE;
    // SAFETY: it takes numbers, and a constant that stands for this process.
    let set =
        unsafe { SetProcessWorkingSetSizeEx(GetCurrentProcess(), KEPT_BYTES, MOST_BYTES, flags) };
    if set != 0 {
        return Ok(());
    }
    Err(LinkError::from_io(
        "cannot lock memory (--lock-memory)",
        &io::Error::last_os_error(),
    )
    .hint(
        "this needs 256 MiB of free memory and the right \"Increase a process working set\" (secpol.msc, Local \
         Policies, User Rights Assignment), or run as administrator",
    ))
}
