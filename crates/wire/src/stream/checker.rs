//! Tells right, lost, duplicated, changed and foreign bytes of a stream apart, and finds the frames
//! that stand within it. Fast while all is right; from the first wrong byte on one byte at a time,
//! so that how the stream was cut on arrival cannot matter.

use super::STREAM_FRAME;
use super::pattern::{INVERSE, agreeing, byte_at, fill_stream};
use crate::find::Header;

/// Right bytes in a row that tell their position: whatever their alignment there is one whole word
/// among them, which names the position, and four more bytes, which confirm it.
const RUN: usize = 8;

/// Right bytes in a row that are believed when they are further than [`NEAR`] from where they were
/// expected: among foreign bytes, 8 fit some position once in 2^30, and the error would be large.
const FAR_RUN: usize = 12;
const NEAR: u64 = 1 << 24;

/// After so many bytes the words repeat.
const PERIOD_BITS: u32 = 34;

/// Bytes kept that are not decided upon.
const KEPT: usize = 96;
/// Of those so many when they are full: no less than a header and a run before it.
const KEPT_ON: usize = 64;

/// What became of the bytes of a stream. Bytes that are not decided upon are not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamCounts {
    /// Bytes that came, frames left out: right, duplicated, corrupted and stray ones.
    pub received: u64,
    /// Bytes that were passed over.
    pub lost: u64,
    /// Bytes at a position that the stream had passed already.
    pub duplicated: u64,
    /// Wrong bytes in place of right ones.
    pub corrupted: u64,
    /// Bytes that fit nowhere: inserted, or in a stretch too short to be placed.
    pub stray: u64,
}

impl StreamCounts {
    /// How far the stream has come. What was sent beyond was lost at its end, where nothing follows
    /// that shows it.
    pub fn reached(&self) -> u64 {
        let seen = self.received.saturating_add(self.lost);
        seen.saturating_sub(self.duplicated.saturating_add(self.stray))
    }

    /// Bytes that came once, right and in their place.
    pub fn right(&self) -> u64 {
        let wrong = self.duplicated.saturating_add(self.corrupted);
        self.received
            .saturating_sub(wrong.saturating_add(self.stray))
    }
}

/// What [`StreamChecker::take`] made of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken<H> {
    /// All belong to the stream.
    All,
    /// A frame stands within the stream.
    Frame {
        /// Its header.
        header: H,
        /// The header ends after so many of the bytes, at least 1; it may have begun in an earlier
        /// call. Its payload follows: the caller takes it, and goes on with what is behind it.
        used: usize,
    },
}

/// Checks one stream, piece by piece.
///
/// A frame within the stream counts for nothing, and the stream is checked as if it were not there.
#[derive(Clone, Debug)]
pub struct StreamChecker {
    counts: StreamCounts,
    /// The next byte expected: that of the first undecided byte, if it were right.
    position: u64,
    /// The end of what was seen.
    reached: u64,
    /// Right bytes in a row before `position`.
    run: u64,
    /// How many of those were new, not duplicates.
    new: u64,
    /// Bytes since the last frame.
    since_frame: u64,
    /// Bytes not decided upon; the first of them is wrong at `position`.
    undecided: u64,
    /// Those of them that are wrong if all stand in their place, duplicates left out.
    wrong: u64,
    /// The last of them.
    held: [u8; KEPT],
    kept: usize,
}

impl Default for StreamChecker {
    fn default() -> Self {
        Self::new()
    }
}

impl StreamChecker {
    /// For a stream that begins.
    pub const fn new() -> Self {
        Self {
            counts: StreamCounts {
                received: 0,
                lost: 0,
                duplicated: 0,
                corrupted: 0,
                stray: 0,
            },
            position: 0,
            reached: 0,
            run: 0,
            new: 0,
            since_frame: 0,
            undecided: 0,
            wrong: 0,
            held: [0; KEPT],
            kept: 0,
        }
    }

    /// What became of the bytes so far. A few may still be undecided, and a few right ones may turn
    /// out to be the beginning of a frame.
    pub fn counts(&self) -> StreamCounts {
        self.counts
    }

    /// Bytes at the end of what came that are not decided upon, and how many of them are wrong if all
    /// stand in their place. Who knows how long the stream was can tell whether they do.
    pub fn tail(&self) -> (u64, u64) {
        (self.undecided, self.wrong)
    }

    /// Ends the stream: what is still undecided fits nowhere.
    pub fn finish(&mut self) -> StreamCounts {
        self.counts.received += self.undecided;
        self.counts.stray += self.undecided;
        self.forget();
        self.counts
    }

    /// Takes the next bytes of the stream, up to the end of a frame's header, if there is one of
    /// type `H`.
    #[inline]
    pub fn take<H: Header>(&mut self, bytes: &[u8]) -> Taken<H> {
        let mut used = 0;
        if self.undecided == 0 {
            used = self.take_right(bytes);
            if used == bytes.len() {
                return Taken::All;
            }
        }
        self.take_doubtful(bytes, used)
    }

    #[inline(never)]
    fn take_doubtful<H: Header>(&mut self, bytes: &[u8], mut used: usize) -> Taken<H> {
        while let Some(byte) = bytes.get(used) {
            self.hold(*byte);
            used += 1;
            if let Some(header) = self.frame_ends_here() {
                return Taken::Frame { header, used };
            }
            self.place();
            if self.undecided == 0 {
                used += self.take_right(&bytes[used..]);
            }
        }
        Taken::All
    }

