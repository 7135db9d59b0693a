//! The bytes on their way: requests made ready but not yet taken by the system, and received bytes
//! not yet understood. Laid out and touched before the first exchange.

/// Requests are handed over together up to this many bytes, beyond the one that crosses it.
const BATCH: usize = 256 << 10;

/// Room for received bytes beyond two whole answers.
const INPUT: usize = 256 << 10;

/// Requests staged but not yet taken by the system; all of one size.
pub struct Output {
    bytes: Vec<u8>,
    size: usize,
    staged: usize,
    sent: usize,
}

/// Bytes received but not yet understood.
pub struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Output {
    /// Room for requests of this size.
    pub fn new(size: u32) -> Output {
        let size = size as usize;
        // Filled with something other than zero so that every page is there before the start.
        Output {
            bytes: vec![0xff; BATCH + size],
            size,
            staged: 0,
            sent: 0,
        }
    }

    /// True if the system has taken all that was staged.
    pub fn is_empty(&self) -> bool {
        self.staged == self.sent
    }

    /// True if one more request can be staged.
    pub fn has_room(&self) -> bool {
        self.staged + self.size <= self.bytes.len()
    }

    /// Staged requests of which no byte has been taken.
    pub fn not_started(&self) -> usize {
        (self.staged / self.size) - self.sent.div_ceil(self.size)
    }

    /// Room for one more request.
    pub fn stage(&mut self) -> &mut [u8] {
        let begin = self.staged;
        self.staged += self.size;
        &mut self.bytes[begin..self.staged]
    }

    /// What the system has not taken, up to the end of `most` requests.
    pub fn unsent(&self, most: usize) -> &[u8] {
        let end = (self.sent / self.size + most) * self.size;
        &self.bytes[self.sent..end.min(self.staged)]
    }

    /// Notes that the system took so many bytes; returns how many requests began with them.
    pub fn take(&mut self, count: usize) -> usize {
        let before = self.sent.div_ceil(self.size);
        self.sent += count;
        let begun = self.sent.div_ceil(self.size) - before;
        if self.is_empty() {
            self.clear();
        }
        begun
    }

    /// How much of the first unfinished request the system has taken, and its size.
    pub fn part_taken(&self) -> (usize, usize) {
        (self.sent % self.size, self.size)
    }

    /// Forgets what is staged.
    pub fn clear(&mut self) {
        self.staged = 0;
        self.sent = 0;
    }
}

impl Input {
    /// Room for answers of this size.
    pub fn new(answer: u32) -> Input {
        Input {
            bytes: vec![0xff; INPUT + 2 * answer as usize],
            start: 0,
            end: 0,
        }
    }

    /// What was received and not yet understood.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Notes that so many bytes were put into the room.
    pub fn received(&mut self, count: usize) {
        self.end += count;
    }

    /// Drops so many bytes from the front.
    pub fn drop_front(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            self.clear();
        }
    }

    /// Drops all, and tells how many there were.
    pub fn drop_all(&mut self) -> u64 {
        let count = self.end - self.start;
        self.clear();
        count as u64
    }

    /// Room for more bytes behind those that are there. A stream's are moved to the front when the
    /// room becomes short; a datagram always finds the whole.
    pub fn space(&mut self, datagram: bool) -> &mut [u8] {
        if datagram {
            self.clear();
        } else if self.bytes.len() - self.end < self.bytes.len() / 2 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        &mut self.bytes[self.end..]
    }

    fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_begun_once_its_first_byte_was_taken() {
        let mut output = Output::new(10);
        output.stage();
        output.stage();
        assert_eq!(output.not_started(), 2);
        assert_eq!(output.take(3), 1);
        assert_eq!(output.part_taken(), (3, 10));
        assert_eq!(output.not_started(), 1);
        assert_eq!(output.take(7), 0);
        assert_eq!(output.take(10), 1);
        assert!(output.is_empty());
    }

    #[test]
    fn received_bytes_stay_in_order_when_they_are_moved_to_the_front() {
        let mut input = Input::new(1000);
        for round in 0..2000_u32 {
            let room = input.space(false);
            assert!(room.len() >= 1000, "{round}");
            room[..700].fill(round as u8);
            input.received(700);
            assert!(input.bytes()[..700].iter().all(|&byte| byte == round as u8));
            input.drop_front(699);
            input.drop_front(1);
        }
    }
}
