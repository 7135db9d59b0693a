//! What a medium can carry at best: USB by speed and kind of transfer, a serial line by baud rate and
//! framing, CAN by bit rates, identifier and payload, Ethernet by rate and payload. Arithmetic from the specifications; looks at no device.
//! docs/limits.md gives every formula and its source.

#![forbid(unsafe_code)]

mod bus;
mod can;
mod can_frame;
mod endpoint;
mod ethernet;
mod limit;
mod modbus;
mod refused;
mod speed;
mod superspeed;
mod uart;
mod usb;

pub use bus::Bus;
pub use can::{CAN_FD_SIZES, Can, CanBits, CanRates};
pub use can_frame::CanFrame;
pub use endpoint::Endpoint;
pub use ethernet::{Ethernet, Transport};
pub use limit::Limit;
pub use modbus::{ModbusTime, modbus_silence_ns};
pub use refused::Refused;
pub use speed::{Speed, Transfer};
pub use uart::{Framing, Parity, StopBits, Uart};
pub use usb::Frame;
