//! Streams into and out of the caller's memory, with one copy. In the wiregauge protocol the device gets
//! an order to begin and one to end; its answers stand among the data, and are taken out here.

use super::driver::{Driver, Interrupt};
use super::{Device, errors};
use std::io;
use std::time::Duration;
use wiregauge_link::host::Clock;
use wiregauge_link::{FlowShape, Flows, ORDER_BYTES, PATIENCE};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::Way;
use wiregauge_session::stream::{BACKLOG_NS, KEEP_ALIVE_NS, ORDER, Order, REPEAT_NS};
use wiregauge_wire as wire;
use wiregauge_wire::{Header, Kind, Response, Status, StreamReport, Verb, abilities};

/// Timeouts after which a device that keeps sending will not answer any more.
const NEVER_QUIET: u64 = 10;

/// One stream while it runs.
struct Stream<'a> {
    address: &'a str,
    doing: &'static str,
    timeout: Duration,
    interrupt: &'a mut Option<Interrupt>,
    clock: Clock,
    datagram: bool,
    flows: Flows<'a>,
    shape: FlowShape,
    way: Way,
    /// When something moved last.
    progress_ns: u64,
    /// It is ending already and cannot be interrupted.
    ends: bool,
}

/// The answer to an order.
#[derive(Clone, Copy)]
struct Answer {
    status: Status,
    report: Option<StreamReport>,
}

/// Finds the answer to an order among data.
struct AnswerScanner {
    kind: Kind,
    sequence: u32,
    /// The last bytes, in which it may have begun.
    kept: Vec<u8>,
}

impl AnswerScanner {
    fn new(order: &Order) -> AnswerScanner {
        AnswerScanner {
            kind: match order.way {
                Way::In => Kind::Source,
                Way::Out => Kind::Sink,
            },
            sequence: order.sequence,
            kept: Vec::with_capacity(2 * ORDER_BYTES),
        }
    }

    fn is_it(&self, bytes: &[u8]) -> Option<Response> {
        let header = Response::decode(bytes).ok()?;
        let is_it = header.kind == self.kind && header.sequence == self.sequence;
        is_it.then_some(header)
    }

    /// Takes what came; the answer, and how many of these bytes stand behind it.
    fn scan(&mut self, came: &[u8], datagram: bool) -> Option<(Answer, usize)> {
        if datagram {
            self.kept.clear();
        }
        // More than what can hold the beginning of an answer was looked at before.
        let before = self.kept.len();
        self.kept.extend_from_slice(came);
        let mut at = 0;
        while let Some(ahead) = self.kept[at..].iter().position(|b| *b == Response::MAGIC) {
            at += ahead;
            let rest = &self.kept[at..];
            if rest.len() < wire::RESPONSE_HEADER {
                break;
            }
            if let Some(header) = self.is_it(rest) {
                let end = wire::RESPONSE_HEADER + header.payload_len();
                if rest.len() < end && !datagram {
                    break;
                }
                let payload = rest.get(wire::RESPONSE_HEADER..end).unwrap_or_default();
                let answer = Answer {
                    status: header.status,
                    report: StreamReport::decode(payload),
                };
                let behind = (before + came.len()).saturating_sub(at + end);
                self.kept.clear();
                return Some((answer, behind));
            }
            at += 1;
            if datagram {
                break;
            }
        }
        let longest = wire::RESPONSE_HEADER + wire::STREAM_REPORT;
        let drop = self.kept.len().saturating_sub(longest);
        self.kept.drain(..drop);
        None
    }
}

