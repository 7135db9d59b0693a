//! Finding frames in whatever has arrived: whole ones at the cost of one check and one comparison,
//! and the next one after bytes were lost, inserted or changed. The state is the caller's buffer.

use core::ops::Range;

use crate::error::HeaderError;
use crate::message::message_of;
use crate::names::Kind;
use crate::pattern::{PATTERN_PERIOD, check_pattern, first_wrong, phase_of};
use crate::{REQUEST_HEADER, RESPONSE_HEADER, Request, Response, VERSION};

/// What the two headers have in common, as far as finding them goes.
pub trait Header: Copy + Sized {
    /// Bytes in the header.
    const SIZE: usize;
    /// Its first byte.
    const MAGIC: u8;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// As the header's own `decode`.
    fn decode_header(bytes: &[u8]) -> Result<Self, HeaderError>;
    /// The kind, the sequence number, and the number of bytes that follow the header.
    fn fields(&self) -> (Kind, u32, u32);

    /// Bytes that follow the header.
    #[inline]
    fn payload_len(&self) -> usize {
        self.fields().2 as usize
    }

    /// Whether those bytes are the pattern: those of EXCHANGE are, those of HELLO and MESSAGE are not.
    #[inline]
    fn carries_pattern(&self) -> bool {
        self.fields().0 == Kind::Exchange
    }

    /// Whether they are a program's own and end with their check: those of MESSAGE. A response
    /// without a payload, a refusal, has none.
    #[inline]
    fn carries_check(&self) -> bool {
        self.fields().0 == Kind::Message && (Self::MAGIC == Request::MAGIC || self.fields().2 > 0)
    }

    /// The frame's sequence number.
    #[inline]
    fn sequence(&self) -> u32 {
        self.fields().1
    }
}

impl Header for Request {
    const SIZE: usize = REQUEST_HEADER;
    const MAGIC: u8 = Request::MAGIC;

    #[inline]
    fn decode_header(bytes: &[u8]) -> Result<Self, HeaderError> {
        Self::decode(bytes)
    }

    #[inline]
    fn fields(&self) -> (Kind, u32, u32) {
        (self.kind, self.sequence, self.out_payload)
    }
}

impl Header for Response {
    const SIZE: usize = RESPONSE_HEADER;
    const MAGIC: u8 = Response::MAGIC;

    #[inline]
    fn decode_header(bytes: &[u8]) -> Result<Self, HeaderError> {
        Self::decode(bytes)
    }

    #[inline]
    fn fields(&self) -> (Kind, u32, u32) {
        (self.kind, self.sequence, self.in_payload)
    }
}

/// What the bytes that have arrived amount to. All positions count from the start of the slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<H> {
    /// A frame may have begun at the first byte, and more must come before that is known.
    Incomplete {
        /// At least this many bytes in total, always more than there are. A lower bound, not an
        /// order: ask again whenever bytes arrive. A receiver that waits for exactly this many
        /// swallows the next frame when bytes of this one were lost.
        need: usize,
    },
    /// A frame, perhaps damaged.
    Frame {
        /// Bytes before the frame that belong to nothing.
        skip: usize,
        /// Its header, which lies at `skip`.
        header: H,
        /// Where its payload lies.
        payload: Range<usize>,
        /// Where the frame ends and the next may begin.
        end: usize,
        /// Whether the payload is whole and what it should be. `false` with a payload shorter than
        /// the header says: bytes were lost and the next frame begins at `end`.
        intact: bool,
    },
    /// These leading bytes cannot begin a frame; drop them.
    Garbage {
        /// How many, at least 1.
        skip: usize,
    },
}

/// Finds the first frame in `bytes`, of at most `max_frame` bytes.
///
/// A header that announces a longer frame is taken for noise: `max_frame` is what is plausible on
/// this link, and no less than the largest frame that shall be answered or reported.
///
/// Either a frame is found, or garbage, at least one byte of it, or nothing can be said yet; never a
/// panic. How the bytes were cut on arrival makes no difference to the frames found.
#[inline]
pub fn next_frame<H: Header>(bytes: &[u8], max_frame: usize) -> Found<H> {
    next_frame_after(bytes, max_frame, 0)
}

/// As [`next_frame`], where the first `seen` bytes are known from the call before, which was
/// answered [`Found::Incomplete`].
///
/// Spares looking at them again: with it, the cost of a large frame that arrives in many small
/// pieces grows with its size, without it with size times pieces. 0 is always right; after anything
/// but `Incomplete` it must be 0.
#[inline]
pub fn next_frame_after<H: Header>(bytes: &[u8], max_frame: usize, seen: usize) -> Found<H> {
    let Some(header) = header_at::<H>(bytes, max_frame) else {
        return after_garbage(bytes, max_frame);
    };
    let end = H::SIZE + header.payload_len();
    if header.carries_pattern()
        && let Some(payload) = bytes.get(H::SIZE..end)
        && check_pattern(header.sequence(), payload).is_none()
    {
        return Found::Frame {
            skip: 0,
            header,
            payload: H::SIZE..end,
            end,
            intact: true,
        };
    }
    if header.carries_check() {
        return examine_message(bytes, 0, header, max_frame);
    }
    examine(bytes, 0, header, max_frame, seen)
}

