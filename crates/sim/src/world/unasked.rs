//! Messages that the device sends without being asked: whole, in pieces, or only a part of one.

use super::{Event, World};

/// How often a message comes in pieces.
const IN_PIECES: u32 = 400_000;

/// How often only a part of a message comes.
const A_PART: u32 = 300_000;

impl World {
    /// The device may send a message soon that nobody asked for.
    pub(super) fn may_speak_unasked(&mut self) {
        if self.random.chance(self.faults.unasked) {
            let at_ns = self.now_ns + self.random.below(self.faults.unasked_ns + 1);
            self.schedule(at_ns, Event::Message);
        }
    }

    pub(super) fn give_unasked(&mut self) {
        let mut message = self.device.unasked(&self.given, &mut self.random);
        if message.bytes.is_empty() {
            return;
        }
        let is_part = message.bytes.len() > 1 && self.random.chance(A_PART);
        if is_part {
            let longest = message.bytes.len() as u64 - 1;
            let count = self.random.between(1, longest) as usize;
            message.bytes.truncate(count);
        }
        self.damaged |= is_part || message.spoils;
        self.say(|| format!("an unasked message of {} B", message.bytes.len()));
        self.give_with_pauses(message.bytes, IN_PIECES);
    }
}
