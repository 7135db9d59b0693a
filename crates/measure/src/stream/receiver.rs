//! The thread that receives: the data of a source, and every answer to an order.

use super::coordination::Coordination;
use super::rows::{Row, Rows};
use std::io;
use std::time::Duration;
use wiregauge_link::host::{Helper, thread_cpu_ns};
use wiregauge_link::{Flow, PATIENCE};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::TransferStatus;
use wiregauge_session::stream::{self, StreamReceiver};

/// What the receiver works with.
pub struct Receive<'a, 'b> {
    /// What the two threads share.
    pub shared: &'a Coordination<'b>,
    /// The device, for messages.
    pub address: &'a str,
    /// Bytes asked for with each transfer.
    pub transfer_bytes: usize,
    /// Transfers kept pending.
    pub queue: usize,
    /// Where its rows go; `None` where no data is expected, only answers.
    pub rows: Option<Rows<'a>>,
    /// Tells data from answers, and counts the data.
    pub engine: StreamReceiver,
    /// Compare every byte with the pattern.
    pub check: bool,
    /// Without a completed transfer for so long, the link has failed.
    pub timeout: Duration,
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
}

impl Receive<'_, '_> {
    /// Receives until nothing more is expected or something fails.
    pub fn run(mut self, flow: &mut dyn Flow) -> Received {
        if let Err(error) = self.flow_in(flow) {
            let doing = format!("cannot receive from {}", self.address);
            self.shared.fail(LinkError::from_io(doing, &error));
        }
        // What an unplugged device leaves pending cannot be had.
        let _ = flow.cancel(&mut |bytes| {
            self.take(bytes);
        });
        let used = || thread_cpu_ns() + flow.helper_cpu_ns();
        Received {
            stream: self.engine.finish(),
            cpu_ns: self.rows.as_ref().map_or(0, |rows| rows.cpu_ns(used)),
            transfers: self.rows.as_ref().map_or(0, Rows::count),
            measured: self.rows.as_ref().map_or(0, Rows::measured),
        }
    }

    /// Takes what was received; returns how much of it was data.
    #[inline]
    fn take(&mut self, bytes: &[u8]) -> usize {
        let shared = self.shared;
        let only_data = !self.check && shared.began_ns().is_some() && !shared.is_ending();
        self.engine
            .take(bytes, only_data, &mut |heard| shared.deliver(heard))
    }

    fn flow_in(&mut self, flow: &mut dyn Flow) -> io::Result<()> {
        let (shared, address, timeout) = (self.shared, self.address, self.timeout);
        let timeout_ns = timeout.as_nanos() as u64;
        let has_rows = self.rows.is_some();
        let submitted = vec![(0, 0); self.queue];
        let mut queue = Queue {
            to: self,
            thread: Helper::caller(),
            submitted,
            next: 0,
            oldest: 0,
            last_ns: 0,
        };
        loop {
            let mut lent_step = Ok(Step::None);
            let lent = flow.lend(PATIENCE, &mut |flow| {
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
            let at_most = if lent { Duration::ZERO } else { PATIENCE };
            match queue.step(flow, at_most)? {
                Step::Taken => {}
                Step::Over => break,
                Step::None => {
                    let now = shared.clock.now();
                    if let (true, Some(began_ns)) = (has_rows, shared.began_ns()) {
                        let since = now.saturating_sub(queue.last_ns.max(began_ns));
                        if since > timeout_ns && !shared.is_ending() && !shared.is_stopped() {
                            shared.fail(silent(address, timeout, "the device sent nothing"));
                        }
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
    /// When each of the pending ones was submitted, and how many pended then.
    submitted: Vec<(u64, u32)>,
    next: usize,
    oldest: usize,
    last_ns: u64,
}

impl Queue<'_, '_, '_> {
    /// Fills the queue and takes the oldest one if it is over within the time.
    #[inline]
    fn step(&mut self, flow: &mut dyn Flow, at_most: Duration) -> io::Result<Step> {
        let shared = self.to.shared;
        if shared.is_done() || shared.is_failed() {
            return Ok(Step::Over);
        }
        while flow.pending() < self.to.queue {
            let submit_ns = shared.clock.now();
            flow.submit(self.to.transfer_bytes, self.to.timeout, &mut |_| {})?;
            self.submitted[self.next] = (submit_ns, flow.pending() as u32);
            self.next = (self.next + 1) % self.to.queue;
        }
        let (mut complete_ns, mut stream) = (0, 0);
        let completed = flow.complete(at_most, &mut |bytes| {
            complete_ns = shared.clock.now();
            stream = self.to.take(bytes);
        })?;
        let Some(completed) = completed else {
            return Ok(Step::None);
        };
        if complete_ns == 0 {
            complete_ns = shared.clock.now();
        }
        let (submit_ns, pending) = self.oldest();
        self.last_ns = complete_ns;
        shared.received(complete_ns);
        let (Some(rows), Some(began_ns)) = (&mut self.to.rows, shared.began_ns()) else {
            return Ok(Step::Taken);
        };
        if stream == 0 && !completed.stalled {
            return Ok(Step::Taken);
        }
        let row = Row {
            submit_ns: submit_ns.saturating_sub(began_ns),
            complete_ns: complete_ns.saturating_sub(began_ns),
            bytes: stream as u32,
            pending,
            status: if completed.stalled {
                TransferStatus::Stalled
            } else {
                TransferStatus::Ok
            },
        };
        rows.push(row, || self.thread.cpu_ns() + flow.helper_cpu_ns());
        Ok(Step::Taken)
    }

    /// A queue of transfers that last long pended for much of the measured time.
    fn give_up(&mut self, flow: &dyn Flow) {
        let shared = self.to.shared;
        let now = shared.clock.now();
        let Some(began_ns) = shared.began_ns() else {
            return;
        };
        for _ in 0..flow.pending() {
            let (submit_ns, pending) = self.oldest();
            let row = Row {
                submit_ns: submit_ns.saturating_sub(began_ns),
                complete_ns: now.saturating_sub(began_ns),
                bytes: 0,
                pending,
                status: TransferStatus::Cancelled,
            };
            if let Some(rows) = &mut self.to.rows {
                rows.push_cancelled(row, || self.thread.cpu_ns() + flow.helper_cpu_ns());
            }
        }
    }

    fn oldest(&mut self) -> (u64, u32) {
        let oldest = self.submitted[self.oldest];
        self.oldest = (self.oldest + 1) % self.to.queue;
        oldest
    }
}

/// The error of a link on which nothing moves.
pub fn silent(address: &str, timeout: Duration, what: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Timeout,
        format!("cannot stream with {address}"),
        format!("{what} for {timeout:?}"),
    )
    .hint("use a longer --timeout, or smaller transfers")
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
