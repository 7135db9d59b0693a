//! Why a capture cannot be read, and what to try.

use std::io;

/// Why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// What the system says of the file.
    #[error("byte {offset}: {error}")]
    Io {
        /// Bytes before it in the file.
        offset: u64,
        /// The system's error.
        error: io::Error,
    },
    /// The file is in no format that is read here, or contradicts it.
    #[error("byte {offset}: {wrong}\n  hint: {hint}")]
    Format {
        /// Bytes before it in the file; of a CSV file, before the row.
        offset: u64,
        /// What was found, and what was expected.
        wrong: String,
        /// What to try.
        hint: &'static str,
    },
    /// Nothing was captured in the window.
    #[error("no packets in the window: the capture lasts {} s", *duration_ns as f64 / 1e9)]
    Window {
        /// From the first record to the last.
        duration_ns: u64,
    },
}

pub(super) const FORMATS: &str = "files that can be read: pcapng and pcap with packets of a USB 2.0 bus (link types 288, 293 to 295) \
     or of usbmon (189, 220), and CSV of Total Phase's Data Center";

pub(super) const DAMAGED: &str =
    "the file is damaged: copy it again, or save it anew from the program that captured it";

impl ReadError {
    pub(super) fn format(offset: u64, wrong: impl Into<String>, hint: &'static str) -> ReadError {
        ReadError::Format {
            offset,
            wrong: wrong.into(),
            hint,
        }
    }
}
