//! The rows of a run in one piece of memory that Python looks at: laid out here once, filled while it
//! is decoded, never copied. numpy gets the places of the fields from [`layout`].

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::{c_int, c_void};
use std::mem::{offset_of, size_of};
use std::path::PathBuf;
use wiregauge_record::{CycleStatus, Direction, Phase, Status, TransferStatus, Way, Xrun};
use wiregauge_run::{
    AnyRun, Control, Exchange, Files, Loop, Run, RunError, RunKind, Stream, with_run,
};

/// A kind of run whose rows Python looks at.
trait InMemory: Files {
    /// A row as Python sees it.
    type Shown: Send + Sync + 'static;
    /// Its fields, in the order of memory.
    const FIELDS: &'static [Field];
    /// The row of a point.
    fn shown(point: u32, row: &Self::Row) -> Self::Shown;
}

/// A row as Python sees it: what the engine's has, and its point. Every byte has a meaning or is 0, so
/// that nothing else of this process is shown.
macro_rules! row {
    ($name:ident of $kind:ty: $($wide:ident)+; $($narrow:ident)*; $($number:ident)+; $unused:literal) => {
        row!($name of $kind: $($wide)+; ; $($narrow)*; $($number)+; $unused);
    };
    (
        $name:ident of $kind:ty: $($wide:ident)+; $($real:ident)*; $($narrow:ident)*; $($number:ident)+;
        $unused:literal
    ) => {
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct $name {
            $($wide: u64,)+
            $($real: f64,)*
            point: u32,
            $($narrow: u32,)*
            $($number: u8,)+
            unused: [u8; $unused],
        }

        impl InMemory for $kind {
            type Shown = $name;

            const FIELDS: &'static [Field] = &[
                ("point", "u4", offset_of!($name, point)),
                $((stringify!($wide), "u8", offset_of!($name, $wide)),)+
                $((stringify!($real), "f8", offset_of!($name, $real)),)*
                $((stringify!($narrow), "u4", offset_of!($name, $narrow)),)*
                $((stringify!($number), "u1", offset_of!($name, $number)),)+
            ];

            fn shown(point: u32, row: &Self::Row) -> $name {
                $name {
                    $($wide: row.$wide,)+
                    $($real: row.$real,)*
                    point,
                    $($narrow: row.$narrow,)*
                    $($number: row.$number as u8,)+
                    unused: [0; $unused],
                }
            }
        }

        const _: () = assert!(
            offset_of!($name, unused) + $unused == size_of::<$name>(),
            "there is a gap in the row"
        );
    };
}

/// Name, numpy's type, place in bytes.
type Field = (&'static str, &'static str, usize);

row!(ExchangeRow of Exchange: sequence intended_ns start_ns rtt_ns connect_ns access_ns device_rx_ticks
    device_tx_ticks kernel_tx_ns kernel_tx_done_ns kernel_rx_ns; bytes_out bytes_in outstanding; phase status; 6);
row!(StreamRow of Stream: sequence submit_ns complete_ns urb_submit_ns urb_complete_ns;
    bytes pending; way phase status; 1);
row!(LoopRow of Loop: sequence due_ns begun_ns done_ns; ; phase xrun; 2);

row!(ControlRow of Control: sequence intended_ns start_ns sample_rtt_ns command_start_ns command_rtt_ns
    sample_device_ns command_device_ns; reference y1 y2 y3 y4 u1 u2 u3 u4; ; status; 3);

/// Memory that holds rows of any kind.
trait Memory: Send + Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;
    /// Where they begin, and how many bytes they are.
    fn bytes(&self) -> (*const c_void, usize);
}

impl<R: Send + Sync> Memory for Vec<R> {
    fn rows(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> (*const c_void, usize) {
        (self.as_ptr().cast(), size_of_val(self.as_slice()))
    }
}

/// Rows of a run, as bytes: of all points, or of one.
#[pyclass(frozen, module = "wiregauge._native")]
pub struct Rows {
    memory: Box<dyn Memory>,
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
        let (begin, length) = slf.get().memory.bytes();
        let length = isize::try_from(length).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let readonly = 1;
        // SAFETY: see above; FillInfo takes the reference, and writes nothing to the memory.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                slf.as_ptr(),
                begin.cast_mut(),
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
        self.memory.rows()
    }
}

