//! Pseudo-terminals: Windows has none for serial ports.

use crate::Link;
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The master of a pseudo-terminal, which Windows does not have.
pub struct PtyMaster(Infallible);

impl PtyMaster {
    /// Refuses.
    pub fn open() -> io::Result<PtyMaster> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "Windows has no pseudo-terminals for serial ports; use a pair of virtual COM ports (com0com)",
        ))
    }

    /// Cannot be called.
    pub fn path(&self) -> &Path {
        match self.0 {}
    }
}

impl Link for PtyMaster {
    fn send(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn receive(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn receive_blocking(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn set_receive_timeout(&mut self, _timeout: Option<Duration>) -> io::Result<bool> {
        match self.0 {}
    }

    fn wait(&mut self, _or_writable: bool, _at_most: Duration) -> io::Result<()> {
        match self.0 {}
    }

    fn close(&mut self) {
        match self.0 {}
    }

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        match self.0 {}
    }
}
