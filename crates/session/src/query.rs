//! `--protocol text` and `--protocol scpi`: queries as the user typed them, sent in turn.

use crate::codec::{Codec, Generator, Matching, Parsed};
use crate::replies::Replies;
use crate::window::Window;
use regex::bytes::{Regex, RegexBuilder};
use wiregauge_record::Queries;

/// Queries at one point of a sweep.
#[derive(Debug)]
pub struct Query {
    queries: Queries,
    longest: usize,
    replies: Replies,
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
        // A reply has bytes, in no certain encoding: `\xaa` is one of them.
        let of_bytes = |pattern: &str| RegexBuilder::new(pattern).unicode(false).build();
        let expect = queries.expect.as_deref().map(of_bytes).transpose();
        Ok(Query {
            replies: Replies::new(&queries.reply, datagram)?,
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
}

impl Codec for Query {
    fn matching(&self) -> Matching {
        Matching::Order
    }

    fn parse(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        let Query {
            replies, expect, ..
        } = self;
        replies.parse(bytes, window, |reply| is_expected(expect.as_ref(), reply))
    }

    fn reset(&mut self) {
        self.replies.restart();
    }

    fn idle_ns(&self) -> Option<u64> {
        self.replies.idle_ns()
    }

    fn parse_idle(&mut self, bytes: &[u8], window: &Window) -> Parsed {
        let is_expected = |reply: &[u8]| is_expected(self.expect.as_ref(), reply);
        self.replies.parse_idle(bytes, window, is_expected)
    }
}

fn is_expected(expect: Option<&Regex>, reply: &[u8]) -> bool {
    expect.is_none_or(|expect| expect.is_match(reply))
}

impl Generator for Query {
    fn request_bytes(&self) -> usize {
        self.longest
    }

    fn bytes_of(&self, sequence: u64) -> usize {
        self.queries.of(sequence).bytes.len()
    }

    fn answer_bytes(&self) -> usize {
        self.replies.usual()
    }

    fn longest_answer(&self) -> usize {
        self.replies.longest()
    }

    fn request(&mut self, sequence: u64, to: &mut [u8]) {
        to.copy_from_slice(&self.queries.of(sequence).bytes);
    }
}
