//! A time as text, in whole thousandths.

use std::io::{self, Write};

/// Writes nanoseconds as microseconds, none of them lost.
pub(crate) fn microseconds(text: &mut Vec<u8>, ns: u64) -> io::Result<()> {
    write!(text, "{}.{:03}", ns / 1000, ns % 1000)
}
