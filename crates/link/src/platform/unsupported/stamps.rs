//! Time stamps of the kernel: SO_TIMESTAMPING is Linux's.

use crate::platform::socket::Channel;
use std::convert::Infallible;
use std::io;

/// There are none.
pub struct Stamps(Infallible);

impl Stamps {
    /// Cannot be called.
    pub fn take(&mut self, _to: impl FnMut(bool, u64, u32)) {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn clock_set(&self) -> u64 {
        match self.0 {}
    }
}

/// There is none.
pub struct Stamper(Infallible);

impl Stamper {
    /// Refuses.
    pub fn new(_stream: bool) -> io::Result<(Stamper, Stamps)> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "time stamps of the kernel need Linux (SO_TIMESTAMPING)",
        ))
    }

    /// Cannot be called.
    pub fn begin(&mut self, _channel: &Channel) -> io::Result<()> {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn sent(&mut self, _bytes: usize) {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn receive(
        &mut self,
        _channel: &Channel,
        _into: &mut [u8],
        _wait: bool,
    ) -> io::Result<Option<usize>> {
        match self.0 {}
    }
}
