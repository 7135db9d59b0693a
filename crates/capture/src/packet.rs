//! The bytes of a packet between SYNC and EOP: PID, fields and check (USB 2.0, 8.3 and 8.4).

use crc::{CRC_16_USB, Crc, Table};

/// Of the wire that a capture was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speed {
    /// 1.5 Mbit/s.
    Low,
    /// 12 Mbit/s.
    Full,
    /// 480 Mbit/s.
    High,
}

impl Speed {
    /// What a bit takes on the wire, in picoseconds.
    pub fn bit_ps(self) -> u64 {
        match self {
            Speed::Low => 666_667,
            Speed::Full => 83_333,
            Speed::High => 2_083,
        }
    }
}

/// What a packet is (USB 2.0, table 8-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Pid {
    /// The device is to take data.
    Out = 0b0001,
    /// The device is to send data.
    In = 0b1001,
    /// Start of a frame or microframe.
    Sof = 0b0101,
    /// A control transfer begins.
    Setup = 0b1101,
    /// Data.
    Data0 = 0b0011,
    /// Data.
    Data1 = 0b1011,
    /// Data of an isochronous endpoint at high speed.
    Data2 = 0b0111,
    /// Data of an isochronous endpoint, or of a split transaction.
    Mdata = 0b1111,
    /// Taken.
    Ack = 0b0010,
    /// Not ready: nothing to send, or no room.
    Nak = 0b1010,
    /// Halted, or a request that is not supported.
    Stall = 0b1110,
    /// Taken, but no room for the next (high speed).
    Nyet = 0b0110,
    /// Low-speed traffic follows; as a handshake, an error within a split transaction.
    PreOrErr = 0b1100,
    /// A transaction through the translator of a hub.
    Split = 0b1000,
    /// Asks whether there is room (high speed).
    Ping = 0b0100,
    /// Extended token.
    Ext = 0b0000,
}

impl Pid {
    const ALL: [Pid; 16] = [
        Pid::Out,
        Pid::In,
        Pid::Sof,
        Pid::Setup,
        Pid::Data0,
        Pid::Data1,
        Pid::Data2,
        Pid::Mdata,
        Pid::Ack,
        Pid::Nak,
        Pid::Stall,
        Pid::Nyet,
        Pid::PreOrErr,
        Pid::Split,
        Pid::Ping,
        Pid::Ext,
    ];

    /// The byte on the wire: the type and its complement.
    pub fn byte(self) -> u8 {
        let kind = self as u8;
        (!kind << 4) | kind
    }

    /// Of a byte on the wire, unless the halves contradict each other.
    pub fn of(byte: u8) -> Option<Pid> {
        // The types are the numbers from 0 to 15.
        let pid = BY_TYPE[usize::from(byte & 0xf)];
        (pid.byte() == byte).then_some(pid)
    }

    /// True for the packets that carry data.
    pub fn is_data(self) -> bool {
        matches!(self, Pid::Data0 | Pid::Data1 | Pid::Data2 | Pid::Mdata)
    }

    /// True for the packets that name a device and an endpoint and begin a transaction.
    pub fn is_token(self) -> bool {
        matches!(self, Pid::Out | Pid::In | Pid::Setup | Pid::Ping)
    }

    /// True for the packets of one byte.
    pub fn is_handshake(self) -> bool {
        matches!(
            self,
            Pid::Ack | Pid::Nak | Pid::Stall | Pid::Nyet | Pid::PreOrErr
        )
    }
}

/// Each where its type is.
const BY_TYPE: [Pid; 16] = {
    let mut sorted = Pid::ALL;
    let mut at = 0;
    while at < 16 {
        sorted[Pid::ALL[at] as usize] = Pid::ALL[at];
        at += 1;
    }
    sorted
};

const CRC16: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_USB);

/// `OUT`, `IN`, `SETUP` or `PING` for an endpoint.
pub fn token(pid: Pid, address: u8, endpoint: u8) -> [u8; 3] {
    fields(
        pid,
        u16::from(address & 0x7f) | u16::from(endpoint & 0xf) << 7,
    )
}

/// Start of the frame of this number, of which eleven bits are sent.
pub fn sof(frame: u64) -> [u8; 3] {
    fields(Pid::Sof, (frame & 0x7ff) as u16)
}

/// A packet with data.
pub fn data(pid: Pid, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len() + 3);
    bytes.push(pid.byte());
    bytes.extend_from_slice(payload);
    bytes.extend_from_slice(&CRC16.checksum(payload).to_le_bytes());
    bytes
}

/// A packet that consists of its PID.
pub fn handshake(pid: Pid) -> [u8; 1] {
    [pid.byte()]
}

