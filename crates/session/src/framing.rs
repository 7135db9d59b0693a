//! How messages are distinguished on a link whose device knows nothing of wiregauge. No I/O; whatever
//! arrives is hostile, so that every length is bounded and nothing is laid out because it was announced.

use memchr::memmem::Finder;
use std::fmt;
use std::ops::Range;

/// How a message begins and ends. Over datagrams each message is one datagram, whatever the framing adds to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Nothing is added: a reply is as long as its caller says.
    Raw,
    /// Every reply is so many bytes long.
    Fixed {
        /// Bytes of a reply.
        bytes: usize,
    },
    /// Each message ends with these bytes, which are added to requests and taken off replies (SCPI: `\n`).
    Terminator {
        /// The end of a message; 1 to 8 bytes.
        end: Vec<u8>,
    },
    /// Each message begins with its length.
    LengthPrefix(LengthField),
}

/// The field that tells how long a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthField {
    /// Bytes of the field: 1, 2 or 4.
    pub bytes: u8,
    /// The most significant byte first.
    pub big_endian: bool,
    /// The number counts the field itself as well.
    pub counts_itself: bool,
}

/// Bytes of a terminator at most.
const LONGEST_END: usize = 8;

/// Takes replies out of received bytes, and frames requests.
#[derive(Debug)]
pub struct Splitter {
    framing: Framing,
    /// Each message is one datagram.
    datagram: bool,
    /// Bytes of a message at most, all counted.
    limit: usize,
    end: Option<Box<Finder<'static>>>,
    /// Bytes at the front in which no terminator was found.
    seen: usize,
}

/// What received bytes begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// The beginning of a message: more must come.
    More,
    /// A message.
    Message {
        /// Where the bytes of the program lie.
        payload: Range<usize>,
        /// Where the next message begins.
        end: usize,
    },
    /// No message; where the next one begins is unknown.
    Malformed(Malformed),
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// It announces more bytes than are taken.
    TooLong {
        /// Its length.
        announced: u64,
        /// What is taken.
        limit: usize,
    },
    /// Its length counts the field itself, and is less than that.
    TooShort {
        /// Its length.
        announced: u64,
    },
    /// So many bytes came without a terminator.
    NoEnd {
        /// What is taken.
        limit: usize,
    },
    /// A datagram of another size than the framing says.
    OtherSize {
        /// Its size.
        bytes: usize,
        /// What it should be.
        expected: u64,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::TooLong { announced, limit } => write!(
                f,
                "a message declares {announced} bytes, more than the maximum of {limit}"
            ),
            Malformed::TooShort { announced } => write!(
                f,
                "a message declares {announced} bytes, fewer than its length field has"
            ),
            Malformed::NoEnd { limit } => write!(f, "received {limit} bytes without a terminator"),
            Malformed::OtherSize { bytes, expected } => write!(
                f,
                "received a datagram of {bytes} bytes, but the framing requires {expected}"
            ),
        }
    }
}

impl LengthField {
    fn size(self) -> usize {
        usize::from(self.bytes)
    }

    /// The largest number that it can hold.
    fn most(self) -> u64 {
        (1 << (8 * u32::from(self.bytes))) - 1
    }

    /// Bytes that it counts for a payload of this size.
    fn counts(self, payload: usize) -> u64 {
        payload as u64
            + if self.counts_itself {
                u64::from(self.bytes)
            } else {
                0
            }
    }

    fn write(self, payload: usize, to: &mut Vec<u8>) {
        let counts = self.counts(payload);
        if self.big_endian {
            to.extend_from_slice(&counts.to_be_bytes()[8 - self.size()..]);
        } else {
            to.extend_from_slice(&counts.to_le_bytes()[..self.size()]);
        }
    }

    fn read(self, field: &[u8]) -> u64 {
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        match self.big_endian {
            true => field.iter().fold(0, add),
            false => field.iter().rev().fold(0, add),
        }
    }
}

impl Framing {
    /// What is wrong with it, if anything; `limit` is the size of a message at most.
    pub fn check(&self, limit: usize) -> Result<(), String> {
        match self {
            Framing::Raw => Ok(()),
            Framing::Fixed { bytes: 0 } => Err("replies of 0 bytes are not valid".into()),
            Framing::Fixed { bytes } if *bytes > limit => Err(format!(
                "replies of {bytes} bytes exceed the maximum of {limit}"
            )),
            Framing::Fixed { .. } => Ok(()),
            Framing::Terminator { end } if (1..=LONGEST_END).contains(&end.len()) => Ok(()),
            Framing::Terminator { end } => Err(format!(
                "a terminator has 1 to {LONGEST_END} bytes, not {}",
                end.len()
            )),
            Framing::LengthPrefix(field) if [1, 2, 4].contains(&field.bytes) => Ok(()),
            Framing::LengthPrefix(field) => Err(format!(
                "a length field has 1, 2 or 4 bytes, not {}",
                field.bytes
            )),
        }
    }

    /// Bytes that it adds to a message.
    pub fn overhead(&self) -> usize {
        match self {
            Framing::Raw | Framing::Fixed { .. } => 0,
            Framing::Terminator { end } => end.len(),
            Framing::LengthPrefix(field) => field.size(),
        }
    }
}

impl Splitter {
    /// For a framing that was checked.
    pub fn new(framing: &Framing, datagram: bool, limit: usize) -> Result<Splitter, String> {
        framing.check(limit)?;
        let end = match framing {
            Framing::Terminator { end } => Some(Box::new(Finder::new(end).into_owned())),
            _ => None,
        };
        Ok(Splitter {
            framing: framing.clone(),
            datagram,
            limit,
            end,
            seen: 0,
        })
    }

