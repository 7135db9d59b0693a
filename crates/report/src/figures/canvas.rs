//! A sheet with a legend and one or more frames; a frame has axes, a light grid and what is drawn
//! in it. Every figure is made with these and nothing else, so that all look alike.

use super::Figure;
use super::axes::{Axis, Tick};
use super::legend::Legend;
use super::look::{FONT_SIZE, GRID, LINE, MUTED, SMALL, Series, WIDTH, fitting, text_width};
use super::svg::{Anchor, Ink, Px, Svg};

pub(crate) use super::legend::{Entry, Key};

const MARGIN: f64 = 10.0;
/// Bold letters are wider by this factor (DejaVu Sans).
const TITLE: f64 = 1.18;

/// Height of a row of names of limits.
pub(crate) const LIMIT_ROW: f64 = 16.0;

/// A place on the sheet, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// A sheet to draw on.
pub(crate) struct Canvas {
    svg: Svg,
    height: f64,
    top: f64,
}

impl Canvas {
    /// A sheet of the usual width with this legend on top, and `height` pixels below it. A legend of
    /// a single series tells nothing apart and is left out; its name belongs into the caption.
    pub(crate) fn new(height: u32, legend: &[Entry]) -> Canvas {
        let legend = Legend::new(legend, f64::from(WIDTH) - 2.0 * MARGIN);
        let top = legend.height();
        let height = f64::from(height) + top;
        let svg = Svg::new(WIDTH, height as u32);
        legend.draw(&svg, MARGIN);
        Canvas { svg, height, top }
    }

    /// A sheet with so many panels, so many a row, and their places: `row` pixels high for each row, and `only` if there is
    /// but one.
    pub(crate) fn with_panels(
        (count, columns): (usize, usize),
        (only, row): (u32, u32),
        legend: &[Entry],
    ) -> (Canvas, Vec<Place>) {
        let rows = count.div_ceil(columns) as u32;
        let canvas = Canvas::new(if rows == 1 { only } else { row * rows }, legend);
        let places = canvas.panels(count, columns);
        (canvas, places)
    }

    /// What is left of the sheet below the legend.
    pub(crate) fn place(&self) -> Place {
        Place {
            x: 0.0,
            y: self.top,
            width: f64::from(WIDTH),
            height: self.height - self.top,
        }
    }

    /// What is left of the sheet, divided among so many panels, so many a row.
    fn panels(&self, count: usize, columns: usize) -> Vec<Place> {
        let columns = columns.clamp(1, count.max(1));
        let rows = count.div_ceil(columns).max(1);
        let all = self.place();
        let (width, height) = (all.width / columns as f64, all.height / rows as f64);
        (0..count)
            .map(|n| Place {
                x: all.x + width * (n % columns) as f64,
                y: all.y + height * (n / columns) as f64,
                width,
                height,
            })
            .collect()
    }

    /// A frame with axes, grid and labels, in a place; its title, if it is not empty, stands above it.
    pub(crate) fn frame(&self, place: Place, title: &str, x: Axis, y: Axis) -> Frame {
        let width = |tick: &Tick| text_width(&tick.label, FONT_SIZE);
        let widest = y.ticks.iter().map(width).fold(0.0, f64::max);
        let left = MARGIN + widest + 8.0 + if y.title.is_empty() { 0.0 } else { 22.0 };
        let bottom = MARGIN + 20.0 + if x.title.is_empty() { 0.0 } else { 20.0 };
        let top = if title.is_empty() { 14.0 } else { 32.0 };
        let right = 18.0;
        let inner = Place {
            x: place.x + left,
            y: place.y + top,
            width: (place.width - left - right).max(20.0),
            height: (place.height - top - bottom).max(20.0),
        };
        let svg = self.svg.clone();
        let frame = Frame { svg, inner, x, y };
        frame.draw_axes(place, title);
        frame
    }

    /// The finished figure.
    pub(crate) fn finish(self, name: &str, title: &str, caption: &str) -> Figure {
        Figure {
            name: name.to_owned(),
            title: title.to_owned(),
            caption: caption.to_owned(),
            svg: self.svg.finish(title, caption),
        }
    }
}

/// A line down a frame with its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    /// On the horizontal axis.
    pub(crate) at: f64,
    pub(crate) name: String,
}

/// Axes with what is drawn between them. Values are in the unit of the axes; what is not finite is
/// not drawn, what lies outside is drawn at the edge.
pub(crate) struct Frame {
    svg: Svg,
    /// The part between the axes, in pixels.
    pub(crate) inner: Place,
    x: Axis,
    y: Axis,
}

