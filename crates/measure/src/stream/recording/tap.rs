//! The receiving thread's end of a recording: copies the payload into memory laid out and touched beforehand. While
//! there is room, no allocation, no lock and no system call.

use super::super::coordination::Coordination;
use super::RecordError;
use rtrb::Producer;
use std::sync::Arc;
use std::time::Duration;
use wiregauge_session::stream::Payload;

/// How long the receiver sleeps before it looks again whether there is room.
const NAP: Duration = Duration::from_micros(100);

/// A run that the user has ended waits no longer than this for storage that takes nothing.
const PATIENCE_NS: u64 = 1_000_000_000;

/// The end of a recording that is filled, from before a point to its end.
pub struct RecordInput {
    pub(super) ring: Producer<u8>,
    pub(super) error: Arc<RecordError>,
}

/// What the receiver did for a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tapped {
    /// Bytes of the payload.
    pub bytes: u64,
    /// How often the buffer was full, so that the receiver had to wait.
    pub waits: u64,
    /// How long it waited, in nanoseconds.
    pub waited_ns: u64,
}

/// Fills the buffer of a recording.
pub struct Tap<'a, 'b> {
    input: RecordInput,
    shared: &'a Coordination<'b>,
    tapped: Tapped,
    /// The storage failed, or took nothing after the user ended the run.
    given_up: bool,
}

impl<'a, 'b> Tap<'a, 'b> {
    /// For one point.
    pub fn new(input: RecordInput, shared: &'a Coordination<'b>) -> Tap<'a, 'b> {
        Tap {
            input,
            shared,
            tapped: Tapped::default(),
            given_up: false,
        }
    }

    /// What was done.
    pub fn tapped(&self) -> Tapped {
        self.tapped
    }

    /// Waits until there is room for some of the bytes; returns those that are left over when the storage has failed
    /// or the user does not want to wait.
    #[cold]
    fn wait<'c>(&mut self, mut bytes: &'c [u8]) -> &'c [u8] {
        let shared = self.shared;
        let begun = shared.clock.now();
        let (mut now, mut moved) = (begun, begun);
        self.tapped.waits += 1;
        while !bytes.is_empty() && !self.input.ring.is_abandoned() {
            std::thread::sleep(NAP);
            now = shared.clock.now();
            shared.hold(now);
            let (taken, left) = self.input.ring.push_partial_slice(bytes);
            if !taken.is_empty() {
                moved = now;
            }
            bytes = left;
            if shared.is_stopped() && now.saturating_sub(moved) > PATIENCE_NS {
                break;
            }
        }
        self.tapped.waited_ns += now - begun;
        bytes
    }
}

impl Payload for Tap<'_, '_> {
    #[inline]
    fn take(&mut self, bytes: &[u8]) {
        self.tapped.bytes += bytes.len() as u64;
        if self.given_up {
            return;
        }
        let (_, left) = self.input.ring.push_partial_slice(bytes);
        if left.is_empty() && !self.input.ring.is_abandoned() {
            return;
        }
        let left = self.wait(left);
        if self.input.ring.is_abandoned() {
            self.given_up = true;
            self.shared.fail_storage(self.input.error.link_error());
        } else {
            self.given_up = !left.is_empty();
        }
    }
}
