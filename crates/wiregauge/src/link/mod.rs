//! A link is one opened way to one device. A kind of link is one file here and one line in [`KINDS`].

mod descriptor_flow;
mod flow;
mod null;
mod serial;
mod served;
mod socket;
mod tcp;
mod tty;
mod udp;
mod unix;
pub(crate) mod usb;

pub use flow::{Completed, Flow, FlowShape, Flows, ORDER_BYTES};
pub use served::{PtyMaster, accepted, wait_readable};
pub use tty::{RawTty, open_pty};

use crate::error::{LinkError, LinkErrorKind};
use std::fmt;
use std::io;
use std::time::Duration;
use wiregauge_record::{BusLimit, LinkDetail, LinkOptions, Point};

/// How long a sleep may last before it looks up, so that a stop is heeded.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// Every kind of link.
pub static KINDS: &[&Kind] = &[
    &tcp::KIND,
    &udp::KIND,
    &unix::KIND,
    &serial::KIND,
    &usb::KIND,
    &null::KIND,
];

/// A kind of link: how it is named, opened, and compared with this host's own floor.
pub struct Kind {
    /// What stands before `://`.
    pub scheme: &'static str,
    /// One line for the help text.
    pub about: &'static str,
    /// An address of this kind.
    pub example: &'static str,
    /// True if each send is one message that arrives whole or not at all.
    pub datagram: bool,
    /// Largest request or response that fits the kind, in bytes.
    pub max_bytes: u32,
    /// Checks the part behind `://`; the error says what is wrong with it.
    pub check: fn(&str) -> Result<(), String>,
    /// Opens it.
    pub open: Open,
    /// Opens one to an echo on this same host, for self-calibration; `None` where there is none.
    pub floor: Option<OpenFloor>,
    /// True if a thread of the link's library uses its descriptors too, so that the thread that opens
    /// it must share the process's table of descriptors.
    pub helped: bool,
}

/// Opens a link to an address; the time bounds the opening where the system would wait longer.
pub type Open = fn(&Address, &LinkOptions, Duration) -> Result<Box<dyn Link>, LinkError>;

/// Opens a link to an echo on this same host.
pub type OpenFloor = fn() -> io::Result<Box<dyn Link>>;

/// One opened way to one device. Called from one thread. Nothing here allocates once it is open.
pub trait Link: Send {
    /// Told the sizes of the exchanges that follow, before the first of a point; nothing is
    /// outstanding. A kind that keeps receives pending lays them out.
    fn prepare(&mut self, _point: Point) -> io::Result<()> {
        Ok(())
    }

    /// Hands over as many bytes as the system takes now, without waiting; 0 if it takes none. A
    /// datagram goes whole or not at all.
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Receives without waiting; 0 if there is nothing. A device that has closed the link is an
    /// error of kind `UnexpectedEof`.
    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize>;

    /// Receives, sleeping in the system call until there is something, a signal comes, or the
    /// patience set by [`Link::set_patience`] is over; in the last two cases 0.
    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize>;

    /// How long `receive_blocking` sleeps at most; at first [`PATIENCE`]. `None` lets it sleep
    /// until a signal comes and spares the kernel a timer for each receive. Returns false where
    /// the kind cannot wait that short a time in the call itself (a tty counts tenths of seconds):
    /// then [`Link::wait`] must be used.
    fn set_patience(&mut self, patience: Option<Duration>) -> io::Result<bool>;

    /// Sleeps until there is something to receive, or (with `or_writable`) until more can be sent,
    /// or for `at_most`.
    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()>;

    /// Closes the link; a device that serves one client at a time is then free for the next one.
    fn close(&mut self);

    /// Opens the closed link again to the same device.
    fn reopen(&mut self) -> io::Result<()>;

