//! Bytes that a device adds behind each echo, such as the line end of `println`. They are learned behind the first
//! answer, while nothing else is under way, and believed only once the second answer is followed by the same bytes.

/// More bytes than this behind an answer are no line end.
const MOST: usize = 16;

/// What follows the answers.
#[derive(Debug, Default)]
enum Behind {
    /// Nothing that is known.
    #[default]
    Unknown,
    /// The first answer has come, and what follows it is awaited.
    Listening,
    /// These bytes followed the first answer.
    Known,
}

/// What is known of the bytes behind each answer.
#[derive(Debug, Default)]
pub struct Surplus {
    behind: Behind,
    bytes: [u8; MOST],
    len: usize,
    /// An answer has come, and what should follow it has not.
    due: bool,
    /// Answers that these bytes followed, the first one not counted.
    times: u64,
    /// Answers that they did not follow.
    missing: u64,
    /// Bytes behind the first answer that did not come again.
    stray: u64,
}

/// What the bytes behind an answer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The beginning of the surplus: more must come.
    Begun,
    /// The surplus, of so many bytes.
    Whole(usize),
    /// Something else.
    Other,
}

impl Surplus {
    /// The first answer has come: from now on, what follows it is awaited.
    pub fn listen(&mut self) {
        self.behind = Behind::Listening;
    }

    /// True while what follows the first answer is awaited.
    #[inline]
    pub fn is_listening(&self) -> bool {
        matches!(self.behind, Behind::Listening)
    }

    /// True if so many bytes behind the first answer may be a surplus.
    pub fn may_have(bytes: usize) -> bool {
        bytes <= MOST
    }

    /// What follows the first answer is no surplus.
    pub fn stop_listening(&mut self) {
        if self.is_listening() {
            self.behind = Behind::Unknown;
        }
    }

    /// The line was quiet behind the first answer after these bytes; true if they are taken for a surplus.
    pub fn on_quiet(&mut self, bytes: &[u8]) -> bool {
        let is_one = self.is_listening() && !bytes.is_empty() && Surplus::may_have(bytes.len());
        self.stop_listening();
        if is_one {
            self.behind = Behind::Known;
            self.len = bytes.len();
            self.bytes[..self.len].copy_from_slice(bytes);
        }
        is_one
    }

    /// Its size; 0 if none is known.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes that it still awaits behind the last answer; 0 if none.
    pub fn due(&self) -> usize {
        if self.due { self.len } else { 0 }
    }

    /// An answer has come.
    #[inline]
    pub fn answered(&mut self) {
        self.due = self.len > 0;
    }

    /// The line begins anew: nothing of it will come any more.
    pub fn reset(&mut self) {
        self.due = false;
        self.stop_listening();
    }

    /// What stands behind the last answer, where the surplus is due.
    pub fn follows(&mut self, bytes: &[u8]) -> Follows {
        let come = bytes.len().min(self.len);
        if bytes[..come] != self.bytes[..come] {
            return Follows::Other;
        }
        if come < self.len {
            return Follows::Begun;
        }
        self.due = false;
        self.times += 1;
        Follows::Whole(self.len)
    }

    /// Something else stands there. What was seen only once was no surplus.
    pub fn is_missing(&mut self) {
        self.due = false;
        self.missing += 1;
        if self.times == 0 {
            *self = Surplus {
                stray: self.len as u64,
                ..Surplus::default()
            };
        }
    }

    /// Bytes behind the first answer that are stray, as long as they did not come again.
    pub fn stray(&self) -> u64 {
        match self.times {
            0 => self.stray + self.len as u64,
            _ => self.stray,
        }
    }

    /// What was found, if it came more than once.
    pub fn found(&self) -> Option<wiregauge_record::Surplus> {
        (self.times > 0).then(|| wiregauge_record::Surplus {
            bytes: self.bytes[..self.len].to_vec(),
            times: self.times + 1,
            missing: self.missing,
        })
    }
}