impl Frame {
    fn draw_axes(&self, place: Place, title: &str) {
        let inner = self.inner;
        let (right, bottom) = (inner.x + inner.width, inner.y + inner.height);
        self.svg.open("axes");
        let line = |from, to, colour| self.svg.line(&[from, to], (colour, 1.0, 0));
        for at in self.x.grid() {
            line((self.x_px(at), inner.y), (self.x_px(at), bottom), GRID);
        }
        for at in self.y.grid() {
            line((inner.x, self.y_px(at)), (right, self.y_px(at)), GRID);
        }
        line((inner.x, bottom), (right, bottom), MUTED);
        let muted = |anchor| Ink {
            colour: MUTED,
            ..Ink::new(anchor)
        };
        // From the right, each label that has room beside the one before.
        let mut free = f64::INFINITY;
        for tick in self.x.ticks.iter().rev() {
            let half = text_width(&tick.label, FONT_SIZE) / 2.0 + 3.0;
            // The last one may be wider than the margin.
            let at = self.x_px(tick.at).min(place.x + place.width - half);
            if at + half <= free {
                let ink = muted(Anchor::Middle);
                self.svg.text(at, bottom + 19.0, &tick.label, ink);
                free = at - half;
            }
        }
        let mut last = f64::INFINITY;
        for tick in &self.y.ticks {
            let y = self.y_px(tick.at);
            if (last - y).abs() >= FONT_SIZE {
                let (x, ink) = (inner.x - 7.0, muted(Anchor::End));
                self.svg.text(x, y + 4.8, &tick.label, ink);
                last = y;
            }
        }
        // As near to the middle of the axis as the place lets a title be.
        let centred = |title: &str, middle: f64, from: f64, length: f64| {
            let text = fitting(title, FONT_SIZE, length - 8.0);
            let half = text_width(&text, FONT_SIZE) / 2.0 + 2.0;
            (middle.min(from + length - half).max(from + half), text)
        };
        let middle = inner.x + inner.width / 2.0;
        let (x, text) = centred(&self.x.title, middle, place.x, place.width);
        self.svg
            .text(x, bottom + 40.0, &text, Ink::new(Anchor::Middle));
        let middle = inner.y + inner.height / 2.0;
        let (y, text) = centred(&self.y.title, middle, place.y, place.height);
        let upright = Ink {
            upright: true,
            ..Ink::new(Anchor::Middle)
        };
        self.svg.text(place.x + MARGIN + 11.0, y, &text, upright);
        let bold = Ink {
            bold: true,
            ..Ink::new(Anchor::Start)
        };
        let text = fitting(title, FONT_SIZE * TITLE, place.width - 8.0);
        // Above the frame where it fits, else as far left as it must be.
        let latest = place.x + place.width - 4.0 - text_width(&text, FONT_SIZE * TITLE);
        self.svg
            .text(inner.x.min(latest), inner.y - 12.0, &text, bold);
        self.svg.close();
    }

    /// Where a value stands on the sheet, in pixels.
    pub(crate) fn x_px(&self, value: f64) -> f64 {
        self.inner.x + self.x.part(value) * self.inner.width
    }

    /// Where a value stands on the sheet, in pixels.
    pub(crate) fn y_px(&self, value: f64) -> f64 {
        self.inner.y + (1.0 - self.y.part(value)) * self.inner.height
    }

    /// Where values that are finite stand on the sheet.
    fn places(&self, values: &[(f64, f64)]) -> Vec<Px> {
        let is_finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
        let place = |(x, y): &(f64, f64)| (self.x_px(*x), self.y_px(*y));
        values.iter().filter(is_finite).map(place).collect()
    }

    /// A line through points.
    pub(crate) fn line(&self, points: &[(f64, f64)], series: Series) {
        self.line_of(points, series, LINE);
    }

    /// A line of some other width. Values that are not finite leave a gap.
    pub(crate) fn line_of(&self, points: &[(f64, f64)], series: Series, width: f64) {
        for piece in points.split(|(x, y)| !x.is_finite() || !y.is_finite()) {
            if piece.len() > 1 {
                self.svg.line(&self.places(piece), series.line(width));
            }
        }
    }

    /// Markers.
    pub(crate) fn markers(&self, points: &[(f64, f64)], series: Series) {
        self.svg.markers(&self.places(points), series);
    }

    /// Small dots, for single samples.
    pub(crate) fn dots(&self, points: &[(f64, f64)], colour: &str, radius: f64) {
        for place in self.places(points) {
            self.svg.circle(place, radius, (colour, 1.0));
        }
    }

    /// Markers so many pixels below the top edge, at values of the horizontal axis.
    pub(crate) fn marks_on_top(&self, values: &[f64], below: f64, series: Series) {
        let place = |value: &f64| (self.x_px(*value), self.inner.y + below);
        let places: Vec<Px> = values.iter().map(place).collect();
        self.svg.markers(&places, series);
    }

    /// What so many pixels are on a linear horizontal axis.
    pub(crate) fn x_step(&self, px: f64) -> f64 {
        let (low, high) = self.x.range();
        (high - low) * px / self.inner.width
    }

    /// The lower end of the vertical axis.
    pub(crate) fn lowest(&self) -> f64 {
        self.y.range().0
    }

    /// True if a point lies within both axes.
    pub(crate) fn holds(&self, (x, y): (f64, f64)) -> bool {
        self.x.holds(x) && self.y.holds(y)
    }

