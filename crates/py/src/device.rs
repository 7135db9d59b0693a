//! An open device, as Python holds it: the engine's `Device` with what the interpreter asks for around it: who may use
//! it now, signals, memory. What only arranges arguments is in python/wiregauge/device.py.

mod control;
mod protocol;
mod queries;

use self::control::Ended;
use crate::buffer::{Bytes, Plain};
use crate::errors;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use wiregauge_device::{
    ControlPlan, Device, DeviceOptions, DeviceProtocol, Framing, LengthField, Replies, ReplyEnd,
    Requests, Timing,
};
use wiregauge_link::LinkError;
use wiregauge_record::{LinkOptions, Wait};

// SAFETY: four u64, no padding.
unsafe impl Plain for Timing {}

const _: () = assert!(size_of::<Timing>() == 32, "the dtype TIMING of device.py");

/// Room for commands that grow in a loop; more than any control loop sends.
const LARGEST_COMMAND: usize = 64 << 10;

/// What a signal's handler raised while a call waited.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// What a signal's handler raised, if that ended the call; else the exception for the failure of the link.
fn raised_or(raised: &Raised, py: Python<'_>, error: &LinkError) -> PyErr {
    let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    raised.unwrap_or_else(|| errors::of_link(py, error))
}

/// Which sizes of a reply a caller may ask for.
#[derive(Clone, Copy)]
enum Sizes {
    Any,
    Only(usize),
    /// Replies have an end of their own.
    None,
}

impl Sizes {
    fn of(protocol: &DeviceProtocol) -> Sizes {
        match protocol {
            DeviceProtocol::Wiregauge | DeviceProtocol::Framing(Framing::Raw) => Sizes::Any,
            DeviceProtocol::Framing(Framing::Fixed { bytes }) => Sizes::Only(*bytes),
            DeviceProtocol::Text(ReplyEnd::Bytes(bytes)) => Sizes::Only(*bytes as usize),
            _ => Sizes::None,
        }
    }

    /// The size that was asked for. Python's own conversion of a negative number names no argument.
    fn checked(self, reply_bytes: Option<i64>) -> PyResult<Option<usize>> {
        let Some(bytes) = reply_bytes else {
            return Ok(None);
        };
        let size = usize::try_from(bytes).map_err(|_| {
            PyValueError::new_err(format!("reply_bytes must be at least 0, not {bytes}"))
        })?;
        match self {
            Sizes::Only(only) if only != size => Err(PyValueError::new_err(format!(
                "reply_bytes must be {only}, the size of every reply of this device, not {size}"
            ))),
            Sizes::None => Err(PyValueError::new_err(
                "reply_bytes has no effect: the replies of this device have their own end; omit it",
            )),
            _ => Ok(Some(size)),
        }
    }
}

/// The bytes of a request that is no text.
fn request_bytes(request: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if request.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "a request must be bytes or an array, not str; str is for the protocols text and scpi, and the framing \
             Terminator",
        ));
    }
    Bytes::of(request, "a request")
}

/// The device and what it said last.
struct Open {
    device: Device,
    last: Timing,
}

/// An open device; `wiregauge.Device` is made of it.
#[pyclass(module = "wiregauge._native", subclass, frozen)]
pub struct RawDevice {
    /// In a box, because the engine wants its memory aligned more than Python's is.
    open: Mutex<Option<Box<Open>>>,
    raised: Raised,
    address: String,
    /// Requests may be `str`.
    is_text: bool,
    sizes: Sizes,
}

