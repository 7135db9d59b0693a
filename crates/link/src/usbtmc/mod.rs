//! USBTMC instruments: messages and replies over bulk endpoints, whose headers say where they end. Through the file of
//! the kernel's usbtmc driver (Linux only), or without a driver through `nusb`.
//!
//! A reply is sent only when it is asked for: by the driver in each read, here right behind each message. A message that
//! comes before the reply to the last one was read aborts that reply (IEEE 488.2, 6.3.2.3: Query INTERRUPTED), so that
//! one message is outstanding at most.

mod address;
mod bulk;
mod class;
mod errors;
pub mod header;
pub mod incoming;
pub(crate) mod interface;

pub use class::{requests, status};
pub use interface::{CLASS, SUBCLASS};

use crate::error::{LinkError, LinkErrorKind};
use crate::{Address, Kind, Link, platform};
use address::TmcAddress;
use std::time::Duration;
use wiregauge_record::LinkOptions;

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "usbtmc",
    about: "a USBTMC instrument: messages and replies, through the kernel's usbtmc driver or without a driver (Linux)",
    example: "usbtmc:///dev/usbtmc0",
    datagram: false,
    max_bytes: wiregauge_wire::MAX_FRAME,
    check: |rest| TmcAddress::parse(rest).map(|_| ()),
    open,
    floor: None,
    helped: true,
    separate: true,
    one_request: Some(
        "a USBTMC instrument drops a reply that was not read before the next message (IEEE 488.2, Query INTERRUPTED)",
    ),
    no_stream: Some((
        "a USBTMC instrument cannot stream: it sends a reply only on request",
        "use wiregauge exchange, such as --protocol scpi --send 'CURV?' for a waveform",
    )),
};

fn open(
    address: &Address,
    _options: &LinkOptions,
    timeout: Duration,
    _is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    let name = address.to_string();
    let doing = format!("cannot open {name}");
    let parsed = TmcAddress::parse(address.rest())
        .map_err(|said| LinkError::new(LinkErrorKind::Usage, doing.clone(), said))?;
    match parsed {
        TmcAddress::File(path) => platform::usbtmc::open_file(&path, timeout, &doing),
        TmcAddress::Device(which, interface) => {
            bulk::BulkLink::open(which, interface, name, &doing)
                .map(|link| Box::new(link) as Box<dyn Link>)
        }
    }
}
