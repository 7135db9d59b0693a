//! What every figure must be, whatever it shows: XML of a known look, every text on the sheet and
//! apart from the others, no number that is none.

use crate::Subject;
use crate::figures::Figure;
use crate::figures::look::{FONT_SIZE, GRID, INK, MUTED, PAPER, SERIES, text_width};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// What a page can hold of one figure.
const MOST_BYTES: usize = 100_000;

/// Draws, and holds against all that every figure must be; by name.
pub(super) fn sound(subjects: &[Subject]) -> BTreeMap<String, Figure> {
    let mut figures = BTreeMap::new();
    for figure in crate::figures::of(subjects) {
        assert_sound(&figure);
        figures.insert(figure.name.clone(), figure);
    }
    figures
}

pub(super) fn assert_sound(figure: &Figure) {
    let name = &figure.name;
    let document = Document::parse(&figure.svg)
        .unwrap_or_else(|error| panic!("{name} is no XML: {error}\n{}", figure.svg));
    assert!(
        figure.svg.len() < MOST_BYTES,
        "{name}: {}",
        figure.svg.len()
    );
    assert!(
        !figure.title.is_empty() && !figure.caption.is_empty(),
        "{name}"
    );
    assert!(figure.caption.len() < 2000, "{name}: {}", figure.caption);
    let root = document.root_element();
    let side = |name: &str| root.attribute(name).and_then(|v| v.parse::<f64>().ok());
    let (width, height) = (
        side("width").expect("width"),
        side("height").expect("height"),
    );

    for node in document.descendants().filter(Node::is_element) {
        for what in ["fill", "stroke"] {
            let colour = node.attribute(what).unwrap_or("none");
            let known = [PAPER, INK, MUTED, GRID, "none"].contains(&colour);
            assert!(
                known || SERIES.contains(&colour),
                "{name} has {what} {colour}"
            );
        }
        if let Some(d) = node.attribute("d") {
            let drawn = d
                .chars()
                .all(|c| c.is_ascii_digit() || " .-Mlaz".contains(c));
            assert!(drawn && !d.is_empty(), "{name} draws {d}");
        }
    }
    let boxes: Vec<(Box2, &str)> = document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .map(|node| (text_box(node), node.text().unwrap_or("")))
        .collect();
    for (at, text) in &boxes {
        assert!(
            !text.contains("NaN") && !text.contains("inf "),
            "{name}: {text}"
        );
        let inside = at.x.0 >= -1.0 && at.x.1 <= width + 1.0 && at.y.0 >= -1.0 && at.y.1 <= height;
        assert!(
            inside,
            "{name}: \"{text}\" at {at:?} is not on {width} x {height}"
        );
    }
    for (n, (a, one)) in boxes.iter().enumerate() {
        for (b, other) in &boxes[n + 1..] {
            assert!(
                !a.meets(b),
                "{name}: \"{one}\" {a:?} and \"{other}\" {b:?} overlap"
            );
        }
    }
}

/// A rectangle on the sheet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Box2 {
    x: (f64, f64),
    y: (f64, f64),
}

impl Box2 {
    fn meets(&self, other: &Box2) -> bool {
        let apart = |a: (f64, f64), b: (f64, f64)| a.1 <= b.0 + 1.0 || b.1 <= a.0 + 1.0;
        !apart(self.x, other.x) && !apart(self.y, other.y)
    }
}

/// The letters of a text, as wide as they are guessed to be.
pub(super) fn text_box(node: Node<'_, '_>) -> Box2 {
    let number = |name: &str| node.attribute(name).and_then(|v| v.parse::<f64>().ok());
    let (x, y) = (number("x").expect("x"), number("y").expect("y"));
    let size = number("font-size").unwrap_or(FONT_SIZE);
    let long = text_width(node.text().unwrap_or(""), size);
    let before = match node.attribute("text-anchor") {
        Some("middle") => long / 2.0,
        Some("end") => long,
        _ => 0.0,
    };
    if node.attribute("transform").is_some() {
        // Read from bottom to top.
        return Box2 {
            x: (x - size * 0.75, x + size * 0.2),
            y: (y - long + before, y + before),
        };
    }
    Box2 {
        x: (x - before, x - before + long),
        y: (y - size * 0.75, y + size * 0.2),
    }
}

/// How many shapes are drawn in groups of a class: one number for each group.
pub(super) fn shapes(figure: &Figure, class: &str) -> Vec<usize> {
    let document = Document::parse(&figure.svg).expect("figures are XML");
    let groups = document
        .descendants()
        .filter(|n| n.attribute("class") == Some(class));
    groups
        .map(|group| {
            let paths = group.descendants().filter(|node| {
                // The inner part of a hollow marker is no shape of its own.
                node.attribute("fill") != Some(PAPER)
            });
            let drawn = paths.filter_map(|node| node.attribute("d"));
            drawn.map(|d| d.matches('M').count()).sum()
        })
        .collect()
}

pub(super) fn texts(figure: &Figure) -> Vec<String> {
    let document = Document::parse(&figure.svg).expect("figures are XML");
    let nodes = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    nodes
        .map(|node| node.text().unwrap_or("").to_owned())
        .collect()
}