impl Stream<'_> {
    fn link_failed(&self, error: &io::Error) -> LinkError {
        errors::link_failed(self.doing, self.address, error)
    }

    fn order(&self, sequence: u32, verb: Verb) -> Order {
        Order {
            way: self.way,
            verb,
            sequence,
            transfer_bytes: self.shape.transfer_bytes as u32,
        }
    }

    /// Asks the interrupt callback.
    fn check_interrupt(&mut self) -> Result<(), LinkError> {
        let ends = self.ends;
        match !ends && self.interrupt.as_mut().is_some_and(|interrupt| interrupt()) {
            true => Err(errors::interrupted(self.doing, self.address)),
            false => Ok(()),
        }
    }

    /// Nothing moved for a while: fails if that is too long, or if it is interrupted.
    fn check_progress(&mut self) -> Result<(), LinkError> {
        self.check_interrupt()?;
        let still_ns = self.clock.now() - self.progress_ns;
        if u128::from(still_ns) <= self.timeout.as_nanos() {
            return Ok(());
        }
        let problem = format!("no data for {:?}", self.timeout);
        let doing = format!("{} {}", self.doing, self.address);
        Err(LinkError::new(LinkErrorKind::Timeout, doing, problem)
            .hint("does the device stream? use a longer timeout"))
    }

    /// Sends an order.
    fn send_order(&mut self, order: &Order) -> Result<(), LinkError> {
        let bytes = order.encode();
        self.finish_out()?;
        let submitted = self
            .flows
            .out
            .submit(ORDER, self.timeout, &mut |to| to.copy_from_slice(&bytes));
        submitted.map_err(|error| self.link_failed(&error))?;
        self.finish_out()
    }

    /// Waits until all that was handed over is taken.
    fn finish_out(&mut self) -> Result<(), LinkError> {
        while self.flows.out.pending() > 0 {
            match self.flows.out.complete(PATIENCE, &mut |_| {}) {
                Ok(Some(_)) => self.progress_ns = self.clock.now(),
                Ok(None) => self.check_progress()?,
                Err(error) => return Err(self.link_failed(&error)),
            }
        }
        Ok(())
    }

    /// Keeps as many transfers pending as there may be.
    fn keep_receiving(&mut self, bytes: usize) -> Result<(), LinkError> {
        while self.flows.in_.pending() < self.shape.queue {
            let submitted = self.flows.in_.submit(bytes, self.timeout, &mut |_| {});
            submitted.map_err(|error| self.link_failed(&error))?;
        }
        Ok(())
    }

    /// Sends an order and receives until its answer comes; `rest` is given the bytes behind it.
    fn execute(&mut self, order: &Order, rest: &mut dyn FnMut(&[u8])) -> Result<Answer, LinkError> {
        let (mut scanner, datagram) = (AnswerScanner::new(order), self.datagram);
        self.send_order(order)?;
        let begun = self.clock.now();
        let mut given = begun;
        self.progress_ns = begun;
        // A sink works off its backlog first; a source's stands before its answer, and moves.
        let longest_ns = match order.way {
            Way::Out if order.verb == Verb::End => BACKLOG_NS,
            _ => 0,
        };
        loop {
            self.keep_receiving(self.shape.transfer_bytes.max(ORDER_BYTES))?;
            let mut answer = None;
            let completed = self.flows.in_.complete(PATIENCE, &mut |bytes| {
                if let Some((found, behind)) = scanner.scan(bytes, datagram) {
                    answer = Some(found);
                    rest(&bytes[bytes.len() - behind..]);
                }
            });
            if let Some(answer) = answer {
                return Ok(answer);
            }
            let now = self.clock.now();
            let never_ns = longest_ns + NEVER_QUIET * self.timeout.as_nanos() as u64;
            match completed {
                Ok(_) if now - begun > never_ns => {
                    return Err(errors::never_quiet(self.doing, self.address));
                }
                Ok(Some(done)) if done.bytes > 0 => self.progress_ns = now,
                Ok(_) if now - begun < longest_ns => self.check_interrupt()?,
                Ok(_) => self.check_progress()?,
                Err(error) => return Err(self.link_failed(&error)),
            }
            if datagram && now - given >= REPEAT_NS {
                self.send_order(order)?;
                given = now;
            }
        }
    }

    fn begin(&mut self, sequence: u32, rest: &mut dyn FnMut(&[u8])) -> Result<(), LinkError> {
        let order = self.order(sequence, Verb::Start);
        let answer = self.execute(&order, rest)?;
        let refused =
            |problem: &str, hint: &str| Err(errors::usage(self.doing, self.address, problem, hint));
        match answer.status {
            Status::Ok => Ok(()),
            Status::TooLarge => {
                refused("its transfers are not that large", "use smaller transfers")
            }
            Status::Unproven => refused(
                "the device no longer knows this host's address",
                "open it again",
            ),
            _ => refused(
                "the device does not support this stream",
                "use other firmware",
            ),
        }
    }

    /// Ends the device's stream whatever became of it, so that the link is at rest.
    fn end(&mut self, sequence: u32) -> Result<Option<StreamReport>, LinkError> {
        self.ends = true;
        let order = self.order(sequence, Verb::End);
        let ended = self.execute(&order, &mut |_| {});
        ended.map(|answer| answer.report)
    }

    /// Fills `into`; `filled` counts the bytes. `source`: number of its START, where there is one.
    fn receive_all(
        &mut self,
        into: &mut [u8],
        filled: &mut usize,
        surplus: &mut dyn FnMut(&[u8]),
        source: Option<u32>,
    ) -> Result<(), LinkError> {
        let start = source.map(|sequence| self.order(sequence, Verb::Start));
        let scanner = start.as_ref().map(AnswerScanner::new);
        let (mut keep_alive_ns, mut checked_ns) = (self.clock.now(), self.clock.now());
        self.progress_ns = keep_alive_ns;
        while *filled < into.len() {
            let left = into.len() - *filled;
            let bytes = match source {
                // A device that sends whole transfers is asked for whole ones.
                Some(_) => self.shape.transfer_bytes,
                None => self.shape.transfer_bytes.min(left),
            };
            self.keep_receiving(bytes)?;
            let (datagram, before) = (self.datagram, *filled);
            let completed = self.flows.in_.complete(PATIENCE, &mut |bytes| {
                // The answer to a START that was repeated.
                if datagram
                    && scanner
                        .as_ref()
                        .is_some_and(|scanner| scanner.is_it(bytes).is_some())
                {
                    return;
                }
                let fits = bytes.len().min(into.len() - *filled);
                into[*filled..*filled + fits].copy_from_slice(&bytes[..fits]);
                *filled += fits;
                if fits < bytes.len() {
                    surplus(&bytes[fits..]);
                }
            });
            let now = self.clock.now();
            match completed {
                Err(error) => return Err(self.link_failed(&error)),
                Ok(_) if *filled > before => self.progress_ns = now,
                Ok(_) => self.check_progress()?,
            }
            if now - checked_ns >= PATIENCE.as_nanos() as u64 {
                checked_ns = now;
                self.check_interrupt()?;
            }
            if let Some(order) = start.as_ref().filter(|_| datagram)
                && now - keep_alive_ns >= KEEP_ALIVE_NS
            {
                keep_alive_ns = now;
                self.send_order(order)?;
            }
        }
        Ok(())
    }

    /// Sends all of `from`; `taken` counts the bytes.
    fn send_all(&mut self, from: &[u8], taken: &mut usize) -> Result<(), LinkError> {
        let mut put = 0;
        let mut checked_ns = self.clock.now();
        self.progress_ns = checked_ns;
        while *taken < from.len() {
            while put < from.len() && self.flows.out.pending() < self.shape.queue {
                let part = &from[put..from.len().min(put + self.shape.transfer_bytes)];
                let submitted = self.flows.out.submit(part.len(), self.timeout, &mut |to| {
                    to.copy_from_slice(part);
                });
                submitted.map_err(|error| self.link_failed(&error))?;
                put += part.len();
            }
            let completed = self.flows.out.complete(PATIENCE, &mut |_| {});
            let now = self.clock.now();
            match completed {
                Ok(Some(done)) => {
                    *taken += done.bytes;
                    self.progress_ns = now;
                    if done.stalled {
                        // It carried nothing: what it held is lost.
                        return Err(self.link_failed(&io::ErrorKind::BrokenPipe.into()));
                    }
                }
                Ok(None) => self.check_progress()?,
                Err(error) => return Err(self.link_failed(&error)),
            }
            if now - checked_ns >= PATIENCE.as_nanos() as u64 {
                checked_ns = now;
                self.check_interrupt()?;
            }
        }
        Ok(())
    }
}

