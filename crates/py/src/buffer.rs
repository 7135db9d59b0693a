//! The memory of Python objects as bytes. PyO3's own `PyBuffer` allocates for each look and refuses an array whose
//! items are not bytes; on the way of every single exchange both are too much.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// The bytes of an object, in one piece. While it lives the object cannot move or resize them.
pub struct Bytes {
    view: ffi::Py_buffer,
}

/// Types of which any bytes, or those that [`Bytes::rows_mut`] writes first, are a value.
///
/// # Safety
/// No padding is read, and the type is `Copy` without references.
pub unsafe trait Plain: Copy + Default {}

// SAFETY: any bytes are a usize.
unsafe impl Plain for usize {}

impl Bytes {
    /// To read. `what` names it in the error: "a request".
    pub fn of(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Bytes> {
        Bytes::get(object, ffi::PyBUF_SIMPLE).map_err(|error| {
            refused(
                object,
                error,
                &format!("{what} must be bytes or an array in C order"),
            )
        })
    }

    /// To write into.
    pub fn writable(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Bytes> {
        Bytes::get(object, ffi::PyBUF_WRITABLE).map_err(|error| {
            refused(
                object,
                error,
                &format!(
                    "{what} must be a bytearray or an array in C order that can be written to"
                ),
            )
        })
    }

    fn get(object: &Bound<'_, PyAny>, flags: c_int) -> PyResult<Bytes> {
        let mut view = MaybeUninit::<ffi::Py_buffer>::uninit();
        // SAFETY: the thread is attached to the interpreter (`object` proves it), and `view` is valid for writes.
        let said = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), flags) };
        if said != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        // SAFETY: it succeeded, so the view was filled in.
        let view = unsafe { view.assume_init() };
        Ok(Bytes { view })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        usize::try_from(self.view.len).unwrap_or(0)
    }

    /// All of them. Another Python thread may write to them while this one waits for a device: what is sent then is a
    /// mixture, as it is with `os.write`.
    pub fn as_slice(&self) -> &[u8] {
        if self.len() == 0 {
            return &[];
        }
        // SAFETY: the object holds `len` bytes at `buf` for as long as the view is not released.
        unsafe { std::slice::from_raw_parts(self.view.buf.cast(), self.len()) }
    }

    /// All of them, of a view that was asked for with [`Bytes::writable`].
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        debug_assert_eq!(self.view.readonly, 0);
        if self.len() == 0 {
            return &mut [];
        }
        // SAFETY: as above; the object gave them to be written to.
        unsafe { std::slice::from_raw_parts_mut(self.view.buf.cast(), self.len()) }
    }

    /// As rows of a type, such as the numbers of an array.
    pub fn rows<T: Plain>(&self) -> PyResult<&[T]> {
        let count = self.count_of::<T>()?;
        if count == 0 {
            return Ok(&[]);
        }
        // SAFETY: aligned and as long as `count_of` checked; any bytes are a value of those that are only read.
        Ok(unsafe { std::slice::from_raw_parts(self.view.buf.cast(), count) })
    }

    /// As rows of a type, each set to its default first.
    pub fn rows_mut<T: Plain>(&mut self) -> PyResult<&mut [T]> {
        let count = self.count_of::<T>()?;
        if count == 0 {
            return Ok(&mut []);
        }
        let first: *mut T = self.view.buf.cast();
        for at in 0..count {
            // SAFETY: within the view, aligned as `count_of` checked.
            unsafe { first.add(at).write(T::default()) };
        }
        // SAFETY: as above, and every row is a value now.
        Ok(unsafe { std::slice::from_raw_parts_mut(first, count) })
    }

    fn count_of<T>(&self) -> PyResult<usize> {
        let aligned = self.view.buf.cast::<T>().is_aligned();
        if !aligned || !self.len().is_multiple_of(size_of::<T>()) {
            return Err(PyValueError::new_err(format!(
                "{} bytes are not a whole number of rows of {} bytes",
                self.len(),
                size_of::<T>()
            )));
        }
        Ok(self.len() / size_of::<T>())
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: filled in by PyObject_GetBuffer and released once; views live within calls that Python made, whose
        // threads are attached whenever one ends.
        unsafe { ffi::PyBuffer_Release(&raw mut self.view) };
    }
}

/// Python's own words say which protocol is missing; a caller wants to know what to pass instead.
fn refused(object: &Bound<'_, PyAny>, error: PyErr, wanted: &str) -> PyErr {
    let py = object.py();
    let kind = object
        .get_type()
        .name()
        .map_or_else(|_| "object".into(), |name| name.to_string());
    let text = format!("{wanted}; this {kind} is not: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(text)
    } else {
        PyValueError::new_err(text)
    }
}
