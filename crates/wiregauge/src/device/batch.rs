//! A batch: many requests, some of them outstanding at once, and the replies in the rows of the caller.

use super::buffers::Input;
use super::engine::{Engine, Refusal, Reply, Taker};
use super::framing::Framing;
use super::speech::{Fate, Speech};
use super::{Device, Replies, Requests};
use crate::error::LinkError;

impl Requests<'_> {
    fn row(&self, n: usize) -> &[u8] {
        let begin = if n == 0 { 0 } else { self.ends[n - 1] };
        &self.bytes[begin..self.ends[n]]
    }
}

/// Puts replies into their rows.
struct Rows<'a> {
    base: u64,
    replies: Replies<'a>,
    /// The first exchange that failed.
    failed: Option<u64>,
}

impl Taker for Rows<'_> {
    #[inline]
    fn reply(&mut self, input: &Input, reply: &Reply) -> Result<bool, Refusal> {
        let n = (reply.sequence - self.base) as usize;
        let row = self.replies.row_bytes;
        let length = reply.place.len();
        if reply.fate != Fate::Answered || length > row {
            self.failed = Some(reply.sequence);
            return Err(match reply.fate {
                Fate::Answered => Refusal::TooLong { n, length, row },
                fate => Refusal::Failed(fate),
            });
        }
        self.replies.bytes[n * row..n * row + length]
            .copy_from_slice(input.at(reply.place.clone()));
        self.replies.lengths[n] = length;
        if let Some(timing) = self.replies.timings.get_mut(n) {
            *timing = reply.timing;
        }
        Ok(false)
    }
}

/// Refuses a batch that does not fit together.
fn check(
    engine: &Engine,
    requests: &Requests<'_>,
    replies: &Replies<'_>,
    depth: u32,
) -> Result<usize, LinkError> {
    let total = requests.ends.len();
    let refuse = |said: String, hint: &str| Err(engine.usage(said, hint));
    engine.check_depth(depth)?;
    let ascending = requests.ends.is_sorted();
    let last = requests.ends.last().copied().unwrap_or(0);
    if !ascending || last > requests.bytes.len() {
        return refuse(
            "the ends of the requests do not lie in their bytes, one behind the other".into(),
            "ascending ends, the last one at most the number of bytes",
        );
    }
    let wanted = total.checked_mul(replies.row_bytes);
    if wanted.is_none_or(|wanted| replies.bytes.len() < wanted) || replies.lengths.len() < total {
        return refuse(
            format!(
                "{total} requests need {total} rows of {} B for their replies",
                replies.row_bytes
            ),
            "as many rows and lengths as requests",
        );
    }
    if !replies.timings.is_empty() && replies.timings.len() < total {
        return refuse(
            format!(
                "{total} requests have {total} times, and there is room for {}",
                replies.timings.len()
            ),
            "as many times as requests, or none",
        );
    }
    if let Speech::Foreign(splitter) = &engine.speech
        && let Framing::Fixed { bytes } = *splitter.framing()
        && bytes > replies.row_bytes
    {
        return refuse(
            format!(
                "replies of {bytes} B do not fit rows of {} B",
                replies.row_bytes
            ),
            "longer rows",
        );
    }
    let mut longest = 0;
    for n in 0..total {
        let request = requests.row(n);
        longest = longest.max(request.len());
        engine.check(request, replies.row_bytes)?;
    }
    Ok(longest)
}

impl Device {
    /// All requests, `depth` of them outstanding, and the replies in their rows. A row is as long as a reply that is
    /// asked for (wiregauge protocol) or waited for ([`Framing::Raw`]); else it is the longest that is
    /// taken. With the error: how many, from the first on, were answered before the one that failed.
    pub fn exchange_many(
        &mut self,
        requests: Requests<'_>,
        replies: Replies<'_>,
        depth: u32,
    ) -> Result<(), (usize, LinkError)> {
        let engine = self
            .at_rest("a batch of exchanges with")
            .map_err(|error| (0, error))?;
        let longest = check(engine, &requests, &replies, depth).map_err(|error| (0, error))?;
        let total = requests.ends.len();
        let (awaited, depth) = (replies.row_bytes, depth.min(total.max(1) as u32));
        engine
            .prepare(longest, awaited, depth)
            .map_err(|error| (0, error))?;
        engine.set_depth(depth);
        let base = engine.window.next();
        let mut rows = Rows {
            base,
            replies,
            failed: None,
        };
        let mut staged = 0;
        while engine.window.oldest() - base < total as u64 {
            while staged < total
                && engine.window.waiting() < depth
                && engine.window.has_room()
                && engine.output.has_room()
            {
                engine.stage(requests.row(staged), awaited);
                staged += 1;
            }
            if let Err(error) = engine.turn(&mut rows, None) {
                let oldest = engine.window.oldest();
                let failed = rows.failed.map_or(oldest, |failed| failed.min(oldest));
                engine.let_go();
                return Err(((failed - base) as usize, error));
            }
            engine.window.take_answered();
        }
        Ok(())
    }
}
