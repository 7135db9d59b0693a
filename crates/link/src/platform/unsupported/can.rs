//! CAN: SocketCAN is Linux's.

use crate::can::CanInterface;
use crate::error::{LinkError, LinkErrorKind};
use crate::{Address, Link};
use std::time::Duration;
use wiregauge_record::LinkOptions;

/// Refuses a CAN link.
pub fn open(
    address: &Address,
    _options: &LinkOptions,
    _timeout: Duration,
    _is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        format!("cannot open {address}"),
        "CAN needs SocketCAN, which only Linux has",
    )
    .hint("run wiregauge on Linux; what the bus carries at best: wiregauge limits can"))
}

/// No interface can be used.
pub fn interfaces() -> Vec<CanInterface> {
    Vec::new()
}
