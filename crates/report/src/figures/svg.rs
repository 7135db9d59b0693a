//! SVG in tenths of a pixel; neighbours of one look are one path. Text stays text.

use super::look::{DASHES, FONT_SIZE, Fill, INK, MARKER, PAPER, SMALL, Series, Stroke, corners};
use crate::signs::proper;
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

/// A place on the sheet, in pixels.
pub(crate) type Px = (f64, f64);

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ink {
    pub(crate) anchor: Anchor,
    pub(crate) colour: &'static str,
    pub(crate) bold: bool,
    /// Read from bottom to top.
    pub(crate) upright: bool,
    /// Small, on a rim of paper, to be read across lines.
    pub(crate) note: bool,
}

impl Ink {
    pub(crate) fn new(anchor: Anchor) -> Ink {
        Ink {
            anchor,
            colour: INK,
            bold: false,
            upright: false,
            note: false,
        }
    }

    /// Of a note inside a frame.
    pub(crate) fn note(anchor: Anchor) -> Ink {
        Ink {
            note: true,
            ..Ink::new(anchor)
        }
    }
}

/// An SVG in the making; clones write to the same.
#[derive(Clone, Debug)]
pub(crate) struct Svg {
    width: u32,
    height: u32,
    body: Rc<RefCell<Body>>,
}

#[derive(Debug, Default)]
struct Body {
    text: String,
    /// The path that still grows: its attributes and its `d`.
    path: Option<(String, String)>,
}

impl Body {
    fn end_path(&mut self) {
        if let Some((attributes, d)) = self.path.take() {
            let _ = writeln!(self.text, "<path {attributes} d=\"{d}\"/>");
        }
    }

    /// The `d` of a path with these attributes: the last one, if it has the same.
    fn path(&mut self, attributes: String) -> &mut String {
        if self
            .path
            .as_ref()
            .is_some_and(|(same, _)| *same != attributes)
        {
            self.end_path();
        }
        &mut self.path.get_or_insert((attributes, String::new())).1
    }
}

impl Svg {
    /// An empty sheet of this size in pixels.
    pub(crate) fn new(width: u32, height: u32) -> Svg {
        Svg {
            width,
            height,
            body: Rc::default(),
        }
    }

    /// Opens a group; what is in it can be found by its class.
    pub(crate) fn open(&self, class: &str) {
        let mut body = self.body.borrow_mut();
        body.end_path();
        let _ = writeln!(body.text, "<g class=\"{class}\">");
    }

    /// Ends the group.
    pub(crate) fn close(&self) {
        let mut body = self.body.borrow_mut();
        body.end_path();
        body.text.push_str("</g>\n");
    }

    /// Writes a text whose baseline begins, is centred or ends at a place; nothing if it is empty.
    pub(crate) fn text(&self, x: f64, y: f64, text: &str, ink: Ink) {
        if text.is_empty() {
            return;
        }
        let mut body = self.body.borrow_mut();
        body.end_path();
        let (x, y) = (number(x), number(y));
        let out = &mut body.text;
        let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"{}\"", ink.colour);
        let anchor = match ink.anchor {
            Anchor::Start => "",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        attribute(out, "text-anchor", anchor);
        attribute(out, "font-weight", if ink.bold { "bold" } else { "" });
        if ink.upright {
            attribute(out, "transform", &format!("rotate(-90 {x} {y})"));
        }
        if ink.note {
            attribute(out, "font-size", &number(SMALL));
            attribute(out, "paint-order", "stroke");
            attribute(out, "stroke", PAPER);
            attribute(out, "stroke-width", "4");
        }
        let _ = writeln!(out, ">{}</text>", escape(&proper(text)));
    }

