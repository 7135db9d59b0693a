//! Where the names of limits stand, and what is drawn of their lines: a name is beside its line, and covers no other
//! name. A line that a name would cross is interrupted there.

use super::place::Place;

/// Height of a row of names.
pub(crate) const LIMIT_ROW: f64 = 16.0;

/// From a line to its name.
const BESIDE: f64 = 5.0;

/// Between a name and another name, or the line of another one.
const APART: f64 = 3.0;

/// Shorter pieces of a line are not drawn.
const SHORTEST: f64 = 8.0;

/// A line down the frame, and how wide its name is, in pixels; 0: it has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) x: f64,
    pub(super) width: f64,
}

/// A rectangle that a name covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Label {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    /// True if it stands behind its line, to the right.
    pub(crate) is_behind: bool,
}

impl Label {
    /// Its lower edge.
    pub(crate) fn bottom(&self) -> f64 {
        self.top + LIMIT_ROW
    }

    fn covers(&self, x: f64) -> bool {
        self.left - APART < x && x < self.right + APART
    }

    fn meets(&self, other: &Label) -> bool {
        self.left - APART < other.right && other.left - APART < self.right
    }
}

/// What is drawn of each limit, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layout {
    /// Where its name stands; `None` if it has none, or no room.
    pub(super) labels: Vec<Option<Label>>,
    /// The pieces of its line: upper and lower end.
    pub(super) lines: Vec<Vec<(f64, f64)>>,
}

/// The widest name that has room beside a line.
pub(super) fn room(frame: Place, x: f64) -> f64 {
    let (before, behind) = (x - frame.x, frame.x + frame.width - x);
    before.max(behind) - BESIDE - 1.0
}

/// Places the names in rows from the top: each in the highest row in which it is beside its line, if possible where it
/// crosses no line.
pub(super) fn layout(frame: Place, limits: &[Line]) -> Layout {
    let rows = (frame.height / LIMIT_ROW) as usize;
    let mut labels: Vec<Option<Label>> = vec![None; limits.len()];
    for (at, limit) in limits.iter().enumerate().filter(|(_, one)| one.width > 0.0) {
        let others = || {
            limits
                .iter()
                .enumerate()
                .filter(move |(other, _)| *other != at)
        };
        let crosses = |label: &Label| others().any(|(_, other)| label.covers(other.x));
        let is_free = |label: &Label| {
            let row = labels.iter().zip(limits);
            let mut row = row.filter_map(|(other, limit)| Some((other.as_ref()?, limit)));
            row.all(|(other, limit)| {
                let is_below_or_above = other.top != label.top;
                let is_apart = !other.meets(label) && !other.covers(limits[at].x);
                is_below_or_above || is_apart && !label.covers(limit.x)
            })
        };
        let candidates = || (0..rows).flat_map(|row| beside(frame, *limit, row));
        let without_crossing = candidates().find(|label| is_free(label) && !crosses(label));
        labels[at] = without_crossing.or_else(|| candidates().find(is_free));
    }
    let line = |(at, limit): (usize, &Line)| {
        let of_others = labels.iter().enumerate().filter(|(other, _)| *other != at);
        let covering = of_others.filter_map(|(_, label)| label.filter(|one| one.covers(limit.x)));
        pieces(frame, covering.map(|label| (label.top, label.bottom())))
    };
    Layout {
        lines: limits.iter().enumerate().map(line).collect(),
        labels,
    }
}

/// The places beside a line in a row, the usual one first.
fn beside(frame: Place, limit: Line, row: usize) -> impl Iterator<Item = Label> {
    let top = frame.y + LIMIT_ROW * row as f64;
    let label = move |left: f64, is_behind| Label {
        left,
        right: left + limit.width,
        top,
        is_behind,
    };
    let behind = label(limit.x + BESIDE, true);
    let before = label(limit.x - BESIDE - limit.width, false);
    let has_room =
        move |label: &Label| frame.x <= label.left && label.right <= frame.x + frame.width;
    [behind, before].into_iter().filter(has_room)
}

