//! Pointers out of C: what can be checked of them is checked here, and nowhere else is one turned into a slice.

use crate::failure::Failure;
use std::ffi::{CStr, c_char, c_void};

/// A place that a result is written to.
pub(crate) struct Place<T>(*mut T);

impl<T> Place<T> {
    /// One that must be there.
    ///
    /// # Safety
    /// `pointer` leads to a `T` that may be written until the function of the ABI returns, or is null or unaligned.
    pub(crate) unsafe fn needed(pointer: *mut T, name: &str) -> Result<Place<T>, Failure> {
        if pointer.is_null() {
            return Err(null(name));
        }
        // SAFETY: as the caller promises.
        unsafe { Place::optional(pointer, name) }
    }

    /// One that may be null; what is put there is then forgotten.
    ///
    /// # Safety
    /// As for `needed`.
    pub(crate) unsafe fn optional(pointer: *mut T, name: &str) -> Result<Place<T>, Failure> {
        aligned(pointer, name)?;
        Ok(Place(pointer))
    }

    /// True where somebody wants to know.
    pub(crate) fn is_there(&self) -> bool {
        !self.0.is_null()
    }

    /// Writes a result.
    pub(crate) fn put(&self, value: T) {
        if self.is_there() {
            // SAFETY: whoever made this promised that it may be written; it is aligned and not null.
            unsafe { self.0.write(value) };
        }
    }
}

/// Bytes that are read. Without bytes the pointer may be null.
///
/// # Safety
/// `pointer` leads to so many bytes, which nobody writes while the slice lives.
pub(crate) unsafe fn bytes<'a>(
    pointer: *const c_void,
    bytes: usize,
    name: &str,
) -> Result<&'a [u8], Failure> {
    // SAFETY: as the caller promises.
    unsafe { items(pointer.cast(), bytes, name) }
}

/// Bytes that are written. Without bytes the pointer may be null.
///
/// # Safety
/// `pointer` leads to so many bytes, which nobody else uses while the slice lives.
pub(crate) unsafe fn bytes_mut<'a>(
    pointer: *mut c_void,
    bytes: usize,
    name: &str,
) -> Result<&'a mut [u8], Failure> {
    // SAFETY: as the caller promises; every byte is a u8.
    unsafe { items_mut(pointer.cast(), bytes, name) }
}

/// Items that are read. `T` has no invalid values.
///
/// # Safety
/// As for `bytes`, with so many items.
pub(crate) unsafe fn items<'a, T>(
    pointer: *const T,
    count: usize,
    name: &str,
) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    fits(pointer, count, name)?;
    // SAFETY: not null, aligned, within the address space; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Items that are written. `T` has no invalid values.
///
/// # Safety
/// As for `bytes_mut`, with so many items.
pub(crate) unsafe fn items_mut<'a, T>(
    pointer: *mut T,
    count: usize,
    name: &str,
) -> Result<&'a mut [T], Failure> {
    if count == 0 {
        return Ok(&mut []);
    }
    fits(pointer, count, name)?;
    // SAFETY: not null, aligned, within the address space; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) })
}

/// A text that ends with a NUL.
///
/// # Safety
/// `pointer` leads to such a text, which nobody changes while the result lives, or is null.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: not null; the rest is the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str()
        .map_err(|_| Failure::argument(format!("`{name}` is not UTF-8")))
}

/// A buffer before it is made a slice.
pub(crate) struct Span {
    from: usize,
    bytes: usize,
    written: bool,
    name: &'static str,
}

impl Span {
    pub(crate) fn read<T>(pointer: *const T, bytes: usize, name: &'static str) -> Span {
        Span {
            from: pointer.addr(),
            bytes,
            written: false,
            name,
        }
    }

    pub(crate) fn written<T>(pointer: *mut T, bytes: usize, name: &'static str) -> Span {
        Span {
            written: true,
            ..Span::read(pointer, bytes, name)
        }
    }

    fn meets(&self, other: &Span) -> bool {
        self.bytes > 0
            && other.bytes > 0
            && self.from < other.from.saturating_add(other.bytes)
            && other.from < self.from.saturating_add(self.bytes)
    }
}

/// Refuses buffers that share bytes, one of which is written.
pub(crate) fn apart(spans: &[Span]) -> Result<(), Failure> {
    for (at, one) in spans.iter().enumerate() {
        let mut others = spans[at + 1..].iter();
        if let Some(other) = others.find(|other| (one.written || other.written) && one.meets(other))
        {
            return Err(Failure::argument(format!(
                "`{}` and `{}` overlap",
                one.name, other.name
            )));
        }
    }
    Ok(())
}

fn null(name: &str) -> Failure {
    Failure::argument(format!("`{name}` is NULL"))
}

fn aligned<T>(pointer: *const T, name: &str) -> Result<(), Failure> {
    if pointer.is_aligned() {
        return Ok(());
    }
    Err(Failure::argument(format!(
        "`{name}` is not aligned to {} bytes",
        align_of::<T>()
    )))
}

fn fits<T>(pointer: *const T, count: usize, name: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(null(name));
    }
    aligned(pointer, name)?;
    let bytes = count.checked_mul(size_of::<T>());
    let bytes = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
    match bytes.and_then(|bytes| pointer.addr().checked_add(bytes)) {
        Some(_) => Ok(()),
        None => Err(Failure::argument(format!(
            "`{name}` of {count} items exceeds the address space"
        ))),
    }
}
