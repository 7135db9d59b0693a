//! Unix sockets: refused on Windows.

use crate::error::{LinkError, LinkErrorKind};
use crate::kind::OpenFloor;
use crate::{Address, Link};
use std::time::Duration;
use wiregauge_record::LinkOptions;

/// There is no echo on this same host.
pub const FLOOR: Option<OpenFloor> = None;

/// Refuses a Unix socket.
pub fn open(
    address: &Address,
    _options: &LinkOptions,
    _timeout: Duration,
    _is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        format!("cannot connect to {address}"),
        "Unix sockets need Linux or macOS",
    )
    .hint("use TCP, such as tcp://127.0.0.1:7700"))
}