    /// The framing.
    pub fn framing(&self) -> &Framing {
        &self.framing
    }

    /// What is wrong with a request, if anything.
    #[inline]
    pub fn check_request(&self, payload: &[u8]) -> Result<(), String> {
        let size = payload.len() + self.framing.overhead();
        if size > self.limit {
            let (limit, has) = (self.limit, payload.len());
            return Err(format!(
                "a request of {has} B exceeds the maximum of the link ({limit} B)"
            ));
        }
        match (&self.framing, &self.end) {
            (Framing::LengthPrefix(field), _) if field.counts(payload.len()) > field.most() => {
                Err(format!(
                    "a request of {} B does not fit in a length field of {} B",
                    payload.len(),
                    field.bytes
                ))
            }
            (_, Some(end)) if end.find(payload).is_some() => Err(
                "the request contains the terminator, which the framing adds: the device would see more than \
                 one message"
                    .into(),
            ),
            _ if size == 0 => Err("the request is empty".into()),
            _ => Ok(()),
        }
    }

    /// Appends a request as it goes over the link.
    #[inline]
    pub fn frame(&self, payload: &[u8], to: &mut Vec<u8>) {
        if let Framing::LengthPrefix(field) = &self.framing {
            field.write(payload.len(), to);
        }
        to.extend_from_slice(payload);
        if let Framing::Terminator { end } = &self.framing {
            to.extend_from_slice(end);
        }
    }

    /// What the bytes begin with. `awaited`: bytes of the reply, where the framing does not tell. After
    /// [`Split::More`] it is asked again with the same bytes and more; after anything else with those
    /// that follow.
    #[inline]
    pub fn next(&mut self, bytes: &[u8], awaited: usize) -> Split {
        if self.datagram {
            return self.of_datagram(bytes);
        }
        let whole = |size: usize| match bytes.len() < size {
            true => Split::More,
            false => Split::Message {
                payload: 0..size,
                end: size,
            },
        };
        match &self.framing {
            Framing::Raw => whole(awaited),
            Framing::Fixed { bytes } => whole(*bytes),
            Framing::Terminator { .. } => self.up_to_terminator(bytes),
            Framing::LengthPrefix(field) => self.after_prefix(*field, bytes),
        }
    }

    /// The bytes before are gone, whatever they were.
    pub fn restart(&mut self) {
        self.seen = 0;
    }

    fn up_to_terminator(&mut self, bytes: &[u8]) -> Split {
        let Some(finder) = &self.end else {
            return Split::More;
        };
        let size = finder.needle().len();
        // It may have begun in the last bytes that were looked at.
        let from = self.seen.saturating_sub(size - 1).min(bytes.len());
        if let Some(at) = finder.find(&bytes[from..]) {
            let (at, limit) = (from + at, self.limit);
            self.seen = 0;
            return match at + size > limit {
                true => Split::Malformed(Malformed::NoEnd { limit }),
                false => Split::Message {
                    payload: 0..at,
                    end: at + size,
                },
            };
        }
        self.seen = bytes.len();
        if bytes.len() >= self.limit {
            self.seen = 0;
            return Split::Malformed(Malformed::NoEnd { limit: self.limit });
        }
        Split::More
    }

    fn after_prefix(&self, field: LengthField, bytes: &[u8]) -> Split {
        let size = field.size();
        let Some(prefix) = bytes.get(..size) else {
            return Split::More;
        };
        let announced = field.read(prefix);
        let payload = match field.counts_itself {
            true => announced.checked_sub(size as u64),
            false => Some(announced),
        };
        let Some(payload) = payload else {
            return Split::Malformed(Malformed::TooShort { announced });
        };
        let limit = self.limit;
        if payload > (limit - size.min(limit)) as u64 {
            return Split::Malformed(Malformed::TooLong { announced, limit });
        }
        let end = size + payload as usize;
        match bytes.len() < end {
            true => Split::More,
            false => Split::Message {
                payload: size..end,
                end,
            },
        }
    }

    /// A datagram is a message, and has no continuation.
    fn of_datagram(&self, bytes: &[u8]) -> Split {
        let end = bytes.len();
        let other = |expected: u64| {
            Split::Malformed(Malformed::OtherSize {
                bytes: end,
                expected,
            })
        };
        match &self.framing {
            Framing::Raw => Split::Message {
                payload: 0..end,
                end,
            },
            Framing::Fixed { bytes } if *bytes == end => Split::Message {
                payload: 0..end,
                end,
            },
            Framing::Fixed { bytes } => other(*bytes as u64),
            Framing::Terminator { end: mark } => {
                let payload = 0..bytes.strip_suffix(&mark[..]).map_or(end, <[u8]>::len);
                Split::Message { payload, end }
            }
            Framing::LengthPrefix(field) => match self.after_prefix(*field, bytes) {
                Split::Message { payload, end: at } if at == end => Split::Message { payload, end },
                Split::Malformed(wrong) => Split::Malformed(wrong),
                _ => {
                    let prefix = bytes.get(..field.size());
                    let own = if field.counts_itself {
                        0
                    } else {
                        field.size() as u64
                    };
                    other(prefix.map_or(field.size() as u64, |prefix| field.read(prefix) + own))
                }
            },
        }
    }
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
