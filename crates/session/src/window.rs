//! The exchanges under way: which are staged, which wait for their answer, which were given up.
//! Everything is laid out beforehand; finding an exchange that waits is an index, not a search.

/// Exchanges that ended without their answer and are remembered, so that a late answer is known as
/// one; the oldest are forgotten first.
const REMEMBERED: usize = 1024;

/// One exchange under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Its number.
    pub sequence: u64,
    /// When its first byte was handed over.
    pub start_ns: u64,
    /// Bytes of the answer that were asked for, where the protocol does not say by itself.
    pub awaited: usize,
    /// Outstanding just after it started, itself included.
    pub outstanding: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Ended, or never used.
    #[default]
    Ended,
    /// Staged, not yet handed over.
    Staged,
    /// Handed over; its answer is awaited.
    Waiting,
}

/// What an answer turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// In time, and in the order of the requests.
    Answered(Slot),
    /// In time, but after the answer to a later request.
    Reordered(Slot),
    /// Of an exchange that was given up before.
    Late(Slot),
    /// Of an exchange that was answered before; only its number is known.
    Again(Slot),
    /// Of no exchange of this window, or of one too old to be remembered.
    Unknown,
}

/// How an exchange ended that was not answered rightly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Memory {
    /// No answer in time; it may still come.
    #[default]
    Missing,
    /// Its answer came after all.
    CameLate,
    /// A damaged answer came; more of it may follow.
    Damaged,
}

/// The exchanges from the oldest that is not answered to the newest.
#[derive(Debug)]
pub struct Window {
    slots: Vec<Slot>,
    /// The oldest that may be unanswered.
    oldest: u64,
    /// The next to be handed over.
    started: u64,
    /// The next to be staged.
    next: u64,
    waiting: u32,
    /// One past the highest answered.
    answered_to: u64,
    /// A ring, sorted by sequence.
    remembered: Vec<(Slot, Memory)>,
    remembered_count: u64,
    /// One past the highest that was forgotten.
    forgotten_to: u64,
    missing: usize,
}

impl Window {
    /// A window from the oldest unanswered exchange to one `span` behind it.
    pub fn new(span: usize) -> Window {
        Window {
            slots: vec![Slot::default(); span.max(1).next_power_of_two()],
            oldest: 0,
            started: 0,
            next: 0,
            waiting: 0,
            answered_to: 0,
            remembered: vec![(Slot::default(), Memory::CameLate); REMEMBERED.max(span)],
            remembered_count: 0,
            forgotten_to: 0,
            missing: 0,
        }
    }

    /// Makes room for a longer span. Allocates.
    pub fn widen(&mut self, span: usize) {
        let span = span.next_power_of_two();
        if span <= self.slots.len() {
            return;
        }
        let mut slots = vec![Slot::default(); span];
        for sequence in self.oldest..self.next {
            slots[sequence as usize & (span - 1)] = *self.slot(sequence);
        }
        self.slots = slots;
        if self.remembered.len() < span {
            let mut remembered: Vec<_> = self.memories().map(|at| self.remembered[at]).collect();
            let count = remembered.len() as u64;
            remembered.resize(span, (Slot::default(), Memory::CameLate));
            self.remembered = remembered;
            self.remembered_count = count;
        }
    }

    #[inline]
    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn slot(&self, sequence: u64) -> &Slot {
        &self.slots[self.index(sequence)]
    }

    /// Handed over and not answered.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Staged or handed over, and not answered.
    #[inline]
    pub fn under_way(&self) -> u64 {
        u64::from(self.waiting) + self.staged()
    }

    /// Staged and not handed over.
    #[inline]
    pub fn staged(&self) -> u64 {
        self.next - self.started
    }

    /// The oldest that is not answered, or the next to be staged if there is none.
    #[inline]
    pub fn oldest(&self) -> u64 {
        self.oldest
    }

