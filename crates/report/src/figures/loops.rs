//! The points of loop runs: which are drawn where there is no room for all, and what they are called.
//! The same in every figure of a loop.

use super::cells::{common, distinct, joined, label, points, shown, spread};
use super::look::Series;
use crate::Subject;
use crate::load::LoopPoint;
use wiregauge_compare::Settings;
use wiregauge_record::{Aim, LoopPath, LoopSummary};

/// What tells a point from the others of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LoopCell {
    pub(super) rate_hz: u64,
    pub(super) channels: u32,
    pub(super) notify_bytes: u32,
    /// What processes the blocks.
    pub(super) path: LoopPath,
    /// The preload under test.
    pub(super) tested: Option<u64>,
}

impl LoopCell {
    fn settings(&self) -> Settings {
        Settings::of_loop(&wiregauge_record::LoopPoint {
            index: 0,
            rate_hz: self.rate_hz,
            channels: self.channels,
            notify_bytes: self.notify_bytes,
            ring_bytes: 0,
            preload_bytes: self.tested.unwrap_or(0),
            aim: self.tested.map_or(Aim::Curve, |_| Aim::Hold),
            path: self.path,
        })
    }
}

/// A point of a loop run.
#[derive(Clone, Copy)]
pub(super) struct Looped<'a> {
    /// Which of the subjects.
    pub(super) subject: usize,
    pub(super) cell: LoopCell,
    pub(super) summary: &'a LoopSummary,
    pub(super) loaded: &'a LoopPoint,
}

/// All points of all loop runs.
pub(super) fn all(subjects: &[Subject]) -> Vec<Looped<'_>> {
    let all = points(subjects, Subject::loop_run).into_iter();
    let looped = all.map(|(subject, summary, loaded)| {
        let point = summary.point;
        let cell = LoopCell {
            rate_hz: point.rate_hz,
            channels: point.channels,
            notify_bytes: point.notify_bytes,
            path: point.path,
            tested: (point.aim == Aim::Hold).then_some(point.preload_bytes),
        };
        Looped {
            subject,
            cell,
            summary,
            loaded,
        }
    });
    looped.collect()
}

/// The points that are drawn.
pub(super) struct LoopChoice<'a> {
    /// Runs that have such points.
    pub(super) runs: Vec<usize>,
    pub(super) cells: Vec<LoopCell>,
    all: Vec<LoopCell>,
    points: Vec<Looped<'a>>,
    /// Sentences with a space before them; empty if all are drawn.
    pub(super) rule: String,
}

impl<'a> LoopChoice<'a> {
    /// Of several runs, at most `most_runs`, the cells that all of them have, if there are any; at
    /// most `most` points of all runs together.
    pub(super) fn of(points: Vec<Looped<'a>>, most_runs: usize, most: usize) -> LoopChoice<'a> {
        let of_runs = distinct(points.iter().map(|point| point.subject));
        let mut runs = of_runs.clone();
        runs.truncate(most_runs);
        let measured: Vec<_> = points.iter().map(|one| (one.subject, one.cell)).collect();
        let all = common(&measured, &runs);
        let (cells, mut rule) = few(&all, most / runs.len().max(1));
        rule += &shown(runs.len(), of_runs.len(), "runs");
        LoopChoice {
            runs,
            cells,
            all,
            points,
            rule,
        }
    }

    /// The point of a run that was measured so: of several the first.
    pub(super) fn at(&self, run: usize, cell: &LoopCell) -> Option<&Looped<'a>> {
        let mut points = self.points.iter();
        points.find(|point| point.subject == run && point.cell == *cell)
    }

    /// What tells a cell from the others; empty where there is but one.
    pub(super) fn name(&self, cell: &LoopCell) -> String {
        let all: Vec<Settings> = self.all.iter().map(LoopCell::settings).collect();
        cell.settings().name_among(&all)
    }

