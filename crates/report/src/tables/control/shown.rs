//! The points that the tables are about, and how their delays are shown.

use crate::load::{ControlPoint, Controls};
use crate::tables::columns::{Columns, Numbered};
use crate::tables::places::Places;
use crate::tables::table::Table;
use wiregauge_control::Assessment;
use wiregauge_quantity::TimeUnit;

/// A point with its assessment: a row of the tables.
pub(super) type Assessed<'a> = (&'a ControlPoint, &'a Assessment);

impl Numbered for Assessed<'_> {
    fn number(self) -> u32 {
        self.0.point.index
    }
}

/// What all tables have in common.
pub(super) struct Shown<'a> {
    pub(super) controls: &'a Controls,
    pub(super) places: &'a Places,
    /// Of delays.
    pub(super) unit: TimeUnit,
}

impl<'a> Shown<'a> {
    pub(super) fn new(controls: &'a Controls) -> Shown<'a> {
        let medians = controls.points.iter().filter_map(|point| {
            let assessment = point.assessment.as_ref()?;
            Some(assessment.delays.median_ns as f64)
        });
        Shown {
            controls,
            places: &controls.places,
            unit: TimeUnit::of_median(medians),
        }
    }

    /// A table with one row a point that has an assessment.
    pub(super) fn table(
        &self,
        title: impl Into<String>,
        columns: &Columns<'_, Assessed<'a>>,
    ) -> Table {
        columns.table(title, self.places, self.assessed())
    }

    pub(super) fn assessed(&self) -> impl Iterator<Item = Assessed<'a>> + use<'a> {
        let points = self.controls.points.iter();
        points.filter_map(|point| Some((point, point.assessment.as_ref()?)))
    }

    /// A time in whole nanoseconds, in the unit of the tables.
    pub(super) fn delay(&self, ns: u64) -> String {
        self.unit.show(ns as f64)
    }
}
