//! Connecting a TCP socket, with an end that the caller decides.

#![allow(unsafe_code)]

use super::socket_error::last_error;
use crate::waiting::{Connecting, MAX_WAIT};
use std::io;
use std::net::SocketAddr;
use std::os::windows::io::{AsRawSocket, FromRawSocket, OwnedSocket};
use std::sync::OnceLock;
use windows_sys::Win32::Networking::WinSock::{
    AF_INET, AF_INET6, FD_SET, FIONBIO, INVALID_SOCKET, IPPROTO_TCP, SO_ERROR, SOCK_STREAM,
    SOCKADDR_IN, SOCKADDR_IN6, SOCKET, SOL_SOCKET, TIMEVAL, WSA_FLAG_NO_HANDLE_INHERIT,
    WSA_FLAG_OVERLAPPED, WSADATA, WSAEWOULDBLOCK, WSASocketW, WSAStartup, connect, getsockopt,
    ioctlsocket, select,
};

/// A connected socket in blocking mode.
pub fn connected(
    peer: SocketAddr,
    connecting: &Connecting,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> io::Result<OwnedSocket> {
    start()?;
    let socket = new_socket(peer)?;
    set_nonblocking(&socket, true)?;
    if let Err(error) = begin(&socket, peer)
        && error.raw_os_error() != Some(WSAEWOULDBLOCK)
    {
        return Err(error);
    }
    let raw = socket.as_raw_socket() as SOCKET;
    let mut wait = connecting.first_wait().unwrap_or(MAX_WAIT);
    loop {
        let at_most = TIMEVAL {
            tv_sec: 0,
            // At most a tenth of a second.
            tv_usec: wait.as_micros().clamp(1, 999_999) as i32,
        };
        let mut writable = set_of(raw);
        let mut failed = set_of(raw);
        // SAFETY: the sets and the time are valid for the call; no set of readable ones is given.
        let ready = unsafe {
            select(
                0,
                std::ptr::null_mut(),
                &mut writable,
                &mut failed,
                &at_most,
            )
        };
        match ready {
            0 => wait = connecting.next_wait(is_interrupted)?,
            _ if ready < 0 => return Err(last_error()),
            _ => {
                error_of(&socket)?;
                set_nonblocking(&socket, false)?;
                return Ok(socket);
            }
        }
    }
}

/// Starts WinSock, which the standard library does only when it makes a socket.
fn start() -> io::Result<()> {
    static STARTED: OnceLock<i32> = OnceLock::new();
    let code = *STARTED.get_or_init(|| {
        let mut data = WSADATA::default();
        // SAFETY: the structure is valid for the call.
        unsafe { WSAStartup(0x0202, &mut data) }
    });
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

fn new_socket(peer: SocketAddr) -> io::Result<OwnedSocket> {
    let family = if peer.is_ipv4() { AF_INET } else { AF_INET6 };
    let flags = WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT;
    // SAFETY: no pointers but a null one, which is allowed.
    let raw = unsafe {
        WSASocketW(
            family.into(),
            SOCK_STREAM,
            IPPROTO_TCP,
            std::ptr::null(),
            0,
            flags,
        )
    };
    if raw == INVALID_SOCKET {
        return Err(last_error());
    }
    // SAFETY: the system has just given this socket to us alone.
    Ok(unsafe { OwnedSocket::from_raw_socket(raw as u64) })
}

fn begin(socket: &OwnedSocket, peer: SocketAddr) -> io::Result<()> {
    let raw = socket.as_raw_socket() as SOCKET;
    let result = match peer {
        SocketAddr::V4(peer) => {
            let mut to = SOCKADDR_IN {
                sin_family: AF_INET,
                sin_port: peer.port().to_be(),
                ..SOCKADDR_IN::default()
            };
            to.sin_addr.S_un.S_addr = u32::from_ne_bytes(peer.ip().octets());
            let length = size_of::<SOCKADDR_IN>() as i32;
            // SAFETY: the address is valid for the call and that long.
            unsafe { connect(raw, (&raw const to).cast(), length) }
        }
        SocketAddr::V6(peer) => {
            let mut to = SOCKADDR_IN6 {
                sin6_family: AF_INET6,
                sin6_port: peer.port().to_be(),
                sin6_flowinfo: peer.flowinfo(),
                ..SOCKADDR_IN6::default()
            };
            to.sin6_addr.u.Byte = peer.ip().octets();
            to.Anonymous.sin6_scope_id = peer.scope_id();
            let length = size_of::<SOCKADDR_IN6>() as i32;
            // SAFETY: the address is valid for the call and that long.
            unsafe { connect(raw, (&raw const to).cast(), length) }
        }
    };
    match result {
        0 => Ok(()),
        _ => Err(last_error()),
    }
}

fn set_of(socket: SOCKET) -> FD_SET {
    let mut set = FD_SET {
        fd_count: 1,
        ..FD_SET::default()
    };
    set.fd_array[0] = socket;
    set
}

/// The error that a connect ended with.
fn error_of(socket: &OwnedSocket) -> io::Result<()> {
    let (mut code, mut length) = (0_i32, size_of::<i32>() as i32);
    // SAFETY: the system writes at most `length` bytes to `code`, which is that long.
    let result = unsafe {
        getsockopt(
            socket.as_raw_socket() as SOCKET,
            SOL_SOCKET,
            SO_ERROR,
            (&raw mut code).cast(),
            &mut length,
        )
    };
    match (result, code) {
        (0, 0) => Ok(()),
        (0, code) => Err(io::Error::from_raw_os_error(code)),
        _ => Err(last_error()),
    }
}

/// Lets calls return at once, or wait.
pub fn set_nonblocking(socket: &OwnedSocket, nonblocking: bool) -> io::Result<()> {
    let mut mode = u32::from(nonblocking);
    // SAFETY: the argument is valid for the call.
    match unsafe { ioctlsocket(socket.as_raw_socket() as SOCKET, FIONBIO, &mut mode) } {
        0 => Ok(()),
        _ => Err(last_error()),
    }
}
