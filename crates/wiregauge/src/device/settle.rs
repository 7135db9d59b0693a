//! After a reply that did not come, a device that knows nothing of wiregauge may still send it, and it
//! would be taken for the reply to the next request. So nothing is sent until all that is owed has come,
//! or the line has been silent for so long that nothing will.

use super::engine::Engine;
use super::framing::{Framing, Split};
use super::speech::Speech;
use super::trouble;
use super::window::Slot;
use crate::error::LinkError;
use crate::link::PATIENCE;
use std::time::Duration;

/// The line must be silent so long at least.
const SETTLE_NS: u64 = 20_000_000;

/// Timeouts that a device may go on sending before it counts as one that never stops.
const NEVER: u64 = 10;

/// What is owed, and since when.
#[derive(Clone, Copy, Debug)]
pub struct Unsettled {
    since_ns: u64,
    silence_ns: u64,
    /// Replies, and bytes of them; `None` once it cannot be told.
    owed: Option<(u64, u64)>,
}

impl Engine {
    /// A reply was given up.
    pub(super) fn owe(&mut self, slot: &Slot) {
        if slot.start_ns.is_some() {
            self.owe_all((1, slot.awaited as u64));
        }
    }

    /// So many replies with so many bytes were given up.
    pub(super) fn owe_all(&mut self, missing: (u64, u64)) {
        let silence_ns = self.timeout_ns.max(SETTLE_NS);
        let unsettled = self.unsettled.get_or_insert(Unsettled {
            since_ns: self.now_ns,
            silence_ns,
            owed: Some((0, 0)),
        });
        unsettled.since_ns = self.now_ns;
        if let Some(owed) = &mut unsettled.owed {
            *owed = (owed.0 + missing.0, owed.1 + missing.1);
        }
    }

    /// The place in the bytes is lost: only silence finds it again.
    pub(super) fn unsettle(&mut self) {
        self.input.drop_all();
        self.speech.restart();
        if !self.speech.is_numbered() && !self.datagram {
            self.unsettled = Some(Unsettled {
                since_ns: self.now_ns,
                silence_ns: SETTLE_NS.max(self.timeout_ns.min(10 * SETTLE_NS)),
                owed: None,
            });
        }
    }

    /// Waits until nothing is owed any more.
    #[cold]
    pub(super) fn settle(&mut self) -> Result<(), LinkError> {
        let Some(mut unsettled) = self.unsettled.take() else {
            return Ok(());
        };
        let settled = self.come_to_rest(&mut unsettled);
        if settled.is_err() {
            // It was heard until now, so the silence begins anew.
            unsettled.since_ns = self.now_ns;
            self.unsettled = Some(unsettled);
        }
        settled
    }

    fn come_to_rest(&mut self, unsettled: &mut Unsettled) -> Result<(), LinkError> {
        let begun = self.clock.now();
        let longest = self.timeout_ns.max(SETTLE_NS).saturating_mul(NEVER);
        let mut until = unsettled.since_ns + unsettled.silence_ns;
        loop {
            // The rest of a request that has begun goes first, or nothing answers it.
            if !self.output.is_empty() {
                self.send()?;
            }
            let blocked = !self.output.is_empty();
            let received = self.link.receive(self.input.space(self.datagram));
            let received = received.map_err(|error| self.broken(&error))?;
            let now = self.clock.now();
            self.now_ns = now;
            if received > 0 {
                self.input.received(received);
                let prolonged = SETTLE_NS.max(self.timeout_ns.min(10 * SETTLE_NS));
                until = until.max(now + prolonged);
                if self.pay(unsettled) && !blocked {
                    break;
                }
            } else if now >= until && !blocked {
                break;
            }
            if now - begun > longest {
                self.input.drop_all();
                return Err(trouble::never_silent(self.doing, &self.address));
            }
            if received == 0 {
                let left = Duration::from_nanos(until.saturating_sub(now).max(1_000_000));
                let waited = self.link.wait(blocked, left.min(PATIENCE));
                waited.map_err(|error| self.broken(&error))?;
                let now = self.clock.now();
                self.ask(now, false)?;
            }
        }
        self.input.drop_all();
        self.speech.restart();
        Ok(())
    }

    /// Counts what came against what is owed; true if that is all, to the byte.
    fn pay(&mut self, unsettled: &mut Unsettled) -> bool {
        let Speech::Foreign(splitter) = &mut self.speech else {
            return false;
        };
        let Some((replies, bytes)) = &mut unsettled.owed else {
            self.input.drop_all();
            return false;
        };
        if self.datagram {
            self.input.drop_all();
            *replies = replies.saturating_sub(1);
            return *replies == 0;
        }
        let sized = match splitter.framing() {
            Framing::Raw => Some(*bytes),
            Framing::Fixed { bytes } => Some(*replies * *bytes as u64),
            Framing::Terminator { .. } | Framing::LengthPrefix(_) => None,
        };
        if let Some(owed) = sized {
            let came = self.input.bytes().len() as u64;
            if came > owed {
                unsettled.owed = None;
            }
            return came == owed;
        }
        while !self.input.bytes().is_empty() {
            match splitter.next(self.input.bytes(), 0) {
                Split::More => return false,
                Split::Message { end, .. } => {
                    self.input.drop_front(end);
                    match replies.checked_sub(1) {
                        Some(left) => *replies = left,
                        None => {
                            unsettled.owed = None;
                            self.input.drop_all();
                            return false;
                        }
                    }
                }
                Split::Wrong(_) => {
                    unsettled.owed = None;
                    self.input.drop_all();
                    return false;
                }
            }
        }
        *replies == 0
    }
}
