//! The numbers that the page's script draws: every point's series, distribution and percentiles, as
//! columns of small integers, thinned until they fit.

use super::names::{self, Name};
use super::percentiles::{PARTS_OF_A_NINE, Percentiles, steps};
use super::theme;
use crate::Subject;
use crate::figures::{FEW, bad_mark, corners, has_turnarounds, look};
use crate::load::{Bad, Loaded, Series, Slice, Values};
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::BTreeSet;

/// What is tried until the data fit: slices of time and longest samples of each series, bins of
/// the histogram a decade.
const STEPS: [(usize, usize, f64); 7] = [
    (1000, 400, 200.0),
    (600, 200, 100.0),
    (300, 100, 60.0),
    (150, 50, 40.0),
    (80, 30, 30.0),
    (40, 10, 20.0),
    (20, 4, 10.0),
];

/// Fewer samples a slice than this are given one by one.
const FEWEST_A_SLICE: usize = 2;

/// Samples that are given one by one in any case.
const ONE_BY_ONE: usize = 800;

/// More samples a slice, as in short bursts between long silences, are given one by one, so that zooming shows them.
const CROWDED: usize = 16;

/// All of it.
#[derive(Serialize)]
pub(super) struct Data {
    runs: Vec<RunData>,
    /// Parts of a nine in which `Percentiles::at` counts.
    parts: f64,
    /// Bins of `Measured::bins` a decade.
    bins: f64,
    /// How many colours series have, and their dashes in pixels: as in the drawn figures.
    colours: usize,
    dashes: Vec<Vec<f64>>,
    /// What the numbers in `Measured::bad` stand for.
    statuses: Vec<StatusData>,
    /// With fewer samples beyond it a percentile is drawn thin.
    few: f64,
}

/// How something went wrong, and its mark in the drawn figures.
#[derive(Serialize)]
struct StatusData {
    name: &'static str,
    /// The name of a variable of the page.
    colour: String,
    /// Multiples of the radius; none of a circle.
    corners: &'static [(f64, f64)],
    hollow: bool,
}

impl StatusData {
    fn of(name: &'static str) -> StatusData {
        let mark = bad_mark(name);
        StatusData {
            name,
            colour: theme::variable(mark.colour),
            corners: corners(mark.marker),
            hollow: mark.hollow,
        }
    }
}

#[derive(Serialize)]
struct RunData {
    label: String,
    /// What kind of run.
    kind: &'static str,
    /// What the values are.
    what: &'static str,
    /// What has such a value each.
    things: &'static str,
    one: &'static str,
    points: Vec<Measured>,
}

/// One point, or one way of it. Times are in units of `unit` (values) or `tick` (time of day within
/// the point) nanoseconds.
#[derive(Serialize)]
struct Measured {
    size: String,
    depth: String,
    unit: u64,
    tick: u64,
    /// Samples that it stands for, bad ones not among them.
    of: u64,
    /// Slices of time: none where the samples are few, which are then all in `longest`.
    #[serde(skip)]
    slices: usize,
    /// Start of each slice, less the start of the one before, and the end of the last one before each silence.
    at: Vec<u64>,
    /// None in a silence.
    low: Vec<Option<u64>>,
    /// The mean of each slice, less the shortest.
    mean: Vec<u64>,
    /// The longest of each slice, less the shortest.
    high: Vec<u64>,
    /// The longest samples, or all if they are few: start, less the start of the one before, and value.
    longest: [Vec<u64>; 2],
    /// Those without a right answer in time: start, less that of the one before, and status.
    bad: [Vec<u64>; 2],
    /// How often each went wrong: number of the status, and how often.
    bad_in_all: Vec<(usize, u64)>,
    percentiles: Percentiles,
    /// The same from the intended start, of exchanges with a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    intended: Option<Percentiles>,
    /// Number of the first bin, then counts; a negative number stands for so many empty bins.
    bins: (i64, Vec<i64>),
}

/// The data, in at most `room` bytes of JSON if that can be done, and what they were thinned to:
/// slices of time and longest samples.
pub(super) fn of(subjects: &[Subject], room: usize) -> (String, usize, usize) {
    let statuses = statuses(subjects);
    let mut last = (String::new(), 0, 0);
    for (slices, longest, bins) in STEPS {
        let data = Data {
            runs: subjects
                .iter()
                .flat_map(|subject| runs(subject, &statuses, (slices, longest, bins)))
                .collect(),
            parts: PARTS_OF_A_NINE,
            bins,
            colours: look::SERIES.len(),
            dashes: dashes(),
            statuses: statuses.iter().copied().map(StatusData::of).collect(),
            few: FEW,
        };
        let points = || data.runs.iter().flat_map(|run| &run.points);
        let slices = points().map(|point| point.slices).max().unwrap_or(0);
        let longest = points()
            .map(|point| point.longest[0].len())
            .max()
            .unwrap_or(0);
        last = (super::escape::json(&data), slices, longest);
        if last.0.len() <= room {
            break;
        }
    }
    last
}