#[pymethods]
impl RawDevice {
    #[new]
    #[pyo3(signature = (address, framing, queries, timeout_ns, wait, baud, quick_ack, line))]
    #[allow(clippy::too_many_arguments)] // one call from one place, by position
    fn new(
        py: Python<'_>,
        address: String,
        framing: Option<(String, Vec<u8>, usize, bool, bool)>,
        queries: Option<protocol::Parts>,
        timeout_ns: u64,
        wait: &str,
        baud: Option<u32>,
        quick_ack: bool,
        line: Option<String>,
    ) -> PyResult<RawDevice> {
        let options = DeviceOptions {
            protocol: match (queries, framing) {
                (Some(parts), _) => protocol::protocol_of(parts)?,
                (None, Some(parts)) => DeviceProtocol::Framing(framing_of(parts)?),
                (None, None) => DeviceProtocol::Wiregauge,
            },
            timeout: Duration::from_nanos(timeout_ns),
            wait: Wait::from_name(wait).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "wait is \"block\", \"poll\" or \"spin\", not {wait:?}"
                ))
            })?,
            link: LinkOptions {
                baud,
                framing: line,
                quick_ack,
                ..LinkOptions::default()
            },
        };
        let is_text = matches!(
            options.protocol,
            DeviceProtocol::Text(_) | DeviceProtocol::Framing(Framing::Terminator { .. })
        );
        let sizes = Sizes::of(&options.protocol);
        let raised = Raised::default();
        let slot = Arc::clone(&raised);
        let is_interrupted = Box::new(move || {
            Python::attach(|py| match py.check_signals() {
                Ok(()) => false,
                Err(error) => {
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    true
                }
            })
        });
        let opened = py.detach(|| Device::open_unless(&address, &options, Some(is_interrupted)));
        let device = match opened {
            Ok(device) => device,
            Err(error) => return Err(raised_or(&raised, py, &error)),
        };
        Ok(RawDevice {
            open: Mutex::new(Some(Box::new(Open {
                device,
                last: Timing::default(),
            }))),
            raised,
            address,
            is_text,
            sizes,
        })
    }

    /// Send a request and return its reply.
    ///
    /// Parameters
    /// ----------
    /// request : bytes, or array in C order; str where the messages are text
    ///     Its bytes are sent, with the framing of the device around them. A str is sent as UTF-8, if
    ///     the protocol is ``text`` or ``scpi`` or the framing a `Terminator`.
    /// reply_bytes : int, optional
    ///     Size of the reply in bytes: the one to request (wiregauge protocol) or to wait for (`Raw`)
    ///     [default: that of `into`, else of the request]. Other framings find the end by themselves.
    /// into : bytearray or array in C order, optional
    ///     Buffer for the reply.
    ///
    /// Returns
    /// -------
    /// bytes, or int with `into`
    ///     The reply without its framing; with `into` its size in bytes. `last_rtt_ns` has its time.
    ///
    /// Raises
    /// ------
    /// LinkError
    ///     No complete reply within the timeout, a wrong reply, or the link failed.
    /// ValueError
    ///     The device is closed, the reply does not fit into `into`, or its size is given but not the caller's to choose.
    /// TypeError
    ///     The request has no bytes of its own, or is a str where messages are not text.
    /// RuntimeError
    ///     Another thread uses the device.
    ///
    /// Examples
    /// --------
    /// >>> with wg.open("tcp://10.0.0.5:7700") as device:
    /// ...     reply = device.exchange(b"sixteen bytes...", 32)
    #[pyo3(signature = (request, reply_bytes=None, *, into=None))]
    fn exchange<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyAny>,
        reply_bytes: Option<i64>,
        into: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut guard = self.lock()?;
        let Open { device, last } = opened(&mut guard);
        let mut into = into
            .map(|into| Bytes::writable(into, "`into`"))
            .transpose()?;
        let reply_bytes = self
            .sizes
            .checked(reply_bytes)?
            .or(into.as_ref().map(Bytes::len));
        let view;
        let bytes = match (request.cast::<PyBytes>(), request.cast::<PyString>()) {
            (Ok(bytes), _) => bytes.as_bytes(),
            (_, Ok(text)) if self.is_text => text.to_str()?.as_bytes(),
            _ => {
                view = request_bytes(request)?;
                view.as_slice()
            }
        };
        let reply = py
            .detach(|| device.exchange(bytes, reply_bytes))
            .map_err(|error| self.failed(py, error))?;
        *last = reply.timing;
        let Some(into) = &mut into else {
            return Ok(PyBytes::new(py, reply.payload).into_any());
        };
        put(reply.payload, into)?
            .into_pyobject(py)
            .map(Bound::into_any)
            .map_err(Into::into)
    }

    /// Rows of requests to rows of replies; see device.py.
    #[pyo3(signature = (requests, ends, replies, row_bytes, lengths, timings, depth))]
    #[allow(clippy::too_many_arguments)] // one call from one place, by position
    fn _exchange_rows(
        &self,
        py: Python<'_>,
        requests: &Bound<'_, PyAny>,
        ends: &Bound<'_, PyAny>,
        replies: &Bound<'_, PyAny>,
        row_bytes: usize,
        lengths: &Bound<'_, PyAny>,
        timings: &Bound<'_, PyAny>,
        depth: u32,
    ) -> PyResult<()> {
        let mut guard = self.lock()?;
        let Open { device, .. } = opened(&mut guard);
        let requests = Bytes::of(requests, "requests")?;
        let ends = Bytes::of(ends, "ends")?;
        let mut replies = Bytes::writable(replies, "`out`")?;
        let mut lengths = Bytes::writable(lengths, "lengths")?;
        let mut timings = Bytes::writable(timings, "timings")?;
        let requests = Requests {
            bytes: requests.as_slice(),
            ends: ends.rows()?,
        };
        let replies = Replies {
            bytes: replies.as_mut_slice(),
            row_bytes,
            lengths: lengths.rows_mut()?,
            timings: timings.rows_mut()?,
        };
        py.detach(|| device.exchange_many(requests, replies, depth))
            .map_err(|(answered, error)| self.failed_after(py, answered, error))
    }

    /// Submits a request, and takes the oldest reply once `depth` are outstanding; else `None`.
    #[pyo3(signature = (request, reply_bytes, depth))]
    fn _submit<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyAny>,
        reply_bytes: Option<i64>,
        depth: usize,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let reply_bytes = self.sizes.checked(reply_bytes)?;
        let mut guard = self.lock()?;
        let Open { device, last } = opened(&mut guard);
        let view;
        let bytes = match request.cast::<PyString>() {
            Ok(text) if self.is_text => text.to_str()?.as_bytes(),
            _ => {
                view = request_bytes(request)?;
                view.as_slice()
            }
        };
        let reply = py
            .detach(|| {
                device.submit(bytes, reply_bytes)?;
                match device.outstanding() >= depth {
                    true => device.next_reply().map(Some),
                    false => Ok(None),
                }
            })
            .map_err(|error| self.failed(py, error))?;
        Ok(reply.map(|reply| {
            *last = reply.timing;
            PyBytes::new(py, reply.payload)
        }))
    }

    /// The reply to the oldest submitted request.
    fn _next_reply<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut guard = self.lock()?;
        let Open { device, last } = opened(&mut guard);
        let reply = py
            .detach(|| device.next_reply())
            .map_err(|error| self.failed(py, error))?;
        *last = reply.timing;
        Ok(PyBytes::new(py, reply.payload))
    }

    /// Submitted requests whose replies were not taken.
    fn _outstanding(&self) -> PyResult<usize> {
        Ok(opened(&mut self.lock()?).device.outstanding())
    }

    fn _read_stream(
        &self,
        py: Python<'_>,
        into: &Bound<'_, PyAny>,
        transfer_bytes: usize,
        queue: usize,
    ) -> PyResult<usize> {
        let mut guard = self.lock()?;
        let Open { device, .. } = opened(&mut guard);
        let mut into = Bytes::writable(into, "`into`")?;
        let bytes = into.as_mut_slice();
        py.detach(|| device.read_stream(bytes, transfer_bytes, queue))
            .map_err(|(came, error)| self.failed_after(py, came, error))
    }

    fn _write_stream(
        &self,
        py: Python<'_>,
        from: &Bound<'_, PyAny>,
        transfer_bytes: usize,
        queue: usize,
    ) -> PyResult<usize> {
        let mut guard = self.lock()?;
        let Open { device, .. } = opened(&mut guard);
        let from = Bytes::of(from, "the data")?;
        let bytes = from.as_slice();
        py.detach(|| device.write_stream(bytes, transfer_bytes, queue))
            .map_err(|(taken, error)| self.failed_after(py, taken, error))
    }

    /// See device.py. Returns how many cycles there were.
    #[pyo3(signature = (step, request, period_ns, depth, reply_bytes, priority, pin, cycles))]
    #[allow(clippy::too_many_arguments)] // one call from one place, by position
    fn _control(
        &self,
        py: Python<'_>,
        step: &Bound<'_, PyAny>,
        request: &Bound<'_, PyBytes>,
        period_ns: u64,
        depth: u32,
        reply_bytes: Option<i64>,
        priority: Option<u8>,
        pin: Option<u32>,
        cycles: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let mut guard = self.lock()?;
        let Open { device, .. } = opened(&mut guard);
        let request = request.as_bytes();
        let largest = device.about().largest_request.min(LARGEST_COMMAND);
        let plan = ControlPlan {
            period_ns,
            depth,
            largest_request: largest.max(request.len()),
            reply_bytes: self.sizes.checked(reply_bytes)?,
            priority,
            pin,
            ..ControlPlan::default()
        };
        control::run(py, device, &plan, step, request, cycles).map_err(|ended| match ended {
            Ended::Link(done, error) => self.failed_after(py, done, error),
            Ended::Raised(done, error) => after(py, done, error),
        })
    }

    fn _write(&self, py: Python<'_>, request: &Bound<'_, PyAny>) -> PyResult<()> {
        self.send_alone(py, request)
    }

    #[pyo3(signature = (reply_bytes))]
    fn _read<'py>(
        &self,
        py: Python<'py>,
        reply_bytes: Option<i64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.receive_alone(py, self.sizes.checked(reply_bytes)?)
    }

    #[pyo3(signature = (table, address, into, unit))]
    fn _read_registers(
        &self,
        py: Python<'_>,
        table: &str,
        address: u16,
        into: &Bound<'_, PyAny>,
        unit: Option<u8>,
    ) -> PyResult<()> {
        self.get_registers(py, table, address, into, unit)
    }

    #[pyo3(signature = (table, address, into, unit))]
    fn _read_bits(
        &self,
        py: Python<'_>,
        table: &str,
        address: u16,
        into: &Bound<'_, PyAny>,
        unit: Option<u8>,
    ) -> PyResult<()> {
        self.get_bits(py, table, address, into, unit)
    }

    #[pyo3(signature = (address, values, unit))]
    fn _write_registers(
        &self,
        py: Python<'_>,
        address: u16,
        values: &Bound<'_, PyAny>,
        unit: Option<u8>,
    ) -> PyResult<()> {
        self.put_registers(py, address, values, unit)
    }

    #[pyo3(signature = (address, values, unit))]
    fn _write_coils(
        &self,
        py: Python<'_>,
        address: u16,
        values: &Bound<'_, PyAny>,
        unit: Option<u8>,
    ) -> PyResult<()> {
        self.put_coils(py, address, values, unit)
    }

    /// The unit that Modbus requests go to.
    #[getter]
    fn _unit(&self) -> PyResult<u8> {
        self.unit_now()
    }

    fn _set_unit(&self, py: Python<'_>, unit: u8) -> PyResult<()> {
        self.change_unit(py, unit)
    }

    /// When the last single exchange happened: start_ns, rtt_ns, device_rx_ticks, device_tx_ticks.
    #[getter]
    fn _last(&self) -> PyResult<(u64, u64, u64, u64)> {
        let last = opened(&mut self.lock()?).last;
        Ok((
            last.start_ns,
            last.rtt_ns,
            last.device_rx_ticks,
            last.device_tx_ticks,
        ))
    }

    /// What is known of it, as JSON and numbers; device.py makes a dictionary of it.
    fn _about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut guard = self.lock()?;
        let about = opened(&mut guard).device.about();
        let described = PyDict::new(py);
        let responder = serde_json::to_string(&about.responder)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        described.set_item("address", &about.address)?;
        described.set_item("responder", responder)?;
        described.set_item("link", about.link.settings.clone())?;
        described.set_item("largest_request", about.largest_request)?;
        described.set_item("largest_reply", about.largest_reply)?;
        Ok(described)
    }

    /// The address that it was opened with, such as ``serial:///dev/ttyACM0``.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// True after `close`.
    #[getter]
    fn closed(&self) -> bool {
        // Locked: somebody uses it.
        self.open.try_lock().is_ok_and(|open| open.is_none())
    }

    /// Close the device; a second time does nothing.
    ///
    /// Waits until a link that buffers has sent what was written, at most 5 s.
    ///
    /// Raises
    /// ------
    /// RuntimeError
    ///     Another thread uses the device.
    ///
    /// Examples
    /// --------
    /// >>> device = wg.open("tcp://10.0.0.5:7700")
    /// >>> device.close()
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let open = match self.lock() {
            Ok(mut guard) => guard.take(),
            Err(_) if self.closed() => None,
            Err(error) => return Err(error),
        };
        // A link may have to wait for its bytes to leave.
        py.detach(|| drop(open));
        Ok(())
    }
}

