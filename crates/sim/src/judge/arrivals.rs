//! Answers as they came: which bytes follow one another, and when an answer was whole.

use crate::world::{Tag, World};

/// An answer that came whole and unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Number on the wire of the request that it answers.
    pub number: u64,
    /// When its last byte was read.
    pub received_ns: u64,
}

/// What a byte is part of.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Number on the wire of the request that it answers.
    pub number: Option<u64>,
    /// It follows the byte before it, or begins an answer where one may begin.
    pub is_next: bool,
    is_last: bool,
}

/// All that came over this link and is in no row yet.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// The next byte of the answer that comes.
    next: Option<Tag>,
    whole: Vec<Arrival>,
}

impl Arrivals {
    /// A link was closed: what was to come does not come any more.
    pub fn new_link(&mut self) {
        self.next = None;
    }

    /// What a byte is part of.
    pub fn place_of(&self, tag: Tag, world: &World) -> Place {
        let given = world.given(tag.answer);
        let is_next = match self.next {
            Some(next) => next == tag,
            None => given.is_some() && tag.at == 0 && tag.changed == 0,
        };
        Place {
            number: given.map(|given| given.number),
            is_next,
            is_last: given.is_some_and(|given| tag.at + 1 == given.bytes),
        }
    }

    /// A byte came; true if an answer is whole with it.
    pub fn take(&mut self, place: Place, tag: Tag, received_ns: u64) -> bool {
        let begins = tag.at == 0 && tag.changed == 0;
        let Some(number) = place.number.filter(|_| place.is_next || begins) else {
            self.next = None;
            return false;
        };
        if !place.is_last {
            let at = tag.at + 1;
            self.next = Some(Tag { at, ..tag });
            return false;
        }
        self.next = None;
        self.whole.push(Arrival {
            number,
            received_ns,
        });
        true
    }

    /// Takes the first one for which this holds.
    pub fn claim(&mut self, is_it: impl Fn(&Arrival) -> bool) -> Option<Arrival> {
        let index = self.whole.iter().position(is_it)?;
        Some(self.whole.remove(index))
    }

    /// Those that are in no row, which are not asked for again.
    pub fn unclaimed(&mut self) -> Vec<Arrival> {
        std::mem::take(&mut self.whole)
    }

    /// True in the middle of an answer.
    pub fn is_begun(&self) -> bool {
        self.next.is_some()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }
}
