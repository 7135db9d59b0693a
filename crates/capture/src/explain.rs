//! A capture file, read twice: what it is of, then its figures and verdicts.

use crate::bus::{self, Bus};
use crate::host::{self, Host};
use crate::read::ReadError;
use crate::survey::{Subject, Survey, Window};
use serde::Serialize;
use std::io::{self, Read};

/// What a capture says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "subject")]
pub enum Explained {
    /// Packets of a bus.
    Bus(Bus),
    /// URBs of a host.
    Urbs(Host),
}

/// Reads a capture, which `open` opens twice.
///
/// # Errors
/// If the file cannot be read, is no capture of USB, or holds nothing.
pub fn explain<R: Read>(
    open: impl Fn() -> io::Result<R>,
    window: Window,
) -> Result<Explained, ReadError> {
    let opened = || open().map_err(|error| ReadError::Io { offset: 0, error });
    let survey = Survey::of(opened()?, window)?;
    if survey.in_window == 0 && survey.subject != Subject::Nothing {
        return Err(ReadError::Window {
            duration_ns: survey.last_ns.saturating_sub(survey.begin_ns),
        });
    }
    match survey.subject {
        Subject::Bus => Ok(Explained::Bus(bus::count(opened()?, &survey, window)?)),
        Subject::Urbs => Ok(Explained::Urbs(host::count(opened()?, &survey, window)?)),
        Subject::Nothing => Err(ReadError::Format {
            offset: 0,
            wrong: "the capture holds no packet".into(),
            hint: "capture while the device is in use; for usbmon, of the bus that it is on (lsusb)",
        }),
    }
}
