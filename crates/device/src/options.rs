//! How a device is opened, and what it speaks.

use std::time::Duration;
use wiregauge_record::{LinkOptions, ReplyEnd, Wait};
use wiregauge_session::Framing;

/// What a device speaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceProtocol {
    /// The wiregauge protocol; HELLO is sent when it is opened.
    #[default]
    Wiregauge,
    /// Messages in a framing.
    Framing(Framing),
    /// Requests are sent as they are; replies end so. [`ReplyEnd::Scpi`] sends a newline behind each request.
    Text(ReplyEnd),
    /// Modbus: RTU on serial lines, which needs a baud rate, else Modbus TCP. A request is unit, function and data.
    Modbus {
        /// The unit of `Device::read_registers` and its kin, where they are given none.
        unit: u8,
    },
}

/// How a device is opened.
#[derive(Clone, Debug)]
pub struct DeviceOptions {
    /// What it speaks.
    pub protocol: DeviceProtocol,
    /// After this long without a whole reply an exchange has failed.
    pub timeout: Duration,
    /// How to wait for a reply.
    pub wait: Wait,
    /// What only some kinds of link understand.
    pub link: LinkOptions,
}

impl Default for DeviceOptions {
    /// The wiregauge protocol, one second, asleep in the read.
    fn default() -> DeviceOptions {
        DeviceOptions {
            protocol: DeviceProtocol::Wiregauge,
            timeout: Duration::from_secs(1),
            wait: Wait::Block,
            link: LinkOptions::default(),
        }
    }
}

impl DeviceProtocol {
    /// Text whose replies end with a newline.
    pub fn lines() -> DeviceProtocol {
        DeviceProtocol::Text(ReplyEnd::Until(b"\n".to_vec()))
    }
}
