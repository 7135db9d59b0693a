//! A table of finished cells: what it shows is decided elsewhere, here it is written down.

/// A titled table. All rows have as many cells as there are columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows, and in which unit.
    pub title: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// Cells, all right-aligned.
    pub rows: Vec<Vec<String>>,
}
