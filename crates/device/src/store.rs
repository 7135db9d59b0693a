//! Submitted requests in their order, and the replies that came before they were taken.

use crate::timing::Timing;
use wiregauge_session::{Ended, Outcome};

/// Submitted requests in their order, and the replies that came before they were taken.
#[derive(Default)]
pub struct Store {
    /// A ring by number; its size is a power of two.
    entries: Vec<Entry>,
    /// The oldest not taken.
    head: u64,
    /// The next to be submitted.
    next: u64,
}

/// A submitted request.
#[derive(Default)]
pub struct Entry {
    /// How it ended; `None` while it is under way.
    pub outcome: Option<Outcome>,
    /// When.
    pub timing: Timing,
    /// Its reply.
    pub payload: Vec<u8>,
}

impl Store {
    /// Requests whose replies were not taken.
    pub fn outstanding(&self) -> usize {
        (self.next - self.head) as usize
    }

    /// Forgets all that was submitted, but not the memory.
    pub fn clear(&mut self) {
        self.head = self.next;
    }

    /// The oldest request whose reply was not taken.
    pub fn oldest(&self) -> u64 {
        self.head
    }

    /// A request from the oldest to the newest, or the one that was taken last.
    pub fn entry(&self, sequence: u64) -> &Entry {
        &self.entries[self.index(sequence)]
    }

    /// Takes the reply to the oldest.
    pub fn take(&mut self) {
        self.head += 1;
    }

    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.entries.len() - 1)
    }

    /// Adds the request `sequence`, the successor of the last one unless nothing is outstanding.
    pub fn submit(&mut self, sequence: u64) {
        if self.outstanding() == 0 {
            self.head = sequence;
            self.next = sequence;
        }
        if self.outstanding() == self.entries.len() {
            self.grow();
        }
        let index = self.index(sequence);
        self.entries[index].outcome = None;
        self.next = sequence + 1;
    }

    fn grow(&mut self) {
        let span = (2 * self.entries.len()).max(16);
        let mut larger: Vec<Entry> = Vec::with_capacity(span);
        larger.resize_with(span, Entry::default);
        for sequence in self.head..self.next {
            let from = self.index(sequence);
            larger[sequence as usize & (span - 1)] = std::mem::take(&mut self.entries[from]);
        }
        self.entries = larger;
    }

    /// Keeps a reply until it is taken.
    pub fn put(&mut self, ended: &Ended, payload: &[u8]) {
        let index = self.index(ended.sequence);
        let entry = &mut self.entries[index];
        entry.outcome = Some(ended.outcome);
        entry.timing = Timing::of(ended);
        entry.payload.clear();
        entry.payload.extend_from_slice(payload);
    }
}
