//! Where a command writes, and what ends it.

use crate::platform::raise_on_ctrl_c;
use anyhow::Context;
use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Receives what a command writes, and ends it.
pub trait Console: Sync {
    /// Where results go whose bytes count.
    fn bytes(&self) -> Box<dyn Write + '_>;

    /// Where remarks go that are no results: notes, warnings, who connected.
    fn remarks(&self) -> Box<dyn Write + '_>;

    /// The flag that ends the command.
    fn stop(&self) -> anyhow::Result<Arc<AtomicBool>>;

    /// A responder answers at this address.
    fn serving(&self, _address: &str) {}
}

/// Standard output and standard error; Ctrl-C ends the command.
#[derive(Default)]
pub struct Streams {
    stop: OnceLock<Arc<AtomicBool>>,
}

impl Console for Streams {
    fn bytes(&self) -> Box<dyn Write + '_> {
        Box::new(std::io::stdout().lock())
    }

    fn remarks(&self) -> Box<dyn Write + '_> {
        Box::new(anstream::stderr())
    }

    /// A flag that Ctrl-C raises. The second Ctrl-C ends the program at once, should it hang.
    fn stop(&self) -> anyhow::Result<Arc<AtomicBool>> {
        if let Some(stop) = self.stop.get() {
            return Ok(Arc::clone(stop));
        }
        let stop = Arc::new(AtomicBool::new(false));
        raise_on_ctrl_c(&stop).context("cannot install the handler for Ctrl-C")?;
        Ok(Arc::clone(self.stop.get_or_init(|| stop)))
    }
}
