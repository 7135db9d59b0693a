//! The figures of the report, for a notebook to show.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
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
