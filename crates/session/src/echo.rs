//! `--protocol echo`: bytes come back as they were sent, from any echo server that exists.
//!
//! A request of 4 bytes or more begins with its number, so that its echo is recognised wherever it
//! stands; behind it follows the pattern of docs/protocol.md. The number is scrambled: no damage of a
//! few bits makes it the number of a neighbour. Shorter requests hold what fits of it.
//!
//! A device may send the same few bytes behind each echo: see [`Surplus`].

use crate::codec::{Answer, Codec, Generator, Matching, Parsed, Verdict};
use crate::numbers::DISTANCE;
use crate::surplus::{Follows, Surplus};
use crate::window::Window;
use wiregauge_wire as wire;

/// Bytes of the number.
const MARK: usize = 4;

/// Odd, so that every number has its mark; 2^32 divided by the golden ratio, so that marks of neighbours
/// differ in many bits.
const SCRAMBLE: u32 = 0x9E37_79B1;

/// Its inverse modulo 2^32.
const UNSCRAMBLE: u32 = 0x0E8B_2F51;

const _: () = assert!(SCRAMBLE.wrapping_mul(UNSCRAMBLE) == 1);

/// The bytes of request `number`.
#[inline]
fn write(number: u64, to: &mut [u8]) {
    let number = number as u32;
    if to.len() < MARK {
        // Neighbours differ in every byte.
        to.copy_from_slice(&number.to_le_bytes()[..to.len()]);
        return;
    }
    let (mark, rest) = to.split_at_mut(MARK);
    mark.copy_from_slice(&number.wrapping_mul(SCRAMBLE).to_le_bytes());
    wire::fill_pattern(number, rest);
}

/// The number that these bytes are the whole echo of, if they are one; they have [`MARK`] bytes at least.
#[inline]
fn read(bytes: &[u8]) -> Option<u32> {
    let number = marked(bytes);
    wire::check_pattern(number, &bytes[MARK..])
        .is_none()
        .then_some(number)
}

/// The number that the first bytes name.
#[inline]
fn marked(bytes: &[u8]) -> u32 {
    let mark = bytes
        .first_chunk()
        .expect("the caller has seen that there are enough");
    u32::from_le_bytes(*mark).wrapping_mul(UNSCRAMBLE)
}

/// The latest exchange before `started` whose number has these lowest bits.
fn latest_alike(bits: u32, mask: u32, base: u64, started: u64) -> Option<u64> {
    let newest = base + started.checked_sub(1)?;
    let age = (newest as u32).wrapping_sub(bits) & mask;
    (newest - base).checked_sub(u64::from(age))
}

/// `--protocol echo` at one point of a sweep.
#[derive(Debug)]
pub struct Echo {
    /// Number of the point's exchange 0; numbers go on from point to point.
    base: u64,
    bytes: usize,
    datagram: bool,
    /// Where an echo begins is not known: one was given up while it came, or something came unasked.
    out_of_step: bool,
    /// Bytes at the front that were reported with a damaged echo.
    reported: usize,
    /// What the device sends behind each echo.
    surplus: Surplus,
}

impl Echo {
    /// Echoes of this size.
    pub fn new(base: u64, bytes: u32, datagram: bool) -> Echo {
        Echo {
            base,
            bytes: bytes as usize,
            datagram,
            out_of_step: false,
            reported: 0,
            surplus: Surplus::default(),
        }
    }

    /// The exchange of this point that has this number; `Err` if it is one of an earlier point.
    fn sequence_of(&self, number: u32, window: &Window) -> Option<Result<u64, ()>> {
        let newest = self.base + window.started();
        // Numbers wrap after 2^32: the latest that could have been sent is meant.
        let age = u64::from((newest as u32).wrapping_sub(number).wrapping_sub(1));
        let number = newest.checked_sub(age + 1)?;
        match number.checked_sub(self.base) {
            Some(sequence) => Some(Ok(sequence)),
            // Older ones do not come any more, and once all 2^32 were used any bytes would be one of them.
            None => (self.base - number <= 2 * DISTANCE).then_some(Err(())),
        }
    }

    /// The whole echo at the front, whoever's it is.
    #[inline]
    fn whole(&self, bytes: &[u8], window: &Window) -> Option<Result<u64, ()>> {
        self.sequence_of(read(&bytes[..self.bytes])?, window)
    }

