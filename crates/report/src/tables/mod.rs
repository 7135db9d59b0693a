//! A run in words and tables: the same on a terminal, in a paper and on the page.

mod arrival;
mod brief;
mod can;
mod closed_loop;
mod columns;
mod comparison;
mod conditions;
mod control;
mod control_run;
pub(crate) mod csv;
mod deadline;
mod exchange;
mod flow_rows;
mod heading;
mod hosts;
mod html;
mod isochronous;
mod latex;
mod limit_share;
mod markdown;
mod no_tail;
mod percentile;
mod places;
mod point_columns;
mod recording;
mod sentence;
mod stages;
mod stream;
mod table;
mod taken;
#[cfg(test)]
mod tests;
mod tuned;
mod warnings;
mod words;

pub use crate::reported::{csv, of, of_kind};
pub use brief::Brief;
pub use columns::Columns;
pub use comparison::{ComparisonTables, of_comparison};
pub use control::{LoopVerdicts, loop_figure, of_controls};
pub use deadline::{missed_share, of_deadlines};
pub(crate) use flow_rows::flow_number;
pub(crate) use no_tail::{Extent, no_tail};
pub use places::Places;
pub(crate) use sentence::sentence;
pub use table::Table;
pub use tuned::of_tuned;
pub use warnings::{Explained, WARNINGS, Warning, no_bound};
pub use words::{FLOORS, FLOORS_ARE, Tables};

use crate::load::{LateStarts, late_responses, late_starts};
use wiregauge_command_line::quoted;
use wiregauge_record::Conditions;
use wiregauge_run::{Control, Exchange, Files, Loop, Run, RunFile, State, Stored, Stream};

/// A run as Markdown, to be pasted into an issue.
pub fn markdown(run: &dyn Stored, tables: &Tables) -> String {
    markdown::document(run, tables)
}

/// A run as LaTeX tables, to be taken into a paper; needs booktabs.
pub fn latex(run: &dyn Stored, tables: &Tables) -> String {
    latex::document(run, tables)
}

/// Tells of an exchange run.
pub(crate) fn of_exchange_run(run: &Run<Exchange>, confidence: bool) -> Tables {
    let late_starts = |at: usize| late_starts(run, at).ok();
    let late_responses = |at: usize| late_responses(run, at).ok();
    exchange_with(&run.file, confidence, &late_starts, &late_responses)
}

/// Tells of an exchange run, without what only its samples show.
pub fn of_exchange(file: &RunFile, confidence: bool) -> Tables {
    exchange_with(file, confidence, &|_| None, &|_| None)
}

/// With the late starts and the part of late responses of the point at a place of `file.points`, where its samples can be
/// read.
fn exchange_with(
    file: &RunFile,
    confidence: bool,
    late_starts: &dyn Fn(usize) -> Option<LateStarts>,
    late_responses: &dyn Fn(usize) -> Option<f64>,
) -> Tables {
    Tables {
        heading: heading::of_exchange(file),
        brief: Some(brief::of_exchange(file, confidence, late_responses)),
        tables: exchange::tables(file, confidence)
            .into_iter()
            .chain(can::can(
                &file.points,
                &Places::of_run(&file.plan, &file.points),
            ))
            .collect(),
        floors: heading::floors(&file.conditions),
        warnings: warnings::of_start(&file.warnings)
            .chain(warnings::of_exchange(file, late_starts))
            .collect(),
        ..common(file)
    }
}

/// Tells of a stream run.
pub fn of_stream(file: &RunFile<Stream>) -> Tables {
    let rows = flow_rows::rows(&file.points);
    let places = &Places::of_flows(&file.plan, &rows);
    Tables {
        heading: heading::of_stream(file, places),
        set_off: file.plan.links().map(str::to_owned).collect(),
        brief: Some(brief::of_stream(&file.plan, &rows, places)),
        tables: stream::tables(&rows, places)
            .into_iter()
            .chain(isochronous::table(&rows, places))
            .collect(),
        notes: stream::both_ends(file, &rows).into_iter().collect(),
        warnings: warnings::of_start(&file.warnings)
            .chain(warnings::of_stream(file, &rows, places))
            .collect(),
        ..common(file)
    }
}

/// Names the flows of a stream run by their numbers.
pub(crate) fn flow_places(file: &RunFile<Stream>) -> Places {
    Places::of_flows(&file.plan, &flow_rows::rows(&file.points))
}

/// Tells of a loop run.
pub(crate) fn of_loop(file: &RunFile<Loop>) -> Tables {
    Tables {
        heading: heading::of_loop(file),
        brief: Some(brief::of_loop(&file.points)),
        tables: closed_loop::tables(&file.points),
        notes: closed_loop::notes(&file.points),
        warnings: warnings::of_start(&file.warnings)
            .chain(warnings::of_loop(file))
            .collect(),
        ..common(file)
    }
}

/// Tells of a run of a control loop.
pub(crate) fn of_control(file: &RunFile<Control>) -> Tables {
    Tables {
        heading: control_run::heading(file),
        brief: Some(control_run::brief(&file.points)),
        tables: file.points.iter().flat_map(control_run::tables).collect(),
        notes: file.points.iter().flat_map(control_run::notes).collect(),
        warnings: warnings::of_start(&file.warnings).collect(),
        ..common(file)
    }
}

/// The command that a run was measured with, ready for a shell.
pub fn command(conditions: &Conditions) -> String {
    quoted(&conditions.command)
}

/// What is so in every kind of run.
pub fn common<K: Files>(file: &RunFile<K>) -> Tables {
    Tables {
        note: heading::note(&file.conditions),
        set_off: vec![K::address(&file.plan).to_owned()],
        failed: failure(&file.state),
        conditions: conditions::of(file),
        command: command(&file.conditions),
        ..Tables::default()
    }
}

fn failure(state: &State) -> Option<String> {
    match state {
        State::Failed { error } => Some(error.clone()),
        State::Running | State::Complete | State::Interrupted => None,
    }
}
