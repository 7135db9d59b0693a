//! The payload of a stream in order, without the answers that stand in it: what a recording gets.

use wiregauge_wire::{Header, Response};

/// Takes the payload of a stream, piece by piece, in the order in which it came.
pub trait Payload {
    /// Takes the next bytes.
    fn take(&mut self, bytes: &[u8]);
}

/// Nobody wants it.
impl Payload for () {
    #[inline]
    fn take(&mut self, _bytes: &[u8]) {}
}

impl<P: Payload> Payload for Option<P> {
    #[inline]
    fn take(&mut self, bytes: &[u8]) {
        if let Some(payload) = self {
            payload.take(bytes);
        }
    }
}

/// The most bytes of a header that an earlier piece can hold.
const HELD: usize = Response::SIZE - 1;

/// Holds back the last bytes, which may turn out to be the beginning of an answer.
#[derive(Debug, Default)]
pub(super) struct Delay {
    bytes: [u8; HELD],
    held: usize,
}

impl Delay {
    /// Passes on what cannot be the beginning of an answer any more.
    #[inline]
    pub(super) fn put(&mut self, bytes: &[u8], payload: &mut impl Payload) {
        if bytes.len() >= HELD {
            self.flush(payload);
            let (now, later) = bytes.split_at(bytes.len() - HELD);
            payload.take(now);
            self.bytes.copy_from_slice(later);
            self.held = HELD;
            return;
        }
        let over = (self.held + bytes.len()).saturating_sub(HELD);
        payload.take(&self.bytes[..over]);
        self.bytes.copy_within(over..self.held, 0);
        self.held -= over;
        self.bytes[self.held..self.held + bytes.len()].copy_from_slice(bytes);
        self.held += bytes.len();
    }

    /// The last bytes were the beginning of an answer.
    pub(super) fn retract(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// Passes on all.
    #[inline]
    pub(super) fn flush(&mut self, payload: &mut impl Payload) {
        payload.take(&self.bytes[..self.held]);
        self.held = 0;
    }
}
