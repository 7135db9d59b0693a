//! What tells one kind of run from another: the nouns that it is made of and the columns of its
//! rows. All else in this crate is the same for every kind. A new kind is one file beside
//! `exchange.rs` and `stream.rs`, and its name in the lists in `kinds.rs`; `report/tests/made_up_kind.rs` has one.

use crate::columns::{Column, PointColumn};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{Debug, Display};
use std::io;
use wiregauge_record::{Conditions, Disturbance};

/// A kind of run.
pub trait RunKind: Copy + Debug + PartialEq + Send + 'static {
    /// The word in `run.json`.
    const NAME: &'static str;
    /// What was measured, in words that begin a title: "Closed loop".
    const TITLE: &'static str;
    /// What its rows are, in the plural: "exchanges".
    const ROWS: &'static str;

    /// What is to be measured.
    type Plan: Clone + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned;
    /// One cell of it.
    type Point: Copy + Debug + Display + PartialEq + Send + Serialize + DeserializeOwned;
    /// What the rows of a point amount to.
    type Summary: Clone + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned;
    /// One row of a sample file: a plain record of integers.
    type Row: Copy + Debug + Default + PartialEq + Send;

    /// The columns of a sample file, in order.
    #[doc(hidden)]
    const COLUMNS: &'static [Column<Self::Row>];
    /// How many of the last columns only some runs have.
    #[doc(hidden)]
    const OPTIONAL: usize = 0;
    /// Columns that an export of all points puts in front, to tell the points apart.
    #[doc(hidden)]
    const POINT_COLUMNS: &'static [PointColumn<Self::Point>];
    /// The header of a CSV file, without the bytes of the answers.
    #[doc(hidden)]
    const CSV: &'static str;

    /// The address of the (first) link.
    fn address(plan: &Self::Plan) -> &str;

    /// How many links there are besides the first one.
    fn more_links(_plan: &Self::Plan) -> usize {
        0
    }

    /// True where the bytes of the answers are kept with the rows.
    fn keeps_data(_plan: &Self::Plan) -> bool {
        false
    }

    /// True where the rows have the optional columns.
    #[doc(hidden)]
    fn has_optional(_plan: &Self::Plan) -> bool {
        false
    }

    /// The point that a summary is of.
    fn point(summary: &Self::Summary) -> Self::Point;

    /// The position of a point in its run, from 0.
    fn index(point: &Self::Point) -> u32;

    /// The settings of a point with their values, by the names that JSON and `--points` have for them.
    fn settings(point: &Self::Point) -> Vec<(&'static str, String)>;

    /// How many rows of the point entered its statistics.
    fn measured(summary: &Self::Summary) -> u64;

    /// True of a point of which nothing was measured.
    fn is_empty(summary: &Self::Summary) -> bool {
        Self::measured(summary) == 0
    }

    /// What disturbed a point, in a kind of run that is watched.
    fn disturbances(_summary: &Self::Summary) -> &[Disturbance] {
        &[]
    }

    /// True of a point that was measured to its end.
    fn is_complete(summary: &Self::Summary) -> bool;

    /// How many points are to be measured.
    fn planned(plan: &Self::Plan) -> usize;

    /// Leaves only some of these in the plan; a plan of one point keeps it.
    fn retain_points(_plan: &mut Self::Plan, _is_kept: &dyn Fn(&Self::Point) -> bool) {}

    /// True of a point that is one of these.
    fn is_planned(_plan: &Self::Plan, _summary: &Self::Summary) -> bool {
        true
    }

    /// What computes the summary of a point from its rows alone. What rows do not contain is absent in it.
    #[doc(hidden)]
    fn summariser(
        plan: &Self::Plan,
        conditions: &Conditions,
        point: Self::Point,
    ) -> Box<dyn FromRows<Self>>;

    /// Writes a row under `CSV`, without the end of the line.
    #[doc(hidden)]
    fn csv_row(text: &mut Vec<u8>, point: &Self::Point, row: &Self::Row) -> io::Result<()>;
}

/// The value of a setting that is so or is not.
pub(crate) fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

/// Computes the summary of a point that was cut short.
#[doc(hidden)]
pub trait FromRows<K: RunKind> {
    /// Takes the next row.
    fn push(&mut self, row: &K::Row);
    /// The summary of these rows.
    fn finish(self: Box<Self>) -> K::Summary;
}
