//! `--protocol lines`: a request and its answer are each a line of text that ends with a newline, whatever is
//! in it: an instrument that speaks SCPI, a sketch that reads with `readline`.

use crate::codec::{Answer, Codec, Generator, Matching, Parsed, Verdict};
use crate::window::Window;
use memchr::memchr;

/// Lines that are longer are cut where they reach this, and count as damaged.
const LONGEST: usize = 64 << 10;

/// `--protocol lines` at one point of a sweep.
#[derive(Debug)]
pub struct Lines {
    base: u64,
    out_bytes: usize,
    in_bytes: usize,
    datagram: bool,
    /// Bytes at the front in which no newline was found.
    seen: usize,
}

impl Lines {
    /// Requests of `out_bytes`, newline included; answers of `in_bytes`, or of any size if that is 0.
    pub fn new(base: u64, out_bytes: u32, in_bytes: u32, datagram: bool) -> Lines {
        Lines {
            base,
            out_bytes: out_bytes as usize,
            in_bytes: in_bytes as usize,
            datagram,
            seen: 0,
        }
    }

    fn answer(&self, end: usize, whole: bool, window: &Window) -> Parsed {
        let Some(slot) = window.oldest_missing().or_else(|| window.oldest_waiting()) else {
            return Parsed::Stray(end);
        };
        let is_right = whole && (self.in_bytes == 0 || end == self.in_bytes);
        let verdict = match is_right {
            true => Verdict::Intact,
            false => Verdict::Damaged,
        };
        Parsed::Answer(Answer::plain(slot.sequence, end, verdict))
    }
}

impl Codec for Lines {
    fn matching(&self) -> Matching {
        Matching::Order
    }

    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        let seen = std::mem::take(&mut self.seen).min(bytes.len());
        match memchr(b'\n', &bytes[seen..]) {
            Some(at) => self.answer(seen + at + 1, true, window),
            None if self.datagram || bytes.len() >= LONGEST => {
                self.answer(bytes.len(), false, window)
            }
            None => {
                self.seen = bytes.len();
                Parsed::Incomplete
            }
        }
    }

    fn reset(&mut self) {
        self.seen = 0;
    }
}

impl Generator for Lines {
    fn request_bytes(&self) -> usize {
        self.out_bytes
    }

    fn answer_bytes(&self) -> usize {
        match self.in_bytes {
            0 => LONGEST,
            bytes => bytes,
        }
    }

    /// The number of the exchange in decimal digits, filled up with zeros in front, and a newline.
    fn request(&mut self, sequence: u64, to: &mut [u8]) {
        let (newline, digits) = to
            .split_last_mut()
            .expect("a request has one byte at least");
        *newline = b'\n';
        let mut number = self.base + sequence;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
}
