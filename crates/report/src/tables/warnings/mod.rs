//! What keeps figures from being trusted, with the remedy in the flags that the user is using.

mod closed_loop;
mod codes;
mod common;
mod echo;
mod exchange;
pub(super) mod few_samples;
mod stream;
mod warning;

pub(super) use codes::Code;
pub use codes::{Explained, WARNINGS};
pub(crate) use few_samples::{Missing, missing};
pub use warning::Warning;

use super::flow_rows::Row;
use super::places::Places;
use crate::load::LateStarts;
use wiregauge_run::{Loop, RunFile, Stream};

/// What was reported at the start of a run.
pub(super) fn of_start(remarks: &[String]) -> impl Iterator<Item = Warning> {
    remarks
        .iter()
        .map(|remark| Warning::new(Code::Remark, remark.clone(), ""))
}

/// The warnings that an exchange run deserves.
pub(super) fn of_exchange(
    file: &RunFile,
    late_starts: &dyn Fn(usize) -> Option<LateStarts>,
) -> Vec<Warning> {
    let places = Places::of_run(&file.plan, &file.points);
    exchange::of_run(file, late_starts, &|points| places.bracketed(points))
}

/// The warnings that a stream run deserves.
pub(super) fn of_stream(file: &RunFile<Stream>, rows: &[Row<'_>], places: &Places) -> Vec<Warning> {
    stream::of_run(file, rows, places)
}

/// The warnings that a loop run deserves.
pub(super) fn of_loop(file: &RunFile<Loop>) -> Vec<Warning> {
    let places = Places::of_loop(&file.points);
    closed_loop::of_run(file, &places)
}
