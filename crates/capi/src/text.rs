//! Texts that are handed to C: copied into the caller's room.

use crate::code::WG_ERROR_ROOM;
use crate::failure::Failure;
use crate::pointers::{Place, bytes_mut};
use std::ffi::c_char;

/// Copies a text and its NUL into the caller's room, as much as fits, and tells its whole length. Without room, length
/// alone.
///
/// # Safety
/// `into` leads to `room` bytes that may be written, `length` to a number or nowhere.
pub(crate) unsafe fn put_text(
    text: &str,
    into: *mut c_char,
    room: usize,
    length: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: as the caller promises.
    let (length, into) = unsafe {
        (
            Place::optional(length, "length")?,
            bytes_mut(into.cast(), room, "text")?,
        )
    };
    length.put(text.len());
    if into.is_empty() {
        return match length.is_there() {
            true => Ok(()),
            false => Err(Failure::argument("`text` and `length` are both NULL")),
        };
    }
    let most = text.len().min(into.len() - 1);
    let fits = (0..=most)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0);
    into[..fits].copy_from_slice(&text.as_bytes()[..fits]);
    into[fits] = 0;
    if fits == text.len() {
        return Ok(());
    }
    Err(Failure::new(
        WG_ERROR_ROOM,
        format!(
            "the text needs {} bytes, but the buffer has {room}",
            text.len() + 1
        ),
    ))
}
