//! From the device to the host: what the device sends, separated into data and answers, and what the host receives.

use super::{Event, HELD, World};
use crate::stream::truth::{AnswerTruth, HEADER, Origin, StreamByte, pattern};
use wiregauge_wire::{Kind, RESPONSE_HEADER, Response, Status};

impl World<'_> {
    /// Takes what the host receives: a datagram, or at most so many bytes.
    pub fn receive(&mut self, most: usize) -> Vec<StreamByte> {
        let mut came = Vec::new();
        if self.scenario.datagram {
            came = self.host.pop_front().unwrap_or_default();
        }
        while !self.scenario.datagram
            && came.len() < most
            && let Some(first) = self.host.front_mut()
        {
            let end = first.len().min(most - came.len());
            came.extend(first.drain(..end));
            self.host_bytes -= end;
            if first.is_empty() {
                self.host.pop_front();
            }
        }
        self.kick();
        came
    }

    pub(super) fn take_from_device(&mut self) {
        let held: usize = self.down.iter().map(Vec::len).sum();
        let wants = match self.scenario.datagram {
            true => self.down.is_empty(),
            false => held < HELD,
        };
        if !wants {
            return;
        }
        let given = self.device.give(self.now_ns);
        if given.is_empty() {
            return;
        }
        self.from_device.extend(given);
        if !self.scenario.datagram {
            // What it left waited for room.
            let rest = std::mem::take(&mut self.at_device);
            self.reach_device(rest);
        }
        self.tag();
    }

    /// Tells what the device sends by what stands in it.
    fn tag(&mut self) {
        let raw = std::mem::take(&mut self.from_device);
        let mut rest = &raw[..];
        let mut tagged = Vec::with_capacity(rest.len());
        while let Some(&value) = rest.first() {
            let may_be = value == 0x7A;
            if may_be && rest.len() < HEADER && !self.scenario.datagram {
                break;
            }
            let size = AnswerTruth::size(rest).filter(|_| {
                let truth = AnswerTruth::read(&rest[..HEADER]);
                self.numbers.contains(&truth.sequence)
            });
            if let Some(size) = size {
                if rest.len() < size {
                    break;
                }
                let (frame, behind) = rest.split_at(size);
                rest = behind;
                self.answer(frame, &mut tagged);
                continue;
            }
            let origin = match value == pattern(self.position) {
                true => Origin::Data(self.position),
                false => Origin::Noise,
            };
            assert!(
                origin != Origin::Noise,
                "the device sends {value:#04x} at place {} of its stream",
                self.position
            );
            tagged.push(StreamByte { value, origin });
            self.position += 1;
            rest = &rest[1..];
        }
        self.from_device = rest.to_vec();
        if self.has_come(self.faults.mute_from) {
            return;
        }
        if !tagged.is_empty() {
            self.down.push_back(tagged);
        }
    }

    fn answer(&mut self, frame: &[u8], tagged: &mut Vec<StreamByte>) {
        let truth = AnswerTruth::read(frame);
        self.say(|| format!("the device answers {truth:?}"));
        if truth.kind == 3
            && truth.status == 0
            && truth.report.is_empty()
            && self.source_number.replace(truth.sequence) != Some(truth.sequence)
        {
            self.position = 0;
        }
        if self.random.chance(self.faults.drop_answer) {
            self.say(|| "it is lost".into());
            self.lost = true;
            return;
        }
        if self.random.chance(self.faults.forge) {
            let mut forged = [0; RESPONSE_HEADER];
            Response {
                kind: Kind::Exchange,
                sequence: truth.sequence,
                in_payload: 0,
                status: Status::Ok,
                flags: 0,
                rx_ticks: 0,
                tx_ticks: 0,
            }
            .encode(&mut forged);
            let truth = AnswerTruth::read(&forged);
            if self.scenario.datagram {
                let mut message = Vec::new();
                self.put_answer(truth, &forged, &mut message);
                self.down.push_back(message);
            } else {
                self.put_answer(truth, &forged, tagged);
            }
        }
        self.put_answer(truth, frame, tagged);
    }

    fn put_answer(&mut self, truth: AnswerTruth, frame: &[u8], tagged: &mut Vec<StreamByte>) {
        let number = self.answers.len() as u32;
        self.answers.push(truth);
        let bytes = frame.iter().zip(0..);
        tagged.extend(bytes.map(|(&value, at)| StreamByte {
            value,
            origin: Origin::Answer(number, at),
        }));
    }

    pub(super) fn move_down(&mut self) {
        self.down_moves = false;
        if self.is_silent() || self.stalls() {
            return;
        }
        if self.scenario.datagram {
            let Some(message) = self.down.pop_front() else {
                return;
            };
            for _ in 0..self.copies() {
                let flight = self.flight();
                let message = self.damage(message.clone(), false);
                if !message.is_empty() {
                    self.flying.push(message);
                    let event = Event::DownArrives(self.flying.len() - 1);
                    self.schedule(self.now_ns + flight, event);
                }
            }
            return;
        }
        if self.host_bytes < self.scenario.room.1 {
            let piece = self.piece_of(false);
            let piece = self.damage(piece, false);
            if !piece.is_empty() {
                self.host_bytes += piece.len();
                self.host.push_back(piece);
            }
        }
    }
}
