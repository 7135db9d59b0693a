//! The thread that receives: the data of a source, and every answer to an order.

use super::rows::{Row, Rows};
use super::talk::{Answer, Talk};
use crate::error::{LinkError, LinkErrorKind};
use crate::host::{Helper, thread_cpu_ns};
use crate::link::{Flow, ORDER_BYTES, PATIENCE};
use std::io;
use std::time::Duration;
use wiregauge_record::TransferStatus;
use wiregauge_wire::{
    Header, Response, STREAM_FRAME, StreamChecker, StreamCounts, StreamReport, Taken,
};

/// What the receiver is told.
pub struct Receive<'a, 'b> {
    /// What the two threads share.
    pub talk: &'a Talk<'b>,
    /// The device, for messages.
    pub address: &'a str,
    /// Bytes asked for with each transfer.
    pub transfer_bytes: usize,
    /// Transfers kept pending.
    pub queue: usize,
    /// Where its rows go; `None` where no data is expected, only answers.
    pub rows: Option<Rows<'a>>,
    /// Compare every byte with the pattern.
    pub check: bool,
    /// Each transfer is one message.
    pub datagram: bool,
    /// Without a completed transfer for so long, the link has failed.
    pub timeout: Duration,
}

/// What it leaves behind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    /// Bytes of the stream.
    pub bytes: u64,
    /// What the check says of them; `None` without a check.
    pub counts: Option<StreamCounts>,
    /// The strays at the end of it, and how many of them are wrong if all stand in their place.
    pub tail: (u64, u64),
    /// Processor time of the measured part.
    pub cpu_ns: u64,
    /// Transfers with data.
    pub transfers: u64,
    /// Those of them within the measured part.
    pub measured: u64,
}

impl<'a, 'b> Receive<'a, 'b> {
    /// Receives until nothing more is expected or something fails.
    pub fn run(mut self, flow: &mut dyn Flow) -> Received {
        let mut sorter = Sorter::new(self.talk, self.check, self.datagram);
        if let Err(error) = self.flow_in(flow, &mut sorter) {
            let doing = format!("receiving from {}", self.address);
            self.talk.fail(LinkError::from_io(doing, &error));
        }
        // What an unplugged device leaves pending cannot be had.
        let _ = flow.cancel(&mut |bytes| {
            sorter.take(bytes);
        });
        let used = || thread_cpu_ns() + flow.helper_cpu_ns();
        let cpu_ns = self.rows.as_ref().map_or(0, |rows| rows.cpu_ns(used));
        let tail = sorter.checker.tail();
        let (bytes, counts) = sorter.finish();
        Received {
            bytes,
            counts: self.check.then_some(counts),
            tail,
            cpu_ns,
            transfers: self.rows.as_ref().map_or(0, Rows::count),
            measured: self.rows.as_ref().map_or(0, Rows::measured),
        }
    }