    fn answer(&self, sequence: Result<u64, ()>) -> Parsed {
        match sequence {
            Ok(sequence) => Parsed::Answer(Answer::plain(sequence, self.bytes, Verdict::Intact)),
            Err(()) => Parsed::Stray(self.bytes),
        }
    }

    /// What these bytes are behind an echo; `None` if they are no surplus. A whole echo never is.
    fn parse_surplus(&mut self, bytes: &[u8], window: &Window) -> Option<Parsed> {
        if self.surplus.is_listening() {
            let places = (bytes.len() + 1).saturating_sub(self.bytes);
            let has_echo = (0..places).any(|at| self.whole(&bytes[at..], window).is_some());
            if Surplus::may_have(bytes.len()) && !has_echo {
                return Some(Parsed::Incomplete);
            }
            self.surplus.stop_listening();
        }
        if self.surplus.due() == 0 {
            return None;
        }
        let is_echo = bytes.len() >= self.bytes && self.whole(bytes, window).is_some();
        let follows = match is_echo {
            true => Follows::Other,
            false => self.surplus.follows(bytes),
        };
        match follows {
            Follows::Begun => Some(Parsed::Incomplete),
            Follows::Whole(count) => Some(Parsed::Surplus(count)),
            Follows::Other => {
                self.surplus.is_missing();
                None
            }
        }
    }

    /// A stream of echoes that can be distinguished wherever they stand.
    fn parse_marked(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        if let Some(parsed) = self.parse_surplus(bytes, window) {
            return parsed;
        }
        if bytes.len() < self.bytes {
            return Parsed::Incomplete;
        }
        if let Some(sequence) = self.whole(bytes, window) {
            self.out_of_step = false;
            self.reported = 0;
            self.surplus.answered();
            return self.answer(sequence);
        }
        let places = bytes.len() - self.bytes;
        let next = (1..=places).find(|at| self.whole(&bytes[*at..], window).is_some());
        let foreign = next.unwrap_or(places + 1);
        if self.reported > 0 {
            // Behind a damaged echo the next one begins where it would have, unless it is found before.
            let rest = foreign.min(self.reported);
            self.reported -= rest;
            return Parsed::Rest(rest);
        }
        if self.out_of_step || window.waiting() == 0 {
            self.out_of_step = true;
            return Parsed::Stray(foreign);
        }
        let consumed = foreign.min(self.bytes);
        let whole = self.bytes + self.surplus.len();
        self.reported = next.unwrap_or(whole).min(whole) - consumed;
        Parsed::Answer(Answer {
            consumed,
            ..Answer::plain(window.oldest(), self.bytes, Verdict::Damaged)
        })
    }

    /// Echoes of one to three bytes: the first outstanding one that it could be.
    fn parse_short(&self, bytes: &[u8], window: &Window) -> Parsed {
        let Some(front) = bytes.get(..self.bytes) else {
            return Parsed::Incomplete;
        };
        let near = self.base + window.oldest();
        let mut echo = [0; MARK];
        let echo = &mut echo[..self.bytes];
        let is_echo_of = |number: u64, echo: &mut [u8]| {
            write(number, echo);
            front == echo
        };
        let mut number = [0; MARK];
        number[..front.len()].copy_from_slice(front);
        let mask = (1 << (8 * front.len() as u32)) - 1;
        let ahead = u32::from_le_bytes(number).wrapping_sub(near as u32) & mask;
        let first = window.oldest() + u64::from(ahead);
        let mut alike = (first..window.started()).step_by(mask as usize + 1);
        if let Some(sequence) = alike.find(|sequence| window.awaits(*sequence)) {
            return Parsed::Answer(Answer::plain(sequence, self.bytes, Verdict::Intact));
        }
        let latest = match self.datagram {
            true => latest_alike(
                u32::from_le_bytes(number),
                mask,
                self.base,
                window.started(),
            ),
            false => None,
        };
        let missing = window.oldest_missing().map(|slot| slot.sequence);
        let missing = missing.filter(|missing| is_echo_of(self.base + missing, echo));
        // A datagram that came twice is likelier than a damaged one.
        match (missing.or(latest), window.waiting()) {
            (Some(known), _) => Parsed::Answer(Answer::plain(known, self.bytes, Verdict::Intact)),
            (None, 0) => Parsed::Stray(self.bytes),
            (None, _) => {
                Parsed::Answer(Answer::plain(window.oldest(), self.bytes, Verdict::Damaged))
            }
        }
    }