    /// Name and look of every point that is drawn, runs laid over each other: colours tell runs
    /// apart, or cells if there is but one run.
    pub(super) fn curves(&self, subjects: &[Subject], what: &str) -> Vec<Curve<'_, 'a>> {
        let mut curves = Vec::new();
        for (at_run, &run) in self.runs.iter().enumerate() {
            for (at_cell, cell) in self.cells.iter().enumerate() {
                let Some(point) = self.at(run, cell) else {
                    continue;
                };
                let run = label(subjects, run, self.runs.len());
                let name = joined([run, self.name(cell)], ", ");
                curves.push(Curve {
                    name: if name.is_empty() { what.into() } else { name },
                    series: Series::of_run(self.runs.len(), at_run, at_cell),
                    point,
                });
            }
        }
        curves
    }
}

/// A point as one of several lines in a frame.
pub(super) struct Curve<'b, 'a> {
    pub(super) name: String,
    pub(super) series: Series,
    pub(super) point: &'b Looped<'a>,
}

/// At most so many cells, at least one, and for a caption how many they are: preloads under test go first.
fn few(all: &[LoopCell], most: usize) -> (Vec<LoopCell>, String) {
    let most = most.max(1);
    let mut left = all.to_vec();
    if left.len() > most && all.iter().any(|cell| cell.tested.is_none()) {
        left.retain(|cell| cell.tested.is_none());
    }
    if left.len() > most && left.iter().any(|cell| cell.path != left[0].path) {
        // What processes the blocks is what such a run compares: all of it on one cell.
        let of = |cell: &LoopCell| (cell.rate_hz, cell.channels, cell.notify_bytes);
        let first = of(&left[0]);
        left.retain(|cell| of(cell) == first);
    }
    let left = spread(&left, most);
    let rule = shown(left.len(), all.len(), "points");
    (left, rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(rates: &[u64], blocks: &[u32], tested: &[Option<u64>]) -> Vec<LoopCell> {
        let mut cells = Vec::new();
        for &rate_hz in rates {
            for &notify_bytes in blocks {
                for &tested in tested {
                    cells.push(LoopCell {
                        rate_hz,
                        channels: 1,
                        notify_bytes,
                        path: LoopPath::Cpu,
                        tested,
                    });
                }
            }
        }
        cells
    }

    #[test]
    fn preloads_under_test_make_room_first_and_then_what_lies_between() {
        let both = [None, Some(4096)];
        let some = sweep(&[1, 2], &[64, 128], &both);
        assert_eq!(few(&some, 8), (some.clone(), String::new()));
        let (drawn, rule) = few(&some, 6);
        assert_eq!(drawn, sweep(&[1, 2], &[64, 128], &[None]));
        assert_eq!(rule, " 4 of 8 points are shown.");
        let many = sweep(&[1, 2, 3, 4, 5], &[64, 128, 256], &[None]);
        let (drawn, _) = few(&many, 6);
        assert_eq!((drawn[0], drawn[5]), (many[0], many[14]));
        // Ways to a GPU are compared on one block.
        let by_gpu = |cell: &LoopCell| LoopCell {
            path: LoopPath::Graph,
            ..*cell
        };
        let cells = sweep(&[1, 2], &[64, 128], &[None]);
        let cells: Vec<LoopCell> = cells.iter().flat_map(|one| [*one, by_gpu(one)]).collect();
        assert_eq!(few(&cells, 3).0, cells[..2]);
    }

    #[test]
    fn never_more_are_drawn_than_there_is_room_for_nor_none() {
        for tested in [&[None][..], &[Some(1), Some(2)], &[None, Some(1)]] {
            let cells = sweep(&[1, 2, 3], &[64, 128, 256], tested);
            for most in 0..20 {
                let drawn = few(&cells, most).0.len();
                assert!((1..=most.max(1)).contains(&drawn), "{drawn} of {most}");
            }
        }
    }
}
