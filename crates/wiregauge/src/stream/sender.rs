//! The thread that sends: the orders of a point, and the data of a sink.

use super::orders::{Order, Orders};
use super::receiver::silent;
use super::rows::{Row, Rows};
use super::talk::{Answer, Talk};
use crate::error::{LinkError, LinkErrorKind};
use crate::host::thread_cpu_ns;
use crate::link::{Flow, PATIENCE};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use wiregauge_record::{TransferStatus, Way};
use wiregauge_wire::{Status, StreamReport, fill_stream};

/// How often a datagram's order is given again until it is answered (docs/protocol.md).
const REPEAT: Duration = Duration::from_millis(100);

/// How often a source on datagrams is told that it is still wanted (docs/protocol.md).
const KEEP_ALIVE_NS: u64 = 2_000_000_000;

/// How long an interrupted or failed point tries to end the device's streams.
const SHORT: Duration = Duration::from_millis(1_000);

/// Times that an order is given to a device that goes on sending and does not answer. All of them may be
/// repeated (docs/protocol.md, States).
const TRIES: u32 = 3;

/// How much longer the answer to END may take while the device still works off what buffers on the
/// way hold: megabytes, where the system has them, and the device may be a slow one.
const BACKLOG: Duration = Duration::from_secs(30);

/// What the sender is told.
pub struct Send<'a, 'b> {
    /// What the two threads share.
    pub talk: &'a Talk<'b>,
    /// The device, for messages.
    pub address: &'a str,
    /// Its orders; `None` where there is no device to order.
    pub orders: Option<&'a Orders>,
    /// Bytes of each transfer.
    pub transfer_bytes: usize,
    /// Transfers kept pending.
    pub queue: usize,
    /// Where its rows go; `None` where nothing but orders is sent.
    pub rows: Option<Rows<'a>>,
    /// Each transfer is one message.
    pub datagram: bool,
    /// Without a completed transfer or an answer for so long, the link has failed.
    pub timeout: Duration,
    /// How long the stream lasts.
    pub lasts_ns: u64,
}

/// What it leaves behind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// Bytes of the stream handed over.
    pub bytes: u64,
    /// What the device reported of each way, IN first.
    pub reports: [Option<StreamReport>; 2],
    /// Processor time of the measured part.
    pub cpu_ns: u64,
    /// How long the stream lasted, in nanoseconds.
    pub lasted_ns: u64,
    /// Transfers with data.
    pub transfers: u64,
    /// Those of them within the measured part.
    pub measured: u64,
}

/// A transfer that pends.
#[derive(Clone, Copy)]
struct Pending {
    submit_ns: u64,
    pending: u32,
    /// Bytes of the stream; 0 for an order.
    bytes: u32,
}

/// A flow and what pends on it.
struct Pipe<'a> {
    flow: &'a mut dyn Flow,
    places: VecDeque<Pending>,
    position: u64,
    handed_over: u64,
    last_ns: u64,
}

impl Send<'_, '_> {
    /// Begins the streams, sends for as long as they last, ends them, and tells the receiver.
    pub fn run(mut self, flow: &mut dyn Flow) -> Sent {
        let mut pipe = Pipe {
            flow,
            places: VecDeque::with_capacity(self.queue + 1),
            position: 0,
            handed_over: 0,
            last_ns: 0,
        };
        let mut sent = Sent::default();
        if self.begin(&mut pipe) {
            if let Err(error) = self.stream(&mut pipe) {
                self.fail(&error);
            }
            let gone_ns = self.talk.gone_ns();
            sent.lasted_ns = gone_ns.map_or(0, |gone_ns| self.talk.clock.now() - gone_ns);
            self.drain(&mut pipe);
            self.end(&mut pipe, &mut sent);
        }
        let _ = pipe
            .flow
            .cancel(&mut |bytes| pipe.handed_over += bytes.len() as u64);
        self.talk.end();
        self.talk.finish();
        sent.bytes = pipe.handed_over;
        if let Some(rows) = &self.rows {
            sent.cpu_ns = rows.cpu_ns(|| thread_cpu_ns() + pipe.flow.helper_cpu_ns());
            sent.transfers = rows.count();
            sent.measured = rows.measured();
        }
        sent
    }

    fn fail(&self, error: &io::Error) {
        let doing = format!("sending to {}", self.address);
        self.talk.fail(LinkError::from_io(doing, error));
    }

    /// Orders the streams to begin; false if they did not.
    fn begin(&mut self, pipe: &mut Pipe<'_>) -> bool {
        let Some(orders) = self.orders else {
            self.talk.go();
            return true;
        };
        for order in &orders.starts {
            let answer = match self.ask(pipe, order, self.timeout) {
                Ok(answer) => answer,
                Err(error) => {
                    self.fail(&error);
                    return false;
                }
            };
            if self.talk.is_broken() || self.talk.halted() && answer.is_none() {
                return false;
            }
            match answer.map(|answer| answer.header.status) {
                Some(Status::Ok) => {}
                Some(status) => {
                    self.talk.fail(refused(self.address, order, status));
                    return false;
                }
                None => {
                    let what = format!("no answer to {}", order.name());
                    self.talk.fail(silent(self.address, self.timeout, &what));
                    return false;
                }
            }
        }
        true
    }

