//! A stored run as tables, for a notebook to show.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::path::PathBuf;
use wiregauge_report::tables;
use wiregauge_run::{AnyRun, State};

/// Title, heads of the columns, rows of finished cells.
type Table = (String, Vec<String>, Vec<Vec<String>>);

/// A stored run as tables and texts.
#[pyclass(frozen, get_all, module = "wiregauge._native")]
pub struct RunTables {
    /// All of run.json.
    json: String,
    /// `running`, `complete`, `interrupted` or `failed`.
    state: &'static str,
    /// What was measured, on what.
    heading: Vec<String>,
    /// The result in a sentence, of the kinds of run that have one.
    answer: Option<String>,
    /// Every table that has rows.
    tables: Vec<Table>,
    /// Notes on the figures.
    notes: Vec<String>,
    /// Warnings about the figures, with the remedy.
    warnings: Vec<String>,
    /// How it ended, if it was not measured and stored to its end.
    ending: Option<String>,
    /// The error, if the run failed.
    failed: Option<String>,
    /// The command that repeats it.
    command: String,
    /// One row a point, or a point and way, as CSV: plain numbers in base units.
    csv: String,
}

/// Loads the run in `dir`.
#[pyfunction]
pub fn run_tables(py: Python<'_>, dir: PathBuf) -> PyResult<RunTables> {
    py.detach(|| {
        let run = AnyRun::open(&dir).map_err(|error| error.to_string())?;
        let mut json = Vec::new();
        let stored = run.stored();
        stored
            .write_json(&mut json)
            .map_err(|error| error.to_string())?;
        let said = tables::of(&run, false);
        Ok(RunTables {
            json: String::from_utf8_lossy(&json).into_owned(),
            state: match stored.state() {
                State::Running => "running",
                State::Complete => "complete",
                State::Interrupted => "interrupted",
                State::Failed { .. } => "failed",
            },
            csv: tables::csv(&run),
            heading: said
                .ending
                .iter()
                .cloned()
                .chain(said.heading)
                .chain(said.note)
                .collect(),
            answer: said.brief.map(|brief| brief.answer),
            ending: said.ending,
            tables: said
                .tables
                .into_iter()
                .map(|table| (table.title, table.columns, table.rows))
                .collect(),
            notes: said.notes,
            warnings: said.warnings.iter().map(ToString::to_string).collect(),
            failed: said.failed,
            command: said.command,
        })
    })
    .map_err(|error: String| PyOSError::new_err(error))
}
