//! USBTMC instruments: the files of the kernel's driver, and what sysfs shows of them.

mod detail;
mod errors;
mod file;
mod find;
mod survey;

pub use survey::devices;

use crate::Link;
use crate::error::LinkError;
use std::path::Path;
use std::time::Duration;

/// Opens the file of the kernel's driver; a read waits so long for a reply.
pub fn open_file(path: &Path, timeout: Duration, doing: &str) -> Result<Box<dyn Link>, LinkError> {
    file::FileLink::open(path, timeout, doing).map(|link| Box::new(link) as Box<dyn Link>)
}
