//! Windows: sockets and COM ports only.

pub(crate) use super::not_linux::*;
use crate::event::ServeEvent;
use crate::serve::Serve;
use crate::trace::Trace;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use wiregauge_link::host::Clock;
use wiregauge_link::{LinkError, LinkErrorKind};

/// Receives without waiting; an error of kind `WouldBlock` if there is nothing.
pub(crate) fn receive_now(
    socket: &UdpSocket,
    buffer: &mut [u8],
) -> io::Result<(usize, SocketAddr)> {
    socket.set_nonblocking(true)?;
    let received = socket.recv_from(buffer);
    socket.set_nonblocking(false)?;
    received
}

/// Requests a receive buffer of so many bytes; the system may grant less.
pub(crate) fn set_receive_buffer(socket: &UdpSocket, bytes: usize) {
    let _ = socket2::SockRef::from(socket).set_recv_buffer_size(bytes);
}

/// True if a message was longer than the link takes: WSAEMSGSIZE.
pub(crate) fn is_too_long(error: &io::Error) -> bool {
    error.raw_os_error() == Some(10_040)
}

/// Only the Unix systems serve on such a socket.
pub(crate) fn serve_unix(
    _what: &Serve,
    path: &Path,
    _clock: Clock,
    _stop: &AtomicBool,
    _on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        format!("cannot serve unix://{}", path.display()),
        "Unix sockets need Linux or macOS",
    )
    .hint("use tcp://127.0.0.1:7700"))
}

/// Windows has none.
pub(crate) fn serve_pty(
    _what: &Serve,
    _link_path: Option<&Path>,
    _clock: Clock,
    _trace: Option<Trace>,
    _stop: &AtomicBool,
    _on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        "cannot serve a pseudo-terminal",
        "Windows has no pseudo-terminals for serial ports",
    )
    .hint("use a pair of virtual COM ports (com0com): wiregauge serve serial://COM5, and measure the other one"))
}
