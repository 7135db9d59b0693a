//! The figures of a stream point, one way of it at a time, out of its transfers.

use crate::conditions::{self, Changed};
use crate::figure::{Figure, longest, part};
use crate::key::{Key, Place};
use crate::side::{Comparable, Found, Read, by};
use wiregauge_record::{
    Carried, Figure as Named, FlowSummary, Part, Problem, StreamSummariser, Times,
};
use wiregauge_run::{Run, RunError, Stream};
use wiregauge_stats::{Confidence, Estimate, Series};

/// Blocks of time that a point is cut into for the confidence of its rate, and the shortest of them.
const BLOCKS: u64 = 1000;
const SHORTEST_NS: u64 = 100_000;

/// No point has more ways than this.
const WAYS: usize = 2;

fn figures<'a>(
    runs: impl Iterator<Item = &'a Run<Stream>> + Clone,
    asked: &[Figure],
) -> Vec<Figure> {
    let gaps = [Part::P50, Part::P90, Part::P99, Part::P999];
    let mut named = vec![Named::Rate(Carried::Both)];
    named.extend(gaps.map(|part| Named::Time(Times::Gap, part)));
    named.push(Named::Time(Times::Gap, Part::Max));
    named.extend([Part::P50, Part::P99].map(|part| Named::Time(Times::Transfer, part)));
    named.push(Named::Share(Problem::Lost));
    if runs.clone().all(|run| run.file.plan.check) {
        named.push(Named::Share(Problem::Corrupted));
    }
    let mut figures: Vec<Figure> = named.into_iter().map(Figure::Named).collect();
    figures.extend(asked.iter().filter(|asked| match asked {
        Figure::Named(Named::Time(Times::Gap | Times::Transfer, of)) => {
            gaps.contains(of) || *of == Part::Mean
        }
        _ => false,
    }));
    // A buffer is for a rate and a loss probability: both must be the same.
    let mut losses = runs.clone().map(|run| run.file.plan.loss);
    let first = losses.next();
    if losses.all(|loss| Some(loss) == first) {
        let rates = |run: &Run<Stream>| run.file.plan.rates_bytes_s.clone();
        let shared = runs.map(rates).reduce(|mut shared, run| {
            shared.retain(|rate| run.contains(rate));
            shared
        });
        let mut shared = shared.unwrap_or_default();
        shared.sort_unstable();
        shared.dedup();
        figures.extend(shared.into_iter().map(Figure::Buffer));
    }
    figures
}

impl Comparable for Stream {
    fn figures(runs: &[&Run<Stream>], asked: &[Figure]) -> Vec<Figure> {
        figures(runs.iter().copied(), asked)
    }

    fn places(run: &Run<Stream>) -> Vec<Place> {
        let mut places = Vec::new();
        for (at, summary) in run.file.points.iter().enumerate() {
            for (way, flow) in summary.flows.iter().enumerate().take(WAYS) {
                if flow.transfers > 0 {
                    places.push((Key::of_flow(&summary.point, flow.way), at * WAYS + way));
                }
            }
        }
        places
    }

    fn read(
        run: &Run<Stream>,
        at: usize,
        figures: &[Figure],
        _scheduled: bool,
        sure: Confidence,
    ) -> Result<Read, RunError> {
        let (plan, summary) = (&run.file.plan, &run.file.points[at / WAYS]);
        let flow = &summary.flows[at % WAYS];
        let block_ns = (summary.elapsed_ns / BLOCKS).max(SHORTEST_NS);
        let mut summariser = StreamSummariser::new(plan, summary.point).in_blocks(block_ns);
        let mut transfers = run.samples(at / WAYS)?;
        while let Some(rows) = transfers.next_rows() {
            let of_way = rows?.iter().filter(|transfer| transfer.way == flow.way);
            of_way.for_each(|transfer| summariser.push(transfer));
        }
        let series = summariser.into_series();
        let series = series.iter().find(|series| series.way == flow.way);
        let found = |figure: &Figure| -> Option<Found> {
            let series = series?;
            let share = |bytes: u64| {
                let counted = flow.counts.counted().max(1) as f64;
                Some(Found::Total {
                    share: (bytes as f64 / counted).min(1.0),
                    of: flow.transfers,
                })
            };
            let known = match *figure {
                Figure::Named(Named::Rate(_)) => rate(flow, &series.block_bytes, sure),
                Figure::Named(Named::Time(Times::Gap, Part::Max)) => {
                    Some(longest(flow.gap.as_ref()?.max))
                }
                Figure::Named(Named::Time(Times::Gap, of)) => part(of, &series.gap.read()?, sure),
                Figure::Named(Named::Time(_, of)) => part(of, &series.transfer_time.read()?, sure),
                Figure::Named(Named::Share(Problem::Lost)) => return share(flow.counts.lost?),
                Figure::Named(Named::Share(_)) => return share(flow.counts.corrupted),
                Figure::Buffer(bytes_s) => {
                    let backlog = series.backlogs.iter().find(|(rate, _)| *rate == bytes_s)?;
                    backlog.1.need_at(plan.loss, sure).for_loss
                }
                _ => None,
            };
            known.map(Found::Known)
        };
        Ok(Read {
            found: figures.iter().map(found).collect(),
            samples: flow.transfers,
            notes: Vec::new(),
            disturbed: by(&summary.disturbances),
        })
    }

    fn changed(before: &[&Run<Stream>], after: &[&Run<Stream>]) -> Vec<Changed> {
        conditions::of_stream(before, after)
    }
}

/// The rate of the summary, with the relative bounds of the mean of the blocks.
fn rate(flow: &FlowSummary, blocks: &Series, sure: Confidence) -> Option<Estimate> {
    let value = flow.rate?.value;
    let blocks = blocks.read()?.mean(sure);
    let scaled = |bound: f64| match blocks.value > 0.0 {
        true => value * bound / blocks.value,
        false => value,
    };
    Some(Estimate {
        value,
        low: blocks.low.map(scaled),
        high: blocks.high.map(scaled),
    })
}
