//! What the device really gave, held against what the oracle reads in the bytes: as long as a link damages nothing,
//! both are the same answers in the same order.

use super::fault::Fault;
use crate::world::{Byte, Tag, World};
use std::collections::VecDeque;

/// Whole answers that came, and those that were recognised.
#[derive(Debug, Default)]
pub struct Truth {
    /// The next byte of the answer that comes.
    next: Option<Tag>,
    came: VecDeque<u64>,
    recognised: VecDeque<u64>,
    /// Bytes that stand behind an echo came.
    has_surplus: bool,
    /// Bytes of something else came: nothing can be said about this link any more.
    void: bool,
}

impl Truth {
    /// A link was opened anew.
    pub fn new_link(&mut self) {
        *self = Truth::default();
    }

    /// Bytes came.
    pub fn received(&mut self, bytes: &[Byte], world: &World, base: u64, has_marks: bool) {
        self.void |= !has_marks || !world.is_undamaged();
        for byte in bytes {
            if byte.tag.answer == Tag::SURPLUS && self.next.is_none() {
                self.has_surplus = true;
                continue;
            }
            let Some(given) = world.given(byte.tag.answer).filter(|_| !self.void) else {
                self.void = true;
                return;
            };
            let is_next = match self.next {
                Some(next) => byte.tag == next,
                None => byte.tag.at == 0,
            };
            // What an earlier point left behind has other sizes, and short echoes look alike.
            let is_ours = given.number >= base && given.bytes >= 4;
            // Four bytes of what stands behind an echo are by chance those of another one.
            let is_certain = given.bytes > 4 || !self.has_surplus;
            if !is_next || !is_ours || !is_certain {
                self.void = true;
                return;
            }
            let at = byte.tag.at + 1;
            self.next = (at < given.bytes).then_some(Tag { at, ..byte.tag });
            if self.next.is_none() {
                self.came.push_back(given.number);
            }
        }
    }

    /// The oracle found a whole answer to the request with this number.
    pub fn recognised(&mut self, number: u64) {
        self.recognised.push_back(number);
    }

    /// All that came was read.
    pub fn compare(&mut self, now_ns: u64) -> Result<(), Fault> {
        if !self.void && self.came != self.recognised {
            let what = format!(
                "the oracle errs: it recognised {:?}, but {:?} came",
                self.recognised, self.came
            );
            return Err(Fault::new(now_ns, what));
        }
        self.came.clear();
        self.recognised.clear();
        Ok(())
    }
}
