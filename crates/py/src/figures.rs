//! The figures of the report, for a notebook to show.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use wiregauge_record::Figure as Named;
use wiregauge_report::{Subject, figures as drawn, labels, tables};
use wiregauge_run::{AnyRun, RunError};

/// A finished figure.
#[pyclass(frozen, module = "wiregauge._native")]
pub struct Figure {
    figure: drawn::Figure,
}

#[pymethods]
impl Figure {
    /// The stem of its file name, such as `rtt-histogram`.
    #[getter]
    fn name(&self) -> &str {
        &self.figure.name
    }

    /// What it shows.
    #[getter]
    fn title(&self) -> &str {
        &self.figure.title
    }

    /// How to read it.
    #[getter]
    fn caption(&self) -> &str {
        &self.figure.caption
    }

    /// A whole SVG document.
    #[getter]
    fn svg(&self) -> &str {
        &self.figure.svg
    }

    /// The same as pixels, `scale` of them for each of the SVG.
    fn png<'py>(&self, py: Python<'py>, scale: f32) -> PyResult<Bound<'py, PyBytes>> {
        if !(0.1..=10.0).contains(&scale) {
            return Err(PyValueError::new_err(format!(
                "scale must be 0.1 to 10, not {scale}"
            )));
        }
        let png = py
            .detach(|| self.figure.png(scale))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &png))
    }
}

fn open(dirs: &[PathBuf]) -> Result<Vec<AnyRun>, RunError> {
    dirs.iter().map(|dir| AnyRun::open(dir)).collect()
}

fn finished(figures: Vec<drawn::Figure>) -> Vec<Figure> {
    figures
        .into_iter()
        .map(|figure| Figure { figure })
        .collect()
}

/// All figures that there are of the runs in these directories, laid over each other.
#[pyfunction]
pub fn figures(py: Python<'_>, dirs: Vec<PathBuf>) -> PyResult<Vec<Figure>> {
    py.detach(|| {
        let runs = open(&dirs)?;
        let subjects: Vec<Subject> = labels(runs.iter().map(AnyRun::stored))
            .into_iter()
            .zip(runs)
            .map(|(label, run)| {
                let run_tables = tables::of(&run, true);
                Subject::load(label, run, run_tables, None, &|_| {})
            })
            .collect();
        Ok(finished(drawn::of(&subjects)))
    })
    .map_err(|error: RunError| PyValueError::new_err(error.to_string()))
}

/// The figures of what differs between two sides of runs, in the figures of these names; in all, if there are none.
#[pyfunction]
pub fn figures_of_comparison(
    py: Python<'_>,
    before: Vec<PathBuf>,
    after: Vec<PathBuf>,
    only: Vec<String>,
) -> PyResult<Vec<Figure>> {
    py.detach(|| {
        let (before, after) = (
            open(&before).map_err(|error| error.to_string())?,
            open(&after).map_err(|error| error.to_string())?,
        );
        let named = only.iter().filter_map(|name| Named::parse(name));
        let asked: Vec<_> = named.map(wiregauge_compare::Figure::Named).collect();
        let is_wanted = |figure: &wiregauge_compare::Figure| {
            only.is_empty() || asked.contains(figure) || only.contains(&figure.to_string())
        };
        let (before, after) = (AnyRun::all_stored(&before), AnyRun::all_stored(&after));
        let compared = wiregauge_compare::compare(&before, &after, &asked, &is_wanted, &|_| {})
            .map_err(|error| error.to_string())?;
        Ok(finished(drawn::of_comparison(&compared)))
    })
    .map_err(|error: String| PyValueError::new_err(error))
}
