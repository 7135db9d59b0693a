//! How bytes move over a byte stream, and what happens to them on their way.

use super::{Byte, Event, HELD, Tag, World};

impl World {
    /// Sets in motion what can move.
    pub(super) fn kick(&mut self) {
        if !self.up_moves && !self.host_out.is_empty() && self.device_out.len() < HELD {
            self.up_moves = true;
            let at = self.now_ns.max(self.stalled_until_ns) + self.delay();
            self.schedule(at, Event::Up);
        }
        let has_room = (self.host_in.len() as u64) < self.shape.receive_room;
        if !self.down_moves && !self.device_out.is_empty() && has_room {
            self.down_moves = true;
            let at = self.now_ns + self.delay();
            self.schedule(at, Event::Down);
        }
    }

    pub(super) fn move_up(&mut self) {
        if self.is_blocked() {
            return;
        }
        if self.random.chance(self.faults.stall) {
            self.stalled_until_ns = self.now_ns + self.faults.stall_ns;
            self.say(|| format!("the device stalls until {}", self.stalled_until_ns));
        }
        self.up_moves = false;
        if self.now_ns < self.stalled_until_ns {
            self.kick();
            return;
        }
        if self.random.chance(self.faults.break_link) {
            self.say(|| "the link breaks".into());
            self.broken = true;
            return;
        }
        let most = self.shape.piece_up.min(self.host_out.len() as u64);
        let count = self.random.between(1, most) as usize;
        let bytes: Vec<Byte> = self.host_out.drain(..count).collect();
        let bytes = self.damage(bytes, true);
        self.reach_device(&bytes);
        self.kick();
    }

    pub(super) fn move_down(&mut self) {
        self.down_moves = false;
        if self.random.chance(self.faults.break_link) {
            self.say(|| "the link breaks".into());
            self.broken = true;
            return;
        }
        let room = self.shape.receive_room - self.host_in.len() as u64;
        let most = self
            .shape
            .piece_down
            .min(self.device_out.len() as u64)
            .min(room);
        if most > 0 {
            let count = self.random.between(1, most) as usize;
            let bytes: Vec<Byte> = self.device_out.drain(..count).collect();
            let bytes = self.damage(bytes, false);
            if !bytes.is_empty() {
                self.readable_since.push_back((bytes.len(), self.now_ns));
            }
            self.host_in.extend(bytes);
        }
        self.kick();
    }

    /// What becomes of bytes on their way, over datagrams of one of them.
    pub(super) fn damage(&mut self, bytes: Vec<Byte>, up: bool) -> Vec<Byte> {
        let faults = self.faults;
        let (flip, cut, insert) = match up {
            true => (faults.flip_up, faults.cut_up, faults.insert_up),
            false => (faults.flip_down, faults.cut_down, faults.insert_down),
        };
        if flip + cut + insert + faults.shorten == 0 {
            return bytes;
        }
        let mut bytes = bytes;
        if self.datagram && bytes.len() > 1 && self.random.chance(faults.shorten) {
            self.damaged = true;
            self.say(|| format!("a datagram is cut (up: {up})"));
            bytes.truncate(self.random.between(1, bytes.len() as u64 - 1) as usize);
        }
        let mut arrived = Vec::with_capacity(bytes.len() + 1);
        for mut byte in bytes {
            if self.random.chance(insert) {
                self.damaged = true;
                arrived.push(Byte {
                    value: self.random.any() as u8,
                    tag: Tag::default(),
                });
            }
            if self.random.chance(cut) {
                self.damaged = true;
                self.say(|| format!("a byte is lost (up: {up}): {:?}", byte.tag));
                continue;
            }
            if self.random.chance(flip) {
                self.damaged = true;
                self.say(|| format!("a bit changes (up: {up}): {:?}", byte.tag));
                let bit = 1 << self.random.below(8);
                byte.value ^= bit;
                byte.tag.changed ^= bit;
            }
            arrived.push(byte);
        }
        arrived
    }
}
