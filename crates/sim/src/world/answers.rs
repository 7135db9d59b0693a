//! How the device's answers go out: at once, late, again, after work on them, or in pieces.

use super::{Byte, Event, World};

impl World {
    /// The device has received `bytes`: its answers go out, or what the faults make of them.
    pub(super) fn reach_device(&mut self, bytes: &[Byte]) {
        let mut answers = Vec::new();
        self.device
            .take(bytes, self.now_ns, &mut self.given, &mut answers);
        let silent = self.is_silent();
        for answer in answers {
            let faults = self.faults;
            if silent || self.random.chance(faults.drop_answer) {
                self.say(|| format!("the device drops an answer of {} B", answer.len()));
                continue;
            }
            self.may_speak_unasked();
            if faults.service_ns > 0 || faults.stall_every > 0 {
                self.work_on(answer);
                continue;
            }
            if self.random.chance(faults.late_answer) {
                let at = self.now_ns + self.random.below(faults.late_ns + 1);
                self.schedule(at, Event::Answer(answer));
                continue;
            }
            if self.random.chance(faults.swap_answer) && self.held_back.is_none() {
                self.held_back = Some(answer);
                continue;
            }
            if self.random.chance(faults.double_answer) {
                self.give(answer.clone());
            }
            self.give(answer);
            if let Some(held) = self.held_back.take() {
                self.give(held);
            }
        }
    }

    /// The device works on an answer, on one after the other.
    fn work_on(&mut self, answer: Vec<Byte>) {
        self.worked += 1;
        let every = self.faults.stall_every;
        let stalls = every > 0 && self.worked.is_multiple_of(every);
        let stall_ns = if stalls { self.faults.stall_ns } else { 0 };
        let begin_ns = self.works_until_ns.max(self.now_ns);
        self.works_until_ns = begin_ns + self.faults.service_ns + stall_ns;
        self.schedule(self.works_until_ns, Event::Answer(answer));
    }

    /// The device hands an answer to its end of the link; over a stream perhaps in pieces, with pauses between them.
    pub(super) fn give(&mut self, bytes: Vec<Byte>) {
        self.give_with_pauses(bytes, self.faults.pause);
    }

    pub(super) fn give_with_pauses(&mut self, bytes: Vec<Byte>, chance: u32) {
        if self.pieces > 0 {
            self.behind_pieces.push_back((bytes, chance));
            return;
        }
        if self.datagram || !self.random.chance(chance) {
            self.put_out(bytes);
            return;
        }
        let mut rest = bytes;
        let mut at_ns = self.now_ns;
        while !rest.is_empty() {
            let later = rest.split_off(self.random.between(1, rest.len() as u64) as usize);
            self.schedule(at_ns, Event::Piece(rest));
            self.pieces += 1;
            at_ns += self.random.below(self.faults.pause_ns + 1);
            rest = later;
        }
    }

    pub(super) fn put_out_piece(&mut self, bytes: Vec<Byte>) {
        self.put_out(bytes);
        self.pieces -= 1;
        while self.pieces == 0
            && let Some((bytes, chance)) = self.behind_pieces.pop_front()
        {
            self.give_with_pauses(bytes, chance);
        }
    }

    /// Bytes go out.
    fn put_out(&mut self, bytes: Vec<Byte>) {
        if !self.datagram {
            self.device_out.extend(bytes);
            self.kick();
            return;
        }
        let copies = match self.faults {
            faults if self.random.chance(faults.lose) => 0,
            faults => 1 + u32::from(self.random.chance(faults.duplicate)),
        };
        for _ in 0..copies {
            let bytes = self.damage(bytes.clone(), false);
            let at = self.now_ns + self.delay();
            self.schedule(at, Event::DatagramDown(bytes));
        }
    }
}
