//! From what a device is said to speak to the codec of its engine, and what that allows.

use super::driver::Limits;
use super::options::{DeviceOptions, DeviceProtocol};
use wiregauge_link::Kind;
use wiregauge_record::{ModbusLine, ReplyEnd};
use wiregauge_session::{
    Message, Messages, ModbusQueries, Splitter, TextQueries, only_one_at_a_time, pdu,
};

/// The codec; else what is wrong, and what to do.
pub fn of(options: &DeviceOptions, kind: &Kind) -> Result<Messages, (String, &'static str)> {
    let datagram = kind.datagram;
    match &options.protocol {
        DeviceProtocol::Wiregauge if kind.scheme == "null" => Err((
            "null:// only echoes and does not support the wiregauge protocol".into(),
            "use a framing, for example raw",
        )),
        DeviceProtocol::Wiregauge => Ok(Messages::Wiregauge(Message::new(datagram))),
        DeviceProtocol::Framing(framing) => {
            Splitter::new(framing, datagram, kind.max_bytes as usize)
                .map(Messages::Foreign)
                .map_err(|problem| (problem, "use another framing"))
        }
        DeviceProtocol::Text(end) => TextQueries::new(end, datagram)
            .map(Messages::Text)
            .map_err(|problem| (problem, "say otherwise where replies end")),
        DeviceProtocol::Modbus { unit } => {
            pdu::check_unit(*unit).map_err(|problem| (problem, "use the unit of the device"))?;
            let line = modbus_line(options, kind)?;
            Ok(Messages::Modbus(ModbusQueries::new(line, datagram)))
        }
    }
}

/// RTU on serial lines; else the frames of Modbus on TCP.
fn modbus_line(options: &DeviceOptions, kind: &Kind) -> Result<ModbusLine, (String, &'static str)> {
    if kind.scheme != "serial" {
        return Ok(ModbusLine::Tcp);
    }
    match options.link.baud.filter(|baud| *baud > 0) {
        Some(baud) => Ok(ModbusLine::Rtu {
            silence_ns: wiregauge_limits::modbus_silence_ns(baud),
        }),
        None => Err((
            "Modbus on a serial line requires a baud rate".into(),
            "the silence between frames depends on it; many devices use 9600 or 19200",
        )),
    }
}

/// What a device takes that says nothing about it.
pub fn limits(codec: &Messages, kind: &Kind) -> Limits {
    let payload = kind.max_bytes as usize - codec.request_overhead();
    Limits {
        request: payload,
        reply: match codec {
            Messages::Text(queries) => queries.replies().longest(),
            Messages::Modbus(queries) => queries.longest() - queries.overhead(),
            _ => payload,
        },
        outstanding: match codec {
            Messages::Modbus(_) => ModbusQueries::MOST,
            _ => u32::MAX,
        },
        takes_messages: true,
    }
}

/// Why only one request may be outstanding, if that is so.
pub fn one_at_a_time(
    options: &DeviceOptions,
    codec: &Messages,
    kind: &Kind,
) -> Option<&'static str> {
    match (&options.protocol, codec) {
        (DeviceProtocol::Text(end), _) => only_one_at_a_time(end, kind.datagram),
        (_, Messages::Modbus(queries)) => {
            only_one_at_a_time(&ReplyEnd::Modbus(queries.line()), kind.datagram)
        }
        _ => None,
    }
}
