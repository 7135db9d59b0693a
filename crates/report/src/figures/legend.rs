//! The legend of a figure: rows of names, each behind a sample of what it names.

use super::look::{FONT_SIZE, LINE, Series, fitting, text_width};
use super::svg::{Anchor, Ink, Svg};

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
}

impl Key {
    /// The entry of this name.
    pub(crate) fn named(self, name: impl Into<String>) -> Entry {
        Entry {
            key: self,
            name: name.into(),
        }
    }
}

/// Entries, arranged in rows.
pub(super) struct Legend {
    rows: Vec<Vec<Entry>>,
}

impl Legend {
    /// Rows of at most this width. A single series needs no name.
    pub(super) fn new(entries: &[Entry], width: f64) -> Legend {
        let entries: &[Entry] = if entries.len() == 1 { &[] } else { entries };
        let mut rows: Vec<Vec<Entry>> = Vec::new();
        let mut left = 0.0;
        for entry in entries {
            let name = fitting(&entry.name, FONT_SIZE, width - KEY_WIDTH - 20.0);
            let needed = entry_width(&name);
            let entry = entry.key.named(name);
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
    pub(super) fn draw(&self, svg: &Svg, margin: f64) {
        svg.open("legend");
        for (row, entries) in self.rows.iter().enumerate() {
            let mut x = margin;
            let y = margin + ROW * (row as f64 + 0.5);
            for entry in entries {
                draw_key(svg, entry.key, x, y);
                let ink = Ink::new(Anchor::Start);
                svg.text(x + KEY_WIDTH + 6.0, y + 4.5, &entry.name, ink);
                x += entry_width(&entry.name);
            }
        }
        svg.close();
    }
}

fn entry_width(name: &str) -> f64 {
    KEY_WIDTH + 6.0 + text_width(name, FONT_SIZE) + 14.0
}

fn draw_key(svg: &Svg, key: Key, x: f64, y: f64) {
    let (middle, end) = (x + KEY_WIDTH / 2.0, x + KEY_WIDTH);
    if let Key::Line(series) | Key::Points(series) = key {
        svg.line(&[(x, y), (end, y)], series.line(LINE));
    }
    match key {
        Key::Line(_) => {}
        Key::Points(series) | Key::Mark(series) => svg.markers(&[(middle, y)], series),
        Key::Area(colour, opacity) => {
            svg.rectangle((x + 7.0, y - 6.0), (end, y + 6.0), (colour, opacity));
        }
    }
}
