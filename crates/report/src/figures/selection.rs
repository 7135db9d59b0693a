//! The points of runs with their samples: which are drawn where there is no room for all, their names and their looks. The
//! same in every figure made from samples, so that a reader finds them again.

use super::canvas::{Entry, Key};
use super::cells::{distinct, joined, label, points, shown, spread};
use super::look;
use crate::Subject;
use crate::load::{ExchangePoint, Flow, LoopPoint, Series};
use hdrhistogram::Histogram;
use wiregauge_compare::{Setting, Settings, link_name};
use wiregauge_quantity::grouped;
use wiregauge_record::{
    Aim, Connect, Direction, FlowSummary, LoopSummary, Point, PointSummary, Schedule, StreamPoint,
};
use wiregauge_run::{Exchange, RunFile};

/// What tells a point from the others of its run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    /// The settings as numbers, by which cells are sorted.
    order: [u64; 5],
    settings: Settings,
}

impl Cell {
    fn of_exchange(point: &Point) -> Cell {
        let Point { link, together, .. } = *point;
        let [out_bytes, in_bytes, depth] = [point.out_bytes, point.in_bytes, point.depth];
        let order = [link, together.into(), out_bytes, in_bytes, depth];
        Cell {
            order: order.map(u64::from),
            settings: Settings::of_exchange(point),
        }
    }

    /// The same for both ways, which have a panel each.
    fn of_stream(point: &StreamPoint) -> Cell {
        let is_both = point.direction == Direction::Both;
        let (link, together, queue) = (point.link, point.together, point.queue);
        let order = [
            link,
            together.into(),
            point.transfer_bytes,
            queue,
            is_both.into(),
        ];
        let way = if is_both { "both directions" } else { "" };
        Cell {
            order: order.map(u64::from),
            settings: Settings(vec![
                (Setting::Link, link_name(link, together)),
                (Setting::Way, way.to_owned()),
                (Setting::Transfer, grouped(point.transfer_bytes.into())),
                (Setting::Queue, queue.to_string()),
            ]),
        }
    }

    fn of_loop(point: &wiregauge_record::LoopPoint) -> Cell {
        let tested = match point.aim {
            Aim::Curve => 0,
            Aim::Hold => point.preload_bytes.saturating_add(1),
        };
        let (channels, block) = (u64::from(point.channels), u64::from(point.notify_bytes));
        Cell {
            order: [point.rate_hz, channels, block, tested, 0],
            settings: Settings::of_loop(point),
        }
    }
}

/// A point, or one way of it, with its samples.
#[derive(Clone)]
pub(super) struct Sampled<'a, S, L> {
    /// Which of the subjects.
    pub(super) subject: usize,
    cell: Cell,
    pub(super) summary: &'a S,
    pub(super) loaded: &'a L,
    /// What is drawn of it, over time.
    pub(super) series: &'a Series,
    /// The same, counted.
    pub(super) values: &'a Histogram<u64>,
}

/// A point of an exchange run with its RTTs or TRTs.
pub(super) type OfExchange<'a> = Sampled<'a, PointSummary, ExchangePoint>;

/// All points of exchange runs that have samples, with their RTTs.
pub(super) fn rtts(subjects: &[Subject]) -> Vec<OfExchange<'_>> {
    exchanges(subjects, |_| true, |loaded| (&loaded.series, &loaded.rtt))
}

/// The same with their TRTs, of runs in which a TRT is neither the RTT nor what the schedule set.
pub(super) fn trts(subjects: &[Subject]) -> Vec<OfExchange<'_>> {
    exchanges(subjects, has_turnarounds, |loaded| {
        (&loaded.trt_series, &loaded.trt)
    })
}

/// True of a run that is as fast as possible, with several outstanding at some point.
pub(crate) fn has_turnarounds(file: &RunFile<Exchange>) -> bool {
    let plan = &file.plan;
    plan.schedule == Schedule::AsFastAsPossible
        && plan.connect == Connect::Once
        && file.points.iter().any(|point| point.point.depth > 1)
}