/// The rows of the run in `dir`: of all its points, or of that at position `point` in run.json.
#[pyfunction]
#[pyo3(signature = (dir, point=None))]
pub fn samples(py: Python<'_>, dir: PathBuf, point: Option<usize>) -> PyResult<Rows> {
    let read = py.detach(|| -> Result<Box<dyn Memory>, RunError> {
        let run = AnyRun::open(&dir)?;
        with_run!(&run, run => rows(run, point))
    });
    let memory = read.map_err(|error| PyOSError::new_err(error.to_string()))?;
    Ok(Rows { memory })
}

fn rows<K: InMemory>(run: &Run<K>, point: Option<usize>) -> Result<Box<dyn Memory>, RunError> {
    let places = match point {
        Some(at) => at..at + 1,
        None => 0..run.file.points.len(),
    };
    let mut readers = Vec::new();
    for place in places {
        let reader = run.samples(place)?;
        let summary = run.file.points.get(place);
        let index = summary.map_or(0, |summary| K::index(&K::point(summary)));
        readers.push((index, reader));
    }
    // What a damaged file claims is not believed beyond what fits the memory easily.
    let claimed = readers.iter().map(|(_, reader)| reader.rows()).sum::<u64>();
    let mut all = Vec::with_capacity(usize::try_from(claimed).unwrap_or(0).min(1 << 24));
    for (point, reader) in &mut readers {
        while let Some(batch) = reader.next_rows() {
            all.extend(batch?.iter().map(|row| K::shown(*point, row)));
        }
    }
    Ok(Box::new(all))
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

/// The bytes of one row of a kind of run, and its fields: name, numpy's type, and place in bytes. In
/// the order of docs/run-format.md, behind the point.
#[pyfunction]
pub fn layout(kind: &str) -> PyResult<(usize, Vec<Field>)> {
    fn ordered<K: InMemory>() -> (usize, Vec<Field>) {
        let place = |name: &str| K::COLUMNS.iter().position(|column| column.name == name);
        let mut fields = K::FIELDS.to_vec();
        fields.sort_by_key(|(name, ..)| place(name));
        (size_of::<K::Shown>(), fields)
    }
    match kind {
        Exchange::NAME => Ok(ordered::<Exchange>()),
        Stream::NAME => Ok(ordered::<Stream>()),
        Loop::NAME => Ok(ordered::<Loop>()),
        Control::NAME => Ok(ordered::<Control>()),
        _ => Err(PyValueError::new_err(format!("unknown kind `{kind}`"))),
    }
}

/// The names behind the numbers of a field, in their order: of `phase`, `way`, `xrun`, `direction`, and
/// `status` of an exchange, `transfer_status` of a stream, `cycle_status` of a control run.
#[pyfunction]
pub fn names(what: &str) -> PyResult<Vec<&'static str>> {
    Ok(match what {
        "phase" => (0..)
            .map_while(Phase::from_number)
            .map(Phase::name)
            .collect(),
        "way" => (0..).map_while(Way::from_number).map(Way::name).collect(),
        "status" => Status::ALL.iter().map(|status| status.name()).collect(),
        "transfer_status" => TransferStatus::ALL
            .iter()
            .map(|status| status.name())
            .collect(),
        "cycle_status" => CycleStatus::ALL
            .iter()
            .map(|status| status.name())
            .collect(),
        "xrun" => Xrun::ALL.iter().map(|xrun| xrun.name()).collect(),
        "direction" => [Direction::In, Direction::Out, Direction::Both]
            .iter()
            .map(|direction| direction.name())
            .collect(),
        _ => {
            return Err(PyValueError::new_err(format!("unknown names `{what}`")));
        }
    })
}
