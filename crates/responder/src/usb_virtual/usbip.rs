//! The data phase of USB/IP, as `vhci_hcd` speaks it on the socket that it was given: headers of 48
//! bytes, big-endian (Linux, Documentation/usb/usbip_protocol.rst).
//!
//! ```text
//!       0           4           8           12          16
//!     0 | command   | sequence  | device    | direction |
//!    16 | endpoint  | what follows differs: a command's flags and length,
//!    32 |   or an answer's status and length; a submission's setup packet is in 40..48
//! ```

use crate::bus::Direction;

/// Length of every header.
pub const HEADER: usize = 48;

/// Data of one transfer at most: more than usbfs grants by default (16 MiB for all together).
pub const MOST_DATA: usize = 32 << 20;

/// Packets of an isochronous transfer at most (`USBIP_MAX_ISO_PACKETS` of Linux' usbip_common.h).
const MOST_PACKETS: u32 = 1024;

/// Length of the descriptor of a packet: offset, length, actual length, status.
const DESCRIPTOR: usize = 16;

/// `-EPIPE`: the endpoint is stalled.
pub const STALLED: i32 = -32;

/// `-ECONNRESET`: taken back by the host.
pub const TAKEN_BACK: i32 = -104;

/// `URB_ZERO_PACKET` of Linux' include/linux/usb.h: close a full last packet by an empty one.
const ZERO_PACKET: u32 = 0x40;

const CMD_SUBMIT: u32 = 1;
const CMD_UNLINK: u32 = 2;
const RET_SUBMIT: u32 = 3;
const RET_UNLINK: u32 = 4;

/// What the host says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// It hands over a transfer.
    Submit(Submit<'a>),
    /// It takes one back.
    Unlink {
        /// Number of this command.
        sequence: u32,
        /// Number of the submission.
        target: u32,
    },
}

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submit<'a> {
    /// Its number.
    pub sequence: u32,
    /// Endpoint, 0 to 15.
    pub endpoint: u8,
    /// Which way.
    pub direction: Direction,
    /// Close a full last packet by one of length zero.
    pub close: bool,
    /// Length of the data OUT, or room for data IN.
    pub length: usize,
    /// The setup packet, on endpoint 0.
    pub setup: [u8; 8],
    /// The data OUT.
    pub data: &'a [u8],
    /// The descriptors of its packets, if it is isochronous.
    pub isochronous: &'a [u8],
}

impl Submit<'_> {
    /// Of each isochronous packet, where it lies in the transfer and how long it is.
    pub fn packets(&self) -> impl Iterator<Item = (u32, u32)> {
        let descriptors = self.isochronous.chunks_exact(DESCRIPTOR);
        descriptors.map(|bytes| (big_endian(bytes, 0), big_endian(bytes, 4)))
    }
}

/// A packet of an isochronous transfer that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsochronousPacket {
    /// Where it lies in the transfer.
    pub offset: u32,
    /// How long it could be.
    pub length: u32,
    /// How long it is.
    pub bytes: u32,
    /// 0, or an error number negated.
    pub status: i32,
}

/// The kernel said what this does not understand; nothing after it can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not a command.
    #[error("unknown USB/IP command {0}")]
    Command(u32),
    /// No such endpoint number or direction.
    #[error("USB/IP endpoint {0}, direction {1}")]
    Endpoint(u32, u32),
    /// More data than any transfer has.
    #[error("a USB/IP transfer of {0} bytes")]
    Length(u32),
    /// More packets than an isochronous transfer has, or packets beyond its data.
    #[error("an isochronous USB/IP transfer of {0} packets in {1} bytes")]
    Isochronous(u32, u32),
}

