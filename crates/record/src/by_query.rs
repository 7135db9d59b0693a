//! The samples of a point, apart for each of its queries; and the replies that were not expected.

use crate::point_summary::{QuerySummary, UnexpectedReply};
use crate::query::Queries;
use crate::sample::{Sample, Status};
use std::collections::HashMap;
use wiregauge_stats::Series;

/// More queries than this are not told apart: their series would take too much memory.
const MOST_QUERIES: usize = 256;

/// Different kinds of unexpected replies that are counted, and that are kept.
const MOST_KINDS: usize = 1000;
const KEPT_KINDS: usize = 10;

/// Each query by itself; nothing where there is only one.
pub(crate) struct ByQuery {
    queries: Vec<(QuerySummary, Series)>,
}

impl ByQuery {
    pub fn new(queries: Option<&Queries>) -> ByQuery {
        let list = queries.map_or(&[][..], |queries| &queries.list);
        let is_apart = (2..=MOST_QUERIES).contains(&list.len());
        let of = |name: &str| {
            let summary = QuerySummary {
                name: name.into(),
                exchanges: 0,
                answered: 0,
                unexpected: 0,
                rtt: None,
            };
            (summary, Series::new())
        };
        ByQuery {
            queries: match is_apart {
                true => list.iter().map(|query| of(&query.name)).collect(),
                false => Vec::new(),
            },
        }
    }

    /// Takes a sample of the measured phase that is no further row.
    pub fn push(&mut self, sample: &Sample) {
        if self.queries.is_empty() {
            return;
        }
        let at = (sample.sequence % self.queries.len() as u64) as usize;
        let (summary, rtt) = &mut self.queries[at];
        summary.exchanges += 1;
        summary.unexpected += u64::from(sample.status == Status::Unexpected);
        if sample.status.is_timed() {
            summary.answered += 1;
            rtt.push(sample.rtt_ns);
        }
    }

    pub fn finish(self) -> Vec<QuerySummary> {
        let with_rtt = |(summary, rtt): (QuerySummary, Series)| QuerySummary {
            rtt: rtt.distribution(),
            ..summary
        };
        self.queries.into_iter().map(with_rtt).collect()
    }
}

/// Counts the replies that were not the expected ones.
#[derive(Default)]
pub(crate) struct UnexpectedReplies {
    kinds: HashMap<String, u64>,
    others: u64,
}

impl UnexpectedReplies {
    /// Takes one; `what` is shown.
    pub fn push(&mut self, what: String) {
        if self.kinds.len() >= MOST_KINDS && !self.kinds.contains_key(&what) {
            self.others += 1;
            return;
        }
        *self.kinds.entry(what).or_default() += 1;
    }

    /// The most frequent kinds first, and how many replies are of other kinds.
    pub fn finish(self) -> Vec<UnexpectedReply> {
        let mut kinds: Vec<_> = self
            .kinds
            .into_iter()
            .map(|(what, times)| UnexpectedReply { what, times })
            .collect();
        kinds.sort_by(|a, b| b.times.cmp(&a.times).then(a.what.cmp(&b.what)));
        let rest = kinds.split_off(kinds.len().min(KEPT_KINDS));
        let others = self.others + rest.iter().map(|kind| kind.times).sum::<u64>();
        if others > 0 {
            kinds.push(UnexpectedReply {
                what: "other replies".into(),
                times: others,
            });
        }
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::UnexpectedReplies;

    #[test]
    fn the_most_frequent_unexpected_replies_come_first_and_none_is_left_out() {
        let mut replies = UnexpectedReplies::default();
        for number in 0..2_000 {
            replies.push(format!("reply {number:04}"));
            replies.push("busy".into());
        }
        let kinds = replies.finish();
        assert_eq!((kinds[0].what.as_str(), kinds[0].times), ("busy", 2_000));
        assert_eq!(kinds.len(), 11);
        assert_eq!(kinds.iter().map(|kind| kind.times).sum::<u64>(), 4_000);
    }
}
