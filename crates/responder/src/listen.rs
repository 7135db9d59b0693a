//! Opens the address that a responder can be reached at, and tells where it is.

use super::accept::{accept_all, failed};
use super::device::DeviceConfig;
use super::event::ServeEvent;
use super::serve::{Serve, ServeAddress};
use super::trace::{Trace, TraceFile};
use super::{can, datagram, platform, stream};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use wiregauge_link::host::{self, Clock};
use wiregauge_link::{Address, LinkError, LinkErrorKind, Socket};
use wiregauge_record::{CanOptions, LinkOptions};

const LOOK: Duration = Duration::from_millis(100);

/// Serves until the stop flag is raised, or a tty or pseudo-terminal ends.
pub fn serve(
    what: &Serve,
    stop: &Arc<AtomicBool>,
    on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    let clock = Clock::start();
    let file = what.begin_trace(clock)?;
    let trace = file.as_ref().map(TraceFile::trace);
    let served = serve_address(what, clock, trace, stop, on_event);
    let written = file.map_or(Ok(()), TraceFile::finish);
    served.and(written)
}

fn serve_address(
    what: &Serve,
    clock: Clock,
    trace: Option<Trace>,
    stop: &Arc<AtomicBool>,
    on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    match &what.address {
        ServeAddress::Tcp(rest) => {
            let listener = bind(rest, "tcp", TcpListener::bind)?;
            let local = listener.local_addr().map_err(|e| failed(rest, &e))?;
            ready(on_event, "tcp", local);
            let accept = || {
                let (stream, peer) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok((Socket::from(stream), peer.to_string()))
            };
            listener
                .set_nonblocking(true)
                .map_err(|e| failed(rest, &e))?;
            accept_all(what, &listener, accept, clock, stop, on_event).map_err(|e| failed(rest, &e))
        }
        ServeAddress::Unix(path) => platform::serve_unix(what, path, clock, stop, on_event),
        ServeAddress::Udp(rest) => {
            let socket = bind(rest, "udp", UdpSocket::bind)?;
            let local = socket.local_addr().map_err(|e| failed(rest, &e))?;
            // Enough for the depths that clients ask for; the system may grant less.
            platform::set_receive_buffer(&socket, 4 << 20);
            socket
                .set_read_timeout(Some(LOOK))
                .map_err(|e| failed(rest, &e))?;
            ready(on_event, "udp", local);
            host::use_precise_timers();
            let (config, most) = (&what.config, what.max_clients);
            datagram::serve(&socket, config, most, clock, stop, on_event)
                .map_err(|e| failed(rest, &e))
        }
        ServeAddress::Serial(path) => {
            let address = format!("serial://{}", path.display());
            let options = LinkOptions {
                baud: what.baud,
                ..LinkOptions::default()
            };
            let mut link = Address::parse(&address)?.open(&options, LOOK)?;
            on_event(ServeEvent::Ready {
                address: &address,
                remote: false,
            });
            stream::serve_one(link.as_mut(), &what.config, clock, trace, stop)
                .map_err(|e| failed(&address, &e))
        }
        ServeAddress::Can(interface, options) => {
            serve_can(what, interface, options.as_ref(), clock, stop, on_event)
        }
        ServeAddress::Pty(link_path) => {
            platform::serve_pty(what, link_path.as_deref(), clock, trace, stop, on_event)
        }
        ServeAddress::UsbGadget(plan) => {
            platform::serve_gadget(plan, &what.config, clock, stop, on_event)
        }
        ServeAddress::Uhid(plan) => platform::serve_uhid(plan, &what.config, clock, stop, on_event),
        ServeAddress::UsbVirtual(plan) => {
            platform::serve_usb_virtual(plan, &what.config, clock, trace, stop, on_event)
        }
    }
}

fn serve_can(
    what: &Serve,
    interface: &str,
    options: Option<&CanOptions>,
    clock: Clock,
    stop: &AtomicBool,
    on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    let address = format!("can://{interface}");
    // The responder sends what is the host's response.
    let swapped = options.map(|options| CanOptions {
        request_id: options.response_id,
        response_id: options.request_id,
        timestamps: false,
        ..*options
    });
    let link_options = LinkOptions {
        can: swapped,
        ..LinkOptions::default()
    };
    let mut link = Address::parse(&address)?.open(&link_options, LOOK)?;
    let options = options.expect("a link does not open without identifiers");
    on_event(ServeEvent::Ready {
        address: &address,
        remote: false,
    });
    host::use_precise_timers();
    let config = DeviceConfig {
        max_frame: what.config.max_frame.min(options.max_bytes()),
        ..what.config.clone()
    };
    can::serve(link.as_mut(), options, &config, clock, stop).map_err(|e| failed(&address, &e))
}

fn bind<T>(
    rest: &str,
    scheme: &str,
    bind: impl Fn(SocketAddr) -> io::Result<T>,
) -> Result<T, LinkError> {
    let doing = format!("cannot serve {scheme}://{rest}");
    let address = rest
        .to_socket_addrs()
        .and_then(|mut all| all.next().ok_or(io::ErrorKind::NotFound.into()))
        .map_err(|error| LinkError::new(LinkErrorKind::Usage, &doing, error.to_string()))?;
    bind(address).map_err(|error| {
        let explained = LinkError::from_io(&doing, &error);
        match explained.kind() {
            LinkErrorKind::Busy => explained.hint(format!(
                "another program uses this port; find it with: ss -lnp | grep {}; or use port 0 for a free one",
                address.port()
            )),
            LinkErrorKind::PermissionDenied => {
                explained.hint("ports below 1024 need CAP_NET_BIND_SERVICE: use a higher one")
            }
            LinkErrorKind::Unreachable => {
                explained.hint("this address does not belong to this host: ip addr lists its addresses")
            }
            _ => explained,
        }
    })
}

fn ready(on_event: &(dyn Fn(ServeEvent<'_>) + Sync), scheme: &str, local: SocketAddr) {
    let remote = match local.ip() {
        IpAddr::V4(ip) => !ip.is_loopback(),
        IpAddr::V6(ip) => !ip.is_loopback(),
    };
    on_event(ServeEvent::Ready {
        address: &format!("{scheme}://{local}"),
        remote,
    });
}
