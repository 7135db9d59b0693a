//! Answers that wait until they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An answer and when it is due.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reply {
    due_ns: u64,
    order: u64,
    bytes: Vec<u8>,
}

/// Answers that wait.
#[derive(Debug, Default)]
pub(super) struct Replies {
    later: BinaryHeap<Reverse<Reply>>,
    held: usize,
    order: u64,
}

impl Replies {
    /// Bytes that wait.
    pub fn held(&self) -> usize {
        self.held
    }

    /// True if none waits.
    pub fn is_empty(&self) -> bool {
        self.later.is_empty()
    }

    /// Lets one more wait. Of those that are due at the same time the first one leaves first.
    pub fn send_at(&mut self, due_ns: u64, bytes: Vec<u8>) {
        self.order += 1;
        self.held += bytes.len();
        self.later.push(Reverse(Reply {
            due_ns,
            order: self.order,
            bytes,
        }));
    }

    /// When the next one is due.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.later.peek().map(|Reverse(reply)| reply.due_ns)
    }

    /// Takes the next one if it is due.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        if self.next_due_ns()? > now_ns {
            return None;
        }
        let Reverse(reply) = self.later.pop()?;
        self.held -= reply.bytes.len();
        Some(reply.bytes)
    }
}
