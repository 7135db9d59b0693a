//! From the host to the device: transfers that pend, what the system takes of them, and what arrives.

use super::{Arrived, Event, OutTransfer, World};
use crate::stream::truth::StreamByte;

impl World<'_> {
    /// The host submits a transfer.
    pub fn submit(&mut self, bytes: Vec<StreamByte>, number: Option<u32>) {
        self.numbers.extend(number);
        let stalled = number.is_none() && self.random.chance(self.faults.stall_transfer);
        self.out.push_back(OutTransfer {
            bytes,
            is_order: number.is_some(),
            put: 0,
            stalled,
        });
        self.kick();
    }

    /// The oldest transfer is over.
    pub fn is_complete(&self) -> bool {
        let oldest = self.out.front();
        oldest.is_some_and(|oldest| oldest.stalled || oldest.put == oldest.bytes.len())
    }

    /// Takes the oldest transfer: whether it stalled.
    pub fn complete(&mut self) -> bool {
        let over = self.out.pop_front();
        self.kick();
        over.is_some_and(|over| over.stalled)
    }

    /// Cancels what pends: the bytes of it that were handed over, and those of data.
    pub fn cancel(&mut self) -> (u64, u64) {
        let (mut all, mut data) = (0, 0);
        for transfer in self.out.drain(..) {
            all += transfer.put as u64;
            if !transfer.is_order {
                data += transfer.put as u64;
            }
        }
        (all, data)
    }

    /// The system takes what it has room for.
    pub(super) fn fill_up(&mut self) {
        let room = self.scenario.room.0;
        for transfer in &mut self.out {
            if transfer.stalled {
                continue;
            }
            if self.scenario.datagram {
                if transfer.put == 0 && self.up.len() < room {
                    transfer.put = transfer.bytes.len();
                    self.up.push_back(transfer.bytes.clone());
                }
                continue;
            }
            let held: usize = self.up.iter().map(Vec::len).sum();
            let end = transfer
                .bytes
                .len()
                .min(transfer.put + room.saturating_sub(held));
            if end > transfer.put {
                self.up
                    .push_back(transfer.bytes[transfer.put..end].to_vec());
                transfer.put = end;
            }
            if transfer.put < transfer.bytes.len() {
                break;
            }
        }
    }

    pub(super) fn move_up(&mut self) {
        self.up_moves = false;
        if self.is_silent() || self.stalls() {
            return;
        }
        if self.scenario.datagram {
            let Some(message) = self.up.pop_front() else {
                return;
            };
            for _ in 0..self.copies() {
                let flight = self.flight();
                let message = self.damage(message.clone(), true);
                self.flying.push(message);
                let event = Event::UpArrives(self.flying.len() - 1);
                self.schedule(self.now_ns + flight, event);
            }
            return;
        }
        let piece = self.piece_of(true);
        let piece = self.damage(piece, true);
        self.reach_device(piece);
    }

    pub(super) fn reach_device(&mut self, bytes: Vec<StreamByte>) {
        if self.is_silent() || bytes.is_empty() {
            return;
        }
        self.at_device.extend(bytes);
        let used = self.device.take(&self.at_device, self.now_ns);
        let taken = self.at_device.drain(..used).map(Arrived::Byte);
        self.arrived.extend(taken);
        if self.scenario.datagram {
            self.arrived.push(Arrived::End);
        }
    }
}