    fn flow_in(&mut self, flow: &mut dyn Flow, sorter: &mut Sorter<'a, 'b>) -> io::Result<()> {
        let (talk, address, timeout) = (self.talk, self.address, self.timeout);
        let timeout_ns = timeout.as_nanos() as u64;
        let has_rows = self.rows.is_some();
        let submitted = vec![(0, 0); self.queue];
        let mut queue = Queue {
            to: self,
            sorter,
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
                    let now = talk.clock.now();
                    if let (true, Some(gone_ns)) = (has_rows, talk.gone_ns()) {
                        let since = now.saturating_sub(queue.last_ns.max(gone_ns));
                        if since > timeout_ns && !talk.is_ending() && !talk.halted() {
                            talk.fail(silent(address, timeout, "it sent nothing"));
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
    sorter: &'q mut Sorter<'a, 'b>,
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
        let talk = self.to.talk;
        if talk.is_done() || talk.is_broken() {
            return Ok(Step::Over);
        }
        while flow.pending() < self.to.queue {
            let submit_ns = talk.clock.now();
            flow.submit(self.to.transfer_bytes, self.to.timeout, &mut |_| {})?;
            self.submitted[self.next] = (submit_ns, flow.pending() as u32);
            self.next = (self.next + 1) % self.to.queue;
        }
        let (mut complete_ns, mut stream) = (0, 0);
        let completed = flow.complete(at_most, &mut |bytes| {
            complete_ns = talk.clock.now();
            stream = self.sorter.take(bytes);
        })?;
        let Some(completed) = completed else {
            return Ok(Step::None);
        };
        if complete_ns == 0 {
            complete_ns = talk.clock.now();
        }
        let (submit_ns, pending) = self.oldest();
        self.last_ns = complete_ns;
        talk.heard(complete_ns);
        let (Some(rows), Some(gone_ns)) = (&mut self.to.rows, talk.gone_ns()) else {
            return Ok(Step::Taken);
        };
        if stream == 0 && !completed.stalled {
            return Ok(Step::Taken);
        }
        let row = Row {
            submit_ns: submit_ns.saturating_sub(gone_ns),
            complete_ns: complete_ns.saturating_sub(gone_ns),
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
        let talk = self.to.talk;
        let now = talk.clock.now();
        let Some(gone_ns) = talk.gone_ns() else {
            return;
        };
        for _ in 0..flow.pending() {
            let (submit_ns, pending) = self.oldest();
            let row = Row {
                submit_ns: submit_ns.saturating_sub(gone_ns),
                complete_ns: now.saturating_sub(gone_ns),
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
        LinkErrorKind::Silent,
        format!("streaming with {address}"),
        format!("{what} for {timeout:?}"),
    )
    .hint("a longer --timeout if the link is that slow, or smaller transfers")
}

/// Tells data from answers, and counts the data.
struct Sorter<'a, 'b> {
    talk: &'a Talk<'b>,
    checker: StreamChecker,
    check: bool,
    datagram: bool,
    /// Bytes of the stream that were counted, but not checked.
    unchecked: u64,
    /// An answer whose payload is not complete.
    frame: Option<Frame>,
}

struct Frame {
    header: Response,
    payload: [u8; STREAM_FRAME],
    there: usize,
}

impl<'a, 'b> Sorter<'a, 'b> {
    fn new(talk: &'a Talk<'b>, check: bool, datagram: bool) -> Sorter<'a, 'b> {
        Sorter {
            talk,
            checker: StreamChecker::new(),
            check,
            datagram,
            unchecked: 0,
            frame: None,
        }
    }

    /// Takes what was received; returns how much of it was data.
    #[inline]
    fn take(&mut self, bytes: &[u8]) -> usize {
        if self.datagram
            && bytes.len() <= ORDER_BYTES
            && let Some((header, payload)) = whole_frame(bytes)
        {
            self.deliver(header, payload);
            return 0;
        }
        let gone = self.talk.gone_ns().is_some();
        if !self.check && gone && !self.talk.is_ending() {
            self.unchecked += bytes.len() as u64;
            return bytes.len();
        }
        self.sort(bytes)
    }

    /// An answer whose header is cut in two is data at first; the check's own count knows better, so
    /// that only a row near the end may tell a few bytes too many.
    fn sort(&mut self, mut bytes: &[u8]) -> usize {
        let mut data = 0;
        while !bytes.is_empty() {
            if let Some(frame) = &mut self.frame {
                let wanted = frame.header.payload_len() - frame.there;
                let (own, rest) = bytes.split_at(wanted.min(bytes.len()));
                frame.payload[frame.there..frame.there + own.len()].copy_from_slice(own);
                frame.there += own.len();
                bytes = rest;
                self.deliver_if_whole();
                continue;
            }
            match self.checker.take::<Response>(bytes) {
                Taken::All => {
                    data += bytes.len();
                    break;
                }
                Taken::Frame { header, used } => {
                    data += used.saturating_sub(Response::SIZE);
                    bytes = &bytes[used..];
                    self.frame = Some(Frame {
                        header,
                        payload: [0; STREAM_FRAME],
                        there: 0,
                    });
                    self.deliver_if_whole();
                }
            }
        }
        data
    }

    fn deliver_if_whole(&mut self) {
        if let Some(frame) = self
            .frame
            .take_if(|frame| frame.there == frame.header.payload_len())
        {
            self.deliver(frame.header, &frame.payload[..frame.there]);
        }
    }

    fn deliver(&self, header: Response, payload: &[u8]) {
        let report = StreamReport::decode(payload);
        self.talk.deliver(Answer { header, report });
    }

    fn finish(mut self) -> (u64, StreamCounts) {
        let counts = self.checker.finish();
        (self.unchecked + counts.received, counts)
    }
}

/// A datagram that is one frame and nothing else.
fn whole_frame(bytes: &[u8]) -> Option<(Response, &[u8])> {
    let header = Response::decode(bytes).ok()?;
    let payload = &bytes[Response::SIZE..];
    (payload.len() == header.payload_len()).then_some((header, payload))
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
