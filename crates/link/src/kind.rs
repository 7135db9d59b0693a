//! What a kind of link is, and an address of it.

use crate::error::{LinkError, LinkErrorKind};
use crate::link::Link;
use std::fmt;
use std::io;
use std::time::Duration;
use wiregauge_record::{LinkOptions, Way};

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
    /// True if a device ends each send with the request in it, as a transfer or a message of USB: requests are not sent together.
    pub separate: bool,
    /// Why at most one request may be outstanding; `None` if several may.
    pub one_request: Option<&'static str>,
    /// Why it cannot stream, and what to do instead; `None` if it can.
    pub no_stream: Option<(&'static str, &'static str)>,
}

/// Opens a link to an address; the time bounds the opening where the system would wait longer. It ends with an error of
/// kind `Interrupted` once the last argument returns true.
pub type Open = fn(
    &Address,
    &LinkOptions,
    Duration,
    &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError>;

/// Opens a link to an echo on this same host.
pub type OpenFloor = fn() -> io::Result<Box<dyn Link>>;

/// A link's address, such as `tcp://10.0.0.5:7700`, whose kind is known and whose form was checked.
#[derive(Clone)]
pub struct Address {
    pub(crate) kind: &'static Kind,
    pub(crate) rest: String,
}

impl Address {
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
        self.open_unless(options, timeout, &mut || false)
    }

    /// The same; where it has to wait, `is_interrupted` is asked every 100 ms.
    pub fn open_unless(
        &self,
        options: &LinkOptions,
        timeout: Duration,
        is_interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Box<dyn Link>, LinkError> {
        let link = self.open_for_stream(options, timeout, is_interrupted)?;
        let Some(way) = link.only_way() else {
            return Ok(link);
        };
        let (way, other) = match way {
            Way::In => ("in", "OUT"),
            Way::Out => ("out", "IN"),
        };
        Err(LinkError::new(
            LinkErrorKind::Usage,
            format!("cannot open {self}"),
            format!("it has no {other} endpoint, so that nothing can be requested of it"),
        )
        .hint(format!(
            "measure its data: wiregauge stream --protocol raw --direction {way}"
        )))
    }

    /// The same, also of a device whose data has one direction only ([`Link::only_way`]).
    pub fn open_for_stream(
        &self,
        options: &LinkOptions,
        timeout: Duration,
        is_interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Box<dyn Link>, LinkError> {
        (self.kind.open)(self, options, timeout, is_interrupted)
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