    /// Sends an order and waits for its answer.
    fn ask(
        &self,
        pipe: &mut Pipe<'_>,
        order: &Order,
        at_most: Duration,
    ) -> io::Result<Option<Answer>> {
        let talk = self.talk;
        let begun = talk.clock.now();
        let (mut given, mut given_ns) = (0, begun);
        loop {
            let now = talk.clock.now();
            // A device that goes on sending is heard all the time: an order that it lost must not wait for silence.
            let missed = now - given_ns > at_most.as_nanos() as u64;
            if missed && given >= TRIES {
                return Ok(None);
            }
            if given == 0 || self.datagram || missed {
                self.give(pipe, order)?;
            }
            if given == 0 || missed {
                (given, given_ns) = (given + 1, now);
            }
            while pipe.flow.pending() > 0 {
                pipe.complete(talk, REPEAT, None)?;
                if self.is_over(begun, at_most) {
                    return Ok(None);
                }
            }
            if let Some(answer) = talk.answer(order.sequence, REPEAT) {
                return Ok(Some(answer));
            }
            if self.is_over(begun, at_most) {
                return Ok(None);
            }
        }
    }

    /// True when an answer need not be waited for any longer: time counts from the order, or from
    /// the last sign of life of a device that still has to get there.
    fn is_over(&self, begun_ns: u64, at_most: Duration) -> bool {
        let now = self.talk.clock.now();
        let heard = match self.talk.halted() {
            true => begun_ns,
            false => self.talk.last_heard_ns().max(begun_ns),
        };
        let most = match self.talk.halted() {
            true => at_most.min(SHORT),
            false => at_most,
        };
        self.talk.is_broken() || now.saturating_sub(heard) > most.as_nanos() as u64
    }

    fn give(&self, pipe: &mut Pipe<'_>, order: &Order) -> io::Result<()> {
        let bytes = order.encode();
        let mut submit_ns = 0;
        pipe.flow.submit(bytes.len(), self.timeout, &mut |to| {
            to.copy_from_slice(&bytes);
            submit_ns = self.talk.clock.now();
        })?;
        pipe.places.push_back(Pending {
            submit_ns,
            pending: pipe.flow.pending() as u32,
            bytes: 0,
        });
        Ok(())
    }

    /// Sends data, or waits while only the device sends, until the time is over.
    fn stream(&mut self, pipe: &mut Pipe<'_>) -> io::Result<()> {
        let talk = self.talk;
        let Some(gone_ns) = talk.gone_ns() else {
            return Ok(());
        };
        let end_ns = gone_ns + self.lasts_ns;
        let timeout_ns = self.timeout.as_nanos() as u64;
        let source = self.orders.filter(|_| self.datagram);
        let source = source.and_then(|orders| orders.starts.iter().find(|o| o.way == Way::In));
        let mut keep_alive_ns = gone_ns + KEEP_ALIVE_NS;
        pipe.last_ns = gone_ns;
        while !(talk.halted() || talk.is_broken()) {
            let now = if self.rows.is_some() {
                self.send_some(pipe)?
            } else {
                let now = talk.clock.now();
                if now < end_ns {
                    talk.sleep(PATIENCE.min(Duration::from_nanos(end_ns - now)));
                }
                pipe.settle(talk)?;
                talk.clock.now()
            };
            if now >= end_ns {
                return Ok(());
            }
            if self.rows.is_some() && now.saturating_sub(pipe.last_ns) > timeout_ns {
                talk.fail(silent(
                    self.address,
                    self.timeout,
                    "it took no whole transfer",
                ));
            }
            if let Some(order) = source.filter(|_| now > keep_alive_ns)
                && pipe.flow.pending() < self.queue
            {
                self.give(pipe, order)?;
                keep_alive_ns += KEEP_ALIVE_NS;
            }
        }
        Ok(())
    }

    /// Fills the queue and waits for the oldest; returns the time.
    #[inline]
    fn send_some(&mut self, pipe: &mut Pipe<'_>) -> io::Result<u64> {
        let talk = self.talk;
        while pipe.flow.pending() < self.queue {
            let position = pipe.position;
            let mut submit_ns = 0;
            // Making the pattern is the tool's own work and no part of the transfer.
            pipe.flow
                .submit(self.transfer_bytes, self.timeout, &mut |to| {
                    fill_stream(position, to);
                    submit_ns = talk.clock.now();
                })?;
            pipe.position += self.transfer_bytes as u64;
            pipe.places.push_back(Pending {
                submit_ns,
                pending: pipe.flow.pending() as u32,
                bytes: self.transfer_bytes as u32,
            });
        }
        pipe.complete(talk, PATIENCE, self.rows.as_mut())
    }

