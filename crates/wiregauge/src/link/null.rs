//! No link at all: what is sent can be received at once. Measures the tool's own overhead.

use super::{Address, Kind, Link};
use crate::error::LinkError;
use std::io;
use std::time::Duration;
use wiregauge_record::LinkOptions;

const CAPACITY: usize = 4 << 20;

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "null",
    about: "no device: measures wiregauge's own overhead (echo only)",
    example: "null://",
    datagram: false,
    max_bytes: CAPACITY as u32,
    check: |rest| {
        if rest.is_empty() {
            Ok(())
        } else {
            Err("nothing follows null://".into())
        }
    },
    open: |_: &Address, _: &LinkOptions, _: Duration| -> Result<Box<dyn Link>, LinkError> {
        Ok(Box::new(Null::new()))
    },
    floor: None,
    helped: false,
};

struct Null {
    bytes: Vec<u8>,
    taken: usize,
}

impl Null {
    fn new() -> Null {
        Null {
            bytes: Vec::with_capacity(CAPACITY),
            taken: 0,
        }
    }
}

impl Link for Null {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(CAPACITY - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..fits]);
        Ok(fits)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = &self.bytes[self.taken..];
        let count = left.len().min(into.len());
        into[..count].copy_from_slice(&left[..count]);
        self.taken += count;
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        }
        Ok(count)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.receive(into)
    }

    fn set_patience(&mut self, _patience: Option<Duration>) -> io::Result<bool> {
        Ok(true)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        if self.bytes.is_empty() && !or_writable {
            std::thread::sleep(at_most);
        }
        Ok(())
    }

    fn close(&mut self) {
        self.bytes.clear();
        self.taken = 0;
    }

    fn reopen(&mut self) -> io::Result<()> {
        Ok(())
    }
}