fn exchanges<'a>(
    subjects: &'a [Subject],
    is_drawn: impl Fn(&RunFile<Exchange>) -> bool,
    of: impl Fn(&'a ExchangePoint) -> (&'a Series, &'a Histogram<u64>),
) -> Vec<OfExchange<'a>> {
    let run = |one: &'a Subject| one.exchange_run().filter(|(run, _)| is_drawn(&run.file));
    let all = points(subjects, run).into_iter();
    let sampled = all.map(|(subject, summary, loaded)| {
        let (series, values) = of(loaded);
        Sampled {
            subject,
            cell: Cell::of_exchange(&summary.point),
            summary,
            loaded,
            series,
            values,
        }
    });
    sampled.filter(|point| point.series.of > 0).collect()
}

/// All ways of the points of stream runs, with the gaps between completions.
pub(super) fn flows(subjects: &[Subject]) -> Vec<Sampled<'_, FlowSummary, Flow>> {
    let all = points(subjects, Subject::stream_run).into_iter();
    let flows = all.flat_map(|(subject, summary, loaded)| {
        let both = summary.flows.iter().zip(&loaded.flows);
        both.map(move |(flow, loaded)| Sampled {
            subject,
            cell: Cell::of_stream(&summary.point),
            summary: flow,
            loaded,
            series: &loaded.series,
            values: &loaded.gap,
        })
    });
    flows.collect()
}

/// All points of loop runs, with their service delays.
pub(super) fn loops(subjects: &[Subject]) -> Vec<Sampled<'_, LoopSummary, LoopPoint>> {
    let all = points(subjects, Subject::loop_run).into_iter();
    let looped = all.map(|(subject, summary, loaded)| Sampled {
        subject,
        cell: Cell::of_loop(&summary.point),
        summary,
        loaded,
        series: &loaded.series,
        values: &loaded.service,
    });
    looped.collect()
}

/// The points that are drawn.
pub(super) struct Selection<'a, S, L> {
    /// Runs that have such points.
    pub(super) runs: Vec<usize>,
    pub(super) cells: Vec<Cell>,
    /// Of all cells.
    all: Vec<Settings>,
    points: Vec<Sampled<'a, S, L>>,
    /// Sentences with a space before them; empty if all are drawn.
    pub(super) rule: String,
}

impl<'a, S: Clone, L: Clone> Selection<'a, S, L> {
    /// Of at most `most_runs` runs the cells that all of them have, or all cells if there are none. `most`: how many of
    /// them, by the number of runs; spread evenly, at least one. `None` if there are no points.
    pub(super) fn of(
        mut points: Vec<Sampled<'a, S, L>>,
        most_runs: usize,
        most: impl Fn(usize) -> usize,
    ) -> Option<Selection<'a, S, L>> {
        let of_runs = distinct(points.iter().map(|point| point.subject));
        let mut runs = of_runs.clone();
        runs.truncate(most_runs);
        runs.first()?;
        points.retain(|point| runs.contains(&point.subject));
        let mut all = distinct(points.iter().map(|point| point.cell.clone()));
        let is_common = |cell: &Cell| {
            let mut runs = runs.iter();
            runs.all(|run| first(&points, *run, cell, |_| true).is_some())
        };
        if all.iter().any(is_common) {
            all.retain(is_common);
        }
        let cells = spread(&all, most(runs.len()).max(1));
        let rule = shown(cells.len(), all.len(), "points");
        Some(Selection {
            rule: rule + &shown(runs.len(), of_runs.len(), "runs"),
            runs,
            cells,
            all: all.into_iter().map(|cell| cell.settings).collect(),
            points,
        })
    }

    /// The point of a run at a cell; of several the first.
    pub(super) fn at(&self, run: usize, cell: &Cell) -> Option<&Sampled<'a, S, L>> {
        first(&self.points, run, cell, |_| true)
    }

    /// What tells a cell from the others; empty where there is but one.
    pub(super) fn name(&self, cell: &Cell) -> String {
        cell.settings.name_among(&self.all)
    }

    /// Those of the points that are `wanted`, as lines of a frame in which runs are laid over each other.
    pub(super) fn curves(
        &self,
        subjects: &[Subject],
        wanted: impl Fn(&S) -> bool,
    ) -> Vec<Curve<'a, S, L>> {
        let mut curves = Vec::new();
        for (at_run, &run) in self.runs.iter().enumerate() {
            for (at_cell, cell) in self.cells.iter().enumerate() {
                let Some(point) = first(&self.points, run, cell, &wanted) else {
                    continue;
                };
                let run = label(subjects, run, self.runs.len());
                curves.push(Curve {
                    name: joined([run, self.name(cell)], ", "),
                    look: look::Series::of_run(self.runs.len(), at_run, at_cell),
                    point: point.clone(),
                });
            }
        }
        curves
    }
}

