//! A Modbus server (Application Protocol V1.1b3) with 10,000 registers and coils of each kind, so that everything can
//! be tried without a device. Holding registers begin with their own address.

use crc::{CRC_16_MODBUS, Crc};
use wiregauge_record::ModbusLine;

/// Addresses of each table.
const SIZE: usize = 10_000;

/// The check of serial frames.
const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_MODBUS);

/// Transaction number, protocol, length.
const MBAP: usize = 6;

/// The unit that answers on a serial line.
const UNIT: u8 = 1;

/// Exceptions.
const ILLEGAL_FUNCTION: u8 = 1;
const ILLEGAL_ADDRESS: u8 = 2;
const ILLEGAL_VALUE: u8 = 3;

/// The server.
pub struct ModbusServer {
    line: ModbusLine,
    holding: Vec<u16>,
    coils: Vec<bool>,
}

impl ModbusServer {
    /// A server at rest.
    pub fn new(line: ModbusLine) -> ModbusServer {
        ModbusServer {
            line,
            holding: (0..SIZE as u16).collect(),
            coils: vec![false; SIZE],
        }
    }

    /// Takes one request; see [`crate::application::Application::take`].
    pub fn take(&mut self, bytes: &[u8], answer: &mut Vec<u8>) -> usize {
        match self.line {
            ModbusLine::Tcp => self.take_tcp(bytes, answer),
            ModbusLine::Rtu { .. } => self.take_rtu(bytes, answer),
        }
    }

    fn take_tcp(&mut self, bytes: &[u8], answer: &mut Vec<u8>) -> usize {
        let Some(&[high, low, protocol_high, protocol_low, length_high, length]) =
            bytes.first_chunk::<MBAP>()
        else {
            return 0;
        };
        if (protocol_high, protocol_low, length_high) != (0, 0, 0) || length < 2 {
            return 1;
        }
        let end = MBAP + usize::from(length);
        let Some(&[unit, ref pdu @ ..]) = bytes.get(MBAP..end) else {
            return 0;
        };
        // 0 and 255 are the device itself (Messaging on TCP/IP V1.0b, 4.4.2.2).
        if [0, UNIT, 255].contains(&unit) {
            answer.extend_from_slice(&[high, low, 0, 0, 0, 0, unit]);
            let begin = answer.len();
            self.obey(pdu, answer);
            answer[begin - 2] = (answer.len() - begin + 1) as u8;
        }
        end
    }

    fn take_rtu(&mut self, bytes: &[u8], answer: &mut Vec<u8>) -> usize {
        let Some(size) = request_bytes(bytes) else {
            return 0;
        };
        let Some(check) = bytes.get(size..size + 2) else {
            return 0;
        };
        let (frame, end) = (&bytes[..size], size + 2);
        if CRC.checksum(frame).to_le_bytes() != check {
            // A real device waits for silence; here the next frame is looked for.
            return 1;
        }
        let unit = frame[0];
        let begin = answer.len();
        match unit {
            UNIT => {
                answer.push(unit);
                self.obey(&frame[1..], answer);
                let check = CRC.checksum(&answer[begin..]).to_le_bytes();
                answer.extend_from_slice(&check);
            }
            // A broadcast is obeyed and not answered.
            0 => self.obey(&frame[1..], &mut Vec::new()),
            _ => {}
        }
        end
    }

    /// Carries out a PDU and appends its answer.
    fn obey(&mut self, pdu: &[u8], answer: &mut Vec<u8>) {
        let begin = answer.len();
        if let Err(exception) = self.try_to_obey(pdu, answer) {
            answer.truncate(begin);
            answer.extend_from_slice(&[pdu.first().unwrap_or(&0) | 0x80, exception]);
        }
    }

    fn try_to_obey(&mut self, pdu: &[u8], answer: &mut Vec<u8>) -> Result<(), u8> {
        let function = *pdu.first().ok_or(ILLEGAL_FUNCTION)?;
        if ![1, 2, 3, 4, 5, 6, 15, 16].contains(&function) {
            return Err(ILLEGAL_FUNCTION);
        }
        let &[high, low, third, fourth, ref rest @ ..] = &pdu[1..] else {
            return Err(ILLEGAL_VALUE);
        };
        let address = usize::from(u16::from_be_bytes([high, low]));
        let value = u16::from_be_bytes([third, fourth]);
        let count = match function {
            5 | 6 => 1,
            _ => usize::from(value),
        };
        let most = [2000, 2000, 125, 125, 1, 1, 1968, 123];
        let at = [1, 2, 3, 4, 5, 6, 15, 16]
            .iter()
            .position(|one| *one == function);
        let most = most[at.unwrap_or(0)];
        if !(1..=most).contains(&count) || (function == 5 && ![0, 0xff00].contains(&value)) {
            return Err(ILLEGAL_VALUE);
        }
        let range = address..address + count;
        if range.end > SIZE {
            return Err(ILLEGAL_ADDRESS);
        }
        let data = |bytes: usize| match rest.split_first() {
            Some((size, data)) if usize::from(*size) == bytes && data.len() == bytes => Ok(data),
            _ => Err(ILLEGAL_VALUE),
        };
        answer.push(function);
        match function {
            1 | 2 => {
                answer.push(count.div_ceil(8) as u8);
                let packed = self.coils[range].chunks(8).map(|eight| {
                    let bits = eight.iter().enumerate();
                    bits.fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at)
                });
                answer.extend(packed);
                return Ok(());
            }
            3 | 4 => {
                answer.push(2 * count as u8);
                answer.extend(
                    self.holding[range]
                        .iter()
                        .flat_map(|value| value.to_be_bytes()),
                );
                return Ok(());
            }
            5 => self.coils[address] = value != 0,
            6 => self.holding[address] = value,
            15 => {
                let data = data(count.div_ceil(8))?;
                for (at, coil) in self.coils[range].iter_mut().enumerate() {
                    *coil = data[at / 8] >> (at % 8) & 1 != 0;
                }
            }
            _ => {
                let data = data(2 * count)?;
                for (register, value) in self.holding[range].iter_mut().zip(data.chunks_exact(2)) {
                    *register = u16::from_be_bytes([value[0], value[1]]);
                }
            }
        }
        answer.extend_from_slice(&pdu[1..5]);
        Ok(())
    }
}

