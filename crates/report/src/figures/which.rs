//! Which points are drawn where there is no room for all, and what they are called. The same points
//! in every figure made from samples, so that a reader finds them again.

use super::cells::{distinct, spread};
use wiregauge_compare::{Setting, Settings, link_name};
use wiregauge_quantity::grouped;
use wiregauge_record::{Point, StreamPoint};

/// What tells a point from the others of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) link: u32,
    pub(super) together: bool,
    /// OUT and IN of an exchange; both are the transfer's of a stream.
    pub(super) sizes: (u32, u32),
    /// Depth of an exchange, queue of a stream.
    pub(super) depth: u32,
    /// Of a stream: data flows both ways at once.
    pub(super) both: bool,
    stream: bool,
}

impl From<Point> for Cell {
    fn from(point: Point) -> Cell {
        Cell {
            link: point.link,
            together: point.together,
            sizes: (point.out_bytes, point.in_bytes),
            depth: point.depth,
            both: false,
            stream: false,
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
            both: point.direction.ways().len() > 1,
            stream: true,
        }
    }
}

impl Cell {
    fn settings(&self) -> Settings {
        let (out_bytes, in_bytes) = self.sizes;
        if self.stream {
            let link = link_name(self.link, self.together);
            let way = if self.both { "both directions" } else { "" };
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

/// The cells that are drawn, and in words which they are where they are not all.
pub(super) struct Choice {
    pub(super) cells: Vec<Cell>,
    /// The whole of them.
    all: Vec<Cell>,
    /// Which are drawn, as part of a sentence; empty if all are.
    pub(super) which: String,
    /// A sentence with a space before it; empty if all are drawn.
    pub(super) rule: String,
}

impl Choice {
    /// The most telling few: the shallowest and the deepest of each size; of many sizes the
    /// smallest, the largest and what lies between evenly. Of several links each one, alone and
    /// together, at its smallest size and depth.
    pub(super) fn of(cells: impl Iterator<Item = Cell>, most: usize) -> Choice {
        let all = distinct(cells);
        if all.len() <= most {
            return Choice {
                cells: all.clone(),
                all,
                which: String::new(),
                rule: String::new(),
            };
        }
        let links = distinct(all.iter().map(|cell| (cell.link, cell.together, cell.both)));
        let of_link = |link: (u32, bool, bool)| {
            let of_it = all.iter().copied();
            of_it.filter(move |cell| (cell.link, cell.together, cell.both) == link)
        };
        let deep = all.iter().any(|cell| cell.depth != all[0].depth);
        let a_size = if deep { 2 } else { 1 };
        let sizes_a_link = most / a_size / links.len();
        let mut cells = Vec::new();
        for link in spread(&links, most) {
            if sizes_a_link == 0 {
                cells.extend(of_link(link).next());
                continue;
            }
            let sizes = distinct(of_link(link).map(|cell| cell.sizes));
            for size in spread(&sizes, sizes_a_link) {
                let same: Vec<Cell> = of_link(link).filter(|cell| cell.sizes == size).collect();
                cells.extend(spread(&same, a_size));
            }
        }
        cells.sort_unstable();
        cells.dedup();
        let sizes_of_all = distinct(all.iter().map(|cell| cell.sizes)).len();
        let which = which(&all, links.len(), sizes_a_link.min(sizes_of_all), deep);
        let rule = format!(
            " {1} of {0} points are shown: {which}.",
            all.len(),
            cells.len()
        );
        Choice {
            cells,
            all,
            which,
            rule,
        }
    }

    /// What tells a cell from the others; empty where there is but one.
    pub(super) fn name(&self, cell: &Cell) -> String {
        let all: Vec<Settings> = self.all.iter().map(Cell::settings).collect();
        cell.settings().name_among(&all)
    }
}

/// Which cells are drawn of `all`, in so many groups of link and direction, of each this many sizes; `deep`: the depths
/// differ.
fn which(all: &[Cell], groups: usize, sizes: usize, deep: bool) -> String {
    let (size, depth) = match all[0].stream {
        true => ("transfer", "queue"),
        false => ("size", "depth"),
    };
    let varies = |of: &dyn Fn(&Cell) -> u32| all.iter().any(|cell| of(cell) != of(&all[0]));
    let has_one_size = !varies(&|cell| cell.sizes.0) && !varies(&|cell| cell.sizes.1);
    let mut parts = Vec::new();
    if groups > 1 {
        let mut name = Vec::new();
        if varies(&|cell| cell.link) {
            name.push("each link");
        }
        if varies(&|cell| cell.together.into()) {
            name.push("alone and together");
        }
        if varies(&|cell| cell.both.into()) {
            name.push("one direction and both directions");
        }
        parts.push(name.join(", "));
    }
    match sizes {
        _ if has_one_size => {}
        0 | 1 => parts.push(format!("the smallest {size}")),
        2 => parts.push(format!("the smallest and largest {size}")),
        _ => parts.push(format!(
            "the smallest and largest {size} and some in between"
        )),
    }
    match sizes {
        _ if !deep => {}
        0 => parts.push(format!("the smallest {depth}")),
        _ => parts.push(format!("the smallest and largest {depth}")),
    }
    match parts.split_first() {
        Some((first, rest)) if !rest.is_empty() => {
            format!("{first}, each at {}", rest.join(" and "))
        }
        _ => parts.concat(),
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
    fn of_many_points_the_corners_are_drawn() {
        let cells = sweep(&[48, 1000, 2000, 4000, 8000], &[1, 2, 4, 8]);
        let choice = Choice::of(cells.into_iter(), 6);
        let drawn: Vec<_> = choice.cells.iter().map(|c| (c.sizes.1, c.depth)).collect();
        assert_eq!(
            drawn,
            [(48, 1), (48, 8), (2000, 1), (2000, 8), (8000, 1), (8000, 8)]
        );
        assert!(choice.rule.contains("6 of 20 points"), "{}", choice.rule);
    }

    #[test]
    fn the_caption_names_the_sizes_that_are_drawn() {
        // Three links, alone and together, at two sizes.
        let of_links = |depths: &[u32], sizes: &[u32]| -> Vec<Cell> {
            let links = (0..6_u32).flat_map(|link| {
                let cells = sweep(sizes, depths).into_iter();
                cells.map(move |cell| Cell {
                    link: link / 2,
                    together: link % 2 == 1,
                    ..cell
                })
            });
            links.collect()
        };
        let choice = Choice::of(of_links(&[1], &[64, 1000]).into_iter(), 6);
        assert!(choice.cells.iter().all(|cell| cell.sizes.1 == 64));
        let words =
            " 6 of 12 points are shown: each link, alone and together, each at the smallest size.";
        assert_eq!(choice.rule, words);
        let choice = Choice::of(of_links(&[1], &[64, 500, 1000]).into_iter(), 12);
        let words = "each link, alone and together, each at the smallest and largest size";
        assert_eq!(choice.which, words);
        let choice = Choice::of(of_links(&[1, 4], &[64]).into_iter(), 6);
        let words = "each link, alone and together, each at the smallest depth";
        assert_eq!(choice.which, words);
        let choice = Choice::of(sweep(&[48, 500, 1000, 2000], &[1, 2, 4]).into_iter(), 6);
        let words = "the smallest and largest size and some in between, each at the smallest and largest depth";
        assert_eq!(choice.which, words);
    }

    #[test]
    fn of_many_links_each_is_drawn_and_never_more_than_there_is_room_for() {
        let cells = (0..20_u32).flat_map(|link| {
            sweep(&[48, 1000], &[1, 2])
                .into_iter()
                .map(move |cell| Cell {
                    link: link / 2,
                    together: link % 2 == 1,
                    ..cell
                })
        });
        let choice = Choice::of(cells, 6);
        assert_eq!(choice.cells.len(), 6);
        assert!(choice.cells.iter().all(|c| (c.sizes.1, c.depth) == (48, 1)));
        for most in 1..8 {
            assert!(Choice::of(choice.all.iter().copied(), most).cells.len() <= most);
        }
    }
}
