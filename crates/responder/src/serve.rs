//! What to serve, and where.

use super::device::DeviceConfig;
use super::gadget::GadgetPlan;
use super::hid::UhidPlan;
use super::trace::TraceFile;
use super::usb_virtual::VirtualPlan;
use std::path::PathBuf;
use wiregauge_link::host::Clock;
use wiregauge_link::{Address, LinkError, LinkErrorKind};
use wiregauge_record::CanOptions;

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
    /// Begins to write the packets of the modelled bus, if that is asked for.
    pub(crate) fn begin_trace(&self, clock: Clock) -> Result<Option<TraceFile>, LinkError> {
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