    /// The next to be handed over.
    #[inline]
    pub fn started(&self) -> u64 {
        self.started
    }

    /// The next to be staged.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// How many more may be staged before the span is full.
    #[inline]
    pub fn room(&self) -> u64 {
        self.slots.len() as u64 - (self.next - self.oldest)
    }

    /// Exchanges given up whose answer may still come.
    #[inline]
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// Stages the next exchange. There must be room.
    #[inline]
    pub fn stage(&mut self, awaited: usize) -> u64 {
        let sequence = self.next;
        let index = self.index(sequence);
        self.slots[index] = Slot {
            sequence,
            awaited,
            state: State::Staged,
            ..Slot::default()
        };
        self.next += 1;
        sequence
    }

    /// The first bytes of the next `count` staged exchanges were handed over.
    #[inline]
    pub fn start(&mut self, count: usize, now_ns: u64) {
        for _ in 0..count {
            self.waiting += 1;
            let (index, outstanding) = (self.index(self.started), self.waiting);
            let slot = &mut self.slots[index];
            slot.start_ns = now_ns;
            slot.outstanding = outstanding;
            slot.state = State::Waiting;
            self.started += 1;
        }
    }

    /// True if the exchange was handed over and its answer is awaited.
    #[inline]
    pub fn awaits(&self, sequence: u64) -> bool {
        (self.oldest..self.started).contains(&sequence)
            && self.slot(sequence).state == State::Waiting
    }

    /// The exchange, if it was handed over and its answer is awaited.
    pub fn awaited(&self, sequence: u64) -> Option<&Slot> {
        self.awaits(sequence).then(|| self.slot(sequence))
    }

    /// The oldest whose answer is awaited.
    #[inline]
    pub fn oldest_waiting(&self) -> Option<&Slot> {
        (self.waiting > 0).then(|| self.slot(self.oldest))
    }

    /// The oldest given up whose answer may still come.
    pub fn oldest_missing(&self) -> Option<&Slot> {
        self.memories()
            .map(|at| &self.remembered[at])
            .find(|(_, memory)| *memory == Memory::Missing)
            .map(|(slot, _)| slot)
    }

    /// The answer to `sequence` has come.
    #[inline]
    pub fn finish(&mut self, sequence: u64) -> Finished {
        if sequence >= self.started {
            return Finished::Unknown;
        }
        if self.awaits(sequence) {
            let slot = self.end(sequence);
            let reordered = sequence < self.answered_to;
            self.answered_to = self.answered_to.max(sequence + 1);
            return match reordered {
                true => Finished::Reordered(slot),
                false => Finished::Answered(slot),
            };
        }
        let forgotten = sequence < self.forgotten_to;
        let again = Slot {
            sequence,
            ..Slot::default()
        };
        match self.recall(sequence) {
            Some((slot, memory @ Memory::Missing)) => {
                *memory = Memory::CameLate;
                let slot = *slot;
                self.missing -= 1;
                Finished::Late(slot)
            }
            Some((_, Memory::CameLate)) => Finished::Again(again),
            Some((_, Memory::Damaged)) => Finished::Unknown,
            None if forgotten => Finished::Unknown,
            None => Finished::Again(again),
        }
    }

    /// A damaged answer to `sequence` has come; if that exchange still waits, it ends here.
    pub fn finish_damaged(&mut self, sequence: u64) -> Option<Slot> {
        self.awaits(sequence).then(|| {
            let slot = self.end(sequence);
            self.remember(slot, Memory::Damaged);
            self.answered_to = self.answered_to.max(sequence + 1);
            slot
        })
    }

    /// Gives up the oldest that waits for its answer.
    pub fn give_up_oldest(&mut self) -> Option<Slot> {
        let sequence = self.oldest_waiting()?.sequence;
        let slot = self.end(sequence);
        self.remember(slot, Memory::Missing);
        Some(slot)
    }

