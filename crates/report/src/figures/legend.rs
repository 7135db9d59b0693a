//! The legend of a figure: rows of names, each behind a sample of what it names.

use super::look::{FONT_SIZE, LINE, Series, fill, fitting, tenths, text_width};
use super::shapes::{draw_markers, put};
use super::svg::{Anchor, Ink, Svg};
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{PathElement, Rectangle};

const ROW: f64 = 22.0;
const KEY_WIDTH: f64 = 30.0;

/// What stands before a name in a legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Key {
    /// A line with its marker.
    Points(Series),
    /// A line.
    Line(Series),
    /// A filled area; its opacity.
    Area(&'static str, f64),
    /// A marker alone.
    Mark(Series),
}

/// A name with what stands before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) name: String,
    /// Keys of the points that it stands for, separated by spaces: a page hides it with them. Empty if it stands
    /// for any.
    pub(crate) points: String,
}

impl Key {
    /// The entry of this name.
    pub(crate) fn named(self, name: impl Into<String>) -> Entry {
        Entry {
            key: self,
            name: name.into(),
            points: String::new(),
        }
    }
}

impl Entry {
    /// The same for these points alone.
    pub(crate) fn of(self, points: String) -> Entry {
        Entry { points, ..self }
    }
}

/// Entries, arranged in rows.
pub(super) struct Legend {
    rows: Vec<Vec<Entry>>,
}

impl Legend {
    /// Rows of at most this width. A single series needs no name.
    pub(super) fn new(entries: &[Entry], width: f64) -> Legend {
        if matches!(entries, [only] if only.key != Key::Line(Series::limit())) {
            return Legend { rows: Vec::new() };
        }
        let mut rows: Vec<Vec<Entry>> = Vec::new();
        let mut left = 0.0;
        for entry in entries {
            let name = fitting(&entry.name, FONT_SIZE, width - KEY_WIDTH - 20.0);
            let needed = entry_width(&name);
            let entry = Entry {
                name,
                ..entry.clone()
            };
            match rows.last_mut().filter(|_| needed - 14.0 <= left) {
                Some(row) => row.push(entry),
                None => {
                    rows.push(vec![entry]);
                    left = width;
                }
            }
            left -= needed;
        }
        Legend { rows }
    }

    /// What it takes up at the top of a sheet.
    pub(super) fn height(&self) -> f64 {
        match self.rows.len() {
            0 => 0.0,
            rows => ROW * rows as f64 + 6.0,
        }
    }

    /// Draws it, so far from the edges.
    pub(super) fn draw(&self, svg: &Svg, root: &DrawingArea<Svg, Shift>, margin: f64) {
        svg.open("legend");
        for (row, entries) in self.rows.iter().enumerate() {
            let mut x = margin;
            let y = margin + ROW * (row as f64 + 0.5);
            for entry in entries {
                svg.of_points(&entry.points, || {
                    draw_key(root, entry.key, x, y);
                    let ink = Ink::new(Anchor::Start);
                    svg.text(x + KEY_WIDTH + 6.0, y + 4.5, &entry.name, ink);
                });
                x += entry_width(&entry.name);
            }
        }
        svg.close();
    }
}

fn entry_width(name: &str) -> f64 {
    KEY_WIDTH + 6.0 + text_width(name, FONT_SIZE) + 14.0
}

fn draw_key(root: &DrawingArea<Svg, Shift>, key: Key, x: f64, y: f64) {
    let at = |x: f64, y: f64| (tenths(x), tenths(y));
    let line = |series: Series| {
        let ends = vec![at(x, y), at(x + KEY_WIDTH, y)];
        put(root, &PathElement::new(ends, series.line(LINE)));
    };
    match key {
        Key::Line(series) => line(series),
        Key::Points(series) => {
            line(series);
            draw_markers(root, &[at(x + KEY_WIDTH / 2.0, y)], series);
        }
        Key::Mark(series) => {
            draw_markers(root, &[at(x + KEY_WIDTH / 2.0 + 4.0, y)], series);
        }
        Key::Area(colour, opacity) => {
            let corners = [at(x + 7.0, y - 6.0), at(x + KEY_WIDTH, y + 6.0)];
            put(root, &Rectangle::new(corners, fill(colour, opacity)));
        }
    }
}
