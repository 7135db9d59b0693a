//! The exchanges that are under way: which are outstanding, which were answered, which were given
//! up. Everything is laid out beforehand; finding one is an index, not a search.

use wiregauge_record::{Phase, Status};

/// Span of sequence numbers from the oldest unanswered to the newest. With more than one
/// outstanding, the others go on while a lost one waits for its timeout; at the end of the span
/// they wait too.
const SPAN: usize = 4096;

/// Exchanges given up whose answer may still come; the oldest are forgotten first.
const GIVEN_UP: usize = 1024;

/// One exchange under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// Its number.
    pub sequence: u64,
    /// When the schedule wanted it to start.
    pub intended_ns: u64,
    /// When sending began.
    pub start_ns: u64,
    /// How long opening the link took.
    pub connect_ns: u64,
    /// When its first byte came back, from the start; 0 until then.
    pub access_ns: u64,
    /// Outstanding just after it started, itself included.
    pub outstanding: u32,
    /// Its phase.
    pub phase: Phase,
    /// Still unanswered.
    pub(super) waiting: bool,
}

/// What an answer turned out to be.
#[derive(Clone, Copy, Debug)]
pub enum Finished {
    /// In time; `Status` is `Ok` or `Reordered`.
    InTime(Slot, Status),
    /// Of an exchange given up before.
    Late(Slot),
    /// Of an exchange answered before.
    Again(Slot),
    /// Of none that was sent in this point.
    Unknown,
}

/// The exchanges under way.
pub struct Window {
    slots: Box<[Slot]>,
    /// The oldest that may be waiting.
    head: u64,
    /// The next to start.
    next: u64,
    waiting: u32,
    /// One past the highest answered.
    answered_to: u64,
    given_up: Box<[Slot]>,
    given_up_count: u64,
}

impl Window {
    /// A window for so many outstanding.
    pub fn new(depth: u32) -> Window {
        let span = if depth == 1 {
            1
        } else {
            SPAN.max(4 * (depth as usize).next_power_of_two())
        };
        Window {
            slots: vec![Slot::default(); span].into_boxed_slice(),
            head: 0,
            next: 0,
            waiting: 0,
            answered_to: 0,
            given_up: vec![Slot::default(); GIVEN_UP].into_boxed_slice(),
            given_up_count: 0,
        }
    }

    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.slots.len() - 1)
    }

    /// Outstanding now.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The oldest outstanding, or the next to start if there is none.
    #[inline]
    pub fn oldest(&self) -> u64 {
        self.head
    }

    /// The next to start.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// How many more may start before the span is full.
    #[inline]
    pub fn room(&self) -> u64 {
        self.slots.len() as u64 - (self.next - self.head)
    }

    /// Starts the next exchange; its number is given.
    #[inline]
    pub fn start(&mut self, mut slot: Slot) {
        self.waiting += 1;
        slot.sequence = self.next;
        slot.outstanding = self.waiting;
        slot.waiting = true;
        let index = self.index(self.next);
        self.slots[index] = slot;
        self.next += 1;
    }

    /// Notes when the first byte of the answer to the only outstanding exchange came.
    pub fn first_byte(&mut self, now_ns: u64) {
        let index = self.index(self.head);
        let slot = &mut self.slots[index];
        if slot.waiting && slot.access_ns == 0 {
            slot.access_ns = now_ns - slot.start_ns;
        }
    }

    /// An answer to `sequence` has come.
    #[inline]
    pub fn finish(&mut self, sequence: u64) -> Finished {
        if sequence >= self.next {
            return Finished::Unknown;
        }
        let index = self.index(sequence);
        let slot = self.slots[index];
        if slot.sequence == sequence && slot.waiting {
            self.slots[index].waiting = false;
            self.waiting -= 1;
            self.advance();
            let status = if sequence < self.answered_to {
                Status::Reordered
            } else {
                Status::Ok
            };
            self.answered_to = self.answered_to.max(sequence + 1);
            return Finished::InTime(slot, status);
        }
        match self
            .given_up
            .iter_mut()
            .find(|slot| slot.waiting && slot.sequence == sequence)
        {
            Some(slot) => {
                slot.waiting = false;
                Finished::Late(*slot)
            }
            None => Finished::Again(Slot {
                sequence,
                phase: slot.phase,
                ..Slot::default()
            }),
        }
    }

    fn advance(&mut self) {
        while self.head < self.next && !self.slots[self.index(self.head)].waiting {
            self.head += 1;
        }
    }

    /// When the oldest outstanding one was started.
    #[inline]
    pub fn oldest_start_ns(&self) -> Option<u64> {
        (self.waiting > 0).then(|| self.slots[self.index(self.head)].start_ns)
    }

    /// Gives up the oldest outstanding one.
    pub fn give_up_oldest(&mut self) -> Option<Slot> {
        if self.waiting == 0 {
            return None;
        }
        let index = self.index(self.head);
        let slot = self.slots[index];
        self.given_up[self.given_up_count as usize % GIVEN_UP] = slot;
        self.given_up_count += 1;
        self.slots[index].waiting = false;
        self.waiting -= 1;
        self.advance();
        Some(slot)
    }

    /// How many given up are still unanswered.
    pub fn missing(&self) -> usize {
        self.given_up.iter().filter(|slot| slot.waiting).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(depth: u32, count: u64) -> Window {
        let mut window = Window::new(depth);
        for at in 0..count {
            window.start(Slot {
                start_ns: at,
                ..Slot::default()
            });
        }
        window
    }

    #[test]
    fn an_answer_that_overtakes_another_leaves_the_other_reordered() {
        let mut window = started(2, 2);
        assert!(matches!(window.finish(1), Finished::InTime(_, Status::Ok)));
        assert!(matches!(
            window.finish(0),
            Finished::InTime(_, Status::Reordered)
        ));
        assert_eq!(window.waiting(), 0);
    }

    #[test]
    fn a_second_answer_is_a_duplicate_and_an_answer_after_giving_up_is_late() {
        let mut window = started(2, 2);
        window.finish(0);
        assert!(matches!(window.finish(0), Finished::Again(slot) if slot.sequence == 0));
        assert_eq!(window.give_up_oldest().unwrap().sequence, 1);
        assert_eq!(window.missing(), 1);
        assert!(matches!(window.finish(1), Finished::Late(slot) if slot.start_ns == 1));
        assert!(matches!(window.finish(1), Finished::Again(_)));
        assert_eq!(window.missing(), 0);
    }

    #[test]
    fn an_answer_to_a_request_not_yet_sent_is_unknown() {
        assert!(matches!(started(2, 2).finish(2), Finished::Unknown));
    }

    #[test]
    fn a_lost_exchange_lets_the_others_go_on_until_the_span_is_full() {
        let mut window = started(2, 1);
        while window.room() > 0 {
            window.start(Slot::default());
            window.finish(window.next() - 1);
        }
        assert_eq!(window.next(), SPAN as u64);
        assert_eq!(window.waiting(), 1);
        window.give_up_oldest();
        assert_eq!(window.room(), SPAN as u64);
    }
}
