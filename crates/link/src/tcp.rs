//! TCP, with Nagle's algorithm off (RFC 896 holds small segments back until the last one is
//! acknowledged, which would put the peer's delayed acknowledgement into every RTT).

use super::socket::{self, Opener, SocketLink};
use super::waiting::Connecting;
use super::{Address, Kind, Link};
use crate::error::{LinkError, LinkErrorKind};
use crate::platform::socket::{Channel, connect_tcp};
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
    ) -> io::Result<Channel> {
        let connecting = Connecting::begin(self.timeout, receive_timeout);
        let channel = connect_tcp(self.peer, &connecting, is_interrupted)?;
        if receive_timeout.is_some() {
            channel.set_receive_timeout(receive_timeout)?;
        }
        // Closing resets the connection: a normal close of ten thousand short connections would
        // leave as many ports in TIME_WAIT (RFC 9293, 3.6.1) and run out of them.
        channel.set_reset_on_close()?;
        self.received(&channel)?;
        Ok(channel)
    }

    fn received(&self, channel: &Channel) -> io::Result<()> {
        if self.quick_ack {
            // The kernel leaves this mode by itself (tcp(7)), so it is renewed after each read.
            channel.set_quick_ack()?;
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
