//! A stream of frames and damage, made from the fuzzer's bytes. Raw bytes alone would hardly ever
//! pass a header's check, and nothing behind it would be fuzzed.

use std::fmt::Debug;

use wiregauge_wire::{Found, Header, check_pattern, message_of, next_frame, next_frame_after};

/// Longest frame that the receiver takes for plausible.
const LIMIT: usize = 2048;

/// The fuzzer's bytes, read as a recipe.
pub struct Recipe<'a>(&'a [u8]);

impl<'a> Recipe<'a> {
    /// A recipe from the fuzzer's bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next `most` bytes, or what is left.
    pub fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// The next byte; `None` at the end.
    pub fn byte(&mut self) -> Option<u8> {
        self.bytes(1).first().copied()
    }

    /// The next two bytes as a number, zeros after the end.
    pub fn number(&mut self) -> u16 {
        u16::from_le_bytes([self.byte().unwrap_or(0), self.byte().unwrap_or(0)])
    }

    /// The next four bytes as a number, zeros after the end.
    pub fn word(&mut self) -> u32 {
        u32::from(self.number()) | u32::from(self.number()) << 16
    }
}

/// The stream that the recipe describes; `frame` makes one frame from what it takes of the recipe.
pub fn cook(recipe: &mut Recipe<'_>, mut frame: impl FnMut(&mut Recipe<'_>) -> Vec<u8>) -> Vec<u8> {
    let mut stream = Vec::new();
    while let Some(step) = recipe.byte() {
        match step % 8 {
            0..3 => stream.extend(frame(recipe)),
            // Broken off, as by a device that was reset.
            3 => {
                let mut whole = frame(recipe);
                whole.truncate(usize::from(recipe.number()) % (whole.len() + 1));
                stream.extend(whole);
            }
            4 => stream.extend(recipe.bytes(usize::from(step / 8))),
            5 if !stream.is_empty() => {
                let at = usize::from(recipe.number()) % stream.len();
                let to = stream.len().min(at + 1 + usize::from(step / 8));
                stream.drain(at..to);
            }
            6 => {
                let at = usize::from(recipe.number()) % (stream.len() + 1);
                stream.insert(at, recipe.byte().unwrap_or(0));
            }
            7 if !stream.is_empty() => {
                let at = usize::from(recipe.number()) % stream.len();
                stream[at] ^= 1 << (step / 8 % 8);
            }
            _ => {}
        }
        if stream.len() > 1 << 16 {
            break;
        }
    }
    stream
}

/// Receives the stream whole and in pieces; panics if any promise of `next_frame` is broken.
pub fn receive<H: Header + Debug + PartialEq>(stream: &[u8], piece: usize) {
    let whole = frames::<H>(stream, stream.len().max(1), false);
    assert_eq!(frames::<H>(stream, piece, false), whole);
    assert_eq!(frames::<H>(stream, piece, true), whole);
}

fn frames<H: Header>(stream: &[u8], piece: usize, hint: bool) -> Vec<(H, usize, bool)> {
    let mut found = Vec::new();
    let mut buffer = Vec::new();
    let mut seen = 0;
    for arriving in stream.chunks(piece) {
        buffer.extend_from_slice(arriving);
        loop {
            let next = match hint {
                true => next_frame_after::<H>(&buffer, LIMIT, seen),
                false => next_frame::<H>(&buffer, LIMIT),
            };
            seen = 0;
            match next {
                Found::Incomplete { need } => {
                    assert!(need > buffer.len());
                    // No frame is longer, and a doubt is settled by one more header.
                    assert!(buffer.len() < LIMIT + H::SIZE);
                    seen = buffer.len();
                    break;
                }
                Found::Garbage { skip } => {
                    assert!(0 < skip && skip <= buffer.len());
                    buffer.drain(..skip);
                }
                Found::Frame {
                    skip,
                    header,
                    payload,
                    end,
                    intact,
                } => {
                    assert_eq!(payload.start, skip + H::SIZE);
                    assert!(payload.end == end && end <= buffer.len());
                    assert!(end - skip <= LIMIT);
                    let payload = &buffer[payload];
                    let wrong = check_pattern(header.sequence(), payload).is_some();
                    assert!(!intact || payload.len() == header.payload_len());
                    assert!(!(intact && wrong && header.carries_pattern()));
                    assert!(!(intact && header.carries_check() && message_of(payload).is_none()));
                    found.push((header, payload.len(), intact));
                    buffer.drain(..end);
                }
            }
        }
    }
    found
}