impl Driver {
    fn shape(
        &self,
        transfer_bytes: usize,
        queue: usize,
        most: usize,
    ) -> Result<FlowShape, LinkError> {
        let refuse = |problem: String, hint: &str| Err(self.usage(problem, hint));
        if transfer_bytes == 0 || queue == 0 {
            return refuse(
                "the transfer size and the number of transfers must not be 0".into(),
                "use 1 or more for both",
            );
        }
        if transfer_bytes > most {
            return refuse(
                format!(
                    "a transfer of {transfer_bytes} B exceeds the maximum of the link ({most} B)"
                ),
                "use smaller transfers",
            );
        }
        Ok(FlowShape {
            transfer_bytes,
            // Elsewhere the system queues by itself.
            queue: if self.is_usb() { queue } else { 1 },
        })
    }

    /// Puts bytes behind those that were received and belong to no answer.
    fn put_back(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = self.engine.space();
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.engine.received(self.clock.now(), count);
            bytes = &bytes[count..];
        }
    }

    /// Lets `work` stream over the link, and lays it out for exchanges again.
    fn stream<T>(
        &mut self,
        shape: FlowShape,
        way: Way,
        work: impl FnOnce(&mut Stream<'_>) -> Result<T, LinkError>,
    ) -> Result<T, LinkError> {
        let flows = match self.link.flows(shape) {
            Ok(flows) => flows,
            Err(error) => return Err(errors::link_failed(self.doing, &self.address, &error)),
        };
        let mut stream = Stream {
            address: &self.address,
            doing: self.doing,
            timeout: self.timeout,
            interrupt: &mut self.interrupt,
            clock: self.clock,
            datagram: self.datagram,
            flows,
            shape,
            way,
            progress_ns: self.clock.now(),
            ends: false,
        };
        let done = work(&mut stream);
        let _ = stream.flows.in_.cancel(&mut |_| {});
        let _ = stream.flows.out.cancel(&mut |_| {});
        drop(stream);
        // A HELLO ends whatever still flows.
        self.needs_hello |= done.is_err() && self.engine.codec().is_numbered();
        self.forget_layout();
        let sleep_set = self.set_sleep().map_err(|error| self.link_failed(&error));
        done.and_then(|done| sleep_set.map(|()| done))
    }
}

