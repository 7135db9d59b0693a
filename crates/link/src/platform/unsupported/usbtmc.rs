//! USBTMC: files of the kernel's driver are Linux's.

use crate::Link;
use crate::devices::TmcDevice;
use crate::error::{LinkError, LinkErrorKind};
use std::path::Path;
use std::time::Duration;

/// Refuses a file.
pub fn open_file(path: &Path, _timeout: Duration, doing: &str) -> Result<Box<dyn Link>, LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        doing,
        format!(
            "{} would be a file of the usbtmc driver, which only Linux has",
            path.display()
        ),
    )
    .hint("name the instrument by its IDs, such as usbtmc://0957:1796"))
}

/// No files are there; instruments are listed among the USB devices.
pub fn devices() -> Vec<TmcDevice> {
    Vec::new()
}
