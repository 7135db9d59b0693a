//! Text of a figure as outlines, for pictures of pixels: what lays out text in any script takes longer to compile than
//! everything else that draws.

use roxmltree::{Document, Node};
use std::fmt::Write;
use std::sync::OnceLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The same SVG with paths in place of its texts.
pub(super) fn outlined(svg: &str) -> Result<String, roxmltree::Error> {
    let document = Document::parse(svg)?;
    let mut out = String::with_capacity(2 * svg.len());
    let mut copied = 0;
    for text in document.descendants().filter(|n| n.has_tag_name("text")) {
        let range = text.range();
        out.push_str(&svg[copied..range.start]);
        draw(text, &mut out);
        copied = range.end;
    }
    out.push_str(&svg[copied..]);
    Ok(out)
}

/// Writes the path of a text.
fn draw(text: Node<'_, '_>, out: &mut String) {
    let own = |name| text.attribute(name);
    let inherited = |name| text.ancestors().find_map(|node| node.attribute(name));
    let number =
        |value: Option<&str>, otherwise| value.and_then(|v| v.parse().ok()).unwrap_or(otherwise);
    let size: f64 = number(inherited("font-size"), 12.0);
    let (x, y): (f64, f64) = (number(own("x"), 0.0), number(own("y"), 0.0));
    let line = Line::of(text.text().unwrap_or_default());
    let scale = size / EM;
    let x = match own("text-anchor") {
        Some("middle") => x - line.width * scale / 2.0,
        Some("end") => x - line.width * scale,
        _ => x,
    };
    let turned = own("transform").unwrap_or_default();
    let _ = write!(
        out,
        "<path transform=\"{turned} translate({x:.3} {y:.3}) scale({scale:.6} {:.6})\"",
        -scale
    );
    for name in ["fill", "stroke", "paint-order"] {
        if let Some(value) = own(name) {
            let _ = write!(out, " {name}=\"{value}\"");
        }
    }
    if let Some(width) = own("stroke-width") {
        let _ = write!(
            out,
            " stroke-width=\"{:.3}\"",
            number(Some(width), 1.0) / scale
        );
    }
    let _ = write!(out, " d=\"{}\"/>", line.d);
}

/// Units of an outline to the size of a font, whatever the font's own are.
const EM: f64 = 1000.0;

/// A line of text from 0 to the right, upwards.
#[derive(Default)]
struct Line {
    d: String,
    width: f64,
    /// From the font's units to those of the line.
    unit: f64,
}

impl Line {
    fn of(text: &str) -> Line {
        let mut line = Line::default();
        for c in text.chars() {
            let (face, glyph) = glyph_of(c);
            line.unit = EM / f64::from(face.units_per_em());
            // A space has none.
            let _ = face.outline_glyph(glyph, &mut line);
            line.width += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * line.unit;
        }
        line
    }

    fn push(&mut self, command: char, points: &[(f32, f32)]) {
        self.d.push(command);
        for (x, y) in points {
            let (x, y) = (
                f64::from(*x) * self.unit + self.width,
                f64::from(*y) * self.unit,
            );
            let _ = write!(self.d, "{x:.1} {y:.1} ");
        }
    }
}

impl OutlineBuilder for Line {
    fn move_to(&mut self, x: f32, y: f32) {
        self.push('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.push('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.push('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.push('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.d.push('Z');
    }
}

/// The glyph of a character in the first font that has it; else the one that says that it is missing.
fn glyph_of(c: char) -> (&'static Face<'static>, GlyphId) {
    let faces = faces();
    faces
        .iter()
        .find_map(|face| Some((face, face.glyph_index(c)?)))
        .unwrap_or((&faces[0], GlyphId(0)))
}

/// The second one has characters that the first one lacks.
fn faces() -> &'static [Face<'static>; 2] {
    static FACES: OnceLock<[Face<'static>; 2]> = OnceLock::new();
    FACES.get_or_init(|| {
        [
            epaint_default_fonts::UBUNTU_LIGHT,
            epaint_default_fonts::HACK_REGULAR,
        ]
        .map(|data| Face::parse(data, 0).expect("an embedded font is valid"))
    })
}
