//! A plotters backend that writes SVG in tenths of a pixel. plotters-svg rounds to whole pixels,
//! cannot dash a line and spends 100 bytes on every marker; here neighbours of one style are one
//! path. Text stays text.

use super::look::{DASH_STEP, DASHES, FONT_SIZE, INK, PAPER, SMALL, tenths};
use crate::signs::proper;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Write;
use std::rc::Rc;

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

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
    pub(crate) size: f64,
    pub(crate) colour: &'static str,
    pub(crate) bold: bool,
    /// Read from bottom to top.
    pub(crate) upright: bool,
    /// On a rim of paper, to be read across lines.
    pub(crate) rim: bool,
}

impl Ink {
    pub(crate) fn new(anchor: Anchor) -> Ink {
        Ink {
            anchor,
            size: FONT_SIZE,
            colour: INK,
            bold: false,
            upright: false,
            rim: false,
        }
    }

    /// Of a note inside a frame.
    pub(crate) fn note(anchor: Anchor) -> Ink {
        Ink {
            size: SMALL,
            rim: true,
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
    /// The points of the line that comes next.
    vertices: Option<String>,
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
        let _ = writeln!(body.text, "<g class=\"{}\">", escape(class));
    }

    /// Opens a group that belongs to the points with these keys, separated by spaces.
    pub(crate) fn open_point(&self, class: &str, points: &str) {
        let mut body = self.body.borrow_mut();
        body.end_path();
        body.text.push_str("<g");
        for (name, value) in [("class", class), ("data-point", points)] {
            if !value.is_empty() {
                let _ = write!(body.text, " {name}=\"{}\"", escape(value));
            }
        }
        body.text.push_str(">\n");
    }

    /// Draws what belongs to the points with these keys, separated by spaces; without a key, to none.
    pub(crate) fn of_points(&self, points: &str, draw: impl FnOnce()) {
        if points.is_empty() {
            return draw();
        }
        self.open_point("", points);
        draw();
        self.close();
    }

    /// The next line goes through the points with these keys, separated by spaces.
    pub(crate) fn vertices(&self, points: &str) {
        self.body.borrow_mut().vertices = Some(points.to_owned());
    }

    /// Ends the group.
    pub(crate) fn close(&self) {
        let mut body = self.body.borrow_mut();
        body.end_path();
        body.text.push_str("</g>\n");
    }

    /// Writes a text whose baseline begins, is centred or ends at a place.
    pub(crate) fn text(&self, x: f64, y: f64, text: &str, ink: Ink) {
        let mut body = self.body.borrow_mut();
        body.end_path();
        let (x, y) = (number(tenths(x)), number(tenths(y)));
        let out = &mut body.text;
        let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"{}\"", ink.colour);
        match ink.anchor {
            Anchor::Start => {}
            Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
            Anchor::End => out.push_str(" text-anchor=\"end\""),
        }
        if ink.size != FONT_SIZE {
            let _ = write!(out, " font-size=\"{}\"", number(tenths(ink.size)));
        }
        if ink.bold {
            out.push_str(" font-weight=\"bold\"");
        }
        if ink.upright {
            let _ = write!(out, " transform=\"rotate(-90 {x} {y})\"");
        }
        if ink.rim {
            let _ = write!(
                out,
                " paint-order=\"stroke\" stroke=\"{PAPER}\" stroke-width=\"4\""
            );
        }
        let _ = writeln!(out, ">{}</text>", escape(&proper(text)));
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

    fn stroke(&self, style: &impl BackendStyle, points: impl IntoIterator<Item = BackendCoord>) {
        let (dash, width) = (
            style.stroke_width() / DASH_STEP,
            style.stroke_width() % DASH_STEP,
        );
        let width = number(i32::try_from(width).expect("below DASH_STEP"));
        let mut attributes = String::from("fill=\"none\"");
        paint(&mut attributes, "stroke", style.color());
        let _ = write!(attributes, " stroke-width=\"{width}\"");
        let dash = DASHES[dash as usize % DASHES.len()];
        if !dash.is_empty() {
            let _ = write!(attributes, " stroke-dasharray=\"{dash}\"");
        }
        let mut body = self.body.borrow_mut();
        match body.vertices.take() {
            None => line(body.path(attributes), points),
            Some(keys) => {
                body.end_path();
                let _ = write!(attributes, " data-vertices=\"{}\"", escape(&keys));
                line(body.path(attributes), points);
                body.end_path();
            }
        }
    }

    fn fill(&self, style: &impl BackendStyle, shape: impl FnOnce(&mut String)) {
        let mut attributes = String::new();
        paint(&mut attributes, "fill", style.color());
        shape(
            self.body
                .borrow_mut()
                .path(attributes.trim_start().to_owned()),
        );
    }
}

/// ` fill="#RRGGBB"` or the like, with its opacity if it has one.
fn paint(attributes: &mut String, what: &str, colour: BackendColor) {
    let (r, g, b) = colour.rgb;
    let _ = write!(attributes, " {what}=\"#{r:02x}{g:02x}{b:02x}\"");
    if colour.alpha < 1.0 {
        let _ = write!(attributes, " {what}-opacity=\"{:.2}\"", colour.alpha);
    }
}

/// Tenths of a pixel in pixels.
fn number(tenths: i32) -> String {
    let mut text = String::new();
    push(&mut text, tenths);
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

/// Adds a line to a path: its first point absolute, the others relative, which is shorter.
fn line(d: &mut String, points: impl IntoIterator<Item = BackendCoord>) {
    let mut last: Option<BackendCoord> = None;
    for (x, y) in points {
        let (dx, dy) = match last {
            None => {
                d.push('M');
                (x, y)
            }
            Some(last) => {
                if !d.ends_with('l') {
                    d.push(' ');
                }
                (x - last.0, y - last.1)
            }
        };
        push(d, dx);
        if dy >= 0 {
            d.push(' ');
        }
        push(d, dy);
        if last.is_none() {
            d.push('l');
        }
        last = Some((x, y));
    }
    if d.ends_with('l') {
        d.pop();
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

impl DrawingBackend for Svg {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.width * 10, self.height * 10)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> Drawn {
        self.draw_rect(point, (point.0 + 10, point.1 + 10), &colour, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        self.stroke(style, [from, to]);
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.stroke(style, path);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        a: BackendCoord,
        b: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let corners = [a, (b.0, a.1), b, (a.0, b.1)];
        if fill {
            self.fill_polygon(corners, style)
        } else {
            self.draw_path(corners.into_iter().chain([a]), style)
        }
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.fill(style, |d| {
            line(d, path);
            d.push('z');
        });
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let radius = i32::try_from(radius).unwrap_or(i32::MAX / 4);
        if fill {
            self.fill(style, |d| {
                let (left, r, across) = (
                    number(centre.0 - radius),
                    number(radius),
                    number(2 * radius),
                );
                let y = number(centre.1);
                let _ = write!(
                    d,
                    "M{left} {y}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0 -{across} 0z"
                );
            });
            return Ok(());
        }
        // A ring is drawn as a line, so that it can have dashes and neighbours.
        let ring = (0..=16).map(|step| {
            let angle = f64::from(step) * std::f64::consts::TAU / 16.0;
            let at = |part: f64| (f64::from(radius) * part).round() as i32;
            (centre.0 + at(angle.cos()), centre.1 + at(angle.sin()))
        });
        self.draw_path(ring, style)
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, _: &S, at: BackendCoord) -> Drawn {
        let (x, y) = (f64::from(at.0) / 10.0, f64::from(at.1) / 10.0);
        self.text(x, y, text, Ink::new(Anchor::Start));
        Ok(())
    }
}
