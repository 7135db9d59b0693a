//! What Linux and macOS have in common.

mod datagram;
mod pty;
mod unix_socket;

pub(crate) use datagram::{receive_now, set_receive_buffer};
pub(crate) use pty::serve_pty;
pub(crate) use unix_socket::serve_unix;

/// True if a message was longer than the link takes.
pub(crate) fn is_too_long(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error())
}