    /// Gives up the newest that is only staged.
    pub fn unstage(&mut self) -> Option<u64> {
        if self.staged() == 0 {
            return None;
        }
        self.next -= 1;
        let index = self.index(self.next);
        self.slots[index].state = State::Ended;
        self.oldest = self.oldest.min(self.next);
        Some(self.next)
    }

    /// No answer is expected any more for what was given up.
    pub fn forget_missing(&mut self) {
        for (_, memory) in &mut self.remembered {
            if *memory == Memory::Missing {
                *memory = Memory::Damaged;
            }
        }
        self.missing = 0;
    }

    /// No answer is expected any more for the oldest that was given up.
    pub fn forget_oldest_missing(&mut self) {
        let mut missing = self.memories();
        if let Some(at) = missing.find(|&at| self.remembered[at].1 == Memory::Missing) {
            self.remembered[at].1 = Memory::Damaged;
            self.missing -= 1;
        }
    }

    fn end(&mut self, sequence: u64) -> Slot {
        let index = self.index(sequence);
        let slot = self.slots[index];
        self.slots[index].state = State::Ended;
        self.waiting -= 1;
        while self.oldest < self.started && self.slot(self.oldest).state == State::Ended {
            self.oldest += 1;
        }
        slot
    }

    /// Indexes of what is remembered, the oldest first.
    fn memories(&self) -> impl Iterator<Item = usize> + use<> {
        let room = self.remembered.len() as u64;
        let first = self.remembered_count.saturating_sub(room);
        (first..self.remembered_count).map(move |at| (at % room) as usize)
    }

    fn recall(&mut self, sequence: u64) -> Option<(&Slot, &mut Memory)> {
        // An exchange may be remembered out of turn (damaged), so the order is only nearly right.
        let at = self
            .memories()
            .find(|&at| self.remembered[at].0.sequence == sequence)?;
        let (slot, memory) = &mut self.remembered[at];
        Some((slot, memory))
    }

    fn remember(&mut self, slot: Slot, memory: Memory) {
        let room = self.remembered.len() as u64;
        let at = (self.remembered_count % room) as usize;
        if self.remembered_count >= room {
            let (forgotten, was) = self.remembered[at];
            self.forgotten_to = self.forgotten_to.max(forgotten.sequence + 1);
            self.missing -= usize::from(was == Memory::Missing);
        }
        self.remembered[at] = (slot, memory);
        self.remembered_count += 1;
        self.missing += usize::from(memory == Memory::Missing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(staged: u64, started: usize) -> Window {
        let mut window = Window::new(4);
        for _ in 0..staged {
            window.stage(10);
        }
        window.start(started, 100);
        window
    }

    #[test]
    fn a_lost_exchange_lets_the_others_go_on_until_the_span_is_full() {
        let mut window = window(1, 1);
        while window.room() > 0 {
            let sequence = window.stage(0);
            window.start(1, 0);
            window.finish(sequence);
        }
        assert_eq!((window.next(), window.waiting()), (4, 1));
        window.give_up_oldest();
        assert_eq!(window.room(), 4);
    }

    #[test]
    fn answers_too_old_to_be_remembered_are_unknown_rather_than_duplicates() {
        let mut window = Window::new(1);
        for _ in 0..=REMEMBERED {
            window.stage(0);
            window.start(1, 0);
            window.give_up_oldest();
        }
        assert_eq!(window.missing(), REMEMBERED);
        assert_eq!(window.finish(0), Finished::Unknown);
        assert!(matches!(window.finish(1), Finished::Late(_)));
    }

    #[test]
    fn a_wider_window_forgets_nothing() {
        let mut window = window(4, 4);
        window.give_up_oldest();
        assert_eq!(window.room(), 1);
        window.widen(5000);
        assert_eq!(window.room(), 5000_u64.next_power_of_two() - 3);
        assert!(matches!(window.finish(0), Finished::Late(_)));
        assert!(matches!(window.finish(3), Finished::Answered(_)));
    }
}