/// The MESSAGE whose header lies at `skip`. Its payload may hold anything, headers too, so that it is
/// searched for the next one only once it is whole and its check has said that something is wrong.
#[inline]
fn examine_message<H: Header>(bytes: &[u8], skip: usize, header: H, max_frame: usize) -> Found<H> {
    let start = skip + H::SIZE;
    let end = start + header.payload_len();
    let frame = |end, intact| Found::Frame {
        skip,
        header,
        payload: start..end,
        end,
        intact,
    };
    let wait = |need| match skip {
        0 => Found::Incomplete { need },
        _ => Found::Garbage { skip },
    };
    match bytes.get(start..end) {
        None => wait(end),
        Some(payload) if message_of(payload).is_some() => frame(end, true),
        Some(_) => match seek::<H>(bytes, start..end, max_frame) {
            Seek::Header(at, _) => frame(at, false),
            // The next header may have begun in the last bytes of this frame.
            Seek::Beginning(_) => wait(bytes.len() + 1),
            Seek::Nothing => frame(end, false),
        },
    }
}

#[inline]
fn header_at<H: Header>(bytes: &[u8], max_frame: usize) -> Option<H> {
    H::decode_header(bytes)
        .ok()
        .filter(|header| H::SIZE + header.payload_len() <= max_frame)
}

#[cold]
fn after_garbage<H: Header>(bytes: &[u8], max_frame: usize) -> Found<H> {
    match seek::<H>(bytes, 0..bytes.len(), max_frame) {
        Seek::Header(at, header) if header.carries_check() => {
            examine_message(bytes, at, header, max_frame)
        }
        Seek::Header(at, header) => examine(bytes, at, header, max_frame, 0),
        Seek::Beginning(0) => Found::Incomplete { need: H::SIZE },
        Seek::Beginning(at) => Found::Garbage { skip: at },
        Seek::Nothing if bytes.is_empty() => Found::Incomplete { need: H::SIZE },
        Seek::Nothing => Found::Garbage { skip: bytes.len() },
    }
}

/// The frame whose header lies at `skip`, when it is not known to be whole and intact.
#[inline(never)]
fn examine<H: Header>(
    bytes: &[u8],
    skip: usize,
    header: H,
    max_frame: usize,
    seen: usize,
) -> Found<H> {
    let start = skip + H::SIZE;
    let end = start + header.payload_len();
    let there = end.min(bytes.len());
    let complete = there == end;
    let frame = |end, intact| Found::Frame {
        skip,
        header,
        payload: start..end,
        end,
        intact,
    };
    let wait = |need| match skip {
        0 => Found::Incomplete { need },
        _ => Found::Garbage { skip },
    };

    // An unseen header begins at most SIZE - 1 bytes before the first unseen byte.
    let from = match complete {
        true => start,
        false => start.max(seen.saturating_sub(H::SIZE - 1)).min(there),
    };
    let wrong = |range: Range<usize>| {
        let phase = (phase_of(header.sequence()) + range.start - start) % PATTERN_PERIOD as usize;
        first_wrong(phase, &bytes[range])
    };
    let suspects = if !header.carries_pattern() {
        // Without a pattern nothing tells a header that has begun from a payload that ends like one,
        // so that only headers that lie within the payload count.
        from..there.min((end + 1).saturating_sub(H::SIZE)).max(from)
    } else if let Some(at) = wrong(from..there) {
        // The first two bytes of a header never follow one another in the pattern, so that one of
        // them is wrong where a header has taken the place of payload.
        start.max(from + at.saturating_sub(1))..there
    } else if complete {
        return frame(end, true);
    } else {
        return wait(end);
    };

    // A magic byte at the very end may be the payload's own, even if what follows is a header. It is
    // left to the payload, so that the answer is the same before and after the rest has come.
    let own = |at| header.carries_pattern() && wrong(at..there).is_none();
    match seek::<H>(bytes, suspects, max_frame) {
        Seek::Header(at, _) if !own(at) => frame(at, false),
        // The next header may have begun in the last bytes of this frame.
        Seek::Beginning(at) if !own(at) => wait(end.max(bytes.len() + 1)),
        _ if complete => frame(end, !header.carries_pattern()),
        _ => wait(end),
    }
}

enum Seek<H> {
    /// A header, whole and valid.
    Header(usize, H),
    /// The last bytes may be the beginning of one.
    Beginning(usize),
    Nothing,
}

/// The first header that begins within `range`; it may end beyond.
fn seek<H: Header>(bytes: &[u8], range: Range<usize>, max_frame: usize) -> Seek<H> {
    let mut at = range.start;
    while let Some(ahead) = bytes[at..range.end].iter().position(|b| *b == H::MAGIC) {
        at += ahead;
        let tail = &bytes[at..];
        // Before the check, because in the pattern a magic byte comes every 251 bytes.
        if tail.get(1).is_none_or(|byte| speaks_this_version(*byte)) {
            if tail.len() < H::SIZE {
                return Seek::Beginning(at);
            }
            if let Some(header) = header_at(tail, max_frame) {
                return Seek::Header(at, header);
            }
        }
        at += 1;
    }
    Seek::Nothing
}

fn speaks_this_version(version_kind: u8) -> bool {
    version_kind >> 4 == VERSION && Kind::from_number(version_kind & 0x0F).is_some()
}
