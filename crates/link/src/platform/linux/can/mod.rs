//! A CAN node through SocketCAN.

mod errors;
mod interface;
mod link;
mod load;
mod open_error;
mod system;

pub use interface::interfaces;

use crate::can::check_options;
use crate::error::LinkError;
use crate::{Address, Link};
use std::time::Duration;
use wiregauge_record::LinkOptions;

/// Opens a link to an interface.
pub fn open(
    address: &Address,
    options: &LinkOptions,
    _timeout: Duration,
    _is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    let options = check_options(address, options)?;
    let opened = link::CanLink::open(address.rest(), options);
    let link = opened.map_err(|error| errors::explain(address, &options, &error))?;
    Ok(Box::new(link))
}