impl Device {
    /// The driver at rest, the shape of its transfers, and the number of the order; `None` for a foreign device.
    fn streaming(
        &mut self,
        doing: &'static str,
        (transfer_bytes, queue): (usize, usize),
        ability: u32,
    ) -> Result<(&mut Driver, FlowShape, Option<u32>), LinkError> {
        let abilities = self.about.responder.as_ref().map(|reply| reply.abilities);
        let most = self.most_bytes();
        let outstanding = self.outstanding();
        let driver = self.driver(doing)?;
        if outstanding > 0 {
            return Err(driver.usage(
                format!("{outstanding} submitted requests are still outstanding"),
                "receive their replies first",
            ));
        }
        let shape = driver.shape(transfer_bytes, queue, most)?;
        if abilities.is_some_and(|able| able & ability == 0) {
            return Err(driver.usage(
                "the device does not support this stream",
                "use other firmware",
            ));
        }
        driver.begin_keeping_input(doing)?;
        let order = abilities.map(|_| {
            driver.order = driver.order.wrapping_add(2);
            driver.order
        });
        Ok((driver, shape, order))
    }

    /// Fills `into` with what the device sends, in transfers of so many bytes, `queue` of them pending
    /// (USB only). With the wiregauge protocol the device gets an order to begin and one to end, and what it sends is
    /// its own (a responder's pattern); otherwise bytes are taken as they come. Returns how many came.
    pub fn read_stream(
        &mut self,
        into: &mut [u8],
        transfer_bytes: usize,
        queue: usize,
    ) -> Result<usize, (usize, LinkError)> {
        let parts = (transfer_bytes, queue);
        let (driver, shape, order) = self
            .streaming("cannot read a stream from", parts, abilities::SOURCE)
            .map_err(|error| (0, error))?;
        let mut filled = 0;
        if order.is_none() {
            // What came before belongs to it.
            filled = driver.engine.take_received(into);
        }
        let mut surplus = Vec::new();
        let read = driver.stream(shape, Way::In, |stream| {
            let Some(order) = order else {
                return stream.receive_all(
                    into,
                    &mut filled,
                    &mut |rest| surplus.extend_from_slice(rest),
                    None,
                );
            };
            stream.begin(order, &mut |rest| {
                let fits = rest.len().min(into.len());
                into[..fits].copy_from_slice(&rest[..fits]);
                filled = fits;
            })?;
            let came = stream.receive_all(into, &mut filled, &mut |_| {}, Some(order));
            let ended = stream.end(order.wrapping_add(1));
            came.and(ended.map(drop))
        });
        driver.put_back(&surplus);
        read.map(|()| filled).map_err(|error| (filled, error))
    }

    /// Sends all of `from` likewise. Returns how many were taken: of a device that speaks the wiregauge protocol
    /// as many as it reports, else as many as the system took.
    pub fn write_stream(
        &mut self,
        from: &[u8],
        transfer_bytes: usize,
        queue: usize,
    ) -> Result<usize, (usize, LinkError)> {
        let parts = (transfer_bytes, queue);
        let (driver, shape, order) = self
            .streaming("cannot write a stream to", parts, abilities::SINK)
            .map_err(|error| (0, error))?;
        let mut taken = 0;
        let written = driver.stream(shape, Way::Out, |stream| {
            let Some(order) = order else {
                return stream.send_all(from, &mut taken);
            };
            stream.begin(order, &mut |_| {})?;
            let sent = stream.send_all(from, &mut taken);
            let report = stream.end(order.wrapping_add(1));
            if let Ok(Some(report)) = &report {
                taken = taken.min(usize::try_from(report.bytes).unwrap_or(usize::MAX));
            }
            sent.and(report.map(drop))
        });
        written.map(|()| taken).map_err(|error| (taken, error))
    }
}
