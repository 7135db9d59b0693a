//! What a responder speaks that neither echoes nor speaks the wiregauge protocol.

use crate::modbus::ModbusServer;
use crate::scpi::Instrument;
use wiregauge_record::{ModbusLine, Protocol};

/// A protocol of the field, spoken without I/O.
pub enum Application {
    /// Queries of IEEE 488.2.
    Scpi(Box<Instrument>),
    /// Registers and coils.
    Modbus(Box<ModbusServer>),
}

impl Application {
    /// What a responder with this name speaks; Modbus by the rules of this line. `None` where it echoes, or speaks the
    /// wiregauge protocol.
    pub fn new(protocol: Protocol, name: &str, line: ModbusLine) -> Option<Application> {
        match protocol {
            Protocol::Scpi => Some(Application::Scpi(Box::new(Instrument::new(name)))),
            Protocol::Modbus => Some(Application::Modbus(Box::new(ModbusServer::new(line)))),
            Protocol::Echo
            | Protocol::Lines
            | Protocol::Text
            | Protocol::GetStatus
            | Protocol::Wiregauge => None,
        }
    }

    /// Takes the first request from received bytes and appends its answer, which is empty where none is due.
    /// Returns how many bytes are used up; 0 if more must come.
    pub fn take(&mut self, bytes: &[u8], is_datagram: bool, answer: &mut Vec<u8>) -> usize {
        let used = match self {
            Application::Scpi(instrument) => instrument.take(bytes, is_datagram, answer),
            Application::Modbus(server) => server.take(bytes, answer),
        };
        match used {
            // What is left of a datagram has no continuation.
            0 if is_datagram => bytes.len(),
            used => used,
        }
    }
}
