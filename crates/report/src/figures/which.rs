//! Which points are drawn where there is no room for all, and what they are called. The same points
//! in every figure made from samples, so that a reader finds them again.

use super::cells::{distinct, shown, spread};
use wiregauge_compare::{Setting, Settings, link_name};
use wiregauge_quantity::grouped;
use wiregauge_record::{Direction, Point, StreamPoint};

/// What tells a point from the others of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) link: u32,
    pub(super) together: bool,
    /// OUT and IN of an exchange; both are the transfer's of a stream.
    pub(super) sizes: (u32, u32),
    /// Depth of an exchange, queue of a stream.
    pub(super) depth: u32,
    /// Of a stream: whether data flows both ways at once.
    both: Option<bool>,
}

impl From<Point> for Cell {
    fn from(point: Point) -> Cell {
        Cell {
            link: point.link,
            together: point.together,
            sizes: (point.out_bytes, point.in_bytes),
            depth: point.depth,
            both: None,
        }
    }
}

impl From<StreamPoint> for Cell {
    fn from(point: StreamPoint) -> Cell {
        Cell {
            link: point.link,
            together: point.together,
            sizes: (point.transfer_bytes, point.transfer_bytes),
            depth: point.queue,
            both: Some(point.direction == Direction::Both),
        }
    }
}

impl Cell {
    fn settings(&self) -> Settings {
        let (out_bytes, in_bytes) = self.sizes;
        if let Some(both) = self.both {
            let link = link_name(self.link, self.together);
            let way = if both { "both directions" } else { "" };
            return Settings(vec![
                (Setting::Link, link),
                (Setting::Way, way.to_owned()),
                (Setting::Transfer, grouped(out_bytes.into())),
                (Setting::Queue, self.depth.to_string()),
            ]);
        }
        Settings::of_exchange(&Point {
            index: 0,
            out_bytes,
            in_bytes,
            depth: self.depth,
            link: self.link,
            together: self.together,
        })
    }
}

/// The cells that are drawn.
pub(super) struct Choice {
    pub(super) cells: Vec<Cell>,
    /// The whole of them.
    all: Vec<Settings>,
    /// A sentence with a space before it; empty if all are drawn.
    pub(super) rule: String,
}

impl Choice {
    /// At most so many, evenly spread over links, sizes and depths.
    pub(super) fn of(cells: impl Iterator<Item = Cell>, most: usize) -> Choice {
        let all = distinct(cells);
        let cells = spread(&all, most);
        Choice {
            rule: shown(cells.len(), all.len(), "points"),
            all: all.iter().map(Cell::settings).collect(),
            cells,
        }
    }

    /// What tells a cell from the others; empty where there is but one.
    pub(super) fn name(&self, cell: &Cell) -> String {
        cell.settings().name_among(&self.all)
    }
}

/// A range that is no narrower than a tenth of its values: what hardly varies shall look so.
pub(super) fn roomy(low: f64, high: f64) -> (f64, f64) {
    let missing = (0.1 * high - (high - low)).max(0.0);
    ((low - missing / 2.0).max(0.0), high + missing / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(sizes: &[u32], depths: &[u32]) -> Vec<Cell> {
        let of = |&in_bytes| {
            depths.iter().map(move |&depth| {
                Cell::from(Point {
                    index: 0,
                    out_bytes: 16,
                    in_bytes,
                    depth,
                    link: 0,
                    together: false,
                })
            })
        };
        sizes.iter().flat_map(of).collect()
    }

    #[test]
    fn few_points_are_all_drawn_and_named_by_what_varies() {
        let choice = Choice::of(sweep(&[48], &[1, 2, 4]).into_iter(), 6);
        let names: Vec<String> = choice.cells.iter().map(|c| choice.name(c)).collect();
        assert_eq!(names, ["depth 1", "depth 2", "depth 4"]);
        assert_eq!(choice.rule, "");
        let one = Choice::of(sweep(&[48], &[1]).into_iter(), 6);
        assert_eq!(one.name(&one.cells[0]), "");
    }

    #[test]
    fn of_many_points_some_are_drawn_from_the_first_to_the_last() {
        let cells = sweep(&[48, 1000, 2000, 4000, 8000], &[1, 8]);
        for most in 1..10 {
            let choice = Choice::of(cells.iter().copied(), most);
            assert_eq!(choice.cells.len(), most);
            assert_eq!(choice.cells[0], cells[0]);
            let words = format!(" {most} of 10 points are shown.");
            assert_eq!(choice.rule, words);
        }
        let choice = Choice::of(cells.iter().copied(), 4);
        assert_eq!(choice.cells.last(), cells.last());
    }
}
