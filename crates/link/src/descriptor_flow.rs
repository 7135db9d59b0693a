//! Flows over a descriptor: a transfer is one write or one read, and the system queues by itself.
//! Both directions use the link at once, so nothing here changes it.

use super::MAX_WAIT;
use super::flow::{Completed, Flow, FlowShape, Flows, ORDER_BYTES};
use std::io;
use std::time::{Duration, Instant};

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// There is something to receive.
    Readable,
    /// More can be sent.
    Writable,
    /// One of both.
    Either,
}

impl Ready {
    /// Something to receive, or (with `or_writable`) that more can be sent.
    #[inline]
    pub fn readable_or(or_writable: bool) -> Ready {
        match or_writable {
            true => Ready::Either,
            false => Ready::Readable,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, accepted};
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    const SHAPE: FlowShape = FlowShape {
        transfer_bytes: 1 << 20,
        queue: 1,
    };

    #[test]
    fn more_than_one_transfer_at_once_is_refused_with_the_reason() {
        let (near, _far) = UnixStream::pair().unwrap();
        let mut link = accepted(near.into()).unwrap();
        let error = link.flows(FlowShape { queue: 2, ..SHAPE }).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        assert!(error.to_string().contains("queues by itself"), "{error}");
    }

    #[test]
    fn a_transfer_that_the_system_does_not_take_at_once_completes_when_the_device_reads() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut link = accepted(near.into()).unwrap();
        let mut flows = link.flows(SHAPE).unwrap();
        let size = 1 << 20;
        flows
            .out
            .submit(size, MAX_WAIT, &mut |to| to.fill(7))
            .unwrap();
        let early = flows.out.complete(Duration::from_millis(5), &mut |_| {});
        assert_eq!(early.unwrap(), None, "a socket holds less than this");
        assert_eq!(flows.out.pending(), 1);
        let reader = std::thread::spawn(move || {
            let mut all = vec![0; size];
            far.read_exact(&mut all).unwrap();
            all
        });
        let done = flows
            .out
            .complete(Duration::from_secs(20), &mut |_| {})
            .unwrap();
        assert_eq!(done.map(|done| done.bytes), Some(size));
        assert!(reader.join().unwrap().iter().all(|&byte| byte == 7));
    }

    #[test]
    fn what_a_cancelled_transfer_had_handed_over_is_reported() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut link = accepted(near.into()).unwrap();
        let mut flows = link.flows(SHAPE).unwrap();
        flows
            .out
            .submit(1 << 20, MAX_WAIT, &mut |to| to.fill(7))
            .unwrap();
        let mut printed = 0;
        flows
            .out
            .cancel(&mut |bytes| printed = bytes.len())
            .unwrap();
        drop(flows);
        drop(link);
        let mut all = Vec::new();
        far.read_to_end(&mut all).unwrap();
        assert!(
            printed > 0 && printed == all.len(),
            "{printed} of {}",
            all.len()
        );
    }

    #[test]
    fn a_read_asks_for_no_more_than_the_transfer() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut link = accepted(near.into()).unwrap();
        let mut flows = link.flows(SHAPE).unwrap();
        far.write_all(b"abcdef").unwrap();
        let mut got = Vec::new();
        for _ in 0..3 {
            flows.in_.submit(2, MAX_WAIT, &mut |_| {}).unwrap();
            let done = flows
                .in_
                .complete(MAX_WAIT, &mut |bytes| got.extend_from_slice(bytes));
            assert_eq!(done.unwrap().map(|done| done.bytes), Some(2));
        }
        assert_eq!(got, b"abcdef");
        flows.in_.submit(2, MAX_WAIT, &mut |_| {}).unwrap();
        assert_eq!(flows.in_.complete(MAX_WAIT, &mut |_| {}).unwrap(), None);
    }
}
