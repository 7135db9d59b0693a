//! What is known of each exchange.

use super::row::Kind;
use std::collections::BTreeSet;

/// One exchange.
#[derive(Clone, Copy, Debug, Default)]
pub struct One {
    /// When its request was handed over.
    pub start_ns: u64,
    /// Its row that is neither late nor duplicated.
    pub ended: Option<Kind>,
    /// Its request was handed over to the last byte.
    pub is_whole: bool,
    /// Its request was never sent.
    pub is_unsent: bool,
    /// It was lost before its time, together with an older one.
    pub was_lost_early: bool,
    /// It has a row that says that its answer came late.
    pub was_late: bool,
    /// When its answer had come whole.
    pub came_ns: Option<u64>,
    /// Unchanged bytes of its answer that came, or of another that may be taken for them.
    pub bytes: u64,
    /// The program gave it up.
    pub is_abandoned: bool,
    /// It was sent over a link that was closed since, or the program gave up all that was sent before.
    pub is_closed: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Exchanges {
    all: Vec<One>,
    outstanding: BTreeSet<u64>,
    /// One past the last that had a right row, and that had one with an answer.
    answered_to: u64,
    lost: u64,
    closed_to: usize,
}

impl Exchanges {
    /// How many were started.
    pub fn started(&self) -> u64 {
        self.all.len() as u64
    }

    /// How many have no row yet.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// The oldest that has no row yet.
    pub fn oldest(&self) -> Option<u64> {
        self.outstanding.first().copied()
    }

    /// The oldest that has no row yet, and whose answer has not come whole.
    pub fn awaited(&self) -> Option<u64> {
        let mut outstanding = self.outstanding.iter().copied();
        outstanding.find(|&sequence| self.of(sequence).came_ns.is_none())
    }

    /// One of them.
    pub fn of(&self, sequence: u64) -> One {
        self.all[sequence as usize]
    }

    /// One of them.
    pub fn of_mut(&mut self, sequence: u64) -> &mut One {
        &mut self.all[sequence as usize]
    }

    /// The next one begins.
    pub fn start(&mut self, start_ns: u64) {
        self.outstanding.insert(self.started());
        self.all.push(One {
            start_ns,
            ..One::default()
        });
    }

    /// One has its row.
    pub fn end(&mut self, sequence: u64, kind: Kind) {
        self.outstanding.remove(&sequence);
        self.of_mut(sequence).ended = Some(kind);
        self.lost += u64::from(kind == Kind::Lost);
        if matches!(kind, Kind::Ok | Kind::Reordered | Kind::Unexpected) {
            self.answered_to = self.answered_to.max(sequence + 1);
        }
    }

    /// All that is outstanding is given up without a row.
    pub fn abandon(&mut self) {
        for sequence in std::mem::take(&mut self.outstanding) {
            self.of_mut(sequence).is_abandoned = true;
        }
        self.new_link();
    }

    /// True if a later one had a right row before.
    pub fn is_overtaken(&self, sequence: u64) -> bool {
        sequence < self.answered_to
    }

    /// How many were lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// What was sent over the link that is closed now gets no answers any more.
    pub fn new_link(&mut self) {
        for one in &mut self.all[self.closed_to..] {
            one.is_closed = true;
        }
        self.closed_to = self.all.len();
    }
}
