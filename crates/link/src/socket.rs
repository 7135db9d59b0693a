//! What TCP, UDP and Unix sockets share: one system call a send and one a receive.

use super::descriptor_flow::{self, Ends, Ready};
use super::{FlowShape, Flows, Link, MAX_WAIT, closed};
use crate::error::{LinkError, LinkErrorKind};
use crate::platform::network;
use crate::platform::socket::{self, Channel};
use crate::platform::stamps::{Stamper, Stamps};
use std::io;
use std::sync::Mutex;
use std::time::Duration;
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
    ) -> io::Result<Channel>;

    /// What the kind does after each receive.
    fn received(&self, _channel: &Channel) -> io::Result<()> {
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
    channel: Option<Channel>,
    receive_timeout: Option<Duration>,
    opener: O,
    /// Never locked: a stream shares the link between two threads, and uses no stamps.
    stamper: Option<Mutex<Stamper>>,
}

impl<O: Opener> SocketLink<O> {
    /// Opens it for the first time.
    pub fn open(opener: O, is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<SocketLink<O>> {
        let receive_timeout = Some(MAX_WAIT);
        let channel = Some(opener.connect(receive_timeout, is_interrupted)?);
        Ok(SocketLink {
            channel,
            receive_timeout,
            opener,
            stamper: None,
        })
    }

    #[inline]
    fn stamper(&mut self) -> Option<&mut Stamper> {
        self.stamper.as_mut()?.get_mut().ok()
    }

    fn channel(&self) -> io::Result<&Channel> {
        self.channel.as_ref().ok_or_else(closed)
    }

    #[inline]
    fn receive_with(&self, into: &mut [u8], wait: bool) -> io::Result<usize> {
        let channel = self.channel()?;
        let room = into.len();
        let received = channel.receive(into, wait)?;
        self.received(channel, received, room)
    }

    /// As [`Self::receive_with`], and keeps the kernel's time stamps if those were requested.
    #[inline]
    fn receive_stamped(&mut self, into: &mut [u8], wait: bool) -> io::Result<usize> {
        let stamper = self.stamper.as_mut().and_then(|held| held.get_mut().ok());
        let (Some(stamper), Some(channel)) = (stamper, &self.channel) else {
            return self.receive_with(into, wait);
        };
        let received = stamper.receive(channel, into, wait)?;
        self.received(self.channel()?, received, into.len())
    }

    #[inline]
    fn received(
        &self,
        channel: &Channel,
        received: Option<usize>,
        room: usize,
    ) -> io::Result<usize> {
        let received = match received {
            Some(0) if O::STREAM && room > 0 => return Err(closed()),
            Some(received) => received,
            None => return Ok(0),
        };
        self.opener.received(channel)?;
        Ok(received)
    }
}

impl<O: Opener> Ends for SocketLink<O> {
    const DATAGRAM: bool = !O::STREAM;

    #[inline]
    fn put(&self, bytes: &[u8]) -> io::Result<usize> {
        self.channel()?.send(bytes)
    }

    fn get(&self, into: &mut [u8]) -> io::Result<usize> {
        self.receive_with(into, false)
    }

    fn get_patiently(&self, into: &mut [u8]) -> io::Result<usize> {
        self.receive_with(into, true)
    }

    fn wait(&self, for_what: Ready, at_most: Duration) -> io::Result<()> {
        self.channel()?.wait(for_what, at_most)
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
        self.receive_stamped(into, false)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.receive_stamped(into, true)
    }

    fn set_receive_timeout(&mut self, receive_timeout: Option<Duration>) -> io::Result<bool> {
        self.receive_timeout = receive_timeout;
        // A closed one takes it when it is opened again.
        self.channel
            .iter()
            .try_for_each(|channel| channel.set_receive_timeout(receive_timeout))?;
        Ok(socket::can_wait(receive_timeout))
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        self.channel()?
            .wait(Ready::readable_or(or_writable), at_most)
    }

    fn close(&mut self) {
        self.channel = None;
    }

    fn reopen(&mut self, is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        let channel = self.opener.connect(self.receive_timeout, is_interrupted)?;
        if let Some(stamper) = self.stamper() {
            stamper.begin(&channel)?;
        }
        self.channel = Some(channel);
        Ok(())
    }

    fn stamp(&mut self) -> io::Result<Stamps> {
        if self.opener.transport().is_none() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (mut stamper, stamps) = Stamper::new(O::STREAM)?;
        stamper.begin(self.channel()?)?;
        self.stamper = Some(Mutex::new(stamper));
        Ok(stamps)
    }

    fn flows(&mut self, shape: FlowShape) -> io::Result<Flows<'_>> {
        self.set_receive_timeout(Some(MAX_WAIT))?;
        descriptor_flow::flows(self, shape)
    }

    fn detail(&self) -> LinkDetail {
        let mut settings = self.opener.settings();
        if let Some(channel) = &self.channel {
            buffer_settings(channel, &mut settings);
        }
        LinkDetail { settings }
    }

    fn limit(&self) -> Option<BusLimit> {
        let transport = self.opener.transport()?;
        network::of_socket(self.channel.as_ref()?, transport)
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

/// Buffer sizes that the system gave, as settings to keep with the run.
fn buffer_settings(channel: &Channel, settings: &mut Vec<(String, String)>) {
    let (send, receive) = channel.buffer_bytes();
    if let Some(bytes) = send {
        settings.push(("send buffer (B)".into(), bytes.to_string()));
    }
    if let Some(bytes) = receive {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KINDS, accepted};
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::time::Instant;

    fn floor_of(scheme: &str) -> Box<dyn Link> {
        let kind = KINDS.iter().find(|kind| kind.scheme == scheme).unwrap();
        kind.floor.unwrap()().unwrap()
    }

    #[test]
    fn a_receive_without_an_answer_ends_after_its_timeout() {
        let mut link = floor_of("udp");
        let timeout = Duration::from_millis(30);
        assert!(link.set_receive_timeout(Some(timeout)).unwrap());
        let begun = Instant::now();
        assert_eq!(link.receive_blocking(&mut [0; 8]).unwrap(), 0);
        let waited = begun.elapsed();
        assert!(waited >= Duration::from_millis(20), "{waited:?}");
        assert!(waited < Duration::from_secs(5), "{waited:?}");
        assert_eq!(link.receive(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn a_send_takes_what_fits_and_never_waits() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let link = accepted(listener.accept().unwrap().0.into()).unwrap();
        let mut link: Box<dyn Link> = Box::new(link);
        let bytes = vec![7; 1 << 20];
        let mut sent = 0;
        let mut refused = 0;
        // The peer reads nothing: sooner or later the system takes no more.
        while refused < 3 && sent < 64 << 20 {
            match link.send(&bytes).unwrap() {
                0 => {
                    refused += 1;
                    link.wait(true, Duration::from_millis(5)).unwrap();
                }
                taken => sent += taken,
            }
        }
        assert_eq!(refused, 3, "{sent}");
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            far.read_to_end(&mut all).map(|_| all.len())
        });
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            link.wait(true, Duration::from_millis(100)).unwrap();
            match link.send(b"end").unwrap() {
                0 => {}
                taken => {
                    sent += taken;
                    break;
                }
            }
        }
        drop(link);
        assert_eq!(reader.join().unwrap().unwrap(), sent);
    }
}
