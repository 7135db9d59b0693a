//! What scenarios with queries have in common for the driver, the device and the oracle: the requests, written out
//! here and not by the engine.

use crate::random::Random;
use crate::scenario::{Cell, Devices, Protocols, Scenario, US};
use wiregauge_record::{Limit, ModbusLine, Queries, Query, ReplyEnd};

/// The address that the device answers with an exception.
const MISSING: u16 = 9999;

/// The end of a line of text.
pub const END: &[u8] = b"\r\n";

/// Registers that a reply of this size has.
fn registers(protocol: Protocols, cell: Cell) -> u16 {
    let overhead = if protocol == Protocols::Tcp { 9 } else { 5 };
    ((cell.in_bytes - overhead) / 2) as u16
}

/// The two requests that are sent in turn, whole; a transaction number is left 0.
pub fn requests(protocol: Protocols, cell: Cell) -> [Vec<u8>; 2] {
    let body = |second: bool| match protocol {
        Protocols::Tcp | Protocols::Rtu => {
            let address = if second { MISSING } else { 7 };
            let mut body = vec![1, 3];
            body.extend(address.to_be_bytes());
            body.extend(registers(protocol, cell).to_be_bytes());
            body
        }
        // The second is the shortest that there is.
        _ if second => b"b\r\n".to_vec(),
        _ => {
            let mut line = vec![b'a'; cell.out_bytes as usize - END.len()];
            line.extend(END);
            line
        }
    };
    [false, true].map(|second| framed(protocol, 0, &body(second)))
}

/// A body with what the line adds to it.
pub fn framed(protocol: Protocols, number: u16, body: &[u8]) -> Vec<u8> {
    match protocol {
        Protocols::Tcp => {
            let [high, low] = number.to_be_bytes();
            [&[high, low, 0, 0, 0, body.len() as u8], body].concat()
        }
        Protocols::Rtu => [body, &check(body)].concat(),
        _ => body.to_vec(),
    }
}

/// The reply of a Modbus device to unit, function, address and count, without what the line adds.
pub fn modbus_reply(body: &[u8]) -> Option<Vec<u8>> {
    let &[1, function, high, low, 0, count] = body else {
        return None;
    };
    Some(match (function, u16::from_be_bytes([high, low])) {
        (3, 0..=999) if (1..=125).contains(&count) => {
            let mut reply = vec![1, 3, 2 * count];
            reply.extend((0..2 * count).map(|at| at ^ low));
            reply
        }
        (3, _) => vec![1, 0x83, 2],
        (function, _) => vec![1, function | 0x80, 1],
    })
}

/// CRC-16/MODBUS, bit by bit.
pub fn check(bytes: &[u8]) -> [u8; 2] {
    let mut crc = 0xFFFF_u16;
    for byte in bytes {
        crc ^= u16::from(*byte);
        for _ in 0..8 {
            let carry = crc & 1;
            crc >>= 1;
            if carry == 1 {
                crc ^= 0xA001;
            }
        }
    }
    crc.to_le_bytes()
}

/// What the engine is given.
pub fn for_engine(scenario: &Scenario, cell: Cell) -> Queries {
    let protocol = scenario.protocol;
    let overhead = match protocol {
        Protocols::Tcp => (6, 0),
        Protocols::Rtu => (0, 2),
        _ => (0, 0),
    };
    let list = requests(protocol, cell).into_iter().map(|whole| Query {
        name: String::new(),
        bytes: whole[overhead.0..whole.len() - overhead.1].to_vec(),
    });
    Queries {
        list: list.collect(),
        reply: match protocol {
            Protocols::Tcp => ReplyEnd::Modbus(ModbusLine::Tcp),
            Protocols::Rtu => ReplyEnd::Modbus(ModbusLine::Rtu {
                silence_ns: scenario.silence_ns,
            }),
            Protocols::Silence => ReplyEnd::IdleNs(scenario.silence_ns),
            _ => ReplyEnd::Until(END.to_vec()),
        },
        expect: (protocol == Protocols::Text).then(|| "^a".into()),
    }
}

impl Protocols {
    /// True if its requests are queries.
    pub fn has_queries(self) -> bool {
        matches!(
            self,
            Protocols::Text | Protocols::Silence | Protocols::Tcp | Protocols::Rtu
        )
    }

    /// True if replies are told apart by their order alone.
    pub fn is_ordered(self) -> bool {
        self == Protocols::Lines || (self.has_queries() && self != Protocols::Tcp)
    }
}

impl Scenario {
    /// The random scenario of this seed, with queries instead of what it measures.
    pub fn queries(seed: u64) -> Scenario {
        let mut scenario = Scenario::random(seed);
        let random = &mut Random::new(seed ^ 0x9e37_79b9_7f4a_7c15);
        scenario.protocol = random.pick(&[
            Protocols::Text,
            Protocols::Text,
            Protocols::Silence,
            Protocols::Tcp,
            Protocols::Rtu,
        ]);
        let protocol = scenario.protocol;
        scenario.trial = None;
        scenario.faults.surplus = 0;
        scenario.silence_ns = random.pick(&[US, 20 * US, 300 * US, 2_000 * US]);
        if protocol == Protocols::Rtu {
            scenario.datagram = false;
            scenario.faults.lose = 0;
            scenario.faults.duplicate = 0;
        }
        if scenario.device == Devices::Flooding {
            scenario.device = Devices::Plain;
        }
        if protocol.is_ordered() && matches!(scenario.limit, Limit::DurationNs(_)) {
            // What comes twice is taken for the next answer, and is sent twice again: time would stand still.
            scenario.faults.duplicate = 0;
            scenario.faults.double_answer = 0;
        }
        for cell in &mut scenario.cells {
            let alone = matches!(protocol, Protocols::Silence | Protocols::Rtu);
            *cell = match protocol {
                Protocols::Tcp | Protocols::Rtu => {
                    let registers = random.pick(&[1, 3, 20]);
                    let (out, overhead) = if protocol == Protocols::Tcp {
                        (12, 9)
                    } else {
                        (8, 5)
                    };
                    Cell {
                        out_bytes: out,
                        in_bytes: overhead + 2 * registers,
                        depth: if alone { 1 } else { cell.depth.min(16) },
                    }
                }
                _ => {
                    let bytes = random.pick(&[3, 8, 20, 60]);
                    Cell {
                        out_bytes: bytes,
                        in_bytes: bytes,
                        depth: if alone { 1 } else { cell.depth.min(16) },
                    }
                }
            };
        }
        scenario
    }
}
