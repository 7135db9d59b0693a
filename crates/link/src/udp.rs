//! UDP: each send is one datagram, which may be lost, doubled or overtaken on the way.

use super::socket::{self, Opener, SocketLink};
use super::{Address, Kind, Link, MAX_WAIT};
use crate::error::{LinkError, LinkErrorKind};
use crate::platform::socket::Channel;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::time::Duration;
use wiregauge_limits::Transport;
use wiregauge_record::LinkOptions;

/// Payload of the largest UDP datagram over IPv4: 65,535 less 20 (RFC 791) less 8 (RFC 768).
const MAX_DATAGRAM: u32 = 65_507;

/// Asked of the system for received datagrams, so that depth does not turn into loss at once.
const RECEIVE_BUFFER: usize = 4 << 20;

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "udp",
    about: "UDP datagrams",
    example: "udp://10.0.0.5:7",
    datagram: true,
    max_bytes: MAX_DATAGRAM,
    check: socket::check_host_port,
    open,
    floor: Some(floor),
    helped: false,
    separate: false,
    one_request: None,
    no_stream: None,
};

struct Udp {
    peer: SocketAddr,
    /// Held by the link to this host's own echo, which ends when the link is gone.
    _echo: Option<Arc<()>>,
}

impl Opener for Udp {
    const STREAM: bool = false;

    fn connect(
        &self,
        receive_timeout: Option<Duration>,
        _is_interrupted: &mut dyn FnMut() -> bool,
    ) -> io::Result<Channel> {
        let any: SocketAddr = if self.peer.is_ipv4() {
            ([0, 0, 0, 0], 0).into()
        } else {
            ([0u16; 8], 0).into()
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(self.peer)?;
        let channel = Channel::new(socket.into())?;
        // The system may grant less; what it granted is kept with the run.
        channel.set_receive_buffer(RECEIVE_BUFFER)?;
        if receive_timeout.is_some() {
            channel.set_receive_timeout(receive_timeout)?;
        }
        Ok(channel)
    }

    fn transport(&self) -> Option<Transport> {
        Some(Transport::Udp)
    }

    fn settings(&self) -> Vec<(String, String)> {
        vec![("peer".into(), self.peer.to_string())]
    }
}

fn open(
    address: &Address,
    _options: &LinkOptions,
    _timeout: Duration,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    let doing = format!("cannot open {address}");
    socket::check_client_port(&doing, address.rest())?;
    let peer = address
        .rest()
        .to_socket_addrs()
        .and_then(|mut peers| peers.next().ok_or(io::ErrorKind::NotFound.into()))
        .map_err(|error| {
            LinkError::new(LinkErrorKind::Unreachable, &doing, error.to_string())
                .hint("check the host name, or use a numeric address")
        })?;
    let link = SocketLink::open(Udp { peer, _echo: None }, is_interrupted);
    let link = link.map_err(|error| LinkError::from_io(&doing, &error))?;
    Ok(Box::new(link))
}

fn floor() -> io::Result<Box<dyn Link>> {
    let echo = UdpSocket::bind("127.0.0.1:0")?;
    let peer = echo.local_addr()?;
    // A datagram socket does not see its peer leave, so it looks up from time to time.
    echo.set_read_timeout(Some(MAX_WAIT))?;
    let alive = Arc::new(());
    let asked = Arc::downgrade(&alive);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while asked.strong_count() > 0 {
            if let Ok((received, from)) = echo.recv_from(&mut buffer) {
                let _ = echo.send_to(&buffer[..received], from);
            }
        }
    });
    let _echo = Some(alive);
    let link = SocketLink::open(Udp { peer, _echo }, &mut || false)?;
    Ok(Box::new(link))
}