    /// Both directions for a stream of this shape. The link must be open and at rest: nothing sent
    /// that is not answered. An error of kind `Unsupported` says why the link cannot do it (more
    /// than one transfer at once on a socket).
    fn flows(&mut self, _shape: FlowShape) -> io::Result<Flows<'_>> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this kind of link cannot stream",
        ))
    }

    /// How often an endpoint of it stalled and was cleared so far.
    fn stalls(&self) -> u64 {
        0
    }

    /// False where nothing is at the other end that could be asked: then a stream begins without
    /// orders, OUT is swallowed, and IN is the pattern from its beginning.
    fn has_device(&self) -> bool {
        true
    }

    /// Settings worth keeping with the run.
    fn detail(&self) -> LinkDetail {
        LinkDetail::default()
    }

    /// What the medium can carry, where it is known from this end; `used` is left 0.
    fn limit(&self) -> Option<BusLimit> {
        None
    }
}

/// A link's address, such as `tcp://10.0.0.5:7700`, whose kind is known and whose form was checked.
#[derive(Clone)]
pub struct Address {
    kind: &'static Kind,
    rest: String,
}

impl Address {
    /// Reads an address. An unknown scheme is answered with the known ones.
    pub fn parse(text: &str) -> Result<Address, LinkError> {
        let usage = |said: String| {
            LinkError::new(
                LinkErrorKind::Usage,
                format!("reading the address `{text}`"),
                said,
            )
        };
        let examples = || {
            KINDS
                .iter()
                .map(|kind| kind.example)
                .collect::<Vec<_>>()
                .join("  ")
        };
        let Some((scheme, rest)) = text.split_once("://") else {
            let hint = if text.starts_with("/dev/") {
                format!("a serial line is written serial://{text}")
            } else {
                format!("addresses look like: {}", examples())
            };
            return Err(usage("it has no scheme".into()).hint(hint));
        };
        let Some(kind) = KINDS.iter().find(|kind| kind.scheme == scheme) else {
            return Err(usage(format!("there is no link kind `{scheme}`"))
                .hint(format!("addresses look like: {}", examples())));
        };
        (kind.check)(rest)
            .map_err(|said| usage(said).hint(format!("for example {}", kind.example)))?;
        Ok(Address {
            kind,
            rest: rest.to_string(),
        })
    }

    /// Its kind.
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// What stands behind `://`.
    pub fn rest(&self) -> &str {
        &self.rest
    }

    /// Opens a link to it. `timeout` bounds the opening where the system would wait longer.
    pub fn open(
        &self,
        options: &LinkOptions,
        timeout: Duration,
    ) -> Result<Box<dyn Link>, LinkError> {
        (self.kind.open)(self, options, timeout)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.kind.scheme, self.rest)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// The error of a link whose other end closed it.
fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the device closed the link")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_prints_as_it_was_written() {
        for text in [
            "tcp://127.0.0.1:7700",
            "udp://[::1]:7",
            "unix:///run/x",
            "null://",
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_unknown_scheme_is_answered_with_the_known_ones() {
        let error = Address::parse("carrier-pigeon://roof").unwrap_err();
        assert_eq!(error.kind(), LinkErrorKind::Usage);
        let text = error.to_string();
        assert!(
            text.contains("carrier-pigeon") && text.contains("tcp://"),
            "{text}"
        );
    }

    #[test]
    fn a_device_path_without_scheme_is_told_how_to_be_written() {
        let text = Address::parse("/dev/ttyACM0").unwrap_err().to_string();
        assert!(text.contains("serial:///dev/ttyACM0"), "{text}");
    }

    #[test]
    fn an_address_without_a_port_is_refused() {
        assert!(Address::parse("tcp://127.0.0.1").is_err());
        assert!(Address::parse("udp://127.0.0.1:99999").is_err());
    }

    #[test]
    fn every_example_is_an_address_of_its_kind() {
        for kind in KINDS {
            assert_eq!(
                Address::parse(kind.example).unwrap().kind().scheme,
                kind.scheme
            );
        }
    }
}
