//! The proof of address over datagrams (docs/protocol.md): HELLO, and HELLO again with the token.

use super::bytes::header;
use crate::world::Byte;
use std::collections::BTreeSet;

/// Proofs in a row that did not help.
const IN_VAIN: u32 = 2;

/// Where the proof stands.
#[derive(Debug, Default)]
pub struct Proof {
    on: bool,
    began_ns: u64,
    /// Number of the HELLO that was sent last.
    number: u32,
    /// Numbers of all of them.
    numbers: BTreeSet<u32>,
    /// A number came again, so that a straggler would pass for a reply.
    pub is_reused: bool,
    /// It is the second of an attempt, with the token of the reply to the first.
    is_second: bool,
    /// It was answered.
    replied: bool,
    vain: u32,
    /// When it was proved last, or anything came.
    pub heard_ns: u64,
    /// Attempts that were made.
    attempts: u32,
}

impl Proof {
    /// True while it goes on.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// The device says UNPROVEN: a proof begins, or (true) the point has failed.
    pub fn refused(&mut self, now_ns: u64) -> bool {
        if self.vain >= IN_VAIN {
            return true;
        }
        if !self.on {
            self.vain += 1;
            self.begin(now_ns);
        }
        false
    }

    /// A proof begins.
    pub fn begin(&mut self, now_ns: u64) {
        self.on = true;
        self.began_ns = now_ns;
        self.attempts = 0;
        self.number = 0;
        self.replied = false;
    }

    /// When it began.
    pub fn began_ns(&self) -> u64 {
        self.began_ns
    }

    /// An exchange was answered.
    pub fn answered(&mut self) {
        self.vain = 0;
    }

    /// It is over without success.
    pub fn give_up(&mut self) {
        self.on = false;
    }

    /// Bytes were sent; true if they are of the proof.
    pub fn sent(&mut self, _now_ns: u64, offered: &[u8], count: usize) -> bool {
        if !self.on || offered.get(..2) != Some(&[0xA7, 0x10]) {
            return false;
        }
        if count > 0 {
            self.number = u32::from_le_bytes([offered[4], offered[5], offered[6], offered[7]]);
            self.is_reused |= !self.numbers.insert(self.number);
            self.is_second = std::mem::take(&mut self.replied);
            self.attempts += u32::from(!self.is_second);
        }
        true
    }

    /// A datagram came; true if it is a reply to the last HELLO.
    pub fn received(&mut self, now_ns: u64, came: &[Byte]) -> bool {
        let bytes: Vec<u8> = came.iter().map(|byte| byte.value).collect();
        if self.on && self.attempts > 0 && !self.replied {
            let reply =
                (0..bytes.len()).find_map(|at| header(&bytes[at..], 104).map(|of| (at, of)));
            if let Some((at, of)) = reply
                && of.kind == 0
                && of.number == self.number
                && of.payload == 72
                && bytes.len() >= at + 104
            {
                self.replied = true;
                if self.is_second {
                    self.on = false;
                    self.heard_ns = now_ns;
                }
                return true;
            }
        }
        self.heard_ns = now_ns;
        false
    }
}