fn dashes() -> Vec<Vec<f64>> {
    let lengths = |dash: &&str| dash.split(' ').filter_map(|px| px.parse().ok()).collect();
    look::DASHES.iter().map(lengths).collect()
}

/// How things went wrong, each once.
fn statuses(subjects: &[Subject]) -> Vec<&'static str> {
    let values = subjects.iter().flat_map(|subject| subject.loaded.values());
    let names: BTreeSet<&'static str> = values
        .flat_map(|(series, ..)| &series.bad_in_all)
        .map(|(name, _)| *name)
        .collect();
    names.into_iter().collect()
}

/// How much of each point is kept: slices, longest samples, bins a decade.
type Room = (usize, usize, f64);

/// What figures can show of a run: its values, and of exchanges also their TRTs.
fn runs(subject: &Subject, statuses: &[&str], room: Room) -> Vec<RunData> {
    let words = match subject.loaded {
        Loaded::Exchange(_) => ["RTT", "exchanges", "exchange"],
        Loaded::Stream(_) => ["Gap", "gaps", "gap"],
        Loaded::Loop(_) => ["Service delay", "blocks", "block"],
        Loaded::Control(_) => ["Cycle", "cycles", "cycle"],
        Loaded::Nothing => ["Row", "rows", "row"],
    };
    let (kind, values) = (subject.run.kind(), subject.loaded.values());
    let mut all = vec![run(subject, kind, words, values, statuses, room)];
    if let Some((of, loaded)) = subject.exchange_run()
        && has_turnarounds(&of.file)
    {
        let words = ["TRT", "exchanges", "exchange"];
        let values = loaded.iter();
        let values = values.map(|point| (&point.trt_series, &point.trt, None));
        let values = values.collect();
        all.push(run(subject, "exchange-trt", words, values, statuses, room));
    }
    all
}