    /// A datagram is one echo, or something else.
    fn parse_datagram(&self, bytes: &[u8], window: &Window) -> Parsed {
        if bytes.len() < MARK || self.bytes < MARK {
            return match bytes.len() == self.bytes {
                true => self.parse_short(bytes, window),
                false => self.damaged(bytes, None, window),
            };
        }
        let named = self.sequence_of(marked(bytes), window);
        match read(bytes).and(named) {
            Some(sequence) if bytes.len() == self.bytes => self.answer(sequence),
            // Whole, but of another size: of an earlier point.
            Some(Err(())) => Parsed::Stray(bytes.len()),
            _ => self.damaged(bytes, named.and_then(Result::ok), window),
        }
    }

    /// A damaged datagram answers the exchange that it names, or the only one that waits.
    fn damaged(&self, bytes: &[u8], named: Option<u64>, window: &Window) -> Parsed {
        let named = named.filter(|sequence| window.awaits(*sequence));
        let only = (window.waiting() == 1).then(|| window.oldest());
        match named.or(only) {
            Some(sequence) => {
                Parsed::Answer(Answer::plain(sequence, bytes.len(), Verdict::Damaged))
            }
            None => Parsed::Stray(bytes.len()),
        }
    }
}

impl Codec for Echo {
    fn matching(&self) -> Matching {
        match self.bytes < MARK && !self.datagram {
            true => Matching::Content,
            false => Matching::Number,
        }
    }

    #[inline]
    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        if self.datagram {
            self.parse_datagram(bytes, window)
        } else if self.bytes < MARK {
            self.parse_short(bytes, window)
        } else {
            self.parse_marked(bytes, window)
        }
    }

    fn reset(&mut self) {
        self.out_of_step = false;
        self.reported = 0;
        self.surplus.reset();
    }

    fn abandon_partial(&mut self, bytes: usize) {
        self.out_of_step |= bytes > self.reported + self.surplus.due();
    }

    fn listen(&mut self) -> bool {
        if self.datagram || self.bytes < MARK {
            return false;
        }
        self.surplus.listen();
        true
    }

    fn is_listening(&self) -> bool {
        self.surplus.is_listening()
    }

    fn on_quiet(&mut self, bytes: &[u8]) -> bool {
        self.surplus.on_quiet(bytes)
    }

    fn stray_bytes(&self) -> u64 {
        self.surplus.stray()
    }

    fn surplus(&self) -> Option<wiregauge_record::Surplus> {
        self.surplus.found()
    }
}

impl Generator for Echo {
    fn request_bytes(&self) -> usize {
        self.bytes
    }

    fn answer_bytes(&self) -> usize {
        self.bytes
    }

    #[inline]
    fn request(&mut self, sequence: u64, to: &mut [u8]) {
        write(self.base + sequence, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn window(started: u64) -> Window {
        let mut window = Window::new(started as usize);
        for _ in 0..started {
            window.stage(0);
        }
        window.start(started as usize, 0);
        window
    }

    fn echo_of(number: u64, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        write(number, &mut bytes);
        bytes
    }

    /// Number and verdict of an answer.
    fn answer(parsed: &Parsed) -> Option<(Option<u64>, Verdict)> {
        match parsed {
            Parsed::Answer(answer) => Some((answer.sequence, answer.verdict)),
            _ => None,
        }
    }

    #[test]
    fn the_first_outstanding_one_that_a_short_echo_could_be_is_answered() {
        let mut window = window(600);
        window.finish(5);
        let parsed = Echo::new(0, 1, false).parse(&[5], &window);
        assert_eq!(answer(&parsed), Some((Some(5 + 256), Verdict::Intact)));
    }

    proptest! {
        #[test]
        fn every_changed_byte_is_noticed(size in 1_usize..300, at in 0_usize..300, change in 1_u8..) {
            let mut bytes = echo_of(5, size);
            bytes[at % size] ^= change;
            let parsed = Echo::new(5, size as u32, false).parse(&bytes, &window(1));
            let damaged = matches!(parsed, Parsed::Answer(answer) if answer.verdict == Verdict::Damaged);
            prop_assert!(damaged);
        }
    }
}
