//! The errors of WinSock.

#![allow(unsafe_code)]

use std::io;
use windows_sys::Win32::Networking::WinSock::WSAGetLastError;

/// What WinSock says of the last call.
pub fn last_error() -> io::Error {
    // SAFETY: it has no arguments.
    io::Error::from_raw_os_error(unsafe { WSAGetLastError() })
}