    /// Waits until what pends is over.
    fn drain(&mut self, pipe: &mut Pipe<'_>) {
        let talk = self.talk;
        let begun = talk.clock.now();
        let most = |halted: bool| {
            if halted {
                SHORT.min(self.timeout)
            } else {
                self.timeout
            }
        };
        while pipe.flow.pending() > 0 && !talk.is_broken() {
            let since = talk.clock.now().saturating_sub(begun.max(pipe.last_ns));
            if since > most(talk.halted()).as_nanos() as u64 {
                if !talk.halted() {
                    talk.fail(silent(
                        self.address,
                        self.timeout,
                        "it took no whole transfer",
                    ));
                }
                return;
            }
            if let Err(error) = pipe.complete(talk, PATIENCE, self.rows.as_mut()) {
                self.fail(&error);
            }
        }
    }

    /// Orders the streams to end and takes the device's reports.
    fn end(&self, pipe: &mut Pipe<'_>, sent: &mut Sent) {
        let talk = self.talk;
        talk.end();
        let Some(orders) = self.orders else { return };
        if talk.is_broken() {
            self.end_of_a_failed_one(pipe, orders);
            return;
        }
        let _ = pipe
            .flow
            .cancel(&mut |bytes| pipe.handed_over += bytes.len() as u64);
        pipe.places.clear();
        let backlog = match pipe.handed_over > 0 && !self.datagram {
            true => BACKLOG,
            false => Duration::ZERO,
        };
        for order in &orders.ends {
            match self.ask(pipe, order, self.timeout + backlog) {
                Ok(Some(answer)) => sent.reports[order.way as usize] = answer.report,
                Ok(None) if talk.halted() || talk.is_broken() => {}
                Ok(None) => {
                    let what = format!("no answer to {}", order.name());
                    talk.fail(silent(self.address, self.timeout + backlog, &what));
                }
                Err(error) => self.fail(&error),
            }
            if talk.is_broken() {
                return;
            }
        }
    }

    /// A device that is still there shall not be left streaming. Nobody waits for its answer.
    fn end_of_a_failed_one(&self, pipe: &mut Pipe<'_>, orders: &Orders) {
        let vanished = self
            .talk
            .failure()
            .is_some_and(|error| error.kind() != LinkErrorKind::Silent);
        if vanished || pipe.flow.cancel(&mut |_| {}).is_err() {
            return;
        }
        for order in &orders.ends {
            let given = self.give(pipe, order);
            if given.is_err() || !matches!(pipe.flow.complete(SHORT, &mut |_| {}), Ok(Some(_))) {
                return;
            }
        }
    }
}

impl Pipe<'_> {
    /// Waits for the oldest pending transfer, at most so long; returns the time.
    #[inline]
    fn complete(
        &mut self,
        talk: &Talk<'_>,
        at_most: Duration,
        rows: Option<&mut Rows<'_>>,
    ) -> io::Result<u64> {
        let completed = self.flow.complete(at_most, &mut |_| {})?;
        let now = talk.clock.now();
        let Some(completed) = completed else {
            return Ok(now);
        };
        self.last_ns = now;
        let Some(place) = self.places.pop_front() else {
            return Ok(now);
        };
        if place.bytes == 0 {
            return Ok(now);
        }
        // A stalled one was handed over as well: its bytes are missed at the other end.
        self.handed_over += u64::from(place.bytes);
        if let (Some(rows), Some(gone_ns)) = (rows, talk.gone_ns()) {
            let (status, bytes) = match completed.stalled {
                true => (TransferStatus::Stalled, 0),
                false => (TransferStatus::Ok, place.bytes),
            };
            let row = Row {
                submit_ns: place.submit_ns.saturating_sub(gone_ns),
                complete_ns: now.saturating_sub(gone_ns),
                bytes,
                pending: place.pending,
                status,
            };
            rows.push(row, || thread_cpu_ns() + self.flow.helper_cpu_ns());
        }
        Ok(now)
    }

    /// Takes orders that have gone out off the queue.
    fn settle(&mut self, talk: &Talk<'_>) -> io::Result<()> {
        if self.flow.pending() > 0 {
            self.complete(talk, Duration::ZERO, None)?;
        }
        Ok(())
    }
}

fn refused(address: &str, order: &Order, status: Status) -> LinkError {
    let doing = format!("beginning a stream with {address} ({})", order.name());
    match status {
        Status::TooLarge => LinkError::new(
            LinkErrorKind::Usage,
            doing,
            format!(
                "transfers of {} B are over the device's limit",
                order.transfer_bytes
            ),
        )
        .hint("a smaller --transfer"),
        Status::Unsupported => LinkError::new(
            LinkErrorKind::Usage,
            doing,
            "the device cannot stream this way",
        )
        .hint("the same version of wiregauge at both ends, or another --direction"),
        other => LinkError::new(
            LinkErrorKind::Rubbish,
            doing,
            format!("the device refuses: {other:?}"),
        )
        .hint("try again; over UDP the device must have seen this host's HELLO"),
    }
}
