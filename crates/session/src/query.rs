//! `--protocol text` and `--protocol scpi`: queries as the user typed them, sent in turn.

use crate::codec::{Answer, Codec, Generator, Matching, Parsed, Verdict};
use crate::reply::{Reply, ReplyReader};
use crate::window::{Slot, Window};
use regex::bytes::Regex;
use wiregauge_record::Queries;

/// Replies up to this size are laid out beforehand.
const USUAL: usize = 64 << 10;

/// Queries at one point of a sweep.
#[derive(Debug)]
pub struct Query {
    queries: Queries,
    longest: usize,
    replies: ReplyReader,
    expect: Option<Regex>,
}

impl Query {
    /// The queries of a plan; an error says what is wrong with them.
    pub fn new(queries: &Queries, datagram: bool) -> Result<Query, String> {
        let longest = queries.list.iter().map(|query| query.bytes.len()).max();
        let Some(longest) = longest else {
            return Err("there is no query".into());
        };
        if queries.list.iter().any(|query| query.bytes.is_empty()) {
            return Err("an empty query is not valid".into());
        }
        let expect = queries.expect.as_deref().map(Regex::new).transpose();
        Ok(Query {
            replies: ReplyReader::new(&queries.reply, datagram)?,
            expect: expect.map_err(|error| {
                // The last line says what is wrong; those before draw where.
                let text = error.to_string();
                let wrong = text.lines().last().unwrap_or_default();
                let wrong = wrong.trim_start_matches("error: ").to_string();
                format!("--expect is not a valid regular expression: {wrong}")
            })?,
            longest,
            queries: queries.clone(),
        })
    }

    /// The answer that these bytes are; the last of them are `mark`, which ends it.
    fn answer(&self, bytes: &[u8], mark: usize, is_whole: bool, window: &Window) -> Parsed {
        let Some(slot) = answered_next(window) else {
            return Parsed::Stray(bytes.len());
        };
        let payload = 0..bytes.len() - mark;
        let is_expected = |expect: &Regex| expect.is_match(&bytes[payload.clone()]);
        let verdict = match is_whole {
            false => Verdict::Damaged,
            true if self.expect.as_ref().is_none_or(is_expected) => Verdict::Intact,
            true => Verdict::Unexpected,
        };
        Parsed::Answer(Answer {
            payload,
            ..Answer::plain(slot.sequence, bytes.len(), verdict)
        })
    }
}

/// The exchange that a reply answers. What was given up is answered first, if at all.
fn answered_next(window: &Window) -> Option<&Slot> {
    window.oldest_missing().or_else(|| window.oldest_waiting())
}

impl Codec for Query {
    fn matching(&self) -> Matching {
        Matching::Order
    }

    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        if answered_next(window).is_none() {
            // They must not become the beginning of the reply to a later query.
            self.replies.restart();
            return Parsed::Stray(bytes.len());
        }
        match self.replies.next(bytes) {
            Reply::More => Parsed::Incomplete,
            Reply::Whole(end, mark) => self.answer(&bytes[..end], mark, true, window),
            Reply::Cut(end) => self.answer(&bytes[..end], 0, false, window),
            Reply::Malformed(malformed) => Parsed::Malformed(malformed),
        }
    }

    fn reset(&mut self) {
        self.replies.restart();
    }

    fn idle_ns(&self) -> Option<u64> {
        self.replies.idle_ns()
    }

    fn parse_idle(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        self.answer(bytes, 0, true, window)
    }
}

impl Generator for Query {
    fn request_bytes(&self) -> usize {
        self.longest
    }

    fn bytes_of(&self, sequence: u64) -> usize {
        self.queries.of(sequence).bytes.len()
    }

    fn answer_bytes(&self) -> usize {
        USUAL
    }

    fn longest_answer(&self) -> usize {
        self.replies.longest()
    }

    fn request(&mut self, sequence: u64, to: &mut [u8]) {
        to.copy_from_slice(&self.queries.of(sequence).bytes);
    }
}
