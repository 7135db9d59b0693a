//! What came while an exchange is being confirmed: replies whose requests are not known yet.

/// Replies laid out for beforehand.
const USUAL: usize = 64;

/// A reply, or bytes between replies, that came while an exchange is being confirmed.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Its bytes.
    pub bytes: usize,
    /// When they came.
    pub received_ns: u64,
}

/// What came since the first exchange after a loss began.
#[derive(Debug)]
pub struct Confirm {
    /// Replies are missing, so the next exchange must be confirmed.
    due: bool,
    /// All replies that can be awaited have come.
    settled: bool,
    candidates: Vec<Candidate>,
    replies: usize,
    /// Bytes of all candidates, at the front of the input.
    held: usize,
    /// No further reply is to be expected after this.
    until_ns: u64,
}

impl Confirm {
    /// No exchange is to be confirmed.
    pub fn new() -> Confirm {
        Confirm {
            due: false,
            settled: false,
            candidates: Vec::with_capacity(USUAL),
            replies: 0,
            held: 0,
            until_ns: 0,
        }
    }

    /// The next exchange must be confirmed, or not.
    pub fn begin(&mut self, due: bool) {
        self.drop_candidates();
        self.due = due;
    }

    /// The bytes that were kept are gone.
    pub fn drop_candidates(&mut self) {
        self.settled = false;
        self.candidates.clear();
        self.replies = 0;
        self.held = 0;
    }

    /// True if the exchange that is outstanding, or the next one, must be confirmed.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// True once it is known which reply is whose.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Bytes kept at the front of the input.
    #[inline]
    pub fn held(&self) -> usize {
        self.held
    }

    /// When no further reply is to be expected, once there is one.
    #[inline]
    pub fn until_ns(&self) -> Option<u64> {
        (self.replies > 0).then_some(self.until_ns)
    }

    /// Takes what came.
    pub fn push(&mut self, bytes: usize, received_ns: u64, is_reply: bool) {
        self.held += bytes;
        self.replies += usize::from(is_reply);
        self.candidates.push(Candidate { bytes, received_ns });
    }

    /// Takes the oldest candidate out.
    pub fn pop(&mut self) -> Option<Candidate> {
        let candidate = (!self.candidates.is_empty()).then(|| self.candidates.remove(0))?;
        self.held -= candidate.bytes;
        Some(candidate)
    }

    /// True if nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Replies that came.
    pub fn replies(&self) -> usize {
        self.replies
    }

    /// After this no further reply is to be expected.
    pub fn expect_until(&mut self, until_ns: u64) {
        self.until_ns = until_ns;
    }

    /// It is known now which reply is whose.
    pub fn settle(&mut self) {
        self.settled = true;
    }
}
