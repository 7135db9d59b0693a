//! Which library this is.

use std::ffi::{CStr, c_char};

/// Number of the ABI that this header describes; the shared library's name ends in it. It changes when programs must be
/// compiled again, not when functions are added.
pub const WG_ABI_VERSION: u32 = 0;

/// The version of the library, such as "0.1.0". Do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn wg_version() -> *const c_char {
    const TEXT: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("the version contains a NUL"),
        };
    TEXT.as_ptr()
}

/// The ABI version of the loaded library. A program that loads it at run time (dlopen, LabVIEW) should
/// compare it with WG_ABI_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn wg_abi_version() -> u32 {
    WG_ABI_VERSION
}
