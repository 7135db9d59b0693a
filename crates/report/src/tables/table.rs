//! A table of finished cells: what it shows is decided elsewhere, here it is written down.

use comfy_table::{CellAlignment, ContentArrangement};

/// The mark in a column `interval` of what has none.
pub(super) const NO_INTERVAL: &str = "~";

/// A titled table. All rows have as many cells as there are columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows, and in which unit.
    pub title: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// Cells, all right-aligned.
    pub rows: Vec<Vec<String>>,
    /// What `?` means in an interval; empty if all that it may mean is to be said.
    pub no_bound: &'static str,
    /// A line above each row, where it is another one than that of the row before; none in most tables.
    labels: Vec<String>,
    /// Lines below the table, besides what its marks mean.
    pub notes: Vec<String>,
    /// Heads of the columns whose cells are words of a user or a device.
    quoted: Vec<String>,
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Table {
        Table {
            title: title.into(),
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            rows: Vec::new(),
            no_bound: "",
            labels: Vec::new(),
            notes: Vec::new(),
            quoted: Vec::new(),
        }
    }

    /// The table with columns, named by their heads, whose cells are words of a user or a device: no output rewrites
    /// them, and no mark in them has a meaning.
    #[must_use]
    pub fn quoting(mut self, heads: &[&str]) -> Table {
        self.quoted = heads.iter().map(|&head| head.to_owned()).collect();
        self
    }

    /// The rows, with every cell written by `words`, or by `quoted` where it has the words of others.
    pub(super) fn written(
        &self,
        words: fn(&str) -> String,
        quoted: fn(&str) -> String,
    ) -> Vec<Vec<String>> {
        let write = |(head, cell): (&String, &String)| match self.quoted.contains(head) {
            true => quoted(cell),
            false => words(cell),
        };
        let rows = self.rows.iter();
        rows.map(|row| self.columns.iter().zip(row).map(write).collect())
            .collect()
    }

    /// Adds a row; it has as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "in {}", self.title);
        self.rows.push(cells);
    }

    /// The columns of a terminal that its text takes.
    pub fn width(&self) -> usize {
        let widest = |at: usize| {
            let cells = self.rows.iter().map(|row| &row[at]);
            let widths = cells
                .chain([&self.columns[at]])
                .map(|cell| cell.chars().count());
            widths.max().unwrap_or(0)
        };
        (0..self.columns.len()).map(|at| widest(at) + 2).sum()
    }

    /// The table without those of the `spare` columns, named by their heads, that do not fit into
    /// `width`; the last are the most important. A column is never left out for a less important one.
    #[must_use]
    pub fn fitting(&self, width: usize, spare: &[&str]) -> Table {
        let mut left_out: Vec<&str> = match self.width() <= width {
            true => return self.clone(),
            false => spare.to_vec(),
        };
        for head in spare.iter().rev() {
            let fewer: Vec<&str> = left_out.iter().copied().filter(|of| of != head).collect();
            if self.without(&fewer).width() <= width {
                left_out = fewer;
            }
        }
        self.without(&left_out)
    }

    /// The table without these columns, named by their heads.
    #[must_use]
    pub fn without(&self, heads: &[&str]) -> Table {
        let mut table = self.clone();
        for head in heads {
            if let Some(at) = table.columns.iter().position(|name| name == head) {
                table.columns.remove(at);
                for row in &mut table.rows {
                    row.remove(at);
                }
            }
        }
        table
    }

    /// The table without its first columns, and with these lines above its rows instead.
    #[must_use]
    pub fn labelled(&self, columns: usize, labels: &[String]) -> Table {
        let mut table = self.clone();
        table.columns.drain(..columns);
        for row in &mut table.rows {
            row.drain(..columns);
        }
        table.labels = labels.to_vec();
        table
    }

    /// The table with the verdict, its last column, beside the point, so that it is in view on any screen.
    #[must_use]
    pub fn with_last_column_second(&self) -> Table {
        let mut table = self.clone();
        for cells in table.rows.iter_mut().chain([&mut table.columns]) {
            if let Some(last) = cells.pop() {
                cells.insert(cells.len().min(1), last);
            }
        }
        table
    }

    /// What the marks in its cells mean, one line each; for below the table.
    pub fn footnotes(&self) -> Vec<&'static str> {
        let cells = || {
            let rows = self.rows.iter();
            let cells = rows.flat_map(|row| self.columns.iter().zip(row));
            cells.filter(|(head, _)| !self.quoted.contains(head))
        };
        let is_interval = |head: &str| head == "interval";
        let is_open = |cell: &str| cell.contains(".. ?") || cell.contains("? ..");
        let is_open_change = |cell: &str| cell.contains(" to ? ") || cell.starts_with("? to ");
        let is_percentile = |head: &str| head.contains("p50") || head.contains("p9");
        let is_rough = |cell: &str| cell.contains(" (") && cell.contains(" .. ");
        // `95 % CI` of a half width, `95 % from` and `to` of an interval.
        let is_bound = |head: &str| head.contains("95 %") || head == "to";
        let no_bound = match self.no_bound {
            "" => "?: too few independent samples for this bound of the 95 % interval, or drift",
            known => known,
        };
        let marks = [
            (
                cells().any(|(head, cell)| is_percentile(head) && is_rough(cell)),
                "(low .. high): 95 % confidence interval, printed if open or over 20 % away",
            ),
            (
                cells().any(|(head, cell)| {
                    let is_change = is_interval(head) && is_open_change(cell);
                    is_open(cell) || is_change || is_bound(head) && cell == "?"
                }),
                no_bound,
            ),
            (
                cells().any(|(head, cell)| is_interval(head) && cell == NO_INTERVAL),
                "~ no 95 % interval: too few independent samples, or drift",
            ),
            (
                cells().any(|(head, cell)| !is_bound(head) && cell == "?"),
                "?: unknown, because the device did not report it",
            ),
            (
                cells().any(|(_, cell)| cell == "-"),
                "-: not defined, or not measured",
            ),
        ];
        let shown = marks.into_iter().filter(|(is_shown, _)| *is_shown);
        shown.map(|(_, note)| note).collect()
    }

    /// The table as aligned lines for a terminal, without its title, and the lines below it.
    pub fn text(&self) -> String {
        let below = self.below().into_iter().map(|line| format!("  {line}\n"));
        self.rows_text() + &below.collect::<String>()
    }

    /// The lines below the table: its notes, and what its marks mean.
    pub fn below(&self) -> Vec<&str> {
        let notes = self.notes.iter().map(String::as_str);
        notes.chain(self.footnotes()).collect()
    }

    /// Heads and rows as aligned lines for a terminal.
    pub fn rows_text(&self) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(&self.columns);
        for row in &self.rows {
            table.add_row(row);
        }
        for column in table.column_iter_mut() {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_padding((0, 2));
        }
        let text = table.to_string();
        let mut lines = text.lines();
        let mut all: Vec<&str> = lines.next().into_iter().collect();
        let mut above = "";
        for (at, line) in lines.enumerate() {
            let label = self.labels.get(at).map_or("", String::as_str);
            if label != above {
                all.push(label);
                above = label;
            }
            all.push(line);
        }
        all.into_iter()
            .map(|line| format!("  {}\n", line.trim_end()))
            .collect()
    }
}
