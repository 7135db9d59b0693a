//! What Linux's sockets can, and others cannot.

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::net::sockopt;
use rustix::net::{AddressFamily, Protocol, SendFlags, SocketFlags, SocketType};
use std::io;

/// A send to a closed peer is an error only.
pub const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;

/// A socket in blocking mode that child processes do not inherit.
pub fn new_socket(
    family: AddressFamily,
    kind: SocketType,
    protocol: Option<Protocol>,
) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    Ok(rustix::net::socket_with(family, kind, flags, protocol)?)
}

/// An accepted socket is in blocking mode on Linux whatever its listener's mode (accept(2)).
#[inline]
pub fn adopt(_socket: &OwnedFd) -> io::Result<()> {
    Ok(())
}

/// Lets the kernel acknowledge at once what comes next; it leaves this mode by itself (tcp(7)).
#[inline]
pub fn set_quick_ack(fd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(sockopt::set_tcp_quickack(fd, true)?)
}
