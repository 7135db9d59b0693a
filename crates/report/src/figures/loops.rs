//! The points of loop runs: which are drawn where there is no room for all, and what they are called.
//! The same in every figure of a loop.

use super::cells::{common, distinct, joined, label, points, shown, spread};
use super::look::Series;
use super::point_key;
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

impl Looped<'_> {
    /// By which a page finds what is drawn of it.
    pub(super) fn key(&self) -> String {
        point_key::closed_loop(&self.summary.point)
    }
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
                    series: match (self.runs.len(), self.cells.len()) {
                        (1, _) => Series::of(at_cell),
                        (_, 1) => Series::of(at_run),
                        _ => Series::with(at_run, at_cell),
                    },
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

/// At most so many cells, at least one, and in words which they are where they are not all: preloads
/// under test go first, then blocks between the smallest and the largest, then rates.
fn few(all: &[LoopCell], most: usize) -> (Vec<LoopCell>, String) {
    let most = most.max(1);
    if all.len() <= most {
        return (all.to_vec(), String::new());
    }
    let mut left: Vec<LoopCell> = all.to_vec();
    let mut which = String::new();
    if all.iter().any(|cell| cell.tested.is_none()) {
        left.retain(|cell| cell.tested.is_none());
        which.push_str("no preload under test");
    }
    let paths = distinct(left.iter().map(|cell| cell.path));
    if left.len() > most && paths.len() > 1 {
        // What processes the blocks is what such a run compares: all of it on one cell.
        let first = left[0];
        let of = |cell: &LoopCell| (cell.rate_hz, cell.channels, cell.notify_bytes);
        left.retain(|cell| of(cell) == of(&first));
        left.truncate(most);
        which = "the paths of the first rate and block size".to_owned();
    }
    if left.len() > most {
        let rates = distinct(left.iter().map(|cell| (cell.rate_hz, cell.channels)));
        let of_rate = |rate: (u64, u32)| -> Vec<LoopCell> {
            let of_it = left.iter().copied();
            let same = of_it.filter(|cell| (cell.rate_hz, cell.channels) == rate);
            same.collect()
        };
        // Two of each rate only where two rates still have room.
        let has_room = left.len() > rates.len() && most >= 4;
        let a_rate = if has_room { 2 } else { 1 };
        let (kept, words): (Vec<LoopCell>, _) = if let [rate] = rates[..] {
            let kept = spread(&of_rate(rate), most);
            (
                kept,
                "the smallest and largest block size and some in between",
            )
        } else {
            let drawn = spread(&rates, most / a_rate);
            let kept = drawn
                .into_iter()
                .flat_map(|rate| spread(&of_rate(rate), a_rate));
            let words = match a_rate {
                1 => {
                    "the lowest and highest rate and some in between, each with its smallest block size"
                }
                _ => {
                    "the lowest and highest rate and some in between, each with its smallest and largest block \
                     size"
                }
            };
            (kept.collect(), words)
        };
        left = kept;
        which = words.to_owned();
    }
    let rule = format!(
        " {1} of {0} points are shown: {which}.",
        all.len(),
        left.len()
    );
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
    fn few_points_are_all_drawn() {
        let cells = sweep(&[1, 2], &[64], &[None, Some(4096)]);
        assert_eq!(few(&cells, 4), (cells, String::new()));
    }

    #[test]
    fn preloads_under_test_make_room_first_and_then_what_lies_between() {
        let cells = sweep(&[1, 2], &[64, 128], &[None, Some(4096)]);
        let (drawn, rule) = few(&cells, 6);
        assert_eq!(drawn, sweep(&[1, 2], &[64, 128], &[None]));
        assert!(rule.contains("4 of 8 points are shown"), "{rule}");
        let cells = sweep(&[1, 2, 3, 4, 5], &[64, 128, 256], &[None]);
        let (drawn, rule) = few(&cells, 6);
        assert_eq!(drawn, sweep(&[1, 3, 5], &[64, 256], &[None]));
        assert!(rule.contains("largest block"), "{rule}");
    }

    #[test]
    fn ways_to_a_gpu_are_compared_on_one_block() {
        let mut cells = sweep(&[1, 2], &[64, 128], &[None]);
        let by_gpu = |cell: &LoopCell| LoopCell {
            path: LoopPath::Graph,
            ..*cell
        };
        cells.extend(cells.clone().iter().map(by_gpu));
        let (drawn, rule) = few(&cells, 3);
        assert_eq!(drawn, [cells[0], by_gpu(&cells[0])]);
        assert!(rule.contains("the paths of the first"), "{rule}");
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
