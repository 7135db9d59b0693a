//! What TCP, UDP and Unix sockets share: one system call a send and one a receive. The descriptor
//! stays in blocking mode; a call that must not wait says so by its flag, so no mode is switched.

use super::descriptor_flow::{self, Ends};
use super::{FlowShape, Flows, Link, MAX_WAIT, closed};
use crate::error::{LinkError, LinkErrorKind};
use crate::limits;
use crate::stamps::{Stamper, Stamps};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{RecvFlags, SendFlags};
use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use wiregauge_limits::Transport;
use wiregauge_record::{BusLimit, LinkDetail};

/// What one kind of socket adds to what all share.
pub trait Opener: Send + Sync {
    /// True if an empty read means the end, as it does for streams but not for datagrams.
    const STREAM: bool;

    /// A new socket connected to the device, in blocking mode; receives on it end after `receive_timeout`.
    /// Connecting is given up with an error of kind `Interrupted` once `is_interrupted` says so.
    fn connect(
        &self,
        receive_timeout: Option<Duration>,
        is_interrupted: &mut dyn FnMut() -> bool,
    ) -> io::Result<OwnedFd>;

    /// What the kind does after each receive.
    fn received(&self, _fd: &OwnedFd) -> io::Result<()> {
        Ok(())
    }

    /// What carries the payload, where that is known to be Ethernet's business.
    fn transport(&self) -> Option<Transport> {
        None
    }

