//! The exchanges under way, by number: which are awaited, which were answered and not yet taken.
//! Finding one is an index, not a search.

use super::Timing;

/// One exchange under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// When its first byte was handed to the system; `None` while it is only staged.
    pub start_ns: Option<u64>,
    /// Bytes of the reply's payload that were asked for.
    pub awaited: usize,
    /// Its reply came, or it failed.
    pub done: bool,
    /// When, once it came.
    pub timing: Timing,
}

/// The exchanges from the oldest that was not taken to the newest.
#[derive(Default)]
pub struct Window {
    slots: Vec<Slot>,
    /// The oldest not taken.
    head: u64,
    /// The oldest not answered.
    waits: u64,
    /// The next to be handed to the system.
    starts: u64,
    /// The next to be staged.
    next: u64,
    /// Staged, and not answered.
    waiting: u32,
}

impl Window {
    #[inline]
    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.slots.len() - 1)
    }

    /// Makes room for so many at once; nothing may be under way.
    pub fn lay_out(&mut self, span: usize) {
        let span = span.next_power_of_two();
        if self.slots.len() < span {
            self.slots.resize(span, Slot::default());
        }
    }

    /// Doubles the room while exchanges are under way.
    pub fn grow(&mut self) {
        let mut larger = vec![Slot::default(); (2 * self.slots.len()).max(2)];
        let mask = larger.len() - 1;
        for sequence in self.head..self.next {
            larger[sequence as usize & mask] = self.slots[self.index(sequence)];
        }
        self.slots = larger;
    }

    /// Room for how many at once.
    pub fn span(&self) -> usize {
        self.slots.len()
    }

    /// True if one more can be staged.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.next - self.head < self.slots.len() as u64
    }

    /// The oldest that was not taken.
    #[inline]
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The oldest that waits for its reply, or the next to be staged if there is none.
    #[inline]
    pub fn oldest(&self) -> u64 {
        self.waits
    }

    /// The next to be staged.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Staged, and without a reply.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Staged, and not taken.
    #[inline]
    pub fn outstanding(&self) -> usize {
        (self.next - self.head) as usize
    }

    /// Stages the next; its number. There must be room.
    #[inline]
    pub fn stage(&mut self, awaited: usize) -> u64 {
        let sequence = self.next;
        let index = self.index(sequence);
        self.slots[index] = Slot {
            awaited,
            ..Slot::default()
        };
        self.next += 1;
        self.waiting += 1;
        sequence
    }

    /// The next so many were handed to the system.
    #[inline]
    pub fn start(&mut self, count: usize, now_ns: u64) {
        for _ in 0..count {
            let index = self.index(self.starts);
            self.slots[index].start_ns = Some(now_ns);
            self.starts += 1;
        }
    }

    /// One that is under way.
    #[inline]
    pub fn slot(&self, sequence: u64) -> &Slot {
        &self.slots[self.index(sequence)]
    }

    /// True if it was handed to the system and has no reply yet.
    #[inline]
    pub fn awaits(&self, sequence: u64) -> bool {
        (self.waits..self.starts).contains(&sequence) && !self.slot(sequence).done
    }

    /// The number whose lowest 32 bits these are, if it is awaited.
    #[inline]
    pub fn find(&self, ending: u32) -> Option<u64> {
        let sequence = self.waits + u64::from(ending.wrapping_sub(self.waits as u32));
        self.awaits(sequence).then_some(sequence)
    }

    /// Its reply came.
    #[inline]
    pub fn finish(&mut self, sequence: u64, mut timing: Timing, now_ns: u64) -> Timing {
        let index = self.index(sequence);
        let slot = &mut self.slots[index];
        timing.start_ns = slot.start_ns.unwrap_or(now_ns);
        timing.rtt_ns = now_ns - timing.start_ns;
        slot.timing = timing;
        slot.done = true;
        self.waiting -= 1;
        while self.waits < self.next && self.slots[self.index(self.waits)].done {
            self.waits += 1;
        }
        timing
    }

    /// When the oldest that waits was handed over.
    #[inline]
    pub fn oldest_start_ns(&self) -> Option<u64> {
        match self.waits < self.starts {
            true => self.slot(self.waits).start_ns,
            false => None,
        }
    }

    /// The oldest is taken.
    #[inline]
    pub fn take(&mut self) {
        self.head += 1;
    }

    /// All that were answered in a row are taken.
    #[inline]
    pub fn take_answered(&mut self) {
        self.head = self.waits;
    }

    /// Gives up the oldest that waits; its number and slot.
    pub fn give_up(&mut self, now_ns: u64) -> Option<(u64, Slot)> {
        if self.waiting == 0 {
            return None;
        }
        let sequence = self.waits;
        let slot = *self.slot(sequence);
        if slot.start_ns.is_none() {
            self.starts = sequence + 1;
        }
        self.finish(sequence, Timing::default(), now_ns);
        Some((sequence, slot))
    }

    /// Lets go all that are under way; how many were handed over and not answered, and the bytes that
    /// they asked for.
    pub fn let_go(&mut self) -> (u64, u64) {
        let mut missing = (0, 0);
        for sequence in self.waits..self.starts {
            let slot = self.slot(sequence);
            if !slot.done {
                missing = (missing.0 + 1, missing.1 + slot.awaited as u64);
            }
        }
        self.head = self.next;
        self.waits = self.next;
        self.starts = self.next;
        self.waiting = 0;
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(staged: u64, started: usize) -> Window {
        let mut window = Window::default();
        window.lay_out(4);
        for _ in 0..staged {
            window.stage(10);
        }
        window.start(started, 100);
        window
    }

    #[test]
    fn an_answer_that_overtakes_another_waits_for_it() {
        let mut window = window(3, 3);
        assert_eq!(window.find(1), Some(1));
        let timing = window.finish(1, Timing::default(), 150);
        assert_eq!((timing.start_ns, timing.rtt_ns), (100, 50));
        assert_eq!((window.oldest(), window.waiting()), (0, 2));
        assert_eq!(window.find(1), None, "a second answer to it is none");
        window.finish(0, Timing::default(), 160);
        assert_eq!((window.oldest(), window.head()), (2, 0));
        window.take();
        window.take_answered();
        assert_eq!((window.head(), window.outstanding()), (2, 1));
    }

    #[test]
    fn what_was_not_handed_over_is_not_answered() {
        let window = window(2, 1);
        assert_eq!(
            (window.find(0), window.find(1), window.find(2)),
            (Some(0), None, None)
        );
    }

    #[test]
    fn what_is_let_go_is_answered_by_nothing_that_comes_later() {
        let mut window = window(3, 2);
        window.finish(0, Timing::default(), 101);
        assert_eq!(window.let_go(), (1, 10));
        assert_eq!(window.find(1), None);
        assert_eq!(window.outstanding(), 0);
        assert_eq!(window.stage(1), 3);
        assert_eq!(window.oldest_start_ns(), None);
        window.start(1, 7);
        assert_eq!(window.oldest_start_ns(), Some(7));
        assert_eq!(window.find(3), Some(3));
    }

    #[test]
    fn the_room_grows_without_forgetting() {
        let mut window = window(4, 4);
        assert!(!window.has_room());
        window.grow();
        assert!(window.has_room());
        assert_eq!(window.slot(3).start_ns, Some(100));
        assert_eq!(window.give_up(200).map(|(sequence, _)| sequence), Some(0));
        assert_eq!(window.oldest(), 1);
    }
}