/// The points of a run that have values or errors, in the order of the plan.
fn run(
    subject: &Subject,
    kind: &'static str,
    [what, things, one]: [&'static str; 3],
    values: Vec<Values<'_>>,
    statuses: &[&str],
    room: Room,
) -> RunData {
    let mut named: Vec<_> = names::all(subject).into_iter().zip(values).collect();
    named.retain(|(_, (series, values, _))| !values.is_empty() || !series.bad_in_all.is_empty());
    named.sort_by_key(|(named, _)| named.index);
    let points = named
        .into_iter()
        .map(|(named, (series, values, intended))| {
            let mut measured = measured(named.name, series, values, statuses, room);
            let intended = intended.filter(|values| !values.is_empty());
            measured.intended = intended.map(|values| Percentiles::of(values, measured.unit));
            measured
        });
    RunData {
        label: subject.label.clone(),
        kind,
        what,
        things,
        one,
        points: points.collect(),
    }
}

fn measured(
    name: Name,
    series: &Series,
    histogram: &Histogram<u64>,
    statuses: &[&str],
    (slices, longest, bins): Room,
) -> Measured {
    let number = |name: &str| statuses.iter().position(|status| *status == name);
    let unit = fine_unit(histogram.min());
    let each = series.each.len();
    let is_plain = each <= ONE_BY_ONE || each > CROWDED * series.slices.len();
    let is_few = each > 0 && each <= FEWEST_A_SLICE * slices && is_plain;
    let merged = match is_few {
        true => Vec::new(),
        false => merge(series, slices),
    };
    let count = merged.iter().filter(|(_, slice)| slice.is_some()).count();
    // The last one stands there twice.
    let count = count.saturating_sub(1);
    let mut kept = match is_few {
        true => series.each.clone(),
        false => series.longest.clone(),
    };
    let ends = merged.last().map_or(0, |(at_ns, _)| *at_ns);
    let ends = kept.iter().map(|spot| spot.at_ns).fold(ends, u64::max);
    let ends = series.bad.iter().map(|bad| bad.at_ns).fold(ends, u64::max);
    // A hundred thousandth of the width is less than a pixel even when zoomed.
    let tick = 10_u64.pow((ends.max(1) / 100_000).max(1).ilog10());
    let round = |ns: u64| ns.saturating_add(unit / 2) / unit;
    let above = |of: fn(&Slice) -> u64| -> Vec<u64> {
        let one = |slice: &Slice| round(of(slice)).saturating_sub(round(slice.min_ns));
        let all = merged.iter().map(|(_, slice)| slice.as_ref());
        all.map(|slice| slice.map_or(0, one)).collect()
    };
    if !is_few {
        kept.sort_by_key(|spot| std::cmp::Reverse(spot.value_ns));
        kept.truncate(longest);
    }
    kept.sort_by_key(|spot| spot.at_ns);
    let bad = thinned(&series.bad, longest);
    Measured {
        size: name.size,
        depth: name.depth,
        unit,
        tick,
        of: series.of,
        slices: count,
        at: steps(merged.iter().map(|(at_ns, _)| at_ns / tick)),
        low: merged
            .iter()
            .map(|(_, slice)| slice.map(|slice| round(slice.min_ns)))
            .collect(),
        mean: above(|slice| slice.mean_ns as u64),
        high: above(|slice| slice.max_ns),
        longest: [
            steps(kept.iter().map(|spot| spot.at_ns / tick)),
            kept.iter().map(|spot| round(spot.value_ns)).collect(),
        ],
        bad: [
            steps(bad.iter().map(|bad| bad.at_ns / tick)),
            bad.iter()
                .map(|bad| number(bad.status).unwrap_or_default() as u64)
                .collect(),
        ],
        bad_in_all: series
            .bad_in_all
            .iter()
            .filter_map(|(name, often)| Some((number(name)?, *often)))
            .collect(),
        percentiles: Percentiles::of(histogram, unit),
        intended: None,
        bins: binned(histogram, bins),
    }
}

/// As many as may matter, those of each status taken evenly: a thousand of them are a band anyway.
fn thinned(bad: &[Bad], most: usize) -> Vec<&Bad> {
    let statuses: BTreeSet<&str> = bad.iter().map(|bad| bad.status).collect();
    let room = (most / statuses.len().max(1)).max(1);
    let of_status = |status: &str| {
        let of_it: Vec<&Bad> = bad.iter().filter(|bad| bad.status == status).collect();
        let every = of_it.len().div_ceil(room).max(1);
        of_it.into_iter().step_by(every).collect::<Vec<_>>()
    };
    let mut kept: Vec<&Bad> = statuses.iter().copied().flat_map(of_status).collect();
    kept.sort();
    kept
}

/// The power of ten that keeps at least four digits of the shortest.
fn fine_unit(shortest_ns: u64) -> u64 {
    10_u64.pow((shortest_ns / 1000).max(1).ilog10())
}

/// About `most` slices, each made of as many neighbours, with their starts. What lies between silences ends
/// with a start without a slice; the last slice stands there twice, at its start and at its end.
fn merge(series: &Series, most: usize) -> Vec<(u64, Option<Slice>)> {
    let each = series.slices.len().div_ceil(most.max(1)).max(1);
    let length = series.usual_distance();
    let mut merged = Vec::new();
    for piece in series.pieces(most / 2) {
        merged.extend(
            piece
                .chunks(each)
                .filter_map(Slice::joined)
                .map(|slice| (slice.at_ns, Some(slice))),
        );
        merged.extend(piece.last().map(|last| (last.last_ns + length, None)));
    }
    let count = merged.len();
    if count > 1 {
        merged[count - 1].1 = merged[count - 2].1;
    }
    merged
}

/// Counts in bins of equal width on a logarithmic axis: bin b reaches from 10^(b / bins) ns on.
fn binned(histogram: &Histogram<u64>, bins: f64) -> (i64, Vec<i64>) {
    let (mut first, mut next) = (0, None);
    let mut counts: Vec<i64> = Vec::new();
    for step in histogram.iter_recorded() {
        let value = histogram.median_equivalent(step.value_iterated_to()).max(1);
        let bin = ((value as f64).log10() * bins).floor() as i64;
        let count = i64::try_from(step.count_at_value()).unwrap_or(i64::MAX);
        match next {
            None => {
                first = bin;
                counts.push(count);
            }
            Some(next) if bin < next => {
                let last = counts.last_mut().expect("a bin was begun before");
                *last = last.saturating_add(count);
            }
            Some(next) => {
                if bin > next {
                    counts.push(next - bin);
                }
                counts.push(count);
            }
        }
        next = Some(bin + 1);
    }
    (first, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Spot;

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        for value in values {
            histogram.record(value).unwrap();
        }
        histogram
    }

    #[test]
    fn merging_slices_keeps_extremes_and_the_mean_of_all() {
        let slices: Vec<Slice> = (0..10)
            .map(|at| Slice {
                at_ns: at * 100,
                last_ns: at * 100 + 50,
                n: 1 + at % 2,
                min_ns: 1000 - at,
                mean_ns: 1000.0 + at as f64,
                max_ns: if at == 7 { 90_000 } else { 2000 },
            })
            .collect();
        let series = Series {
            slices: slices.clone(),
            slice_ns: 100,
            ..Series::default()
        };
        let merged = merge(&series, 3);
        let starts: Vec<u64> = merged.iter().map(|(at, _)| *at).collect();
        assert_eq!(starts, [0, 400, 800, 1050]);
        assert_eq!(merged[3].1, merged[2].1);
        let merged: Vec<Slice> = merged[..3].iter().filter_map(|(_, slice)| *slice).collect();
        assert_eq!(merged.iter().map(|slice| slice.n).sum::<u64>(), 15);
        assert_eq!(merged[1].max_ns, 90_000);
        assert_eq!(merged[2].min_ns, 991);
        let mean = |of: &[Slice]| of.iter().map(|s| s.mean_ns * s.n as f64).sum::<f64>() / 15.0;
        assert!((mean(&merged) - mean(&slices)).abs() < 1e-6);
    }

    #[test]
    fn a_silence_has_a_start_without_a_slice() {
        let slice = |at_ns| Slice {
            at_ns,
            last_ns: at_ns + 67,
            n: 3,
            min_ns: 10,
            mean_ns: 11.0,
            max_ns: 12,
        };
        let series = Series {
            slices: [0, 100, 200, 9000, 9100].map(slice).to_vec(),
            slice_ns: 100,
            ..Series::default()
        };
        let starts: Vec<(u64, bool)> = merge(&series, 4)
            .into_iter()
            .map(|(at, slice)| (at, slice.is_some()))
            .collect();
        let first = [(0, true), (200, true), (300, false)];
        let second = [(9000, true), (9200, true)];
        assert_eq!(starts, [&first[..], &second].concat());
    }

    #[test]
    fn few_samples_are_given_one_by_one() {
        let each: Vec<Spot> = (0..30)
            .map(|at| Spot {
                at_ns: at * 1000,
                value_ns: 5000 + at,
            })
            .collect();
        let series = Series {
            of: 30,
            each: each.clone(),
            ..Series::default()
        };
        let values = histogram(each.iter().map(|spot| spot.value_ns));
        let name = || Name {
            size: String::new(),
            depth: String::new(),
        };
        let given = measured(name(), &series, &values, &[], (20, 4, 10.0));
        assert_eq!((given.at.len(), given.longest[1].len()), (0, 30));
        let thinned = measured(name(), &series, &values, &[], (10, 4, 10.0));
        assert_eq!(thinned.longest[1].len(), 0);
    }

    #[test]
    fn a_rare_error_survives_the_thinning_of_frequent_ones() {
        let bad = |at_ns: u64| Bad {
            at_ns,
            status: if at_ns == 501 { "late" } else { "lost" },
        };
        let all: Vec<Bad> = (0..1000).map(bad).collect();
        let kept = thinned(&all, 20);
        assert!(kept.len() <= 20 && kept.is_sorted(), "{}", kept.len());
        assert_eq!(kept.iter().filter(|bad| bad.status == "late").count(), 1);
        assert_eq!(thinned(&all[..10], 20).len(), 10);
    }

    #[test]
    fn bins_hold_every_sample_at_its_place() {
        let histogram = histogram([1000, 1000, 1010, 100_000]);
        let (first, counts) = binned(&histogram, 10.0);
        assert_eq!((first, counts), (30, vec![3, -19, 1]));
    }

    #[test]
    fn what_is_longest_survives_any_thinning() {
        let series = Series {
            of: 100_000,
            slices: (0..1000)
                .map(|at| Slice {
                    at_ns: at * 1_000_000,
                    last_ns: at * 1_000_000 + 990_000,
                    n: 100,
                    min_ns: 20_000,
                    mean_ns: 21_000.0,
                    max_ns: 30_000,
                })
                .collect(),
            longest: (0..50)
                .map(|at| Spot {
                    at_ns: at * 20_000_000,
                    value_ns: if at == 33 { 9_000_000 } else { 29_000 },
                })
                .collect(),
            ..Series::default()
        };
        let histogram = histogram([20_000, 9_000_000]);
        let name = Name {
            size: "OUT 16 B, IN 48 B".into(),
            depth: "depth 1".into(),
        };
        let measured = measured(name, &series, &histogram, &[], (20, 4, 10.0));
        assert_eq!((measured.slices, measured.at.len()), (20, 21));
        assert_eq!(measured.longest[1].len(), 4);
        let longest = measured.longest[1].iter().max().unwrap() * measured.unit;
        assert_eq!(longest, 9_000_000);
        let last: u64 = measured.at.iter().sum::<u64>() * measured.tick;
        assert!((900_000_000..=1_000_000_000).contains(&last), "{last}");
    }
}
