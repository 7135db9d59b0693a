//! Flows over a descriptor: a transfer is one write or one read, and the system queues by itself.
//! Both directions use the link at once, so nothing here changes it.

use super::flow::{Completed, Flow, FlowShape, Flows, ORDER_BYTES};
use super::waiting::MAX_WAIT;
use std::io;
use std::time::{Duration, Instant};

pub use super::waiting::Ready;

/// What a flow needs of a link, from two threads at once.
pub trait Ends: Sync {
    /// True if each transfer is one message that arrives whole or not at all.
    const DATAGRAM: bool;

    /// Hands over as many bytes as the system takes now; 0 if it takes none.
    fn put(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Receives without waiting; 0 if there is nothing.
    fn get(&self, into: &mut [u8]) -> io::Result<usize>;

    /// Receives, sleeping in the call for [`MAX_WAIT`] at most; then 0.
    fn get_patiently(&self, into: &mut [u8]) -> io::Result<usize>;

    /// Sleeps until the link is ready for it, at most so long.
    fn wait(&self, for_what: Ready, at_most: Duration) -> io::Result<()>;
}

/// Both directions of a link over a descriptor.
pub fn flows<E: Ends>(ends: &E, shape: FlowShape) -> io::Result<Flows<'_>> {
    if shape.queue != 1 {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "over a socket or a tty a transfer is one write or one read: the system queues by itself",
        ));
    }
    let buffer = || vec![0xff; shape.transfer_bytes.max(ORDER_BYTES)];
    Ok(Flows {
        out: Box::new(Out {
            ends,
            buffer: buffer(),
            bytes: 0,
            put: 0,
            pending: false,
        }),
        in_: Box::new(In {
            ends,
            buffer: buffer(),
            bytes: 0,
            pending: false,
        }),
    })
}

/// Host to device.
struct Out<'a, E> {
    ends: &'a E,
    buffer: Vec<u8>,
    /// Of the transfer that pends.
    bytes: usize,
    /// How much of it the system has taken.
    put: usize,
    pending: bool,
}

impl<E: Ends> Flow for Out<'_, E> {
    fn submit(
        &mut self,
        bytes: usize,
        _at_most: Duration,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()> {
        fill(&mut self.buffer[..bytes]);
        self.bytes = bytes;
        self.pending = true;
        self.put = 0;
        self.put = self.ends.put(&self.buffer[..bytes])?;
        Ok(())
    }

    fn complete(
        &mut self,
        at_most: Duration,
        _take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>> {
        if !self.pending {
            return Ok(None);
        }
        let mut begun = None;
        while self.put < self.bytes {
            let waited = begun.get_or_insert_with(Instant::now).elapsed();
            if waited >= at_most {
                return Ok(None);
            }
            self.ends.wait(Ready::Writable, at_most - waited)?;
            self.put += self.ends.put(&self.buffer[self.put..self.bytes])?;
        }
        self.pending = false;
        Ok(Some(Completed {
            bytes: self.bytes,
            stalled: false,
        }))
    }

    fn pending(&self) -> usize {
        usize::from(self.pending)
    }

    fn cancel(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        if self.pending && self.put > 0 {
            take(&self.buffer[..self.put]);
        }
        self.pending = false;
        Ok(())
    }
}

/// Device to host.
struct In<'a, E> {
    ends: &'a E,
    buffer: Vec<u8>,
    /// How many the transfer that pends asks for.
    bytes: usize,
    pending: bool,
}

impl<E: Ends> Flow for In<'_, E> {
    fn submit(
        &mut self,
        bytes: usize,
        _at_most: Duration,
        _fill: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()> {
        // A message that is longer than its buffer is cut off, and an answer to an order may be
        // longer than the transfers.
        self.bytes = if E::DATAGRAM {
            self.buffer.len()
        } else {
            bytes
        };
        self.pending = true;
        Ok(())
    }

    fn complete(
        &mut self,
        at_most: Duration,
        take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>> {
        if !self.pending {
            return Ok(None);
        }
        let into = &mut self.buffer[..self.bytes];
        let mut bytes = if at_most >= MAX_WAIT {
            self.ends.get_patiently(into)?
        } else {
            self.ends.get(into)?
        };
        if bytes == 0 && at_most < MAX_WAIT {
            self.ends.wait(Ready::Readable, at_most)?;
            bytes = self.ends.get(into)?;
        }
        if bytes == 0 {
            return Ok(None);
        }
        self.pending = false;
        take(&self.buffer[..bytes]);
        Ok(Some(Completed {
            bytes,
            stalled: false,
        }))
    }

    fn pending(&self) -> usize {
        usize::from(self.pending)
    }

    fn cancel(&mut self, _take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.pending = false;
        Ok(())
    }
}