/// Reads the command at the front: it and its length, or nothing as long as it is not complete.
pub fn parse(bytes: &[u8]) -> Result<Option<(Command<'_>, usize)>, Malformed> {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let sequence = word(header, 4);
    match word(header, 0) {
        CMD_SUBMIT => {}
        CMD_UNLINK => {
            let target = word(header, 20);
            return Ok(Some((Command::Unlink { sequence, target }, HEADER)));
        }
        other => return Err(Malformed::Command(other)),
    }
    let (direction, endpoint) = match (word(header, 12), word(header, 16)) {
        (0, endpoint @ 0..=15) => (Direction::Out, endpoint as u8),
        (1, endpoint @ 0..=15) => (Direction::In, endpoint as u8),
        (direction, endpoint) => return Err(Malformed::Endpoint(endpoint, direction)),
    };
    let length = word(header, 24);
    if length as usize > MOST_DATA {
        return Err(Malformed::Length(length));
    }
    let packets = word(header, 32);
    let packets = match packets {
        u32::MAX => 0,
        packets if packets > MOST_PACKETS || (packets > 0 && endpoint == 0) => {
            return Err(Malformed::Isochronous(packets, length));
        }
        packets => packets,
    };
    let data = match direction {
        Direction::Out => length as usize,
        Direction::In => 0,
    };
    let Some((data, rest)) = rest.split_at_checked(data) else {
        return Ok(None);
    };
    let Some(isochronous) = rest.get(..packets as usize * DESCRIPTOR) else {
        return Ok(None);
    };
    let submit = Submit {
        sequence,
        endpoint,
        direction,
        close: word(header, 20) & ZERO_PACKET != 0,
        length: length as usize,
        setup: header[40..].try_into().expect("eight bytes are left"),
        data,
        isochronous,
    };
    let is_within =
        |(offset, bytes): (u32, u32)| u64::from(offset) + u64::from(bytes) <= u64::from(length);
    if !submit.packets().all(is_within) {
        return Err(Malformed::Isochronous(packets, length));
    }
    let used = HEADER + data.len() + isochronous.len();
    Ok(Some((Command::Submit(submit), used)))
}

/// Answers a submission: `data` is what came IN, `actual` what was carried in either direction.
pub fn put_done(to: &mut Vec<u8>, sequence: u32, status: i32, actual: usize, data: &[u8]) {
    let mut header = [0; HEADER];
    set(&mut header, 0, RET_SUBMIT);
    set(&mut header, 4, sequence);
    set(&mut header, 20, status as u32);
    set(&mut header, 24, actual as u32);
    to.extend_from_slice(&header);
    to.extend_from_slice(data);
}

/// Answers an isochronous submission whose first packet was in this frame. `data` is what came IN, without the room that
/// packets did not use.
pub fn put_isochronous(
    to: &mut Vec<u8>,
    sequence: u32,
    start_frame: u32,
    packets: &[IsochronousPacket],
    data: &[u8],
) {
    let mut header = [0; HEADER];
    set(&mut header, 0, RET_SUBMIT);
    set(&mut header, 4, sequence);
    let actual = packets.iter().map(|packet| packet.bytes).sum();
    let errors = packets.iter().filter(|packet| packet.status != 0).count();
    set(&mut header, 24, actual);
    set(&mut header, 28, start_frame);
    set(&mut header, 32, packets.len() as u32);
    set(&mut header, 36, errors as u32);
    to.extend_from_slice(&header);
    to.extend_from_slice(data);
    for packet in packets {
        let words = [
            packet.offset,
            packet.length,
            packet.bytes,
            packet.status as u32,
        ];
        to.extend(words.into_iter().flat_map(u32::to_be_bytes));
    }
}

/// Answers that a transfer is taken back: [`TAKEN_BACK`], or 0 if it was answered already.
pub fn put_unlinked(to: &mut Vec<u8>, sequence: u32, status: i32) {
    let mut header = [0; HEADER];
    set(&mut header, 0, RET_UNLINK);
    set(&mut header, 4, sequence);
    set(&mut header, 20, status as u32);
    to.extend_from_slice(&header);
}

fn word(header: &[u8; HEADER], at: usize) -> u32 {
    big_endian(header, at)
}

