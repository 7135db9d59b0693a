//! A sheet with a legend and one or more frames; a frame has axes, a light grid and what is drawn
//! in it. Every figure is made with these and nothing else, so that all look alike.

pub(crate) use super::place::Place;

use super::Figure;
use super::axes::Axis;
use super::axis_labels::{Label, roomy};
use super::legend::Legend;
use super::limit_names::{self, Line};
use super::look::{
    FONT_SIZE, GRID, LINE, MUTED, SMALL, Series, WIDTH, fill, fitting, stroke, tenths, text_width,
};
use super::shapes::{draw_markers, put};
use super::svg::{Anchor, Ink, Svg};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};

pub(crate) use super::legend::{Entry, Key};

const MARGIN: f64 = 10.0;
/// Bold letters are wider by this factor (DejaVu Sans).
const TITLE: f64 = 1.18;

/// A sheet to draw on.
pub(crate) struct Canvas {
    svg: Svg,
    root: DrawingArea<Svg, Shift>,
    width: f64,
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
        let canvas = Canvas {
            root: svg.clone().into_drawing_area(),
            svg,
            width: f64::from(WIDTH),
            height,
            top,
        };
        legend.draw(&canvas.svg, &canvas.root, MARGIN);
        canvas
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
            width: self.width,
            height: self.height - self.top,
        }
    }

    /// What is left of the sheet, divided among so many panels, so many a row.
    pub(crate) fn panels(&self, count: usize, columns: usize) -> Vec<Place> {
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

    /// Groups what is drawn until `close`, under a class by which it can be found.
    pub(crate) fn open(&self, class: &str) {
        self.svg.open(class);
    }

    /// The same for what is drawn of the points with these keys, so that a page can hide it.
    pub(crate) fn open_point(&self, class: &str, points: &str) {
        self.svg.open_point(class, points);
    }

    /// Ends a group.
    pub(crate) fn close(&self) {
        self.svg.close();
    }

    /// A frame with axes, grid and labels, in a place; its title, if it is not empty, stands above it.
    pub(crate) fn frame(&self, place: Place, title: &str, x: Axis, y: Axis) -> Frame {
        Frame::new(self, place, title, x, y)
    }

    /// The finished figure.
    pub(crate) fn finish(self, name: &str, title: &str, caption: &str) -> Figure {
        drop(self.root);
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
    /// Key of the point that it is of; empty if it is of none.
    pub(crate) point: String,
}

impl From<(f64, String)> for Limit {
    fn from((at, name): (f64, String)) -> Limit {
        Limit {
            at,
            name,
            point: String::new(),
        }
    }
}

/// Axes with what is drawn between them. Values are in the unit of the axes; what is not finite is
/// not drawn, what lies outside is drawn at the edge.
pub(crate) struct Frame {
    svg: Svg,
    area: DrawingArea<Svg, Cartesian2d<Axis, Axis>>,
    screen: DrawingArea<Svg, Shift>,
    /// The part between the axes, in pixels.
    pub(crate) inner: Place,
    x: Axis,
    y: Axis,
}

impl Frame {
    fn new(canvas: &Canvas, place: Place, title: &str, x: Axis, y: Axis) -> Frame {
        let widest = y
            .ticks
            .iter()
            .map(|tick| text_width(&tick.label, FONT_SIZE))
            .fold(0.0, f64::max);
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
        let across = tenths(inner.x)..tenths(inner.x + inner.width);
        let up = tenths(inner.y + inner.height)..tenths(inner.y);
        let coordinates = Cartesian2d::new(x.clone(), y.clone(), (across, up));
        let frame = Frame {
            svg: canvas.svg.clone(),
            area: canvas.root.apply_coord_spec(coordinates),
            screen: canvas.root.clone(),
            inner,
            x,
            y,
        };
        frame.draw_axes(place, title);
        frame
    }

    fn draw_axes(&self, place: Place, title: &str) {
        let inner = self.inner;
        let (right, bottom) = (inner.x + inner.width, inner.y + inner.height);
        self.svg.open("axes");
        let grid = stroke(GRID, 1.0, 0);
        for at in &self.x.grid {
            self.screen_line((self.x_px(*at), inner.y), (self.x_px(*at), bottom), grid);
        }
        for at in &self.y.grid {
            self.screen_line((inner.x, self.y_px(*at)), (right, self.y_px(*at)), grid);
        }
        self.screen_line((inner.x, bottom), (right, bottom), stroke(MUTED, 1.0, 0));
        let muted = |anchor| Ink {
            colour: MUTED,
            ..Ink::new(anchor)
        };
        for (at, label) in self.x_labels(place.x + place.width) {
            self.svg
                .text(at, bottom + 19.0, label, muted(Anchor::Middle));
        }
        let mut last = f64::INFINITY;
        for tick in &self.y.ticks {
            let y = self.y_px(tick.at);
            if (last - y).abs() >= FONT_SIZE {
                self.svg.of_points(&tick.point, || {
                    let (x, ink) = (inner.x - 7.0, muted(Anchor::End));
                    self.svg.text(x, y + 4.8, &tick.label, ink);
                });
                last = y;
            }
        }
        if !self.x.title.is_empty() {
            let text = fitting(&self.x.title, FONT_SIZE, place.width - 8.0);
            let half = text_width(&text, FONT_SIZE) / 2.0;
            let middle = (inner.x + inner.width / 2.0)
                .min(place.x + place.width - half - 2.0)
                .max(place.x + half + 2.0);
            self.svg
                .text(middle, bottom + 40.0, &text, Ink::new(Anchor::Middle));
        }
        if !self.y.title.is_empty() {
            let text = fitting(&self.y.title, FONT_SIZE, place.height - 8.0);
            let half = text_width(&text, FONT_SIZE) / 2.0;
            let middle = (inner.y + inner.height / 2.0)
                .min(place.y + place.height - half - 2.0)
                .max(place.y + half + 2.0);
            let ink = Ink {
                upright: true,
                ..Ink::new(Anchor::Middle)
            };
            self.svg.text(place.x + MARGIN + 11.0, middle, &text, ink);
        }
        if !title.is_empty() {
            let ink = Ink {
                bold: true,
                ..Ink::new(Anchor::Start)
            };
            let text = fitting(title, FONT_SIZE * TITLE, place.width - 8.0);
            // Above the frame where it fits, else as far left as it must be.
            let latest = place.x + place.width - 4.0 - text_width(&text, FONT_SIZE * TITLE);
            self.svg
                .text(inner.x.min(latest), inner.y - 12.0, &text, ink);
        }
        self.svg.close();
    }

    /// The labels of the horizontal axis that have room left of `end`.
    fn x_labels(&self, end: f64) -> Vec<(f64, &str)> {
        let all: Vec<Label<'_>> = (self.x.ticks.iter())
            .map(|tick| {
                let width = text_width(&tick.label, FONT_SIZE) + 6.0;
                Label {
                    tick: self.x_px(tick.at),
                    // The last one may be wider than the margin.
                    at: self.x_px(tick.at).min(end - width / 2.0),
                    width,
                    text: &tick.label,
                }
            })
            .collect();
        let shown = roomy(&all);
        shown.iter().map(|label| (label.at, label.text)).collect()
    }

    /// Where a value stands on the sheet, in pixels.
    pub(crate) fn x_px(&self, value: f64) -> f64 {
        self.inner.x + self.x.part(value) * self.inner.width
    }

    /// Where a value stands on the sheet, in pixels.
    pub(crate) fn y_px(&self, value: f64) -> f64 {
        self.inner.y + (1.0 - self.y.part(value)) * self.inner.height
    }

    /// A line through points.
    pub(crate) fn line(&self, points: &[(f64, f64)], series: Series) {
        self.line_of(points, series, LINE);
    }

    /// A line of some other width. Values that are not finite leave a gap.
    pub(crate) fn line_of(&self, points: &[(f64, f64)], series: Series, width: f64) {
        let whole = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        for piece in points.split(|point| !whole(point)) {
            if piece.len() > 1 {
                put(&self.area, &PathElement::new(piece, series.line(width)));
            }
        }
    }

    /// A line through values of several points, of which a page can leave out some: `(key, x, y)`. Values that
    /// are not finite leave a gap.
    pub(crate) fn line_through(&self, values: &[(&str, f64, f64)], series: Series, width: f64) {
        for piece in values.split(|(_, x, y)| !x.is_finite() || !y.is_finite()) {
            if piece.len() > 1 {
                let keys: Vec<&str> = piece.iter().map(|(key, ..)| *key).collect();
                let places: Vec<(f64, f64)> = piece.iter().map(|(_, x, y)| (*x, *y)).collect();
                self.svg.vertices(&keys.join(" "));
                put(&self.area, &PathElement::new(places, series.line(width)));
            }
        }
    }

    /// Markers.
    pub(crate) fn markers(&self, points: &[(f64, f64)], series: Series) {
        let places: Vec<(i32, i32)> = points
            .iter()
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .map(|point| self.area.map_coordinate(point))
            .collect();
        draw_markers(&self.screen, &places, series);
    }

    /// Small dots, for single samples.
    pub(crate) fn dots(&self, points: &[(f64, f64)], colour: &str, radius: f64) {
        for point in points
            .iter()
            .filter(|(x, y)| x.is_finite() && y.is_finite())
        {
            let at = self.area.map_coordinate(point);
            put(
                &self.screen,
                &Circle::new(at, tenths(radius), fill(colour, 1.0)),
            );
        }
    }

    /// Markers so many pixels below the top edge, at values of the horizontal axis.
    pub(crate) fn marks_on_top(&self, values: &[f64], below: f64, series: Series) {
        let places: Vec<(i32, i32)> = values
            .iter()
            .map(|value| (tenths(self.x_px(*value)), tenths(self.inner.y + below)))
            .collect();
        draw_markers(&self.screen, &places, series);
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
        self.svg.open("curve");
        self.line(points, series);
        self.markers(points, series);
        self.svg.close();
    }

    /// The area between a low and a high value: `(x, low, high)`.
    pub(crate) fn band(&self, edges: &[(f64, f64, f64)], colour: &str, opacity: f64) {
        let edges: Vec<_> = edges
            .iter()
            .filter(|(x, low, high)| x.is_finite() && low.is_finite() && high.is_finite())
            .collect();
        if edges.len() < 2 {
            return;
        }
        let there = edges.iter().map(|(x, low, _)| (*x, *low));
        let back = edges.iter().rev().map(|(x, _, high)| (*x, *high));
        let outline: Vec<(f64, f64)> = there.chain(back).collect();
        put(&self.area, &Polygon::new(outline, fill(colour, opacity)));
    }

    /// Confidence bounds: `(x, low, high)`, as thin bars with ends.
    pub(crate) fn intervals(&self, bounds: &[(f64, f64, f64)], colour: &str) {
        for (x, low, high) in bounds {
            if x.is_finite() && low.is_finite() && high.is_finite() {
                let ends = [*low, *high].map(|y| (self.x_px(*x), self.y_px(y)));
                let whole = [self.y.holds(*low), self.y.holds(*high)];
                self.whisker(ends, whole, (3.0, 0.0), colour);
            }
        }
    }

    /// The same for values along the horizontal axis: `(low, high, y)`.
    pub(crate) fn intervals_across(&self, bounds: &[(f64, f64, f64)], colour: &str) {
        for (low, high, y) in bounds {
            if y.is_finite() && low.is_finite() && high.is_finite() {
                let ends = [*low, *high].map(|x| (self.x_px(x), self.y_px(*y)));
                let whole = [self.x.holds(*low), self.x.holds(*high)];
                self.whisker(ends, whole, (0.0, 3.0), colour);
            }
        }
    }

    /// A line with an end where the end is seen; one that is cut by the frame has none.
    fn whisker(&self, ends: [(f64, f64); 2], whole: [bool; 2], half: (f64, f64), colour: &str) {
        let style = stroke(colour, 1.2, 0);
        self.screen_line(ends[0], ends[1], style);
        for ((x, y), whole) in ends.into_iter().zip(whole) {
            if whole {
                self.screen_line((x - half.0, y - half.1), (x + half.0, y + half.1), style);
            }
        }
    }

    /// A filled bar between two values of each axis.
    pub(crate) fn bar(&self, x: (f64, f64), y: (f64, f64), colour: &str, opacity: f64) {
        if [x.0, x.1, y.0, y.1].iter().all(|value| value.is_finite()) {
            let corners = [(x.0, y.0), (x.1, y.1)];
            put(&self.area, &Rectangle::new(corners, fill(colour, opacity)));
        }
    }

    /// A limit across the frame at a value of the vertical axis, with its name above the line, and its source where
    /// there is room. Nothing if the value lies outside: the caller says so in words.
    pub(crate) fn limit(&self, value: f64, name: &str, source: &str) {
        if !self.y.holds(value) {
            return;
        }
        let y = self.y_px(value);
        let (left, right) = (self.inner.x, self.inner.x + self.inner.width);
        self.svg.open("limit");
        self.screen_line((left, y), (right, y), Series::limit().line(1.4));
        // Above the line; below it where the frame ends.
        let is_high = y - SMALL < self.inner.y - 6.0;
        let base = if is_high { y + SMALL + 3.0 } else { y - 5.0 };
        let ink = Ink::note(Anchor::Start);
        let room = self.inner.width - 8.0;
        let whole = format!("{name}: {source}");
        let name = match text_width(&whole, SMALL) <= room {
            true if !source.is_empty() => whole,
            _ => fitting(name, SMALL, room),
        };
        self.svg.text(left + 4.0, base, &name, ink);
        self.svg.close();
    }

    /// Limits down the frame at values of the horizontal axis, each with its name beside the line, on top of all lines.
    /// Those outside are left out: the caller says so in words. Returns how many have no room for their name.
    pub(crate) fn limits_x<L: Clone + Into<Limit>>(&self, limits: &[L]) -> usize {
        let limits: Vec<Limit> = limits.iter().cloned().map(L::into).collect();
        let inside: Vec<Limit> = (limits.into_iter())
            .filter(|limit| self.x.holds(limit.at))
            .collect();
        let named = inside.iter().map(|limit| {
            let x = self.x_px(limit.at);
            let name = match limit.name.is_empty() {
                true => String::new(),
                false => fitting(&limit.name, SMALL, limit_names::room(self.inner, x)),
            };
            let width = text_width(&name, SMALL);
            (Line { x, width }, name)
        });
        let (lines, names): (Vec<Line>, Vec<String>) = named.unzip();
        let layout = limit_names::layout(self.inner, &lines);
        self.svg.open("limit");
        for ((limit, line), pieces) in inside.iter().zip(&lines).zip(&layout.lines) {
            self.svg.of_points(&limit.point, || {
                for (from, to) in pieces {
                    let style = Series::limit().line(1.4);
                    self.screen_line((line.x, *from), (line.x, *to), style);
                }
            });
        }
        for ((limit, label), name) in inside.iter().zip(&layout.labels).zip(&names) {
            let Some(label) = label else { continue };
            let (anchor, x) = match label.is_behind {
                true => (Anchor::Start, label.left),
                false => (Anchor::End, label.right),
            };
            let ink = Ink::note(anchor);
            self.svg.of_points(&limit.point, || {
                self.svg.text(x, label.top + 12.0, name, ink);
            });
        }
        self.svg.close();
        let named = names.iter().filter(|name| !name.is_empty()).count();
        named - layout.labels.iter().flatten().count()
    }
    }

    /// Groups what is drawn until `close`, under a class by which it can be found.
    pub(crate) fn open(&self, class: &str) {
        self.svg.open(class);
    }

    /// The same for what is drawn of the points with these keys, so that a page can hide it.
    pub(crate) fn open_point(&self, class: &str, points: &str) {
        self.svg.open_point(class, points);
    }

    /// Draws what belongs to the points with these keys, separated by spaces; without a key, to none.
    pub(crate) fn of_points(&self, points: &str, draw: impl FnOnce()) {
        self.svg.of_points(points, draw);
    }

    /// Ends a group.
    pub(crate) fn close(&self) {
        self.svg.close();
    }

    fn screen_line(&self, from: (f64, f64), to: (f64, f64), style: plotters::style::ShapeStyle) {
        let at = |(x, y): (f64, f64)| (tenths(x), tenths(y));
        put(
            &self.screen,
            &PathElement::new(vec![at(from), at(to)], style),
        );
    }
}
