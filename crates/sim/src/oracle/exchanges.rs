//! Every exchange of a point, from its start to the end of the point: nothing is ever forgotten.

use std::collections::BTreeSet;

/// How an exchange stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// Its answer is awaited.
    Waits,
    /// It was answered.
    Answered,
    /// It was given up, and its answer may still come.
    Missing,
    /// It was given up, and then answered after all.
    CameLate,
    /// What comes for it has no meaning any more.
    Closed,
}

/// One exchange.
#[derive(Clone, Copy, Debug)]
pub struct One {
    /// When its first byte was taken.
    pub start_ns: u64,
    /// Outstanding then, itself included.
    pub outstanding: u32,
    /// How it stands.
    pub stand: Stand,
}

/// Bytes that came for an exchange that is to be confirmed.
#[derive(Clone, Debug)]
pub struct Kept {
    /// What came.
    pub bytes: Vec<u8>,
    /// When.
    pub received_ns: u64,
    /// A reply, or bytes of nothing.
    pub is_reply: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Exchanges {
    all: Vec<One>,
    waits: BTreeSet<u64>,
    missing: BTreeSet<u64>,
    answered_to: u64,
}

impl Exchanges {
    /// How many were started.
    pub fn started(&self) -> u64 {
        self.all.len() as u64
    }

    /// How many wait.
    pub fn outstanding(&self) -> u64 {
        self.waits.len() as u64
    }

    /// How many were given up and may still be answered.
    pub fn missing(&self) -> usize {
        self.missing.len()
    }

    /// Those that wait, in order.
    pub fn waiting(&self) -> impl Iterator<Item = u64> + '_ {
        self.waits.iter().copied()
    }

    /// The oldest that waits.
    pub fn oldest_waiting(&self) -> Option<u64> {
        self.waits.first().copied()
    }

    /// The oldest that was given up and may still be answered.
    pub fn oldest_missing(&self) -> Option<u64> {
        self.missing.first().copied()
    }

    /// One of them.
    pub fn of(&self, sequence: u64) -> One {
        self.all[sequence as usize]
    }

    /// The next one starts.
    pub fn start(&mut self, now_ns: u64) -> u64 {
        let sequence = self.started();
        self.waits.insert(sequence);
        self.all.push(One {
            start_ns: now_ns,
            outstanding: self.waits.len() as u32,
            stand: Stand::Waits,
        });
        sequence
    }

    /// One stands differently now.
    pub fn set(&mut self, sequence: u64, stand: Stand) {
        self.waits.remove(&sequence);
        self.missing.remove(&sequence);
        if stand == Stand::Missing {
            self.missing.insert(sequence);
        }
        self.all[sequence as usize].stand = stand;
    }

    /// No answer is expected any more for what was given up.
    pub fn close_missing(&mut self) {
        while self.missing() > 0 {
            self.close_oldest_missing();
        }
    }

    /// No answer is expected any more for the oldest that was given up.
    pub fn close_oldest_missing(&mut self) {
        if let Some(sequence) = self.oldest_missing() {
            self.set(sequence, Stand::Closed);
        }
    }

    /// An answer to `sequence` came in time; true if one to a later request came before.
    pub fn is_overtaken(&mut self, sequence: u64) -> bool {
        let overtaken = sequence < self.answered_to;
        self.answered_to = self.answered_to.max(sequence + 1);
        overtaken
    }
}
