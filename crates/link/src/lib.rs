//! Ways to a device, and what they need of this computer.
//!
//! A link is one opened way to one device: TCP, UDP, Unix sockets, serial lines, USB, HID, USBTMC, CAN. A kind of link is one file here
//! and one line in [`KINDS`]. [`host`] is this computer: its clock, its priorities and its load; [`limits`] finds which
//! medium a link has; [`devices`] lists what is attached.
//!
//! ```no_run
//! use std::time::Duration;
//! use wiregauge_link::Address;
//! use wiregauge_record::LinkOptions;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let address = Address::parse("tcp://10.0.0.5:7700")?;
//! let mut link = address.open(&LinkOptions::default(), Duration::from_secs(1))?;
//! link.send(b"*IDN?\n")?;
//! # Ok(())
//! # }
//! ```

mod bare;
pub mod can;
mod descriptor_flow;
pub mod devices;
pub mod error;
mod flow;
mod hid;
pub mod host;
mod kind;
pub mod limits;
mod link;
mod null;
mod platform;
mod serial;
mod served;
mod socket;
mod tcp;
mod udp;
mod unix;
mod usb;
pub mod usbtmc;
mod waiting;

pub use error::{LinkError, LinkErrorKind};
pub use flow::{Completed, Flow, FlowShape, Flows, ORDER_BYTES};
pub use kind::{Address, Kind, Open, OpenFloor};
pub use link::{Link, Most};
pub use platform::pty::PtyMaster;
pub use platform::socket::{AsSocket, BorrowedSocket, Socket, borrowed};
pub use platform::stamps::Stamps;
pub use served::{accepted, wait_readable};
pub use waiting::MAX_WAIT;

/// The parser of report descriptors, for the fuzzer.
#[doc(hidden)]
pub use hid::descriptor::parse as parse_report_descriptor;

use link::closed;

/// Every kind of link.
pub static KINDS: &[&Kind] = &[
    &tcp::KIND,
    &udp::KIND,
    &unix::KIND,
    &serial::KIND,
    &usb::KIND,
    &hid::KIND,
    &usbtmc::KIND,
    &can::KIND,
    &null::KIND,
];

impl Address {
    /// The text of an address with its scheme: `serial:///dev/ttyACM0` for `/dev/ttyACM0`. What names no kind of link
    /// stays as it is, for [`Address::parse`] to refuse. A symbolic link is read as what it leads to.
    pub fn with_scheme(text: &str) -> String {
        match bare::scheme_of(text).or_else(|| bare::scheme_behind(text)) {
            Some(scheme) => format!("{scheme}://{text}"),
            None => text.to_owned(),
        }
    }

    /// Reads an address. One without a scheme is read as what it looks like: `/dev/ttyACM0` is a serial line, `10.0.0.5:7700`
    /// TCP, `1d6b:0104` a USB device. An unknown scheme is answered with the known ones.
    pub fn parse(text: &str) -> Result<Address, LinkError> {
        let usage = |said: String| {
            LinkError::new(
                LinkErrorKind::Usage,
                format!("cannot parse the address `{text}`"),
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
        let whole = Address::with_scheme(text);
        let Some((scheme, rest)) = whole.split_once("://") else {
            let hint = match text.starts_with('/') {
                true => format!("use serial://{text} or unix://{text}"),
                false
                    if text
                        .strip_prefix(':')
                        .is_some_and(|port| port.parse::<u16>().is_ok()) =>
                {
                    format!("add a host: 127.0.0.1{text}")
                }
                false if bare::is_host(text) => format!("add a port: {text}:7700"),
                false if text.starts_with("pty:") => {
                    "use the serial:// address that wiregauge serve prints for it".to_owned()
                }
                false => format!("valid addresses: {}", examples()),
            };
            return Err(usage("it names no kind of link".into()).hint(hint));
        };
        let Some(kind) = KINDS.iter().find(|kind| kind.scheme == scheme) else {
            return Err(usage(format!("unknown scheme `{scheme}`"))
                .hint(format!("valid addresses: {}", examples())));
        };
        (kind.check)(rest)
            .map_err(|said| usage(said).hint(format!("for example {}", kind.example)))?;
        Ok(Address {
            kind,
            rest: rest.to_string(),
        })
    }
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
        for words in ["carrier-pigeon", "tcp://"] {
            assert!(text.contains(words), "{text}");
        }
    }

    #[test]
    fn an_address_without_scheme_prints_with_it() {
        for (bare, whole) in [
            ("/dev/ttyACM0", "serial:///dev/ttyACM0"),
            ("10.0.0.5:7700", "tcp://10.0.0.5:7700"),
            ("1d6b:0104", "usb://1d6b:0104"),
        ] {
            assert_eq!(Address::parse(bare).unwrap().to_string(), whole);
        }
    }

    #[test]
    fn a_path_is_shown_with_the_schemes_that_it_may_have_and_a_port_alone_with_a_host() {
        for (text, words) in [
            ("/tmp/board", "use serial:///tmp/board or unix:///tmp/board"),
            (":7813", "add a host: 127.0.0.1:7813"),
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn an_address_without_a_port_is_refused() {
        assert!(Address::parse("tcp://127.0.0.1").is_err());
        assert!(Address::parse("udp://127.0.0.1:99999").is_err());
    }

    #[test]
    fn every_example_is_an_address_of_its_kind() {
        for kind in KINDS {
            let address = Address::parse(kind.example).unwrap();
            assert_eq!(address.kind().scheme, kind.scheme);
        }
    }
}