    /// A line through places.
    pub(crate) fn line(&self, places: &[Px], (colour, width, dash): Stroke<'_>) {
        let width = number(width);
        let mut look = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"");
        attribute(&mut look, "stroke-dasharray", DASHES[dash % DASHES.len()]);
        trace(self.body.borrow_mut().path(look), places);
    }

    /// A filled area with these corners.
    pub(crate) fn polygon(&self, places: &[Px], fill: Fill<'_>) {
        self.fill(fill, |d| {
            trace(d, places);
            d.push('z');
        });
    }

    /// A filled rectangle between two corners.
    pub(crate) fn rectangle(&self, a: Px, b: Px, fill: Fill<'_>) {
        self.polygon(&[a, (b.0, a.1), b, (a.0, b.1)], fill);
    }

    /// A filled circle.
    pub(crate) fn circle(&self, (x, y): Px, radius: f64, fill: Fill<'_>) {
        let (left, y) = (number(x - radius), number(y));
        let (r, across) = (number(radius), number(2.0 * radius));
        self.fill(fill, |d| {
            let _ = write!(
                d,
                "M{left} {y}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0 -{across} 0z"
            );
        });
    }

    /// The markers of a series.
    pub(crate) fn markers(&self, places: &[Px], series: Series) {
        let shapes = |colour: &str, radius: f64| {
            for (x, y) in places {
                let corner = |(dx, dy): &(f64, f64)| (x + radius * dx, y + radius * dy);
                let shape: Vec<Px> = corners(series.marker).iter().map(corner).collect();
                if shape.is_empty() {
                    self.circle((*x, *y), radius, (colour, 1.0));
                } else {
                    self.polygon(&shape, (colour, 1.0));
                }
            }
        };
        shapes(series.colour, MARKER);
        if series.hollow {
            shapes(PAPER, MARKER * 0.55);
        }
    }

    fn fill(&self, (colour, opacity): Fill<'_>, shape: impl FnOnce(&mut String)) {
        let mut look = format!("fill=\"{colour}\"");
        if opacity < 1.0 {
            attribute(&mut look, "fill-opacity", &format!("{opacity:.2}"));
        }
        shape(self.body.borrow_mut().path(look));
    }

    /// The whole document.
    pub(crate) fn finish(self, title: &str, description: &str) -> String {
        let (width, height) = (self.width, self.height);
        let mut body = self.body.borrow_mut();
        body.end_path();
        let (title, description) = (escape(&proper(title)), escape(&proper(description)));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\" \
             font-family=\"sans-serif\" font-size=\"{FONT_SIZE}\" stroke-linejoin=\"round\">\n\
             <title>{title}</title>\n<desc>{description}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{PAPER}\"/>\n{}</svg>\n",
            body.text
        )
    }
}

/// ` name="value"`; nothing if the value is empty.
fn attribute(out: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        let _ = write!(out, " {name}=\"{}\"", escape(value));
    }
}

/// Tenths of a pixel.
fn tenths(px: f64) -> i32 {
    // What is not finite or lies far outside is no place on paper.
    (px.clamp(-1e5, 1e5) * 10.0).round() as i32
}

/// Pixels with one decimal, if it is not 0.
fn number(px: f64) -> String {
    let mut text = String::new();
    push(&mut text, tenths(px));
    text
}

fn push(text: &mut String, tenths: i32) {
    let (whole, part) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
    let sign = if tenths < 0 { "-" } else { "" };
    let _ = match part {
        0 => write!(text, "{sign}{whole}"),
        _ if whole == 0 => write!(text, "{sign}.{part}"),
        _ => write!(text, "{sign}{whole}.{part}"),
    };
}

/// Adds a line to a path: its first place absolute, the others relative, which is shorter.
fn trace(d: &mut String, places: &[Px]) {
    let (mut last_x, mut last_y) = (0, 0);
    for (at, (x, y)) in places.iter().enumerate() {
        let (x, y) = (tenths(*x), tenths(*y));
        d.push(match at {
            0 => 'M',
            1 => 'l',
            _ => ' ',
        });
        push(d, x - last_x);
        if y >= last_y {
            d.push(' ');
        }
        push(d, y - last_y);
        (last_x, last_y) = (x, y);
    }
}

/// Text for XML 1.0, which has no way to write most control characters.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
