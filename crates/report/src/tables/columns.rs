//! Tables with a row for each point: a column is declared once, with its head and its cells.

use super::flow_rows;
use super::percentile::{around, bounded};
use super::places::Places;
use super::table::Table;
use wiregauge_quantity::TimeUnit;
use wiregauge_record::{LoopSummary, PointSummary};
use wiregauge_stats::Distribution;

type Cell<'a, Row> = Box<dyn Fn(Row) -> Option<String> + 'a>;

/// The columns of a table: each has a head, and makes a cell of a row.
pub struct Columns<'a, Row>(pub(super) Vec<(String, Cell<'a, Row>)>);

/// The head of a column, and how a cell of it shows times.
pub(super) type Statistic = (&'static str, fn(TimeUnit, &Distribution) -> String);

pub(super) const MIN: Statistic = ("min", |unit, times| unit.show(times.min));
pub(super) const MEAN: Statistic = ("mean", |unit, times| unit.show(times.mean.value));
/// Half the width of the interval of the mean.
pub(super) const CI: Statistic = ("95 % CI", |unit, times| {
    around(|ns| unit.show(ns), &times.mean)
});
pub(super) const SD: Statistic = ("SD", |unit, times| unit.show(times.sd));
pub(super) const MEAN_PLUS_SD: Statistic = ("mean+SD", |unit, times| unit.show(times.mean_plus_sd));
pub(super) const P50: Statistic = ("p50", |unit, times| bounded(unit, &times.p50));
pub(super) const P90: Statistic = ("p90", |unit, times| bounded(unit, &times.p90));
pub(super) const P99: Statistic = ("p99", |unit, times| bounded(unit, &times.p99));
pub(super) const P999: Statistic = ("p99.9", |unit, times| bounded(unit, &times.p999));
pub(super) const MAX3: Statistic = ("max3", |unit, times| unit.show(times.max3));
pub(super) const MAX: Statistic = ("max", |unit, times| unit.show(times.max));

/// The statistic under another head.
pub(super) const fn under(head: &'static str, statistic: Statistic) -> Statistic {
    (head, statistic.1)
}

impl<'a, Row: Copy + 'a> Columns<'a, Row> {
    /// A table without columns.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Columns<'a, Row> {
        Columns(Vec::new())
    }

    /// Adds a column: its head, and the cell of a row.
    pub fn add<T: ToString>(&mut self, head: impl Into<String>, of: impl Fn(Row) -> T + 'a) {
        self.some(head, move |row| Some(of(row)));
    }

    /// Adds a column of values that may be missing.
    pub fn some<T: ToString>(
        &mut self,
        head: impl Into<String>,
        of: impl Fn(Row) -> Option<T> + 'a,
    ) {
        let cell = move |row| of(row).map(|value| value.to_string());
        self.0.push((head.into(), Box::new(cell)));
    }

    /// Times in this unit.
    pub(super) fn statistics(
        &mut self,
        unit: TimeUnit,
        of: fn(Row) -> Option<&'a Distribution>,
        statistics: &[Statistic],
    ) {
        for &(head, shown) in statistics {
            self.some(head, move |row| Some(shown(unit, of(row)?)));
        }
    }

    /// The table of these rows; a dash where a value is missing.
    pub fn of_rows(&self, title: impl Into<String>, rows: impl IntoIterator<Item = Row>) -> Table {
        self.behind(title, &[], rows.into_iter().map(|row| (Vec::new(), row)))
    }

    /// The table of these rows, behind the settings that vary.
    pub(super) fn table(
        &self,
        title: impl Into<String>,
        places: &Places,
        rows: impl IntoIterator<Item = Row>,
    ) -> Table
    where
        Row: Numbered,
    {
        let rows = rows.into_iter();
        let rows = rows.map(|row| (places.cells(row.number()), row));
        self.behind(title, &places.heads(), rows)
    }

    /// Behind columns of these heads, whose cells come with the rows.
    fn behind(
        &self,
        title: impl Into<String>,
        first: &[&str],
        rows: impl Iterator<Item = (Vec<String>, Row)>,
    ) -> Table {
        let own = self.0.iter().map(|(head, _)| head.as_str());
        let heads: Vec<&str> = first.iter().copied().chain(own).collect();
        let mut table = Table::new(title, &heads);
        for (mut cells, row) in rows {
            let own = self.0.iter().map(|(_, cell)| cell(row));
            cells.extend(own.map(|cell| cell.unwrap_or_else(|| "-".to_owned())));
            table.row(cells);
        }
        table
    }
}

/// A row about a point.
pub(super) trait Numbered: Copy {
    /// The number by which [`Places`] knows the point.
    fn number(self) -> u32;
}

impl Numbered for &PointSummary {
    fn number(self) -> u32 {
        self.point.index
    }
}

/// A part of a point.
impl<P: Numbered, T: Copy> Numbered for (P, T) {
    fn number(self) -> u32 {
        self.0.number()
    }
}

impl Numbered for flow_rows::Row<'_> {
    fn number(self) -> u32 {
        flow_rows::number(&self)
    }
}

impl Numbered for &LoopSummary {
    fn number(self) -> u32 {
        self.point.index
    }
}