    /// A line with markers.
    pub(crate) fn curve(&self, points: &[(f64, f64)], series: Series) {
        self.curve_marked(points, points.len().max(1), series);
    }

    /// A line with at most so many markers, one of them at its end.
    pub(crate) fn curve_marked(&self, points: &[(f64, f64)], most: usize, series: Series) {
        let every = points.len().div_ceil(most).max(1);
        let marked: Vec<_> = points.iter().rev().step_by(every).copied().collect();
        self.svg.open("curve");
        self.line(points, series);
        self.markers(&marked, series);
        self.svg.close();
    }

    /// The area between a low and a high value: `(x, low, high)`.
    pub(crate) fn band(&self, edges: &[(f64, f64, f64)], colour: &str, opacity: f64) {
        let there = edges.iter().map(|(x, low, _)| (*x, *low));
        let back = edges.iter().rev().map(|(x, _, high)| (*x, *high));
        let outline: Vec<(f64, f64)> = there.chain(back).collect();
        let places = self.places(&outline);
        if places.len() > 3 {
            self.svg.polygon(&places, (colour, opacity));
        }
    }

    /// Confidence bounds: `(x, low, high)`, as thin bars. An end that is cut by the frame is not marked.
    pub(crate) fn intervals(&self, bounds: &[(f64, f64, f64)], colour: &str) {
        for (x, low, high) in bounds {
            let ends = [(*x, *low), (*x, *high)];
            let places = self.places(&ends);
            if places.len() < ends.len() {
                continue;
            }
            self.svg.line(&places, (colour, 1.2, 0));
            for (end, (x, y)) in ends.into_iter().zip(places) {
                if self.holds(end) {
                    self.svg
                        .line(&[(x - 3.0, y), (x + 3.0, y)], (colour, 1.2, 0));
                }
            }
        }
    }

    /// A filled bar between two values of each axis.
    pub(crate) fn bar(&self, x: (f64, f64), y: (f64, f64), colour: &str, opacity: f64) {
        if let [a, b] = self.places(&[(x.0, y.0), (x.1, y.1)])[..] {
            self.svg.rectangle(a, b, (colour, opacity));
        }
    }

    /// A limit across the frame at a value of the vertical axis, with its name above the line. Nothing if the value
    /// lies outside: the caller says so in words.
    pub(crate) fn limit(&self, value: f64, name: &str) {
        if !self.y.holds(value) {
            return;
        }
        let (left, y) = (self.inner.x, self.y_px(value));
        let ends = [(left, y), (left + self.inner.width, y)];
        self.svg.open("limit");
        self.svg.line(&ends, Series::limit().line(1.4));
        // Above the line; below it where the frame ends.
        let is_high = y - SMALL < self.inner.y - 6.0;
        let base = if is_high { y + SMALL + 3.0 } else { y - 5.0 };
        let name = fitting(name, SMALL, self.inner.width - 8.0);
        let ink = Ink::note(Anchor::Start);
        self.svg.text(left + 4.0, base, &name, ink);
        self.svg.close();
    }

    /// Limits down the frame at values of the horizontal axis, on top of all lines. From left to right each begins a
    /// row lower, with its name there beside it. Those outside are left out: the caller says so in words. Returns how many
    /// have no room for their name.
    pub(crate) fn limits_x(&self, limits: &[Limit]) -> usize {
        let is_inside = |limit: &&Limit| self.x.holds(limit.at);
        let mut inside: Vec<&Limit> = limits.iter().filter(is_inside).collect();
        inside.sort_by(|a, b| a.at.total_cmp(&b.at));
        let (left, right) = (self.inner.x, self.inner.x + self.inner.width);
        let bottom = self.inner.y + self.inner.height;
        let top = |row: usize| self.inner.y + LIMIT_ROW * row as f64;
        self.svg.open("limit");
        for (row, limit) in inside.iter().enumerate() {
            let (x, top) = (self.x_px(limit.at), top(row).min(bottom - LIMIT_ROW));
            let ends = [(x, top), (x, bottom)];
            self.svg.line(&ends, Series::limit().line(1.4));
        }
        // Below the frame there is no room for more names.
        let has_room = |row: &usize| top(*row) + 12.0 < bottom;
        let named = (0..inside.len()).take_while(has_room).count();
        for (row, limit) in inside.iter().enumerate().take(named) {
            let (x, baseline) = (self.x_px(limit.at), top(row) + 12.0);
            let width = text_width(&limit.name, SMALL) + 6.0;
            let (room, anchor, at) = if x + width <= right || x - left < right - x {
                (right - x, Anchor::Start, x + 5.0)
            } else {
                (x - left, Anchor::End, x - 5.0)
            };
            let name = fitting(&limit.name, SMALL, room - 6.0);
            self.svg.text(at, baseline, &name, Ink::note(anchor));
        }
        self.svg.close();
        inside.len() - named
    }

    /// Groups what is drawn until `close`, under a class by which it can be found.
    pub(crate) fn open(&self, class: &str) {
        self.svg.open(class);
    }

    /// Ends a group.
    pub(crate) fn close(&self) {
        self.svg.close();
    }
}
