//! A batch: many requests, some of them outstanding at once, and the replies in the rows of the caller.

use super::driver::{Driver, Failure, Handler, is_answered};
use super::{Device, Framing, Replies, Requests, Timing};
use std::ops::ControlFlow;
use wiregauge_link::LinkError;
use wiregauge_session::{Ended, Engine, Messages};

/// The length of a row whose reply has not come.
const MISSING: usize = usize::MAX;

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
}

impl Handler for Rows<'_> {
    #[inline]
    fn ended(
        &mut self,
        engine: &Engine<Messages>,
        ended: &Ended,
    ) -> Result<ControlFlow<()>, Failure> {
        let n = (ended.sequence - self.base) as usize;
        let row = self.replies.row_bytes;
        let length = ended.payload.len();
        if !is_answered(ended.outcome) {
            return Err(Failure::Exchange(ended.clone()));
        }
        if length > row {
            return Err(Failure::TooLong { n, length, row });
        }
        self.replies.bytes[n * row..n * row + length]
            .copy_from_slice(engine.received_at(ended.payload.clone()));
        self.replies.lengths[n] = length;
        if let Some(timing) = self.replies.timings.get_mut(n) {
            *timing = Timing::of(ended);
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Rows<'_> {
    /// How many were answered before the first that was not; the others have no length.
    fn answered(&mut self, total: usize) -> usize {
        let lengths = &mut self.replies.lengths[..total];
        let first = lengths.iter().position(|length| *length == MISSING);
        for length in lengths.iter_mut().filter(|length| **length == MISSING) {
            *length = 0;
        }
        first.unwrap_or(total)
    }
}

/// Refuses a batch that does not fit together.
fn check(
    driver: &Driver,
    requests: &Requests<'_>,
    replies: &Replies<'_>,
    depth: u32,
) -> Result<usize, LinkError> {
    let total = requests.ends.len();
    let refuse = |problem: String, hint: &str| Err(driver.usage(problem, hint));
    driver.check_depth(depth)?;
    let ascending = requests.ends.is_sorted();
    let last = requests.ends.last().copied().unwrap_or(0);
    if !ascending || last > requests.bytes.len() {
        return refuse(
            "the request ends are not ascending or exceed the number of bytes".into(),
            "pass ascending ends, the last one at most the number of bytes",
        );
    }
    let wanted = total.checked_mul(replies.row_bytes);
    if wanted.is_none_or(|wanted| replies.bytes.len() < wanted) || replies.lengths.len() < total {
        return refuse(
            format!(
                "{total} requests need {total} rows of {} B for their replies",
                replies.row_bytes
            ),
            "pass as many rows and lengths as requests",
        );
    }
    if !replies.timings.is_empty() && replies.timings.len() < total {
        return refuse(
            format!(
                "{total} requests need {total} times, but there is room for {}",
                replies.timings.len()
            ),
            "pass as many times as requests, or none",
        );
    }
    if let Messages::Foreign(splitter) = driver.engine.codec()
        && let Framing::Fixed { bytes } = *splitter.framing()
        && bytes > replies.row_bytes
    {
        return refuse(
            format!(
                "replies of {bytes} B do not fit in rows of {} B",
                replies.row_bytes
            ),
            "use longer rows",
        );
    }
    let mut longest = 0;
    for n in 0..total {
        let request = requests.row(n);
        longest = longest.max(request.len());
        driver.check(request, replies.row_bytes)?;
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
        let driver = self
            .at_rest("cannot exchange a batch with")
            .map_err(|error| (0, error))?;
        let longest = check(driver, &requests, &replies, depth).map_err(|error| (0, error))?;
        let total = requests.ends.len();
        let (awaited, depth) = (replies.row_bytes, depth.min(total.max(1) as u32));
        driver
            .prepare(longest, awaited, depth)
            .map_err(|error| (0, error))?;
        let base = driver.engine.window().next();
        replies.lengths[..total].fill(MISSING);
        let mut rows = Rows { base, replies };
        let mut staged = 0;
        let mut run = || {
            while driver.engine.window().oldest() - base < total as u64 {
                driver.check_interrupt_between()?;
                while staged < total
                    && driver.engine.window().under_way() < u64::from(depth)
                    && driver.engine.has_room()
                {
                    driver.stage(requests.row(staged), awaited);
                    staged += 1;
                }
                driver.turn(&mut rows, None)?;
            }
            Ok(())
        };
        run().map_err(|error| {
            driver.abandon();
            (rows.answered(total), error)
        })
    }
}
