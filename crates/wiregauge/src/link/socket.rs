//! What TCP, UDP and Unix sockets share: one system call a send and one a receive. The descriptor
//! stays in blocking mode; a call that must not wait says so by its flag, so no mode is switched.

use super::closed;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{RecvFlags, SendFlags};
use std::io;
use std::time::Duration;

/// Sends what fits now; 0 if nothing does.
pub fn send(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    match rustix::net::send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(sent) => Ok(sent),
        // NOBUFS: the interface's own queue is full; it empties as EAGAIN's does.
        Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Receives; 0 if there was nothing (yet). `stream` tells whether an empty read means the end.
pub fn receive(fd: &OwnedFd, into: &mut [u8], flags: RecvFlags, stream: bool) -> io::Result<usize> {
    match rustix::net::recv(fd, &mut *into, flags) {
        Ok((0, _)) if stream && !into.is_empty() => Err(closed()),
        Ok((received, _)) => Ok(received),
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Lets blocking receives on it end after `patience`.
pub fn set_patience(fd: &OwnedFd, patience: Option<Duration>) -> io::Result<bool> {
    let patience = patience.map(|patience| patience.max(Duration::from_micros(1)));
    sockopt::set_socket_timeout(fd, Timeout::Recv, patience)?;
    Ok(true)
}

/// Sleeps until the descriptor is readable (or writable, if asked), at most so long.
pub fn wait(fd: BorrowedFd<'_>, or_writable: bool, at_most: Duration) -> io::Result<()> {
    let mut flags = PollFlags::IN;
    if or_writable {
        flags |= PollFlags::OUT;
    }
    let timeout = Timespec {
        tv_sec: i64::try_from(at_most.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: at_most.subsec_nanos().into(),
    };
    match poll(&mut [PollFd::from_borrowed_fd(fd, flags)], Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Buffer sizes that the system gave, as settings to keep with the run.
pub fn buffer_settings(fd: impl AsFd, settings: &mut Vec<(String, String)>) {
    if let Ok(bytes) = sockopt::socket_send_buffer_size(fd.as_fd()) {
        settings.push(("send buffer (B)".into(), bytes.to_string()));
    }
    if let Ok(bytes) = sockopt::socket_recv_buffer_size(fd.as_fd()) {
        settings.push(("receive buffer (B)".into(), bytes.to_string()));
    }
}

/// Checks `host:port`.
pub fn check_host_port(rest: &str) -> Result<(), String> {
    let Some((host, port)) = rest.rsplit_once(':') else {
        return Err("it has no port".into());
    };
    if host.is_empty() {
        return Err("it has no host before the port".into());
    }
    if host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) {
        return Err("an IPv6 host is written in brackets".into());
    }
    port.parse::<u16>()
        .map(drop)
        .map_err(|_| format!("`{port}` is no port (0 to 65535)"))
}