/// Bytes of a serial request without its CRC; `None` if more must come.
fn request_bytes(bytes: &[u8]) -> Option<usize> {
    Some(match *bytes.get(1)? {
        15 | 16 => 7 + usize::from(*bytes.get(6)?),
        22 => 8,
        23 => 11 + usize::from(*bytes.get(10)?),
        7 | 11 | 12 | 17 => 2,
        _ => 6,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTU: ModbusLine = ModbusLine::Rtu { silence_ns: 0 };

    fn pdu(server: &mut ModbusServer, pdu: &[u8]) -> Vec<u8> {
        let mut answer = Vec::new();
        server.obey(pdu, &mut answer);
        answer
    }

    #[test]
    fn what_is_written_is_read_back() {
        let server = &mut ModbusServer::new(ModbusLine::Tcp);
        assert_eq!(pdu(server, &[3, 0, 100, 0, 2]), [3, 4, 0, 100, 0, 101]);
        assert_eq!(pdu(server, &[6, 0, 100, 1, 2]), [6, 0, 100, 1, 2]);
        let found = pdu(server, &[16, 0, 101, 0, 1, 2, 3, 4]);
        assert_eq!(found, [16, 0, 101, 0, 1]);
        assert_eq!(pdu(server, &[4, 0, 100, 0, 2]), [4, 4, 1, 2, 3, 4]);
        assert_eq!(pdu(server, &[5, 0, 9, 0xff, 0]), [5, 0, 9, 0xff, 0]);
        assert_eq!(pdu(server, &[15, 0, 0, 0, 9, 2, 5, 1]), [15, 0, 0, 0, 9]);
        assert_eq!(pdu(server, &[1, 0, 0, 0, 10]), [1, 2, 5, 3]);
    }

    #[test]
    fn what_is_not_possible_is_an_exception() {
        let server = &mut ModbusServer::new(ModbusLine::Tcp);
        for (request, exception) in [
            (&[8, 0, 0, 0, 0][..], [0x88, ILLEGAL_FUNCTION]),
            (&[3, 0x27, 0x0f, 0, 2], [0x83, ILLEGAL_ADDRESS]),
            (&[3, 0, 0, 0, 126], [0x83, ILLEGAL_VALUE]),
            (&[3, 0, 0], [0x83, ILLEGAL_VALUE]),
            (&[5, 0, 0, 0, 1], [0x85, ILLEGAL_VALUE]),
            (&[16, 0, 0, 0, 2, 4, 0, 1], [0x90, ILLEGAL_VALUE]),
        ] {
            assert_eq!(pdu(server, request), exception);
        }
    }

    #[test]
    fn a_serial_frame_with_a_wrong_crc_or_for_another_unit_is_not_answered() {
        let framed = |frame: &[u8]| [frame, &CRC.checksum(frame).to_le_bytes()].concat();
        let server = &mut ModbusServer::new(RTU);
        let mut answer = Vec::new();
        let request = framed(&[1, 3, 0, 7, 0, 1]);
        assert_eq!(server.take(&request[..7], &mut answer), 0);
        assert_eq!(server.take(&request, &mut answer), 8);
        assert_eq!(answer, framed(&[1, 3, 2, 0, 7]));
        answer.clear();
        assert_eq!(server.take(&framed(&[2, 3, 0, 7, 0, 1]), &mut answer), 8);
        let mut damaged = request.clone();
        damaged[3] ^= 1;
        assert_eq!(server.take(&damaged, &mut answer), 1);
        assert_eq!(answer, []);
        assert_eq!(server.take(&framed(&[0, 6, 0, 7, 0, 9]), &mut answer), 8);
        assert_eq!((answer.len(), server.holding[7]), (0, 9), "a broadcast");
    }

    #[test]
    fn over_tcp_the_transaction_number_comes_back() {
        let server = &mut ModbusServer::new(ModbusLine::Tcp);
        let mut answer = Vec::new();
        let request = [7, 8, 0, 0, 0, 6, 1, 3, 0, 7, 0, 1];
        assert_eq!(server.take(&request[..11], &mut answer), 0);
        assert_eq!(server.take(&request, &mut answer), 12);
        assert_eq!(answer, [7, 8, 0, 0, 0, 5, 1, 3, 2, 0, 7]);
        answer.clear();
        let found = server.take(&[7, 8, 0, 0, 0, 6, 9, 3, 0, 7, 0, 1], &mut answer);
        assert_eq!(found, 12);
        assert_eq!(answer, [], "another unit");
    }
}
