//! Frames of the wiregauge protocol, made by hand.

use wiregauge_wire::{Kind, Request};

/// One request frame of the wiregauge protocol.
pub fn request(kind: Kind, sequence: u32, out_bytes: usize, in_bytes: u32) -> Vec<u8> {
    let mut frame = vec![0; out_bytes];
    let (header, payload) = frame.split_at_mut(16);
    let header = header.try_into().expect("16 bytes");
    Request {
        kind,
        sequence,
        out_payload: payload.len() as u32,
        in_bytes,
    }
    .encode(header);
    if kind == Kind::Exchange {
        for (index, byte) in payload.iter_mut().enumerate() {
            *byte = ((sequence as usize + index) % 251) as u8;
        }
    }
    frame
}
