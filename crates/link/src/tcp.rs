//! TCP, with Nagle's algorithm off (RFC 896 holds small segments back until the last one is
//! acknowledged, which would put the peer's delayed acknowledgement into every RTT).

use super::socket::{self, Connecting, Opener, SocketLink};
use super::{Address, Kind, Link};
use crate::error::{LinkError, LinkErrorKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::time::Duration;
use wiregauge_limits::Transport;
use wiregauge_record::LinkOptions;

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "tcp",
    about: "a TCP connection, Nagle off",
    example: "tcp://10.0.0.5:7700",
    datagram: false,
    max_bytes: wiregauge_wire::MAX_FRAME,
    check: socket::check_host_port,
    open,
    floor: Some(floor),
    helped: false,
    separate: false,
    one_request: None,
    no_stream: None,
};

struct Tcp {
    peer: SocketAddr,
    timeout: Duration,
    quick_ack: bool,
}

impl Opener for Tcp {
    const STREAM: bool = true;

    fn connect(
        &self,
        receive_timeout: Option<Duration>,
        is_interrupted: &mut dyn FnMut() -> bool,
    ) -> io::Result<OwnedFd> {
        let connecting = Connecting::begin(self.timeout, receive_timeout);
        let fd = connect(self.peer, &connecting, is_interrupted)?;
        if receive_timeout.is_some() {
            socket::set_receive_timeout(&fd, receive_timeout)?;
        }
        // Closing resets the connection: a normal close of ten thousand short connections would
        // leave as many ports in TIME_WAIT (RFC 9293, 3.6.1) and run out of them.
        sockopt::set_socket_linger(&fd, Some(Duration::ZERO))?;
        self.received(&fd)?;
        Ok(fd)
    }

    fn received(&self, fd: &OwnedFd) -> io::Result<()> {
        if self.quick_ack {
            // The kernel leaves this mode by itself (tcp(7)), so it is renewed after each read.
            sockopt::set_tcp_quickack(fd, true)?;
        }
        Ok(())
    }

    fn transport(&self) -> Option<Transport> {
        // A device's stack may do without timestamps, and the limit must be none that it can exceed.
        Some(Transport::Tcp { timestamps: false })
    }

    fn settings(&self) -> Vec<(String, String)> {
        let quick_ack = if self.quick_ack { "on" } else { "off" };
        vec![
            ("peer".into(), self.peer.to_string()),
            ("Nagle".into(), "off".into()),
            ("quick acknowledgement".into(), quick_ack.into()),
        ]
    }
}

fn open(
    address: &Address,
    options: &LinkOptions,
    timeout: Duration,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    let doing = format!("cannot connect to {address}");
    socket::check_client_port(&doing, address.rest())?;
    let peers = address.rest().to_socket_addrs().map_err(|error| {
        LinkError::new(LinkErrorKind::Unreachable, &doing, error.to_string())
            .hint("check the host name, or use a numeric address")
    })?;
    let mut last = io::Error::new(
        io::ErrorKind::NotFound,
        "the name does not resolve to an address",
    );
    let quick_ack = options.quick_ack;
    for peer in peers {
        let tcp = Tcp {
            peer,
            timeout,
            quick_ack,
        };
        match SocketLink::open(tcp, is_interrupted) {
            Ok(link) => return Ok(Box::new(link)),
            Err(error) => last = error,
        }
        if last.kind() == io::ErrorKind::Interrupted {
            break;
        }
    }
    Err(explain(address, &doing, &last, timeout))
}

fn explain(address: &Address, doing: &str, error: &io::Error, timeout: Duration) -> LinkError {
    let link_error = socket::explain_connect(doing, error, timeout)
        .unwrap_or_else(|| LinkError::from_io(doing, error));
    match link_error.kind() {
        LinkErrorKind::Unreachable => link_error.hint(format!(
            "is the responder running? on the device: wiregauge serve {address}"
        )),
        LinkErrorKind::Timeout => link_error.hint(
            "is the device on, in this network and not behind a firewall? else use a longer --timeout",
        ),
        _ => link_error,
    }
}

fn connect(
    peer: SocketAddr,
    connecting: &Connecting,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> io::Result<OwnedFd> {
    let family = if peer.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    let fd = rustix::net::socket_with(
        family,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        Some(ipproto::TCP),
    )?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    connecting.bound(&fd)?;
    match rustix::net::connect(&fd, &peer) {
        Ok(()) => return Ok(fd),
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
                return Ok(fd);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn floor() -> io::Result<Box<dyn Link>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let peer = listener.local_addr()?;
    std::thread::spawn(move || -> io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut buffer = [0; 4096];
        loop {
            let received = stream.read(&mut buffer)?;
            if received == 0 {
                return Ok(());
            }
            stream.write_all(&buffer[..received])?;
        }
    });
    let tcp = Tcp {
        peer,
        timeout: Duration::from_secs(1),
        quick_ack: false,
    };
    Ok(Box::new(SocketLink::open(tcp, &mut || false)?))
}
