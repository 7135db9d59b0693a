//! What std's UDP socket has no call for.

use std::io;
use std::net::{SocketAddr, UdpSocket};

/// Receives without waiting; an error of kind `WouldBlock` if there is nothing.
pub(crate) fn receive_now(
    socket: &UdpSocket,
    buffer: &mut [u8],
) -> io::Result<(usize, SocketAddr)> {
    let flags = rustix::net::RecvFlags::DONTWAIT;
    let (length, _, from) = rustix::net::recvfrom(socket, buffer, flags)?;
    let from = from.and_then(|from| SocketAddr::try_from(from).ok());
    from.map(|from| (length, from))
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Requests a receive buffer of so many bytes; the system may grant less.
pub(crate) fn set_receive_buffer(socket: &UdpSocket, bytes: usize) {
    let _ = rustix::net::sockopt::set_socket_recv_buffer_size(socket, bytes);
}
