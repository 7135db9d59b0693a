//! The rows of a run in one piece of memory that Python looks at: filled while it is decoded, never copied. numpy gets the
//! places of the fields from [`layout`].

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::c_int;
use std::path::PathBuf;
use wiregauge_run::{AnyRun, Exchange, Record, RunError};

/// Rows of a run, as bytes: of all points, or of one.
#[pyclass(frozen, module = "wiregauge._native")]
pub struct Rows {
    records: Vec<u8>,
    /// How many there are.
    count: usize,
}

#[pymethods]
impl Rows {
    // SAFETY: Python calls it with a view that may be filled, and holds a reference to this object
    // for as long as the view lives. The memory belongs to a vector that nobody can reach to change.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let records = &slf.get().records;
        let length =
            isize::try_from(records.len()).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let readonly = 1;
        // SAFETY: see above; FillInfo takes the reference, and writes nothing to the memory.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                slf.as_ptr(),
                records.as_ptr().cast_mut().cast(),
                length,
                readonly,
                flags,
            )
        };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }

    fn __len__(&self) -> usize {
        self.count
    }
}

/// The rows of the run in `dir`: of all its points, or of that at position `point` in run.json.
#[pyfunction]
#[pyo3(signature = (dir, point=None))]
pub fn samples(py: Python<'_>, dir: PathBuf, point: Option<usize>) -> PyResult<Rows> {
    let read = py.detach(|| -> Result<Rows, RunError> {
        let run = AnyRun::open(&dir)?;
        let records = run.stored().records(point)?;
        let count = records.len() / run.stored().record().bytes;
        Ok(Rows { records, count })
    });
    read.map_err(|error| PyOSError::new_err(error.to_string()))
}

/// The bytes of the answers of one point, in the order of its rows.
#[pyfunction]
pub fn answers(py: Python<'_>, dir: PathBuf, point: usize) -> PyResult<Vec<Bound<'_, PyBytes>>> {
    let read = py.detach(|| -> Result<Vec<Vec<u8>>, String> {
        let run = AnyRun::open(&dir).map_err(|error| error.to_string())?;
        let kept = run.as_kind::<Exchange>();
        let Some(run) = kept.filter(|run| run.file.plan.keep_data) else {
            return Err(format!(
                "cannot return the answers of {}: the run did not store them. Measure again with \
                 keep_data=True",
                dir.display()
            ));
        };
        let rows = run.samples(point).map_err(|error| error.to_string())?;
        rows.map(|row| row.map(|(_, data)| data.unwrap_or_default()))
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())
    });
    let read = read.map_err(PyValueError::new_err)?;
    Ok(read.iter().map(|data| PyBytes::new(py, data)).collect())
}

/// Name, numpy's type, place in bytes.
type Field = (&'static str, &'static str, usize);

/// The bytes of one row of a kind of run, and its fields in the order of docs/run-format.md, behind the point.
#[pyfunction]
pub fn layout(kind: &str) -> PyResult<(usize, Vec<Field>)> {
    let Record { bytes, fields } = record(kind)?;
    let fields = fields.iter().map(|of| (of.name, of.form, of.place));
    Ok((bytes, fields.collect()))
}

/// The names behind the numbers of a field of a kind of run, in their order; empty for any other field.
#[pyfunction]
pub fn names(kind: &str, field: &str) -> PyResult<Vec<&'static str>> {
    let fields = record(kind)?.fields;
    let found = fields.iter().find(|of| of.name == field);
    Ok(found.map_or_else(Vec::new, |of| of.names.to_vec()))
}

fn record(kind: &str) -> PyResult<Record> {
    let unknown = || PyValueError::new_err(format!("unknown kind `{kind}`"));
    Record::of_kind(kind).ok_or_else(unknown)
}
