//! The numbers of what can go wrong. They are part of the ABI: new ones are added, none is given another meaning.

use std::ffi::{CStr, c_char};
use wiregauge_link::LinkErrorKind;

/// Success.
pub const WG_OK: i32 = 0;
/// The address, an option or a size cannot be used as given.
pub const WG_ERROR_USAGE: i32 = 1;
/// Permission denied by the system.
pub const WG_ERROR_PERMISSION: i32 = 2;
/// The address is unreachable: connection refused, or no route to it.
pub const WG_ERROR_UNREACHABLE: i32 = 3;
/// No such device.
pub const WG_ERROR_NOT_FOUND: i32 = 4;
/// Another program uses the device.
pub const WG_ERROR_BUSY: i32 = 5;
/// No complete reply within the timeout.
pub const WG_ERROR_TIMEOUT: i32 = 6;
/// The device responds, but not with the expected protocol.
pub const WG_ERROR_PROTOCOL: i32 = 7;
/// The device disconnected.
pub const WG_ERROR_DISCONNECTED: i32 = 8;
/// Another error reported by the system.
pub const WG_ERROR_IO: i32 = 9;
/// The call was interrupted by wg_interrupt.
pub const WG_ERROR_INTERRUPTED: i32 = 10;
/// A Modbus device answered with an exception; see wg_exception.
pub const WG_ERROR_EXCEPTION: i32 = 11;
/// A NULL pointer, or an invalid size or number: an error in the calling program.
pub const WG_ERROR_ARGUMENT: i32 = 20;
/// The handle is closed or invalid.
pub const WG_ERROR_HANDLE: i32 = 21;
/// Another thread (or the `step` of wg_control) is in a call with this handle.
pub const WG_ERROR_IN_USE: i32 = 22;
/// The handle belongs to the parent process, from before fork().
pub const WG_ERROR_FORKED: i32 = 23;
/// The buffer is too small; the part that fits was written.
pub const WG_ERROR_ROOM: i32 = 24;
/// Too many open handles (1024 per kind).
pub const WG_ERROR_TOO_MANY: i32 = 25;
/// A stored run was not found or cannot be read.
pub const WG_ERROR_RUN: i32 = 26;
/// An error of a kind without a number in this ABI.
pub const WG_ERROR_OTHER: i32 = 98;
/// A bug in wiregauge (a caught panic). The handle can only be closed; please report the text.
pub const WG_ERROR_BUG: i32 = 99;

/// Every code with its name.
pub(crate) const NAMES: &[(i32, &CStr)] = &[
    (WG_OK, c"WG_OK"),
    (WG_ERROR_USAGE, c"WG_ERROR_USAGE"),
    (WG_ERROR_PERMISSION, c"WG_ERROR_PERMISSION"),
    (WG_ERROR_UNREACHABLE, c"WG_ERROR_UNREACHABLE"),
    (WG_ERROR_NOT_FOUND, c"WG_ERROR_NOT_FOUND"),
    (WG_ERROR_BUSY, c"WG_ERROR_BUSY"),
    (WG_ERROR_TIMEOUT, c"WG_ERROR_TIMEOUT"),
    (WG_ERROR_PROTOCOL, c"WG_ERROR_PROTOCOL"),
    (WG_ERROR_DISCONNECTED, c"WG_ERROR_DISCONNECTED"),
    (WG_ERROR_IO, c"WG_ERROR_IO"),
    (WG_ERROR_INTERRUPTED, c"WG_ERROR_INTERRUPTED"),
    (WG_ERROR_EXCEPTION, c"WG_ERROR_EXCEPTION"),
    (WG_ERROR_ARGUMENT, c"WG_ERROR_ARGUMENT"),
    (WG_ERROR_HANDLE, c"WG_ERROR_HANDLE"),
    (WG_ERROR_IN_USE, c"WG_ERROR_IN_USE"),
    (WG_ERROR_FORKED, c"WG_ERROR_FORKED"),
    (WG_ERROR_ROOM, c"WG_ERROR_ROOM"),
    (WG_ERROR_TOO_MANY, c"WG_ERROR_TOO_MANY"),
    (WG_ERROR_RUN, c"WG_ERROR_RUN"),
    (WG_ERROR_OTHER, c"WG_ERROR_OTHER"),
    (WG_ERROR_BUG, c"WG_ERROR_BUG"),
];

/// The name of a code, such as "WG_ERROR_TIMEOUT"; "unknown" for other numbers. Do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn wg_error_name(code: i32) -> *const c_char {
    let named = NAMES.iter().find(|(number, _)| *number == code);
    named.map_or(c"unknown", |(_, name)| name).as_ptr()
}

/// The code of a failure of the engine.
pub(crate) fn of_kind(kind: LinkErrorKind) -> i32 {
    match kind {
        LinkErrorKind::Usage => WG_ERROR_USAGE,
        LinkErrorKind::PermissionDenied => WG_ERROR_PERMISSION,
        LinkErrorKind::Unreachable => WG_ERROR_UNREACHABLE,
        LinkErrorKind::NotFound => WG_ERROR_NOT_FOUND,
        LinkErrorKind::Busy => WG_ERROR_BUSY,
        LinkErrorKind::Timeout => WG_ERROR_TIMEOUT,
        LinkErrorKind::Protocol => WG_ERROR_PROTOCOL,
        LinkErrorKind::Exception => WG_ERROR_EXCEPTION,
        LinkErrorKind::Disconnected => WG_ERROR_DISCONNECTED,
        LinkErrorKind::Io => WG_ERROR_IO,
        LinkErrorKind::Interrupted => WG_ERROR_INTERRUPTED,
        LinkErrorKind::Closed => WG_ERROR_HANDLE,
        _ => WG_ERROR_OTHER,
    }
}
