//! The bytes on their way: requests staged but not yet taken by the system, and received bytes not
//! yet parsed. Laid out beforehand for the sizes that are announced; a larger message makes them grow.

use std::collections::VecDeque;

/// Requests are staged up to this many bytes, beyond the one that crosses it.
const STAGED: usize = 256 << 10;

/// Room for received bytes beyond two whole answers; more than any datagram.
const RECEIVED: usize = 256 << 10;

/// Requests staged but not yet taken by the system.
#[derive(Debug)]
pub struct Output {
    bytes: Vec<u8>,
    sent: usize,
    /// Where each request that is not wholly taken ends.
    ends: VecDeque<usize>,
    /// A byte of the first of them was taken.
    begun: bool,
}

impl Output {
    /// Room for `requests` requests of up to `size` bytes.
    pub fn new(size: usize, requests: usize) -> Output {
        // Filled and cleared, so that every page is there before the first exchange.
        let mut bytes = vec![0xff; STAGED.min(size.saturating_mul(requests)) + size];
        bytes.clear();
        Output {
            bytes,
            sent: 0,
            ends: VecDeque::with_capacity(requests + 1),
            begun: false,
        }
    }

    /// Makes room for `requests` requests of up to `size` bytes. Allocates.
    pub fn reserve(&mut self, size: usize, requests: usize) {
        let wanted = STAGED.min(size.saturating_mul(requests)) + size;
        self.bytes.reserve(wanted.saturating_sub(self.bytes.len()));
        self.ends
            .reserve((requests + 1).saturating_sub(self.ends.len()));
    }

    /// True if the system has taken all that was staged.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// True if one more request can be staged.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.bytes.len() < STAGED
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

    /// Notes that the system took `count` bytes; returns how many requests began with them.
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

    /// Bytes of the first unfinished request that are not taken, if it has begun.
    pub fn rest_of_begun(&self) -> Option<usize> {
        let end = self.ends.front()?;
        self.begun.then(|| end - self.sent)
    }

    /// Drops what is staged but the rest of a request that has begun: without it the device would take
    /// the next one for the end of this one.
    pub fn drop_unbegun(&mut self) {
        if self.begun {
            self.ends.truncate(1);
            let end = self.ends.front().map_or(self.sent, |end| *end);
            self.bytes.truncate(end);
        } else {
            self.clear();
        }
    }

    /// Drops all.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.sent = 0;
        self.begun = false;
    }
}

/// Bytes received but not yet parsed.
#[derive(Debug)]
pub struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    /// Room for answers of up to `answer` bytes.
    pub fn new(answer: usize) -> Input {
        Input {
            bytes: vec![0xff; RECEIVED + 2 * answer],
            start: 0,
            end: 0,
        }
    }

    /// Makes room for answers of up to `answer` bytes. Allocates.
    pub fn reserve(&mut self, answer: usize) {
        let wanted = RECEIVED + 2 * answer;
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0xff);
        }
    }

    /// What was received and not yet parsed.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Where `bytes` begins in the buffer; see [`Input::at`].
    #[inline]
    pub fn start(&self) -> usize {
        self.start
    }

    /// Bytes at a place counted from the beginning of the buffer; they stay until the next `space`.
    #[inline]
    pub fn at(&self, place: std::ops::Range<usize>) -> &[u8] {
        &self.bytes[place]
    }

    /// Notes that `count` bytes were put into the room.
    #[inline]
    pub fn received(&mut self, count: usize) {
        self.end += count;
    }

    /// Drops `count` bytes from the front.
    #[inline]
    pub fn drop_front(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Drops all but `count` bytes at the front, and returns how many there were.
    pub fn truncate(&mut self, count: usize) -> u64 {
        let dropped = self.end - self.start - count;
        self.end -= dropped;
        self.drop_front(0);
        dropped as u64
    }

    /// Drops all, and returns how many bytes there were.
    pub fn drop_all(&mut self) -> u64 {
        let count = self.end - self.start;
        self.drop_front(count);
        count as u64
    }

    /// Room for more bytes behind those that are there. They are moved to the front when the room
    /// becomes short; where even that leaves too little, the buffer grows.
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        if self.bytes.len() - self.end < self.bytes.len() / 2 {
            self.make_space();
        }
        &mut self.bytes[self.end..]
    }

    #[cold]
    fn make_space(&mut self) {
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.bytes.len() - self.end < self.bytes.len() / 2 {
            self.bytes.resize(2 * self.bytes.len(), 0xff);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged(sizes: &[usize]) -> Output {
        let mut output = Output::new(20, 4);
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
        assert_eq!(output.rest_of_begun(), Some(6));
        assert_eq!(output.unsent(1).len(), 6);
        assert_eq!(output.take(6), 0);
        assert_eq!(output.rest_of_begun(), None);
        assert_eq!(output.take(4), 2);
        assert_eq!(output.unsent(9), [2; 19]);
        assert_eq!(output.take(19), 0);
        assert!(output.is_empty());
        assert_eq!(output.unsent(1), []);
    }

    #[test]
    fn what_has_begun_is_finished_and_the_rest_dropped() {
        let mut output = staged(&[10, 3]);
        output.take(4);
        output.drop_unbegun();
        assert_eq!(output.unsent(9).len(), 6);
        output.take(6);
        assert!(output.is_empty());
        let mut output = staged(&[10, 3]);
        output.take(10);
        output.drop_unbegun();
        assert!(output.is_empty());
    }

    #[test]
    fn received_bytes_keep_their_order_when_they_are_moved_and_when_the_room_grows() {
        let mut input = Input::new(10);
        for round in 0..100_u8 {
            let room = input.space();
            room[..9000].fill(round);
            input.received(9000);
        }
        for round in 0..100_u8 {
            assert!(input.bytes()[..9000].iter().all(|&byte| byte == round));
            let start = input.start();
            input.drop_front(9000);
            assert_eq!(input.at(start..start + 2), [round; 2]);
        }
        assert!(input.bytes().is_empty());
    }
}