    #[inline]
    fn take_right(&mut self, bytes: &[u8]) -> usize {
        let right = agreeing(self.position, bytes);
        self.since_frame += right as u64;
        self.advance(right as u64);
        right
    }

    /// Counts right bytes at `position`.
    #[inline]
    fn advance(&mut self, right: u64) {
        let again = right.min(self.reached - self.position);
        self.counts.received += right;
        self.counts.duplicated += again;
        self.position += right;
        self.reached = self.reached.max(self.position);
        self.run += right;
        self.new += right - again;
    }

    fn hold(&mut self, byte: u8) {
        let place = self.position + self.undecided;
        self.wrong += u64::from(place >= self.reached && byte != byte_at(place));
        self.undecided += 1;
        self.since_frame += 1;
        if self.kept == KEPT {
            self.held.copy_within(KEPT - KEPT_ON.., 0);
            self.kept = KEPT_ON;
        }
        self.held[self.kept] = byte;
        self.kept += 1;
    }

    fn forget(&mut self) {
        self.undecided = 0;
        self.wrong = 0;
        self.kept = 0;
    }

    /// A frame whose header ends with the last byte held. It may have begun among the bytes before
    /// the first wrong one, which agreed with the pattern by chance and can be made again from it.
    fn frame_ends_here<H: Header>(&mut self) -> Option<H> {
        const { assert!(H::SIZE + FAR_RUN <= KEPT_ON) };
        if self.since_frame < H::SIZE as u64 {
            return None;
        }
        let own = self.kept.min(H::SIZE);
        let before = (H::SIZE - own) as u64;
        if before > self.run {
            return None;
        }
        let mut bytes = [0; KEPT];
        let bytes = &mut bytes[..H::SIZE];
        let (chance, held) = bytes.split_at_mut(H::SIZE - own);
        held.copy_from_slice(&self.held[self.kept - own..self.kept]);
        fill_stream(self.position - before, chance);
        if bytes[0] != H::MAGIC {
            return None;
        }
        let header = H::decode_header(bytes).ok()?;
        if H::SIZE + header.payload_len() > STREAM_FRAME {
            return None;
        }
        self.since_frame = 0;
        if before > 0 || self.undecided == H::SIZE as u64 {
            self.forget();
            self.take_back(before);
        } else {
            self.kept -= H::SIZE;
            self.undecided -= H::SIZE as u64;
            let place = self.position + self.undecided;
            let wrong = (place..).zip(&bytes[..]);
            let wrong = wrong.filter(|(at, byte)| *at >= self.reached && **byte != byte_at(*at));
            self.wrong -= wrong.count() as u64;
        }
        Some(header)
    }

    /// The last right bytes were none of the stream's.
    fn take_back(&mut self, bytes: u64) {
        let new = bytes.min(self.new);
        self.counts.received -= bytes;
        self.counts.duplicated -= bytes - new;
        self.position -= bytes;
        self.reached -= new;
        self.run -= bytes;
        self.new -= new;
    }

    /// Decides upon all that is held, once the last bytes tell where the stream goes on.
    fn place(&mut self) {
        let Some((right, position)) = self.found_again() else {
            return;
        };
        let right = right as u64;
        let before = self.undecided - right;
        let back = self.position.saturating_sub(position);
        let wrong = self.wrong;
        self.forget();
        if position == self.position + before {
            // In place: the wrong bytes were changed.
            let again = before.min(self.reached - self.position);
            self.counts.received += before;
            self.counts.duplicated += again;
            self.counts.corrupted += wrong;
            self.position = position;
            self.reached = self.reached.max(position);
            self.restart();
            self.advance(right);
            return;
        }
        self.counts.received += before;
        self.counts.stray += before;
        self.restart();
        if before > 0 && back < RUN as u64 && position <= self.position {
            // Inserted bytes. The first of them may have agreed with the pattern by chance, or the
            // last ones with what stood before them.
            self.counts.received += back;
            self.counts.stray += back;
            self.advance(right - back);
            return;
        }
        self.counts.lost += position.saturating_sub(self.reached);
        self.reached = self.reached.max(position);
        self.position = position;
        self.advance(right);
    }

    fn restart(&mut self) {
        self.run = 0;
        self.new = 0;
    }

    /// How many of the last bytes held belong together, and the position of the first of them.
    fn found_again(&self) -> Option<(usize, u64)> {
        let held = &self.held[..self.kept];
        let last = held.last_chunk::<RUN>()?;
        let expected = self.position + self.undecided - RUN as u64;
        (0..4).find_map(|ahead| {
            // The one whole word that is there in any case begins `ahead` bytes into the run.
            let word = u32::from_le_bytes(*last[ahead..].first_chunk()?);
            let number = word.wrapping_mul(INVERSE);
            // The position modulo the period, less the one expected, as a signed number.
            let place = (u64::from(number) << 2).wrapping_sub(ahead as u64);
            let off = (place.wrapping_sub(expected) << (64 - PERIOD_BITS)) as i64;
            let off = off >> (64 - PERIOD_BITS);
            let place = expected.checked_add_signed(off)?;
            if agreeing(place, last) != RUN {
                return None;
            }
            if off.unsigned_abs() <= NEAR {
                return Some((RUN, place));
            }
            let place = place.checked_sub((FAR_RUN - RUN) as u64)?;
            let last = held.last_chunk::<FAR_RUN>()?;
            (agreeing(place, last) == FAR_RUN).then_some((FAR_RUN, place))
        })
    }
}
