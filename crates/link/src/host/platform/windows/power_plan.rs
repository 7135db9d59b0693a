//! The active power plan, which decides the processors' frequency.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::System::Power::{PowerGetActiveScheme, PowerReadFriendlyName};

/// Its name, such as `High performance`, in the language of the system.
pub fn power_plan() -> Option<String> {
    let mut scheme = null_mut();
    // SAFETY: no key is passed; the pointer is valid for the call. What it is set to is freed below.
    if unsafe { PowerGetActiveScheme(null_mut(), &mut scheme) } != 0 || scheme.is_null() {
        return None;
    }
    let mut name = [0_u16; 256];
    let mut bytes = size_of_val(&name) as u32;
    // SAFETY: the scheme is valid until it is freed, no subgroup or setting is meant, and the buffer has the size that
    // is passed. The scheme was allocated by the call above and is used by nobody any more.
    let read = unsafe {
        let buffer = name.as_mut_ptr().cast();
        let read = PowerReadFriendlyName(null_mut(), scheme, null(), null(), buffer, &mut bytes);
        LocalFree(scheme.cast::<c_void>());
        read
    };
    let length = (bytes as usize / 2).min(name.len());
    let name = String::from_utf16_lossy(&name[..length]);
    let name = name.trim_end_matches('\0').trim().to_owned();
    (read == 0 && !name.is_empty()).then_some(name)
}