/// The first point of a run at a cell that is wanted.
fn first<'b, 'a, S, L>(
    points: &'b [Sampled<'a, S, L>],
    run: usize,
    cell: &Cell,
    wanted: impl Fn(&S) -> bool,
) -> Option<&'b Sampled<'a, S, L>> {
    let mut points = points.iter();
    points.find(|point| point.subject == run && point.cell == *cell && wanted(point.summary))
}

/// A point as one of several lines in a frame.
pub(super) struct Curve<'a, S, L> {
    /// Empty if it is the only one.
    pub(super) name: String,
    pub(super) look: look::Series,
    pub(super) point: Sampled<'a, S, L>,
}

/// The names of curves, each once.
pub(super) fn legend<'b, 'a: 'b, S: 'a, L: 'a>(
    curves: impl IntoIterator<Item = &'b Curve<'a, S, L>>,
) -> Vec<Entry> {
    let mut legend: Vec<Entry> = Vec::new();
    for curve in curves {
        let is_new = legend.iter().all(|entry| entry.name != curve.name);
        if is_new && !curve.name.is_empty() {
            legend.push(Key::Points(curve.look).named(&curve.name));
        }
    }
    legend
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the cells that are drawn of one run, and the rule.
    fn drawn(sizes: &[u32], depths: &[u32], most: usize) -> (Vec<String>, String) {
        let (series, values) = (Series::default(), Histogram::new(3).expect("three digits"));
        let mut points = Vec::new();
        for &in_bytes in sizes {
            points.extend(depths.iter().map(|&depth| Sampled {
                subject: 0,
                cell: Cell::of_exchange(&Point {
                    index: 0,
                    out_bytes: 16,
                    in_bytes,
                    depth,
                    link: 0,
                    together: false,
                }),
                summary: &(),
                loaded: &(),
                series: &series,
                values: &values,
            }));
        }
        let selection = Selection::of(points, 1, |_| most).expect("there are points");
        let names = selection.cells.iter().map(|cell| selection.name(cell));
        (names.collect(), selection.rule)
    }

    #[test]
    fn few_points_are_all_drawn_and_named_by_what_varies() {
        let (names, rule) = drawn(&[48], &[1, 2, 4], 6);
        assert_eq!(names, ["depth 1", "depth 2", "depth 4"]);
        assert_eq!(rule, "");
        assert_eq!(drawn(&[48], &[1], 6).0, [""]);
    }

    #[test]
    fn of_many_points_some_are_drawn_from_the_first_to_the_last() {
        for most in 2..10 {
            let (names, rule) = drawn(&[48, 1000, 2000, 4000, 8000], &[1, 8], most);
            assert_eq!(names.len(), most);
            assert_eq!(names[0], "IN 48 B, depth 1");
            assert_eq!(names[most - 1], "IN 8,000 B, depth 8");
            assert_eq!(rule, format!(" {most} of 10 points are shown."));
        }
    }
}