/// What is left of a line from the top of the frame to its bottom.
fn pieces(frame: Place, gaps: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut gaps: Vec<(f64, f64)> = gaps.collect();
    gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut pieces = Vec::new();
    let mut from = frame.y;
    for (top, bottom) in gaps {
        pieces.push((from, top));
        from = from.max(bottom);
    }
    pieces.push((from, frame.y + frame.height));
    pieces.retain(|(from, to)| to - from >= SHORTEST);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FRAME: Place = Place {
        x: 60.0,
        y: 30.0,
        width: 340.0,
        height: 170.0,
    };

    /// That no name leaves the frame, or meets another one or a line, and that each is beside its own line.
    fn assert_apart(frame: Place, limits: &[Line], layout: &Layout) {
        let all: Vec<(usize, Label)> = (layout.labels.iter().enumerate())
            .filter_map(|(at, label)| Some((at, (*label)?)))
            .collect();
        for (n, (at, label)) in all.iter().enumerate() {
            assert!(
                frame.x <= label.left && label.right <= frame.x + frame.width,
                "{label:?}"
            );
            assert!(
                frame.y <= label.top && label.bottom() <= frame.y + frame.height,
                "{label:?}"
            );
            for (_, other) in &all[n + 1..] {
                let beside = label.right <= other.left || other.right <= label.left;
                let above = label.bottom() <= other.top || other.bottom() <= label.top;
                assert!(beside || above, "{label:?} {other:?}");
            }
            for (line, pieces) in layout.lines.iter().enumerate() {
                let x = limits[line].x;
                let crosses = |(from, to): &(f64, f64)| {
                    label.left <= x && x <= label.right && *from < label.bottom() && *to > label.top
                };
                assert!(
                    !pieces.iter().any(crosses),
                    "{label:?} crosses {x}: {pieces:?}"
                );
            }
            // Its own line is there beside it, and no other name between them.
            let x = limits[*at].x;
            assert!(
                (label.left - x).abs().min((label.right - x).abs()) < BESIDE + 1e-6,
                "{label:?} {x}"
            );
            let row = |(from, to): &(f64, f64)| *from <= label.top && label.bottom() <= *to;
            assert!(
                layout.lines[*at].iter().any(row),
                "{label:?}: {:?}",
                layout.lines[*at]
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn names_of_any_limits_cross_no_line_and_no_other_name(
            places in prop::collection::vec((0.0..1.0_f64, 20.0..200.0_f64), 1..24),
            // Limits of one run are often near each other.
            spread in prop_oneof![Just(1.0), Just(0.3), Just(0.02)],
            wide in any::<bool>(),
        ) {
            let frame = Place { width: if wide { 800.0 } else { FRAME.width }, ..FRAME };
            let mut limits: Vec<Line> = places
                .iter()
                .map(|(place, width)| {
                    let x = frame.x + frame.width * (0.5 + (place - 0.5) * spread);
                    Line { x, width: width.min(room(frame, x)) }
                })
                .collect();
            limits.sort_by(|a, b| a.x.total_cmp(&b.x));
            let layout = layout(frame, &limits);
            assert_apart(frame, &limits, &layout);
            // Each name has a row of its own, if nothing else.
            let rows = (frame.height / LIMIT_ROW) as usize;
            let named = layout.labels.iter().flatten().count();
            prop_assert!(named >= limits.len().min(rows), "{named} of {}", limits.len());
        }
    }

    #[test]
    fn a_name_stands_behind_its_line_in_the_first_row_if_there_is_room() {
        let limits = [100.0, 250.0].map(|x| Line { x, width: 90.0 });
        let layout = layout(FRAME, &limits);
        let whole = (FRAME.y, FRAME.y + FRAME.height);
        assert_eq!(layout.lines, [vec![whole], vec![whole]]);
        let lefts: Vec<f64> = layout
            .labels
            .iter()
            .flatten()
            .map(|label| label.left)
            .collect();
        assert_eq!(lefts, [105.0, 255.0]);
        assert!(
            layout
                .labels
                .iter()
                .flatten()
                .all(|label| label.top == FRAME.y)
        );
    }

    #[test]
    fn of_limits_near_each_other_the_lines_begin_at_their_names() {
        // Neither has room for its name between the other and the edge of the frame on both sides.
        let limits = [200.0, 230.0, 260.0].map(|x| Line { x, width: 150.0 });
        let layout = layout(FRAME, &limits);
        assert_apart(FRAME, &limits, &layout);
        assert!(layout.labels.iter().all(Option::is_some));
        assert!(
            layout.lines.iter().all(|pieces| pieces.len() <= 2),
            "{:?}",
            layout.lines
        );
    }
}
