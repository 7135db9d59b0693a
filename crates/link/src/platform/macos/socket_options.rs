//! Sockets of macOS, where they differ from Linux's.

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::FdFlags;
use rustix::net::sockopt;
use rustix::net::{AddressFamily, Protocol, SendFlags, SocketType};
use std::io;

/// There is no such flag; the socket has an option instead.
pub const NO_SIGNAL: SendFlags = SendFlags::empty();

/// A socket in blocking mode that child processes do not inherit.
pub fn new_socket(
    family: AddressFamily,
    kind: SocketType,
    protocol: Option<Protocol>,
) -> io::Result<OwnedFd> {
    let fd = rustix::net::socket(family, kind, protocol)?;
    rustix::io::fcntl_setfd(&fd, FdFlags::CLOEXEC)?;
    sockopt::set_socket_nosigpipe(&fd, true)?;
    Ok(fd)
}

/// An accepted socket has the mode of its listener here: puts it into blocking mode.
pub fn adopt(socket: &OwnedFd) -> io::Result<()> {
    let flags = fcntl_getfl(socket)?;
    fcntl_setfl(socket, flags & !OFlags::NONBLOCK)?;
    Ok(sockopt::set_socket_nosigpipe(socket, true)?)
}

/// Refused: the option is Linux's.
pub fn set_quick_ack(_fd: BorrowedFd<'_>) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "quick acknowledgement (TCP_QUICKACK) needs Linux",
    ))
}