/// Address and endpoint of a token, if the packet is a whole one.
pub fn endpoint_of(bytes: &[u8]) -> Option<(u8, u8)> {
    let fields = fields_of(bytes)?;
    Pid::of(bytes[0])?
        .is_token()
        .then_some(((fields & 0x7f) as u8, (fields >> 7) as u8))
}

/// Frame number of a start of frame, if the packet is a whole one.
pub fn frame_of(bytes: &[u8]) -> Option<u16> {
    (Pid::of(*bytes.first()?)? == Pid::Sof).then(|| fields_of(bytes))?
}

/// Payload of a packet with data, if its check is right.
pub fn payload_of(bytes: &[u8]) -> Option<&[u8]> {
    let (pid, rest) = bytes.split_first()?;
    if !Pid::of(*pid)?.is_data() {
        return None;
    }
    let (payload, check) = rest.split_last_chunk::<2>()?;
    (CRC16.checksum(payload).to_le_bytes() == *check).then_some(payload)
}

fn fields(pid: Pid, fields: u16) -> [u8; 3] {
    let [low, high] = (fields | u16::from(crc5(fields)) << 11).to_le_bytes();
    [pid.byte(), low, high]
}

fn fields_of(bytes: &[u8]) -> Option<u16> {
    let [_, low, high] = *bytes else { return None };
    let all = u16::from_le_bytes([low, high]);
    let fields = all & 0x7ff;
    (u16::from(crc5(fields)) == all >> 11).then_some(fields)
}

/// The check of the eleven bits of a token (USB 2.0, 8.3.5.1). Bit by bit: libraries take whole bytes.
fn crc5(fields: u16) -> u8 {
    let mut remainder = 0x1f;
    for bit in 0..11 {
        let differs = (remainder ^ (fields >> bit) as u8) & 1 == 1;
        remainder >>= 1;
        if differs {
            remainder ^= 0x14;
        }
    }
    !remainder & 0x1f
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets that are printed in the literature: USB-IF "Cyclic Redundancy Checks in USB", examples.
    #[test]
    fn tokens_carry_the_check_of_the_published_examples() {
        // setup addr 15 endp e: 0x17; out addr 3a endp a: 0x1c; in addr 70 endp 4: 0x0e; sof 001: 0x17.
        // The paper writes the bits in the order in which they are sent.
        let sent = |packet: [u8; 3]| {
            let check = packet[2] >> 3;
            (0..5).fold(0, |bits, at| bits << 1 | (check >> at & 1))
        };
        assert_eq!(sent(token(Pid::Setup, 0x15, 0xe)), 0b10111);
        assert_eq!(sent(token(Pid::Out, 0x3a, 0xa)), 0b11100);
        assert_eq!(sent(token(Pid::In, 0x70, 0x4)), 0b01110);
        assert_eq!(sent(sof(0x001)), 0b10111);
    }

    #[test]
    fn data_carry_the_check_of_the_published_examples() {
        let sent = |payload: &[u8]| {
            let packet = data(Pid::Data0, payload);
            let check = u16::from_le_bytes([packet[packet.len() - 2], packet[packet.len() - 1]]);
            check.reverse_bits()
        };
        assert_eq!(sent(&[0x00, 0x01, 0x02, 0x03]), 0xf75e);
        assert_eq!(sent(&[0x23, 0x45, 0x67, 0x89]), 0x7038);
    }

    #[test]
    fn what_was_written_into_a_packet_is_read_from_it() {
        for address in 0..128 {
            for endpoint in 0..16 {
                let packet = token(Pid::Ping, address, endpoint);
                assert_eq!(endpoint_of(&packet), Some((address, endpoint)));
            }
        }
        for frame in 0..2048 {
            assert_eq!(frame_of(&sof(frame)), Some(frame as u16));
        }
        for length in [0, 1, 64, 1024] {
            let payload = vec![0xa5; length];
            assert_eq!(payload_of(&data(Pid::Data1, &payload)), Some(&payload[..]));
        }
    }

    #[test]
    fn a_packet_with_a_wrong_bit_is_none() {
        let (token, data) = (token(Pid::In, 5, 2), data(Pid::Data0, b"abc"));
        for bit in 8..24 {
            let mut broken = token;
            broken[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(endpoint_of(&broken), None, "{bit}");
        }
        for bit in 8..data.len() * 8 {
            let mut broken = data.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(payload_of(&broken), None, "{bit}");
        }
    }

    #[test]
    fn every_pid_has_its_byte_and_no_other_byte_is_one() {
        for byte in 0..=255 {
            let whole = byte >> 4 == !byte & 0xf;
            assert_eq!(Pid::of(byte).map(Pid::byte), whole.then_some(byte));
        }
        assert_eq!(Pid::Ack.byte(), 0xd2);
        assert_eq!(Pid::Nak.byte(), 0x5a);
        assert_eq!(Pid::Setup.byte(), 0x2d);
    }
}