fn big_endian(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn set(header: &mut [u8; HEADER], at: usize, value: u32) {
    header[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn submission(words: [u32; 9], rest: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(rest);
        bytes
    }

    /// The example of a control transfer in the kernel's usbip_protocol.rst: GET_DESCRIPTOR.
    #[test]
    fn the_kernels_example_of_a_submission_is_understood() {
        let bytes = submission(
            [1, 0xd05, 0x0001_000f, 1, 1, 0x200, 64, 0xffff_ffff, 0],
            &[0; 8],
        );
        let (command, used) = parse(&bytes).unwrap().unwrap();
        assert_eq!(used, HEADER);
        let Command::Submit(submit) = command else {
            panic!("{command:?}");
        };
        assert_eq!((submit.sequence, submit.endpoint), (0xd05, 1));
        assert_eq!((submit.direction, submit.length), (Direction::In, 64));
    }

    #[test]
    fn data_out_belongs_to_its_submission_and_is_waited_for() {
        let mut bytes = submission([1, 7, 1, 0, 2, 0x40, 5, 0, 0], &[0; 8]);
        bytes.extend_from_slice(b"hell");
        assert_eq!(parse(&bytes), Ok(None));
        bytes.extend_from_slice(b"o and more");
        let (command, used) = parse(&bytes).unwrap().unwrap();
        assert_eq!(used, HEADER + 5);
        match command {
            Command::Submit(submit) => {
                assert_eq!(submit.data, b"hello");
                assert!(submit.close);
            }
            Command::Unlink { .. } => panic!("{command:?}"),
        }
    }

    #[test]
    fn what_cannot_be_is_refused_before_anything_is_held_for_it() {
        const MAX: u32 = u32::MAX;
        for (words, expected) in [
            ([9, 0, 0, 0, 0, 0, 0, 0, 0], Malformed::Command(9)),
            ([1, 0, 0, 0, 16, 0, 0, 0, 0], Malformed::Endpoint(16, 0)),
            ([1, 0, 0, 0, 1, 0, MAX, 0, 0], Malformed::Length(MAX)),
            (
                [1, 0, 0, 1, 1, 0, 9, 0, 1025],
                Malformed::Isochronous(1025, 9),
            ),
            ([1, 0, 0, 1, 0, 0, 64, 0, 1], Malformed::Isochronous(1, 64)),
        ] {
            let error = parse(&submission(words, &[0; 8])).unwrap_err();
            assert_eq!(error, expected);
        }
        // A packet that reaches beyond the data.
        let mut bytes = submission([1, 0, 0, 1, 1, 0, 64, 0, 1], &[0; 8]);
        bytes.extend([1, 64, 0, 0].map(u32::to_be_bytes).concat());
        assert_eq!(parse(&bytes).unwrap_err(), Malformed::Isochronous(1, 64));
    }

    #[test]
    fn the_packets_of_an_isochronous_transfer_stand_behind_its_data() {
        for (direction, data) in [(0, 20), (1, 0)] {
            let mut bytes = submission([1, 7, 1, direction, 2, 0, 20, 0, 2], &[0; 8]);
            bytes.resize(HEADER + data, 9);
            bytes.extend([0, 10, 0, 0, 10, 10, 0].map(u32::to_be_bytes).concat());
            assert_eq!(parse(&bytes), Ok(None), "a word is missing");
            bytes.extend([0; 4]);
            let (command, used) = parse(&bytes).unwrap().unwrap();
            assert_eq!(used, bytes.len());
            let Command::Submit(submit) = command else {
                panic!("{command:?}");
            };
            assert_eq!(submit.data.len(), data);
            let packets: Vec<_> = submit.packets().collect();
            assert_eq!(packets, [(0, 10), (10, 10)]);
        }
    }

    #[test]
    fn answers_carry_status_length_and_data() {
        let mut bytes = Vec::new();
        put_done(&mut bytes, 5, STALLED, 3, b"abc");
        assert_eq!(bytes.len(), HEADER + 3);
        assert_eq!(bytes[..8], [0, 0, 0, 3, 0, 0, 0, 5]);
        assert_eq!(bytes[20..28], [255, 255, 255, 224, 0, 0, 0, 3]);
        assert_eq!(bytes[48..], *b"abc");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(Some((_, used))) = parse(&bytes) {
                prop_assert!(used >= HEADER && used <= bytes.len());
            }
        }
    }
}
