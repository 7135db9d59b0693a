//! A finished figure.

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
