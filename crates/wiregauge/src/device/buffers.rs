//! The bytes on their way: requests made ready but not yet taken by the system, and received bytes not
//! yet understood. Both grow to the sizes that are used, and then no more.

use std::collections::VecDeque;
use std::ops::Range;

/// Requests are handed over together up to this many bytes, beyond the one that crosses it.
const BATCH: usize = 256 << 10;

/// Room for received bytes at first: a whole datagram.
const INPUT: usize = 64 << 10;

/// Requests staged but not yet taken by the system.
#[derive(Default)]
pub struct Output {
    bytes: Vec<u8>,
    sent: usize,
    /// Where each request that is not wholly taken ends.
    ends: VecDeque<usize>,
    /// A byte of the first of them was taken.
    begun: bool,
}

impl Output {
    /// True if the system has taken all that was staged.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// True if one more request can be staged.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.bytes.len() < BATCH
    }

    /// Stages the request that `write` appends.
    #[inline]
    pub fn stage(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push_back(self.bytes.len());
    }

    /// What the system has not taken, up to the end of `most` requests.
    #[inline]
    pub fn unsent(&self, most: usize) -> &[u8] {
        let last = most.min(self.ends.len()).saturating_sub(1);
        let end = self.ends.get(last).map_or(self.sent, |end| *end);
        &self.bytes[self.sent..end]
    }

    /// Notes that the system took so many bytes; returns how many requests began with them.
    #[inline]
    pub fn take(&mut self, count: usize) -> usize {
        self.sent += count;
        let mut started = 0;
        while let Some(&end) = self.ends.front() {
            if !self.begun {
                started += 1;
            }
            if self.sent < end {
                self.begun = true;
                break;
            }
            self.ends.pop_front();
            self.begun = false;
            if self.sent == end {
                break;
            }
        }
        if self.ends.is_empty() {
            self.clear();
        }
        started
    }

    /// How much of the first unfinished request the system has taken, and its size.
    pub fn part_taken(&self) -> (usize, usize) {
        // What went before it is gone from the list, so only its rest is known.
        let left = self.ends.front().map_or(0, |end| end - self.sent);
        (usize::from(self.begun), left)
    }

    /// Forgets what is staged but the rest of a request that has begun: without it the device would take
    /// the next one for the end of this one.
    pub fn forget(&mut self) {
        if self.begun {
            self.ends.truncate(1);
            let end = self.ends.front().map_or(self.sent, |end| *end);
            self.bytes.truncate(end);
        } else {
            self.clear();
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.sent = 0;
        self.begun = false;
    }

    /// Lets so many bytes in so many requests be staged without asking for memory.
    pub fn reserve(&mut self, bytes: usize, requests: usize) {
        self.bytes.reserve(bytes);
        self.ends.reserve(requests);
    }
}

/// Bytes received but not yet understood.
pub struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Default for Input {
    fn default() -> Input {
        Input {
            // Other than zero, so that every page is there before it counts.
            bytes: vec![0xff; INPUT],
            start: 0,
            end: 0,
        }
    }
}

impl Input {
    /// What was received and not yet understood.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Where these bytes of [`Input::bytes`] stay until [`Input::space`] is asked for.
    #[inline]
    pub fn place(&self, part: &Range<usize>) -> Range<usize> {
        self.start + part.start..self.start + part.end
    }

    /// What lies at a place.
    #[inline]
    pub fn at(&self, place: Range<usize>) -> &[u8] {
        &self.bytes[place]
    }

    /// Notes that so many bytes were put into the room.
    #[inline]
    pub fn received(&mut self, count: usize) {
        self.end += count;
    }

    /// Drops so many bytes from the front.
    #[inline]
    pub fn drop_front(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Drops all, and tells how many there were.
    pub fn drop_all(&mut self) -> u64 {
        let count = self.end - self.start;
        (self.start, self.end) = (0, 0);
        count as u64
    }

    /// Room for more bytes behind those that are there. A stream's are moved to the front when the room
    /// becomes short, and only where that does not help it grows: with what came, never with what a
    /// device announces. A datagram always finds the whole.
    #[inline]
    pub fn space(&mut self, datagram: bool) -> &mut [u8] {
        if datagram {
            self.drop_all();
        } else if self.bytes.len() - self.end < self.bytes.len() / 2 {
            self.make_room();
        }
        &mut self.bytes[self.end..]
    }

    #[cold]
    fn make_room(&mut self) {
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.bytes.len() - self.end < self.bytes.len() / 2 {
            self.bytes.resize(2 * self.bytes.len(), 0xff);
        }
    }

    /// Puts bytes behind those that are there.
    pub fn put_back(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.space(false);
            let fits = room.len().min(bytes.len());
            room[..fits].copy_from_slice(&bytes[..fits]);
            self.received(fits);
            bytes = &bytes[fits..];
        }
    }

    /// Lets messages of so many bytes come without asking for memory.
    pub fn reserve(&mut self, message: usize) {
        let wanted = (2 * message).max(INPUT).next_power_of_two();
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0xff);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged(sizes: &[usize]) -> Output {
        let mut output = Output::default();
        for (n, size) in sizes.iter().enumerate() {
            output.stage(|to| to.resize(to.len() + size, n as u8));
        }
        output
    }

    #[test]
    fn a_request_has_begun_once_its_first_byte_was_taken() {
        let mut output = staged(&[10, 3, 20]);
        assert_eq!(output.unsent(2).len(), 13);
        assert_eq!(output.take(4), 1);
        assert_eq!(output.unsent(1).len(), 6);
        assert_eq!(output.take(6), 0);
        assert_eq!(output.take(4), 2);
        assert_eq!(output.unsent(9), [2; 19]);
        assert_eq!(output.take(19), 0);
        assert!(output.is_empty());
        assert_eq!(output.unsent(1), []);
    }

    #[test]
    fn all_of_several_requests_taken_at_once_have_begun() {
        let mut output = staged(&[1, 2, 3]);
        assert_eq!(output.take(6), 3);
        assert!(output.is_empty());
    }

    #[test]
    fn what_has_begun_is_finished_and_the_rest_forgotten() {
        let mut output = staged(&[10, 3]);
        output.take(4);
        output.forget();
        assert_eq!(output.unsent(9).len(), 6);
        assert_eq!(output.take(6), 0);
        assert!(output.is_empty());
        let mut output = staged(&[10, 3]);
        output.take(10);
        output.forget();
        assert!(output.is_empty());
    }

    #[test]
    fn the_room_grows_with_what_comes_and_keeps_its_order() {
        let mut input = Input::default();
        for round in 0..100_u8 {
            let room = input.space(false);
            assert!(room.len() >= INPUT / 2);
            room[..9000].fill(round);
            input.received(9000);
        }
        assert_eq!(input.bytes().len(), 900_000);
        for round in 0..100_u8 {
            assert!(input.bytes()[..9000].iter().all(|&byte| byte == round));
            let place = input.place(&(0..2));
            input.drop_front(9000);
            assert_eq!(input.at(place), [round; 2]);
        }
        assert!(input.bytes().is_empty());
        assert!(input.bytes.len() <= 4 << 20, "{}", input.bytes.len());
    }
}