    /// Settings worth keeping with the run.
    fn settings(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A link over a socket.
pub struct SocketLink<O> {
    fd: Option<OwnedFd>,
    receive_timeout: Option<Duration>,
    opener: O,
    /// Never locked: a stream shares the link between two threads, and uses no stamps.
    stamper: Option<Mutex<Stamper>>,
}

impl<O: Opener> SocketLink<O> {
    /// Opens it for the first time.
    pub fn open(opener: O, is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<SocketLink<O>> {
        let receive_timeout = Some(MAX_WAIT);
        let fd = Some(opener.connect(receive_timeout, is_interrupted)?);
        Ok(SocketLink {
            fd,
            receive_timeout,
            opener,
            stamper: None,
        })
    }

    #[inline]
    fn stamper(&mut self) -> Option<&mut Stamper> {
        self.stamper.as_mut()?.get_mut().ok()
    }

    fn fd(&self) -> io::Result<&OwnedFd> {
        self.fd.as_ref().ok_or_else(closed)
    }

    fn receive_with(&self, into: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        let fd = self.fd()?;
        let room = into.len();
        let received = rustix::net::recv(fd, &mut *into, flags).map(|(received, _)| received);
        self.received(fd, received, room)
    }

    /// As [`Self::receive_with`], and keeps the kernel's time stamps if those were requested.
    fn receive_stamped(&mut self, into: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        let stamper = self.stamper.as_mut().and_then(|held| held.get_mut().ok());
        let (Some(stamper), Some(fd)) = (stamper, &self.fd) else {
            return self.receive_with(into, flags);
        };
        let received = stamper.receive(fd, into, flags);
        self.received(self.fd()?, received, into.len())
    }

    fn received(
        &self,
        fd: &OwnedFd,
        received: rustix::io::Result<usize>,
        room: usize,
    ) -> io::Result<usize> {
        let received = match received {
            Ok(0) if O::STREAM && room > 0 => return Err(closed()),
            Ok(received) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(0),
            Err(error) => return Err(error.into()),
        };
        self.opener.received(fd)?;
        Ok(received)
    }
}

impl<O: Opener> Ends for SocketLink<O> {
    const DATAGRAM: bool = !O::STREAM;

    fn put(&self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::net::send(self.fd()?, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(sent) => Ok(sent),
            // NOBUFS: the interface's own queue is full; it empties as EAGAIN's does.
            Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    fn get(&self, into: &mut [u8]) -> io::Result<usize> {
        self.receive_with(into, RecvFlags::DONTWAIT)
    }

    fn get_patiently(&self, into: &mut [u8]) -> io::Result<usize> {
        self.receive_with(into, RecvFlags::empty())
    }

    fn wait(&self, for_what: PollFlags, at_most: Duration) -> io::Result<()> {
        wait_for(self.fd()?.as_fd(), for_what, at_most)
    }
}

impl<O: Opener> Link for SocketLink<O> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.put(bytes)?;
        if let Some(stamper) = self.stamper() {
            stamper.sent(sent);
        }
        Ok(sent)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.receive_stamped(into, RecvFlags::DONTWAIT)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.receive_stamped(into, RecvFlags::empty())
    }

    fn set_receive_timeout(&mut self, receive_timeout: Option<Duration>) -> io::Result<bool> {
        self.receive_timeout = receive_timeout;
        // A closed one takes it when it is opened again.
        self.fd
            .iter()
            .try_for_each(|fd| set_receive_timeout(fd, receive_timeout))?;
        Ok(true)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        wait(self.fd()?.as_fd(), or_writable, at_most)
    }

    fn close(&mut self) {
        self.fd = None;
    }

    fn reopen(&mut self, is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        let fd = self.opener.connect(self.receive_timeout, is_interrupted)?;
        if let Some(stamper) = self.stamper() {
            stamper.begin(&fd)?;
        }
        self.fd = Some(fd);
        Ok(())
    }

    fn stamp(&mut self) -> io::Result<Stamps> {
        if self.opener.transport().is_none() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (mut stamper, stamps) = Stamper::new(O::STREAM)?;
        stamper.begin(self.fd()?)?;
        self.stamper = Some(Mutex::new(stamper));
        Ok(stamps)
    }

    fn flows(&mut self, shape: FlowShape) -> io::Result<Flows<'_>> {
        self.set_receive_timeout(Some(MAX_WAIT))?;
        descriptor_flow::flows(self, shape)
    }

    fn detail(&self) -> LinkDetail {
        let mut settings = self.opener.settings();
        if let Some(fd) = &self.fd {
            buffer_settings(fd, &mut settings);
        }
        LinkDetail { settings }
    }

    fn limit(&self) -> Option<BusLimit> {
        let transport = self.opener.transport()?;
        limits::of_socket(self.fd.as_ref()?, transport)
    }
}

/// How long a connect that has begun may still wait: at most [`MAX_WAIT`], so that an interruption is
/// heard.
pub struct Connecting {
    begun: Instant,
    timeout: Duration,
    receive_timeout: Option<Duration>,
}

impl Connecting {
    /// A connect that has failed after the timeout; without a receive timeout signals end each of its waits.
    pub fn begin(timeout: Duration, receive_timeout: Option<Duration>) -> Connecting {
        Connecting {
            begun: Instant::now(),
            timeout,
            receive_timeout,
        }
    }

    /// Lets a blocking connect on this socket return after the first wait. Costs a system call, which
    /// a connect that a signal ends is spared.
    pub fn bound(&self, fd: &OwnedFd) -> io::Result<()> {
        if self.receive_timeout.is_some() {
            let at_most = self.timeout.clamp(Duration::from_micros(1), MAX_WAIT);
            sockopt::set_socket_timeout(fd, Timeout::Send, Some(at_most))?;
        }
        Ok(())
    }

    /// The next wait; an error once the time is over, or `is_interrupted` says so.
    pub fn next_wait(&self, is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<Duration> {
        if is_interrupted() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match self.timeout.checked_sub(self.begun.elapsed()) {
            Some(left) if !left.is_zero() => Ok(left.min(MAX_WAIT)),
            _ => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// The failure of a connect that was interrupted or took too long; others are the caller's to explain.
pub fn explain_connect(doing: &str, error: &io::Error, timeout: Duration) -> Option<LinkError> {
    match error.kind() {
        io::ErrorKind::Interrupted => Some(LinkError::new(
            LinkErrorKind::Interrupted,
            doing,
            "interrupted",
        )),
        io::ErrorKind::TimedOut => Some(LinkError::new(
            LinkErrorKind::Timeout,
            doing,
            format!("no answer within {timeout:?}"),
        )),
        _ => None,
    }
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
    let mut flags = PollFlags::IN;
    if or_writable {
        flags |= PollFlags::OUT;
    }
    wait_for(fd, flags, at_most)
}

/// Sleeps until the descriptor is ready for what is named, at most so long.
pub fn wait_for(fd: BorrowedFd<'_>, flags: PollFlags, at_most: Duration) -> io::Result<()> {
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
fn buffer_settings(fd: impl AsFd, settings: &mut Vec<(String, String)>) {
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
        return Err("put an IPv6 address in brackets".into());
    }
    port.parse::<u16>()
        .map(drop)
        .map_err(|_| format!("`{port}` is not a valid port (1 to 65535)"))
}

/// Refuses port 0 of a device: only a responder can ask the system for a free port.
pub fn check_client_port(doing: &str, rest: &str) -> Result<(), LinkError> {
    match rest.rsplit_once(':') {
        Some((_, port)) if port.parse::<u16>() == Ok(0) => Err(LinkError::new(
            LinkErrorKind::Usage,
            doing,
            "port 0 is valid only for `wiregauge serve`",
        )
        .hint("use the port on which the device listens")),
        _ => Ok(()),
    }
}
