//! Frames as SocketCAN passes them (`include/uapi/linux/can.h`): identifier and flags, length, data.

use wiregauge_limits::CAN_FD_SIZES;
use wiregauge_record::CanId;

/// Bytes of a classic frame.
pub const CLASSIC: usize = 16;

/// Bytes of a frame of CAN FD.
pub const FD: usize = 72;

/// Where the data begins.
const DATA: usize = 8;

/// CAN_EFF_FLAG, CAN_RTR_FLAG, CAN_ERR_FLAG and CAN_ERR_MASK.
const EXTENDED: u32 = 1 << 31;
const REMOTE: u32 = 1 << 30;
const ERROR: u32 = 1 << 29;
const ERROR_CLASSES: u32 = 0x1fff_ffff;

/// CANFD_BRS: the data phase has the second bit rate.
const BIT_RATE_SWITCH: u8 = 1;

/// What a received frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received<'a> {
    /// A data frame.
    Data(&'a [u8]),
    /// A request for data without any.
    Remote,
    /// An error frame, with its classes (`include/uapi/linux/can/error.h`).
    Error(u32),
    /// Nothing that SocketCAN defines.
    Malformed,
}

/// Reads a frame.
pub fn decode(bytes: &[u8]) -> Received<'_> {
    let Some((head, data)) = bytes.split_first_chunk::<DATA>() else {
        return Received::Malformed;
    };
    let length = usize::from(head[4]);
    let is_whole = matches!(bytes.len(), CLASSIC | FD) && length <= data.len();
    let id = u32::from_ne_bytes([head[0], head[1], head[2], head[3]]);
    match is_whole {
        false => Received::Malformed,
        true if id & ERROR != 0 => Received::Error(id & ERROR_CLASSES),
        true if id & REMOTE != 0 => Received::Remote,
        true => Received::Data(&data[..length]),
    }
}

/// Writes a data frame; returns its size, or `None` if no frame has so many bytes.
pub fn encode(id: CanId, fd: bool, payload: &[u8], into: &mut [u8; FD]) -> Option<usize> {
    let (size, allowed) = match fd {
        true => (
            FD,
            u32::try_from(payload.len()).is_ok_and(|length| CAN_FD_SIZES.contains(&length)),
        ),
        false => (CLASSIC, payload.len() <= CLASSIC - DATA),
    };
    if !allowed {
        return None;
    }
    into[..4].copy_from_slice(&raw_id(id).to_ne_bytes());
    into[4] = payload.len() as u8;
    into[5] = if fd { BIT_RATE_SWITCH } else { 0 };
    into[6..DATA].fill(0);
    into[DATA..DATA + payload.len()].copy_from_slice(payload);
    Some(size)
}

/// An identifier as the kernel has it.
pub fn raw_id(id: CanId) -> u32 {
    match id.is_extended() {
        true => id.number() | EXTENDED,
        false => id.number(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_reads_back_as_it_was_written() {
        let mut frame = [0xff; FD];
        for (id, fd, length) in [
            ("7e0", false, 8),
            ("18da10f1", false, 0),
            ("7e0", true, 64),
            ("1", true, 12),
        ] {
            let payload = vec![0xa5; length];
            let size = encode(id.parse().unwrap(), fd, &payload, &mut frame).unwrap();
            assert_eq!(size, if fd { 72 } else { 16 });
            assert_eq!(decode(&frame[..size]), Received::Data(&payload));
        }
        for (fd, length) in [(false, 9), (true, 9), (true, 65)] {
            let payload = vec![0; length];
            let size = encode("1".parse().unwrap(), fd, &payload, &mut frame);
            assert_eq!(size, None, "{length} B");
        }
    }

    #[test]
    fn error_frames_and_remote_frames_are_no_data() {
        let with = |id: u32| {
            let mut frame = [0; CLASSIC];
            frame[..4].copy_from_slice(&id.to_ne_bytes());
            frame[4] = 8;
            frame
        };
        let bus_off = with(ERROR | 0x40);
        assert_eq!(decode(&bus_off), Received::Error(0x40));
        assert_eq!(decode(&with(REMOTE | 0x123)), Received::Remote);
    }

    #[test]
    fn a_length_beyond_the_frame_is_refused() {
        let mut frame = [0; CLASSIC];
        frame[4] = 9;
        assert_eq!(decode(&frame), Received::Malformed);
        assert_eq!(decode(&frame[..7]), Received::Malformed);
        assert_eq!(decode(&[]), Received::Malformed);
    }
}
