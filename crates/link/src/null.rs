//! No link at all: what is sent can be received at once. Measures the tool's own overhead.

use super::{Completed, Flow, FlowShape, Flows, Kind, Link, ORDER_BYTES};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

const CAPACITY: usize = 4 << 20;

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "null",
    about: "no device: measures the overhead of wiregauge itself (echo and stream)",
    example: "null://",
    datagram: false,
    max_bytes: CAPACITY as u32,
    check: |rest| {
        if rest.is_empty() {
            Ok(())
        } else {
            Err("null:// takes no address".into())
        }
    },
    open: |_, _, _, _| Ok(Box::new(Null::new())),
    floor: None,
    helped: false,
    separate: false,
    one_request: None,
    no_stream: None,
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

    fn set_receive_timeout(&mut self, _timeout: Option<Duration>) -> io::Result<bool> {
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

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        Ok(())
    }

    fn flows(&mut self, shape: FlowShape) -> io::Result<Flows<'_>> {
        Ok(Flows {
            out: Box::new(Swallow(Places::new(shape))),
            in_: Box::new(Yield {
                places: Places::new(shape),
                position: 0,
            }),
        })
    }

    fn has_device(&self) -> bool {
        false
    }
}

/// Transfers that pend: nothing but their sizes, and one buffer for all.
struct Places {
    buffer: Vec<u8>,
    sizes: VecDeque<usize>,
}

impl Places {
    fn new(shape: FlowShape) -> Places {
        Places {
            buffer: vec![0xff; shape.transfer_bytes.max(ORDER_BYTES)],
            sizes: VecDeque::with_capacity(shape.queue),
        }
    }
}

/// Host to nowhere.
struct Swallow(Places);

impl Flow for Swallow {
    fn submit(
        &mut self,
        bytes: usize,
        _at_most: Duration,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()> {
        fill(&mut self.0.buffer[..bytes]);
        self.0.sizes.push_back(bytes);
        Ok(())
    }

    fn complete(
        &mut self,
        _at_most: Duration,
        _take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>> {
        let bytes = self.0.sizes.pop_front();
        Ok(bytes.map(|bytes| Completed {
            bytes,
            stalled: false,
        }))
    }

    fn pending(&self) -> usize {
        self.0.sizes.len()
    }

    fn cancel(&mut self, _take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.0.sizes.clear();
        Ok(())
    }
}

/// The pattern, as fast as it can be made.
struct Yield {
    places: Places,
    position: u64,
}

impl Flow for Yield {
    fn submit(
        &mut self,
        bytes: usize,
        _at_most: Duration,
        _fill: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()> {
        self.places.sizes.push_back(bytes);
        Ok(())
    }

    fn complete(
        &mut self,
        _at_most: Duration,
        take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>> {
        let Some(bytes) = self.places.sizes.pop_front() else {
            return Ok(None);
        };
        let buffer = &mut self.places.buffer[..bytes];
        wiregauge_wire::fill_stream(self.position, buffer);
        self.position += bytes as u64;
        take(buffer);
        Ok(Some(Completed {
            bytes,
            stalled: false,
        }))
    }

    fn pending(&self) -> usize {
        self.places.sizes.len()
    }

    fn cancel(&mut self, _take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.places.sizes.clear();
        Ok(())
    }
}
