//! Figures of a run or of several, as SVG: one file a figure, one look for all.

mod axes;
mod canvas;
pub(crate) mod look;
mod png;
mod svg;

use crate::Subject;

/// A finished figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The stem of its file name, such as `rtt-histogram`.
    pub name: String,
    /// What it shows, for people.
    pub title: String,
    /// How to read it, what was left out of the drawing, where a limit comes from.
    pub caption: String,
    /// A whole SVG document.
    pub svg: String,
}

/// All figures that there are of these runs, in the order in which a reader wants them.
pub fn of(subjects: &[Subject]) -> Vec<Figure> {
    let _ = subjects;
    let drawn: Vec<Vec<Figure>> = vec![];
    drawn.into_iter().flatten().collect()
}
