//! Modbus on a serial line: the silence between frames, and the shortest time of a read.

use crate::uart::{Framing, Uart};

/// Baud rates above this have a fixed silence (Modbus over Serial Line V1.02, 2.5.1.1).
const FASTEST_SCALED: u32 = 19_200;

/// See above.
const FIXED_SILENCE_NS: u64 = 1_750_000;

/// A character of Modbus always has 11 bits (V1.02, 2.5.1).
const CHARACTER_BITS: f64 = 11.0;

/// Unit, function, address, count and CRC.
const READ_REQUEST: u64 = 8;

/// Unit, function, number of bytes and CRC.
const READ_OVERHEAD: u64 = 5;

/// Silence of 3.5 characters between two frames, in nanoseconds.
pub fn modbus_silence_ns(baud: u32) -> u64 {
    match baud > FASTEST_SCALED {
        true => FIXED_SILENCE_NS,
        false => (3.5 * CHARACTER_BITS * 1e9 / f64::from(baud.max(1))).ceil() as u64,
    }
}

/// Where the time of a Modbus exchange goes at least, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModbusTime {
    /// Bits of the request on the line.
    pub request_ns: f64,
    /// Bits of the reply on the line.
    pub reply_ns: f64,
    /// Silence that must follow each of the two frames.
    pub silence_ns: f64,
}

impl ModbusTime {
    /// Frames of these sizes, CRC included.
    pub fn new(baud: u32, framing: Framing, request: u64, reply: u64) -> ModbusTime {
        let line = Uart { baud, framing };
        ModbusTime {
            request_ns: line.message_ns(request),
            reply_ns: line.message_ns(reply),
            silence_ns: 2.0 * modbus_silence_ns(baud) as f64,
        }
    }

    /// A read of so many registers.
    pub fn of_read(baud: u32, framing: Framing, registers: u64) -> ModbusTime {
        let reply = READ_OVERHEAD + 2 * registers;
        ModbusTime::new(baud, framing, READ_REQUEST, reply)
    }

    /// From one request to the next: a device must see the silence before it may answer.
    pub fn period_ns(&self) -> f64 {
        self.request_ns + self.reply_ns + self.silence_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_silence_is_that_of_the_specification() {
        // 3.5 characters of 11 bits; 1.750 ms above 19,200 baud.
        assert_eq!(modbus_silence_ns(9_600), 4_010_417);
        assert_eq!(modbus_silence_ns(19_200), 2_005_209);
        assert_eq!(modbus_silence_ns(115_200), 1_750_000);
    }

    #[test]
    fn ten_registers_at_19200_baud_take_23_ms() {
        let time = ModbusTime::of_read(19_200, "8E1".parse().unwrap(), 10);
        // 33 characters of 11 bits and twice 3.5.
        assert!((time.period_ns() - (33.0 + 7.0) * 11.0 * 1e9 / 19_200.0).abs() < 2.0);
    }
}
