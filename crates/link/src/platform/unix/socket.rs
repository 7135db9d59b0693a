//! Sockets of Unix: one system call a send and one a receive. The descriptor stays in blocking mode; a call that must
//! not wait says so by its flag, so no mode is switched.

use crate::platform::socket_options;
use crate::waiting::{Connecting, Ready};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, ipproto};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A socket that is owned.
pub type Socket = OwnedFd;

/// A socket that is borrowed.
pub type BorrowedSocket<'a> = BorrowedFd<'a>;

pub use std::os::fd::AsFd as AsSocket;

/// Borrows a socket.
pub fn borrowed(socket: &impl AsSocket) -> BorrowedSocket<'_> {
    socket.as_fd()
}

/// A connected socket.
pub struct Channel(OwnedFd);

impl Channel {
    /// A connected or accepted socket.
    pub fn new(socket: Socket) -> io::Result<Channel> {
        socket_options::adopt(&socket)?;
        Ok(Channel(socket))
    }

    /// Hands over as many bytes as the system takes now; 0 if it takes none.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let flags = SendFlags::DONTWAIT | socket_options::NO_SIGNAL;
        match rustix::net::send(&self.0, bytes, flags) {
            Ok(sent) => Ok(sent),
            // NOBUFS: the interface's own queue is full; it empties as EAGAIN's does.
            Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Receives, waiting for it if `wait` says so; `None` if nothing came.
    #[inline]
    pub fn receive(&self, into: &mut [u8], wait: bool) -> io::Result<Option<usize>> {
        let flags = match wait {
            true => RecvFlags::empty(),
            false => RecvFlags::DONTWAIT,
        };
        let received = rustix::net::recv(&self.0, into, flags).map(|(received, _)| received);
        outcome(received)
    }

    /// Sleeps until it is ready for what is named, at most so long.
    #[inline]
    pub fn wait(&self, for_what: Ready, at_most: Duration) -> io::Result<()> {
        wait_for(self.0.as_fd(), for_what, at_most)
    }

    /// Lets blocking receives end after `receive_timeout`, or never. A new socket's never do.
    pub fn set_receive_timeout(&self, receive_timeout: Option<Duration>) -> io::Result<()> {
        set_receive_timeout(&self.0, receive_timeout)
    }

    /// Lets closing reset the connection.
    pub fn set_reset_on_close(&self) -> io::Result<()> {
        Ok(sockopt::set_socket_linger(&self.0, Some(Duration::ZERO))?)
    }

    /// Lets the system acknowledge at once what comes next.
    #[inline]
    pub fn set_quick_ack(&self) -> io::Result<()> {
        socket_options::set_quick_ack(self.0.as_fd())
    }

    /// Asks for a receive buffer of this size.
    pub fn set_receive_buffer(&self, bytes: usize) -> io::Result<()> {
        Ok(sockopt::set_socket_recv_buffer_size(&self.0, bytes)?)
    }

    /// Bytes of the buffers for sending and for receiving.
    pub fn buffer_bytes(&self) -> (Option<usize>, Option<usize>) {
        (
            sockopt::socket_send_buffer_size(&self.0).ok(),
            sockopt::socket_recv_buffer_size(&self.0).ok(),
        )
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What a receive brought; `None` if it has to wait, or was interrupted.
#[inline]
pub fn outcome(received: rustix::io::Result<usize>) -> io::Result<Option<usize>> {
    match received {
        Ok(received) => Ok(Some(received)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// True if a blocking receive can end after that time.
pub fn can_wait(_receive_timeout: Option<Duration>) -> bool {
    true
}

/// A TCP connection to this peer, Nagle's algorithm off.
pub fn connect_tcp(
    peer: SocketAddr,
    connecting: &Connecting,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> io::Result<Channel> {
    let family = if peer.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    let fd = socket_options::new_socket(family, SocketType::STREAM, Some(ipproto::TCP))?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    bound(&fd, connecting)?;
    match rustix::net::connect(&fd, &peer) {
        Ok(()) => return Ok(Channel(fd)),
        // It goes on by itself (connect(2)); its end is seen by poll.
        Err(Errno::INTR | Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    loop {
        let wait = Timespec::try_from(connecting.next_wait(is_interrupted)?)
            .map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut [PollFd::new(&fd, PollFlags::OUT)], Some(&wait)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => {
                sockopt::socket_error(&fd)??;
                return Ok(Channel(fd));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Lets a blocking connect on this socket return after the first wait. Costs a system call, which
/// a connect that a signal ends is spared.
pub fn bound(fd: &OwnedFd, connecting: &Connecting) -> io::Result<()> {
    if let Some(at_most) = connecting.first_wait() {
        sockopt::set_socket_timeout(fd, Timeout::Send, Some(at_most))?;
    }
    Ok(())
}

/// Lets blocking receives end after `receive_timeout`, or never. A new socket's never do.
pub fn set_receive_timeout(fd: &OwnedFd, receive_timeout: Option<Duration>) -> io::Result<()> {
    let receive_timeout = receive_timeout.map(|timeout| timeout.max(Duration::from_micros(1)));
    Ok(sockopt::set_socket_timeout(
        fd,
        Timeout::Recv,
        receive_timeout,
    )?)
}

/// Sleeps until the descriptor is readable (or writable, if asked), at most so long.
pub fn wait(fd: BorrowedFd<'_>, or_writable: bool, at_most: Duration) -> io::Result<()> {
    wait_for(fd, Ready::readable_or(or_writable), at_most)
}

/// Sleeps until the descriptor is ready for what is named, at most so long.
pub fn wait_for(fd: BorrowedFd<'_>, for_what: Ready, at_most: Duration) -> io::Result<()> {
    poll_for(
        &mut [PollFd::from_borrowed_fd(fd, readiness(for_what))],
        at_most,
    )
}

/// The events of poll(2) that make a descriptor ready for what is named.
pub fn readiness(for_what: Ready) -> PollFlags {
    match for_what {
        Ready::Readable => PollFlags::IN,
        Ready::Writable => PollFlags::OUT,
        Ready::Either => PollFlags::IN | PollFlags::OUT,
    }
}

/// Sleeps until one of the descriptors is ready, at most so long.
pub fn poll_for(fds: &mut [PollFd<'_>], at_most: Duration) -> io::Result<()> {
    let timeout = Timespec {
        tv_sec: i64::try_from(at_most.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: at_most.subsec_nanos().into(),
    };
    match poll(fds, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
