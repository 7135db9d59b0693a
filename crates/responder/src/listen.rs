//! Where a responder can be reached: opens the address, tells where it is, and gives each peer a
//! thread, up to a bound.

use super::device::DeviceConfig;
use super::event::{Reported, ServeEvent};
use super::gadget::GadgetPlan;
use super::hid::UhidPlan;
use super::trace::{Trace, TraceFile};
use super::usb_virtual::VirtualPlan;
use super::{can, datagram, platform, stream};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use wiregauge_link::host::{self, Clock};
use wiregauge_link::{Address, AsSocket, Socket, accepted, borrowed};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{CanOptions, LinkOptions};

const LOOK: Duration = Duration::from_millis(100);

/// Where to serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServeAddress {
    /// `tcp://HOST:PORT`; without a host, loopback.
    Tcp(String),
    /// `udp://HOST:PORT`; without a host, loopback.
    Udp(String),
    /// `unix://PATH`.
    Unix(PathBuf),
    /// `serial://PATH`: a tty that is there.
    Serial(PathBuf),
    /// `pty:` or `pty:PATH`: a pseudo-terminal made for this, with a link at PATH to its name.
    Pty(Option<PathBuf>),
    /// `can://IFACE`: one peer, with these identifiers of its requests and of the responses.
    Can(String, Option<CanOptions>),
    /// `usb-gadget`: this Linux becomes a USB device.
    UsbGadget(Box<GadgetPlan>),
    /// `uhid`: a HID device without a bus, on this Linux.
    Uhid(Box<UhidPlan>),
    /// `usb-virtual`: a USB device without hardware, on this Linux.
    UsbVirtual(Box<VirtualPlan>),
}

impl ServeAddress {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<ServeAddress, LinkError> {
        if text == "usb-gadget" {
            return Ok(ServeAddress::UsbGadget(Box::default()));
        }
        if text == "uhid" {
            return Ok(ServeAddress::Uhid(Box::default()));
        }
        if text == "usb-virtual" {
            return Ok(ServeAddress::UsbVirtual(Box::default()));
        }
        if let Some(path) = text.strip_prefix("pty:") {
            let path = path.trim_start_matches("//");
            return Ok(ServeAddress::Pty((!path.is_empty()).then(|| path.into())));
        }
        // Without a host: this host only.
        let text = text.replacen("://:", "://127.0.0.1:", 1);
        let hint = "tcp://HOST:PORT, udp://HOST:PORT, unix://PATH, serial://PATH, can://IFACE, pty: or pty:PATH, usb-gadget, usb-virtual, uhid";
        let address = Address::parse(&text).map_err(|error| error.hint(hint))?;
        let rest = address.rest().to_string();
        match address.kind().scheme {
            "tcp" => Ok(ServeAddress::Tcp(rest)),
            "udp" => Ok(ServeAddress::Udp(rest)),
            "unix" => Ok(ServeAddress::Unix(rest.into())),
            "serial" => Ok(ServeAddress::Serial(rest.into())),
            "can" => Ok(ServeAddress::Can(rest, None)),
            scheme => Err(LinkError::new(
                LinkErrorKind::Usage,
                format!("cannot serve {address}"),
                format!("{scheme}:// is only for clients"),
            )
            .hint(hint)),
        }
    }
}

/// What to serve, and how much of it.
#[derive(Clone, Debug)]
pub struct Serve {
    /// Where.
    pub address: ServeAddress,
    /// As what.
    pub config: DeviceConfig,
    /// Peers at once, at most.
    pub max_clients: usize,
    /// Baud rate of a tty.
    pub baud: Option<u32>,
    /// Where every packet of a modelled USB bus is written, if it is.
    pub trace: Option<PathBuf>,
}

impl Serve {
    fn begin_trace(&self, clock: Clock) -> Result<Option<TraceFile>, LinkError> {
        let Some(path) = &self.trace else {
            return Ok(None);
        };
        let refused = |said: &str| {
            let doing = format!("cannot write the packets of a bus to {}", path.display());
            LinkError::new(LinkErrorKind::Usage, doing, said)
        };
        let (bus, timing) = match (&self.address, self.config.model.usb()) {
            (ServeAddress::UsbVirtual(plan), _) => (plan.speed, plan.bus),
            (ServeAddress::Serial(_) | ServeAddress::Pty(_), Some(usb)) => (usb.speed, usb.bus),
            (ServeAddress::Serial(_) | ServeAddress::Pty(_), None) => {
                return Err(refused("no bus is modelled")
                    .hint("add --bus full-speed, --bus high-speed or --profile NAME"));
            }
            // The buses of several peers would be mixed in one file.
            _ => {
                return Err(refused("only usb-virtual, pty: and serial:// have one bus")
                    .hint("use wiregauge serve pty: --bus full-speed --trace FILE"));
            }
        };
        TraceFile::create(path, bus, &timing, clock).map(Some)
    }
}

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

pub(crate) fn failed(address: &str, error: &io::Error) -> LinkError {
    LinkError::from_io(format!("cannot serve {address}"), error)
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

pub(crate) fn accept_all(
    what: &Serve,
    listener: &impl AsSocket,
    accept: impl Fn() -> io::Result<(Socket, String)>,
    clock: Clock,
    stop: &AtomicBool,
    on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> io::Result<()> {
    let clients = AtomicUsize::new(0);
    let mut reported = Reported::default();
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            wiregauge_link::wait_readable(borrowed(listener), LOOK)?;
            let (fd, peer) = match accept() {
                Ok(accepted) => accepted,
                // Another signal, or a client that left before it was accepted.
                Err(error) if is_of_one_client(&error) => continue,
                // Without descriptors or memory the client stays queued, and the listener readable.
                Err(error) => {
                    if reported.is_first(&error) {
                        on_event(ServeEvent::CannotAccept(&error));
                    }
                    std::thread::sleep(LOOK);
                    continue;
                }
            };
            if clients.load(Ordering::Relaxed) >= what.max_clients {
                on_event(ServeEvent::TurnedAway(&peer));
                continue;
            }
            clients.fetch_add(1, Ordering::Relaxed);
            let clients = &clients;
            let served = std::thread::Builder::new().spawn_scoped(scope, move || {
                on_event(ServeEvent::Came(&peer));
                // How a client leaves is no failure of the responder.
                if let Ok(mut link) = accepted(fd) {
                    let _ = stream::serve_one(&mut link, &what.config, clock, None, stop);
                }
                clients.fetch_sub(1, Ordering::Relaxed);
                on_event(ServeEvent::Left(&peer));
            });
            if served.is_err() {
                clients.fetch_sub(1, Ordering::Relaxed);
            }
        }
        Ok(())
    })
}

/// True for what accept(2) says of one connection, or of none: the next one can be accepted at once.
fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::WouldBlock | Kind::Interrupted | Kind::ConnectionAborted
    )
}
