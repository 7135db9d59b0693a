//! The control loop from Python: the engine calls, Python answers, the interpreter is held for that long only.

use crate::buffer::{Bytes, Plain};
use pyo3::exceptions::{PyStopIteration, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::mem::offset_of;
use wiregauge_device::{ControlPlan, Cycle, Device};
use wiregauge_link::LinkError;

// SAFETY: copied out of, never read from Python's bytes: `rows_mut` sets every row first.
unsafe impl Plain for Cycle {}

const _: () = assert!(
    size_of::<Cycle>() == 64
        && offset_of!(Cycle, made_from) == 48
        && offset_of!(Cycle, status) == 56,
    "the dtype CYCLE of device.py"
);

/// What takes the place of a step in Python: command = limit(offset + factor * measurement), item by item.
#[derive(FromPyObject)]
struct Gain {
    factor: f64,
    offset: f64,
    low: f64,
    high: f64,
    dtype: String,
}

/// Why a loop did not come to its end, after so many cycles.
pub enum Ended {
    /// The link failed.
    Link(usize, LinkError),
    /// The step raised something, or cannot be used.
    Raised(usize, PyErr),
}

impl From<PyErr> for Ended {
    fn from(error: PyErr) -> Ended {
        Ended::Raised(0, error)
    }
}

/// Runs the loop; `request` is the command until `step` has made one. Returns how many cycles there were.
pub fn run(
    py: Python<'_>,
    device: &mut Device,
    plan: &ControlPlan,
    step: &Bound<'_, PyAny>,
    request: &[u8],
    cycles: &Bound<'_, PyAny>,
) -> Result<usize, Ended> {
    let mut rows = Bytes::writable(cycles, "cycles")?;
    let rows: &mut [Cycle] = rows.rows_mut()?;
    // The command that is sent, and sent again where a step says nothing new.
    let mut command = Vec::with_capacity(plan.largest_request);
    command.extend_from_slice(request);
    let mut raised = None;
    let done = if step.is_none() {
        let mut again = |_, _: Option<&[u8]>, into: &mut [u8]| give(&command, into);
        py.detach(|| device.control(plan, &mut again, rows))
    } else if step.is_callable() {
        let step = step.clone().unbind();
        let raised = &mut raised;
        let mut call = |_, measurement: Option<&[u8]>, into: &mut [u8]| {
            Python::attach(|py| match ask(py, &step, measurement, &mut command, into) {
                Ok(written) => written,
                Err(error) => {
                    *raised = Some(error);
                    None
                }
            })
        };
        py.detach(|| device.control(plan, &mut call, rows))
    } else {
        let law = Law::of(&step.extract()?)?;
        let mut apply = |_, measurement: Option<&[u8]>, into: &mut [u8]| {
            if let Some(measurement) = measurement {
                law.apply(measurement, &mut command);
            }
            give(&command, into)
        };
        py.detach(|| device.control(plan, &mut apply, rows))
    };
    let count = match &done {
        Ok(count) | Err((count, _)) => *count,
    };
    match (raised, done) {
        (Some(error), _) if !error.is_instance_of::<PyStopIteration>(py) => {
            Err(Ended::Raised(count, error))
        }
        (_, Ok(count)) => Ok(count),
        (_, Err((count, error))) => Err(Ended::Link(count, error)),
    }
}

/// Calls the step in Python; `None` ends the loop.
fn ask(
    py: Python<'_>,
    step: &Py<PyAny>,
    measurement: Option<&[u8]>,
    command: &mut Vec<u8>,
    into: &mut [u8],
) -> PyResult<Option<usize>> {
    let measurement = measurement.map(|bytes| PyBytes::new(py, bytes));
    let said = step.bind(py).call1((measurement,))?;
    if let Ok(bytes) = said.cast::<PyBytes>() {
        keep(bytes.as_bytes(), command, into)?;
    } else if !said.is_none() {
        keep(
            Bytes::of(&said, "the return value of a step")?.as_slice(),
            command,
            into,
        )?;
    }
    Ok(give(command, into))
}

fn keep(said: &[u8], command: &mut Vec<u8>, into: &[u8]) -> PyResult<()> {
    if said.len() > into.len() {
        return Err(PyValueError::new_err(format!(
            "the step returned {} bytes, but a request has at most {}",
            said.len(),
            into.len()
        )));
    }
    command.clear();
    command.extend_from_slice(said);
    Ok(())
}

#[allow(clippy::unnecessary_wraps)] // what a step returns
fn give(command: &[u8], into: &mut [u8]) -> Option<usize> {
    into[..command.len()].copy_from_slice(command);
    Some(command.len())
}

/// A number as it stands in measurement and command, little-endian.
#[derive(Clone, Copy)]
enum Number {
    I16,
    I32,
    F32,
    F64,
}

/// A gain that needs no interpreter.
struct Law {
    gain: (f64, f64),
    limits: (f64, f64),
    number: Number,
}

impl Law {
    fn of(gain: &Gain) -> PyResult<Law> {
        let number = match gain.dtype.as_str() {
            "<i2" => Number::I16,
            "<i4" => Number::I32,
            "<f4" => Number::F32,
            "<f8" => Number::F64,
            other => {
                return Err(PyTypeError::new_err(format!(
                    "a gain must have the dtype <i2, <i4, <f4 or <f8, not {other}"
                )));
            }
        };
        if gain.low > gain.high {
            return Err(PyValueError::new_err(format!(
                "the limits of a gain must ascend: {} is above {}",
                gain.low, gain.high
            )));
        }
        Ok(Law {
            gain: (gain.offset, gain.factor),
            limits: (gain.low, gain.high),
            number,
        })
    }

    /// As many whole numbers as both have.
    fn apply(&self, measurement: &[u8], command: &mut [u8]) {
        let law = |x: f64| (self.gain.0 + self.gain.1 * x).clamp(self.limits.0, self.limits.1);
        // A cast of a float saturates; NaN becomes 0 in an integer.
        match self.number {
            Number::I16 => each(measurement, command, |x| {
                (law(f64::from(i16::from_le_bytes(x))).round() as i16).to_le_bytes()
            }),
            Number::I32 => each(measurement, command, |x| {
                (law(f64::from(i32::from_le_bytes(x))).round() as i32).to_le_bytes()
            }),
            Number::F32 => each(measurement, command, |x| {
                (law(f64::from(f32::from_le_bytes(x))) as f32).to_le_bytes()
            }),
            Number::F64 => each(measurement, command, |x| {
                law(f64::from_le_bytes(x)).to_le_bytes()
            }),
        }
    }
}

fn each<const N: usize>(from: &[u8], into: &mut [u8], one: impl Fn([u8; N]) -> [u8; N]) {
    let from = from.as_chunks::<N>().0;
    let into = into.as_chunks_mut::<N>().0;
    for (from, into) in from.iter().zip(into) {
        *into = one(*from);
    }
}
