//! The thread that receives: the data of a source, and every answer to an order.

use super::coordination::Coordination;
use super::recording::{Tap, Tapped};
use super::rows::Rows;
use super::sender::explain;
use std::io;
use std::time::Duration;
use wiregauge_link::host::{Helper, thread_cpu_ns};
use wiregauge_link::{Flow, MAX_WAIT};
use wiregauge_session::stream::{self, ReceiverNext, StreamReceiver};

/// What the receiver works with.
pub struct Receive<'a, 'b> {
    /// What the two threads share.
    pub shared: &'a Coordination<'b>,
    /// The device, for messages.
    pub address: &'a str,
    /// Bytes asked for with each transfer.
    pub transfer_bytes: usize,
    /// Where its rows go; `None` where no data is expected, only answers.
    pub rows: Option<Rows<'a>>,
    /// Tells data from answers, and counts the data.
    pub engine: StreamReceiver,
    /// Where submitting may have to wait for the system: for how long at most.
    pub timeout: Duration,
    /// The device may end the stream by closing the link.
    pub may_end: bool,
    /// Where the data itself goes, if it is recorded.
    pub tap: Option<Tap<'a, 'b>>,
}

/// What it leaves behind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    /// The bytes of the stream.
    pub stream: stream::Received,
    /// Processor time of the measured part.
    pub cpu_ns: u64,
    /// Transfers with data.
    pub transfers: u64,
    /// Those of them within the measured part.
    pub measured: u64,
    /// The device closed the link.
    pub closed: bool,
    /// What was recorded.
    pub tapped: Option<Tapped>,
}

impl Receive<'_, '_> {
    /// Receives until nothing more is expected or something fails.
    pub fn run(mut self, flow: &mut dyn Flow) -> Received {
        if self.may_end {
            // A device that nobody orders may send all it has before the sender begins.
            self.shared.begin();
        }
        let result = self.flow_in(flow);
        let is_end = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
        let closed = self.may_end && result.as_ref().is_err_and(is_end);
        if closed {
            self.shared.enough();
        } else if let Err(error) = result {
            let doing = format!("cannot receive from {}", self.address);
            self.shared.fail_io(doing, &error);
        }
        // What an unplugged device leaves pending cannot be had.
        let _ = flow.cancel(&mut |bytes| {
            self.take(bytes);
        });
        self.engine.flush(&mut self.tap);
        let used = || thread_cpu_ns() + flow.helper_cpu_ns();
        Received {
            stream: self.engine.finish(),
            cpu_ns: self.rows.as_ref().map_or(0, |rows| rows.cpu_ns(used)),
            transfers: self.rows.as_ref().map_or(0, Rows::count),
            measured: self.rows.as_ref().map_or(0, Rows::measured),
            closed,
            tapped: self.tap.as_ref().map(Tap::tapped),
        }
    }

    /// Takes what was received; returns how much of it was data.
    #[inline]
    fn take(&mut self, bytes: &[u8]) -> usize {
        let shared = self.shared;
        let mut heard = |heard| shared.deliver(heard);
        self.engine
            .take_to(bytes, shared, &mut heard, &mut self.tap)
    }

    fn flow_in(&mut self, flow: &mut dyn Flow) -> io::Result<()> {
        let (shared, address) = (self.shared, self.address);
        let mut queue = Queue {
            to: self,
            thread: Helper::caller(),
        };
        loop {
            let mut lent_step = Ok(Step::None);
            let lent = flow.lend(MAX_WAIT, &mut |flow| {
                loop {
                    lent_step = queue.step(flow, Duration::ZERO);
                    match lent_step {
                        Ok(Step::Taken) => {}
                        Ok(Step::None) => return true,
                        Ok(Step::Over) | Err(_) => return false,
                    }
                }
            });
            lent_step?;
            let at_most = if lent { Duration::ZERO } else { MAX_WAIT };
            match queue.step(flow, at_most)? {
                Step::Taken => {}
                Step::Over => break,
                Step::None => {
                    if let Some(failure) = queue.to.engine.failure(shared.clock.now(), shared) {
                        shared.fail(explain(address, &failure));
                    }
                }
            }
        }
        queue.give_up(flow);
        Ok(())
    }
}

/// What one look at the queue came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A transfer that was over.
    Taken,
    /// None was.
    None,
    /// Nothing more is expected.
    Over,
}

/// The transfers under way. Not always the same thread takes them ([`Flow::lend`]).
struct Queue<'q, 'a, 'b> {
    to: &'q mut Receive<'a, 'b>,
    /// The thread that receives, whoever works for it.
    thread: Helper,
}

impl Queue<'_, '_, '_> {
    /// Fills the queue and takes the oldest one if it is over within the time.
    #[inline]
    fn step(&mut self, flow: &mut dyn Flow, at_most: Duration) -> io::Result<Step> {
        let shared = self.to.shared;
        loop {
            match self.to.engine.next(shared) {
                ReceiverNext::Submit => {
                    let submit_ns = shared.clock.now();
                    flow.submit(self.to.transfer_bytes, self.to.timeout, &mut |_| {})?;
                    self.to.engine.submitted(submit_ns);
                }
                ReceiverNext::Complete => break,
                ReceiverNext::Done => return Ok(Step::Over),
            }
        }
        let (mut complete_ns, mut data) = (0, 0);
        // Isochronous transfers give the bytes of each packet.
        let completed = flow.complete(at_most, &mut |bytes| {
            if complete_ns == 0 {
                complete_ns = shared.clock.now();
            }
            data += self.to.take(bytes);
        })?;
        let Some(completed) = completed else {
            return Ok(Step::None);
        };
        if complete_ns == 0 {
            complete_ns = shared.clock.now();
        }
        let engine = &mut self.to.engine;
        let row = engine.completed(complete_ns, data, completed.stalled, shared);
        if let (Some(rows), Some(row)) = (&mut self.to.rows, row) {
            rows.push(row, || self.thread.cpu_ns() + flow.helper_cpu_ns());
        }
        Ok(Step::Taken)
    }

    fn give_up(&mut self, flow: &dyn Flow) {
        let shared = self.to.shared;
        let now = shared.clock.now();
        while let Some(row) = self.to.engine.given_up(now, shared) {
            if let Some(rows) = &mut self.to.rows {
                rows.push_cancelled(row, || self.thread.cpu_ns() + flow.helper_cpu_ns());
            }
        }
    }
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
