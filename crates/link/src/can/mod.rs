//! A CAN node through SocketCAN: a frame for each message, or ISO-TP. Links are Linux only.

pub(crate) mod frame;
mod options;
mod size;
mod survey;
pub(crate) mod timing;

pub use crate::platform::can::interfaces;
pub use options::check_options;
pub use size::check_message;
pub use survey::CanInterface;

/// What reads and writes the bytes of frames, for the fuzzer.
#[doc(hidden)]
pub mod parsers {
    pub use super::frame::{Received, decode, encode};
    pub use super::timing::timing;
}

use crate::{Kind, platform};

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "can",
    about: "a CAN bus: frames, or messages of ISO-TP",
    example: "can://can0",
    datagram: true,
    max_bytes: 4095,
    check,
    open: platform::can::open,
    floor: None,
    helped: false,
    separate: false,
    one_request: None,
    no_stream: Some((
        "a CAN bus carries messages, not a stream",
        "use wiregauge exchange; what the bus carries at best: wiregauge limits can",
    )),
};

/// IFNAMSIZ, without the end (`include/uapi/linux/if.h`).
const LONGEST_NAME: usize = 15;

fn check(name: &str) -> Result<(), String> {
    match name.len() {
        0 => Err("it names no interface".into()),
        1..=LONGEST_NAME
            if !name.contains(|letter: char| letter == '/' || letter.is_whitespace()) =>
        {
            Ok(())
        }
        _ => Err(format!("`{name}` is not the name of an interface")),
    }
}
