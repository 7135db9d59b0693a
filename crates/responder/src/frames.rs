//! Requests and responses of the wiregauge protocol, as a responder reads and writes them.

use wiregauge_wire as wire;
use wiregauge_wire::{HeaderError, Kind, Request, Response, Status};

/// The frame that a datagram is: one exactly as long as its header says.
pub(crate) fn frame_of(datagram: &[u8]) -> Option<(Request, &[u8])> {
    let request = Request::decode(datagram).ok()?;
    let payload = &datagram[wire::REQUEST_HEADER..];
    (payload.len() == request.out_payload as usize).then_some((request, payload))
}

/// What is answered to a datagram with a true header of another version or of an unknown kind
/// (docs/protocol.md, Versions).
pub(crate) fn not_spoken(datagram: &[u8]) -> Option<(Request, Status)> {
    let status = match Request::decode(datagram) {
        Err(HeaderError::Version(_)) => Status::Version,
        Err(HeaderError::Kind(_)) => Status::Unsupported,
        _ => return None,
    };
    let request = Request {
        kind: Kind::Hello,
        sequence: wire::sequence_of(datagram)?,
        out_payload: 0,
        in_bytes: 0,
    };
    Some((request, status))
}

/// What a responder without an application answers to a message: the same bytes, repeated or cut to
/// the size asked for.
pub(crate) fn echo_message(said: &[u8], reply: &mut [u8]) {
    if !said.is_empty() {
        for part in reply.chunks_mut(said.len()) {
            part.copy_from_slice(&said[..part.len()]);
        }
    }
}

/// Writes a message and its check. Nothing where there is no room for a check: the answer to a damaged message.
pub(crate) fn put_message(payload: &mut [u8], write: impl FnOnce(&mut [u8])) {
    let Some((bytes, check)) = payload.split_last_chunk_mut::<{ wire::MESSAGE_CHECK }>() else {
        return;
    };
    write(bytes);
    *check = wire::message_check(bytes);
}

pub(crate) fn put_header(response: &Response, to: &mut Vec<u8>) {
    let mut header = [0; wire::RESPONSE_HEADER];
    response.encode(&mut header);
    to.extend_from_slice(&header);
}