impl RawDevice {
    /// The open device, for this thread alone.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<Box<Open>>>> {
        let address = &self.address;
        match self.open.try_lock() {
            Ok(open) if open.is_some() => Ok(open),
            Ok(_) => Err(PyValueError::new_err(format!("{address} is closed"))),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(format!(
                "{address} is in use by another thread, or by the call that runs this step; a device allows \
                 one call at a time"
            ))),
            Err(TryLockError::Poisoned(_)) => Err(PyRuntimeError::new_err(format!(
                "{address} is in an unknown state after a failed call; open it again"
            ))),
        }
    }

    /// The exception for a failure of the link; a signal's own, if one ended the call.
    fn failed(&self, py: Python<'_>, error: LinkError) -> PyErr {
        raised_or(&self.raised, py, &error)
    }

    /// The same, telling how much was done before.
    fn failed_after(&self, py: Python<'_>, done: usize, error: LinkError) -> PyErr {
        after(py, done, self.failed(py, error))
    }
}

/// Tells an exception how much was done before it.
fn after(py: Python<'_>, done: usize, error: PyErr) -> PyErr {
    // What a step raises may take no attributes.
    let _ = error.value(py).setattr("done", done);
    error
}

/// The device of a guard that [`RawDevice::lock`] gave.
fn opened<'a>(guard: &'a mut MutexGuard<'_, Option<Box<Open>>>) -> &'a mut Open {
    guard.as_mut().expect("`lock` gives open devices only")
}

/// Copies a reply into the caller's buffer; returns how long it was.
fn put(payload: &[u8], into: &mut Bytes) -> PyResult<usize> {
    let room = into.len();
    let Some(place) = into.as_mut_slice().get_mut(..payload.len()) else {
        return Err(PyValueError::new_err(format!(
            "the reply has {} bytes, but `into` has {room}",
            payload.len()
        )));
    };
    place.copy_from_slice(payload);
    Ok(payload.len())
}

/// The framings of framing.py: kind, end, bytes, big_endian, counts_itself.
fn framing_of(
    (kind, end, bytes, big_endian, counts_itself): (String, Vec<u8>, usize, bool, bool),
) -> PyResult<Framing> {
    Ok(match kind.as_str() {
        "raw" => Framing::Raw,
        "fixed" => Framing::Fixed { bytes },
        "terminator" => Framing::Terminator { end },
        "length-prefix" => Framing::LengthPrefix(LengthField {
            bytes: u8::try_from(bytes)?,
            big_endian,
            counts_itself,
        }),
        other => {
            return Err(PyTypeError::new_err(format!("unknown framing {other:?}")));
        }
    })
}
