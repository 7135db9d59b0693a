//! Streams into and out of the caller's memory, with one copy. In the wiregauge protocol the device is
//! told to begin and to end; its answers stand among the data, and are taken out here.

use super::engine::{Engine, Interrupt};
use super::{Device, trouble};
use crate::error::{LinkError, LinkErrorKind};
use crate::host::Clock;
use crate::link::{FlowShape, Flows, ORDER_BYTES, PATIENCE};
use crate::stream::orders::{ORDER, Order};
use std::io;
use std::time::Duration;
use wiregauge_record::Way;
use wiregauge_wire as wire;
use wiregauge_wire::{Header, Kind, Response, Status, StreamReport, Verb, abilities};

/// How often a datagram's order is given again until it is answered (docs/protocol.md).
const REPEAT_NS: u64 = 100_000_000;

/// How often a source on datagrams is told that it is still wanted (docs/protocol.md).
const KEEP_ALIVE_NS: u64 = 2_000_000_000;

/// Timeouts after which a device that sends on and on will not answer any more.
const NEVER: u64 = 10;

/// How much longer the answer to the end of a sink may take: the device works off what buffers on the way hold.
const BACKLOG_NS: u64 = 30_000_000_000;

/// One stream while it runs.
struct Run<'a> {
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
    moved_ns: u64,
    /// It ends already, and is not asked to end.
    ends: bool,
}

/// What an order was answered.
#[derive(Clone, Copy)]
struct Answer {
    status: Status,
    report: Option<StreamReport>,
}

/// Looks for the answer to an order among data.
struct Ear {
    kind: Kind,
    sequence: u32,
    /// The last bytes, in which it may have begun.
    kept: Vec<u8>,
}

impl Ear {
    fn new(order: &Order) -> Ear {
        Ear {
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
    fn hear(&mut self, came: &[u8], datagram: bool) -> Option<(Answer, usize)> {
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

impl Run<'_> {
    fn broken(&self, error: &io::Error) -> LinkError {
        trouble::broken(self.doing, self.address, error)
    }

    fn order(&self, sequence: u32, verb: Verb) -> Order {
        Order {
            way: self.way,
            verb,
            sequence,
            transfer_bytes: self.shape.transfer_bytes as u32,
        }
    }

    /// Asks whether it is to end.
    fn ask(&mut self) -> Result<(), LinkError> {
        let ends = self.ends;
        match !ends && self.interrupt.as_mut().is_some_and(|interrupt| interrupt()) {
            true => Err(trouble::interrupted(self.doing, self.address)),
            false => Ok(()),
        }
    }

    /// Nothing moved for a while: fails if that is too long, or if it is to end.
    fn still(&mut self) -> Result<(), LinkError> {
        self.ask()?;
        let still_ns = self.clock.now() - self.moved_ns;
        if u128::from(still_ns) <= self.timeout.as_nanos() {
            return Ok(());
        }
        let said = format!("nothing moved for {:?}", self.timeout);
        let doing = format!("{} {}", self.doing, self.address);
        Err(LinkError::new(LinkErrorKind::Silent, doing, said)
            .hint("does the device stream? a longer timeout"))
    }

    /// Hands an order over.
    fn give(&mut self, order: &Order) -> Result<(), LinkError> {
        let bytes = order.encode();
        self.finish_out()?;
        let submitted = self
            .flows
            .out
            .submit(ORDER, self.timeout, &mut |to| to.copy_from_slice(&bytes));
        submitted.map_err(|error| self.broken(&error))?;
        self.finish_out()
    }

    /// Waits until all that was handed over is taken.
    fn finish_out(&mut self) -> Result<(), LinkError> {
        while self.flows.out.pending() > 0 {
            match self.flows.out.complete(PATIENCE, &mut |_| {}) {
                Ok(Some(_)) => self.moved_ns = self.clock.now(),
                Ok(None) => self.still()?,
                Err(error) => return Err(self.broken(&error)),
            }
        }
        Ok(())
    }

    /// Keeps as many transfers pending as there may be.
    fn ask_for(&mut self, bytes: usize) -> Result<(), LinkError> {
        while self.flows.in_.pending() < self.shape.queue {
            let submitted = self.flows.in_.submit(bytes, self.timeout, &mut |_| {});
            submitted.map_err(|error| self.broken(&error))?;
        }
        Ok(())
    }

    /// Gives an order, and takes what comes to `ear` until its answer does; `rest` is given what stands behind it.
    fn obeyed(&mut self, order: &Order, rest: &mut dyn FnMut(&[u8])) -> Result<Answer, LinkError> {
        let (mut ear, datagram) = (Ear::new(order), self.datagram);
        self.give(order)?;
        let begun = self.clock.now();
        let mut given = begun;
        self.moved_ns = begun;
        // A sink works off its backlog first; a source's stands before its answer, and moves.
        let longest_ns = match order.way {
            Way::Out if order.verb == Verb::End => BACKLOG_NS,
            _ => 0,
        };
        loop {
            self.ask_for(self.shape.transfer_bytes.max(ORDER_BYTES))?;
            let mut answer = None;
            let completed = self.flows.in_.complete(PATIENCE, &mut |bytes| {
                if let Some((heard, behind)) = ear.hear(bytes, datagram) {
                    answer = Some(heard);
                    rest(&bytes[bytes.len() - behind..]);
                }
            });
            if let Some(answer) = answer {
                return Ok(answer);
            }
            let now = self.clock.now();
            let never_ns = longest_ns + NEVER * self.timeout.as_nanos() as u64;
            match completed {
                Ok(_) if now - begun > never_ns => {
                    return Err(trouble::never_silent(self.doing, self.address));
                }
                Ok(Some(done)) if done.bytes > 0 => self.moved_ns = now,
                Ok(_) if now - begun < longest_ns => self.ask()?,
                Ok(_) => self.still()?,
                Err(error) => return Err(self.broken(&error)),
            }
            if datagram && now - given >= REPEAT_NS {
                self.give(order)?;
                given = now;
            }
        }
    }

    fn begin(&mut self, sequence: u32, rest: &mut dyn FnMut(&[u8])) -> Result<(), LinkError> {
        let order = self.order(sequence, Verb::Start);
        let answer = self.obeyed(&order, rest)?;
        let refused =
            |said: &str, hint: &str| Err(trouble::usage(self.doing, self.address, said, hint));
        match answer.status {
            Status::Ok => Ok(()),
            Status::TooLarge => refused("its transfers are not that large", "smaller transfers"),
            Status::Unproven => refused(
                "the device no longer knows this host's address",
                "open it again",
            ),
            _ => refused("the device offers no such stream", "other firmware"),
        }
    }

    /// Ends the device's stream whatever became of it, so that the link is at rest.
    fn end(&mut self, sequence: u32) -> Result<Option<StreamReport>, LinkError> {
        self.ends = true;
        let order = self.order(sequence, Verb::End);
        let ended = self.obeyed(&order, &mut |_| {});
        ended.map(|answer| answer.report)
    }

    /// Fills `into`; `filled` tells how far. `source`: number of its START, where there is one.
    fn fill(
        &mut self,
        into: &mut [u8],
        filled: &mut usize,
        surplus: &mut dyn FnMut(&[u8]),
        source: Option<u32>,
    ) -> Result<(), LinkError> {
        let start = source.map(|sequence| self.order(sequence, Verb::Start));
        let ear = start.as_ref().map(Ear::new);
        let (mut kept_alive, mut asked) = (self.clock.now(), self.clock.now());
        self.moved_ns = kept_alive;
        while *filled < into.len() {
            let left = into.len() - *filled;
            let bytes = match source {
                // A device that sends whole transfers is asked for whole ones.
                Some(_) => self.shape.transfer_bytes,
                None => self.shape.transfer_bytes.min(left),
            };
            self.ask_for(bytes)?;
            let (datagram, before) = (self.datagram, *filled);
            let completed = self.flows.in_.complete(PATIENCE, &mut |bytes| {
                // The answer to a START that was repeated.
                if datagram && ear.as_ref().is_some_and(|ear| ear.is_it(bytes).is_some()) {
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
                Err(error) => return Err(self.broken(&error)),
                Ok(_) if *filled > before => self.moved_ns = now,
                Ok(_) => self.still()?,
            }
            if now - asked >= PATIENCE.as_nanos() as u64 {
                asked = now;
                self.ask()?;
            }
            if let Some(order) = start.as_ref().filter(|_| datagram)
                && now - kept_alive >= KEEP_ALIVE_NS
            {
                kept_alive = now;
                self.give(order)?;
            }
        }
        Ok(())
    }

    /// Sends all of `from`; `taken` tells how far.
    fn pour(&mut self, from: &[u8], taken: &mut usize) -> Result<(), LinkError> {
        let mut put = 0;
        let mut asked = self.clock.now();
        self.moved_ns = asked;
        while *taken < from.len() {
            while put < from.len() && self.flows.out.pending() < self.shape.queue {
                let part = &from[put..from.len().min(put + self.shape.transfer_bytes)];
                let submitted = self.flows.out.submit(part.len(), self.timeout, &mut |to| {
                    to.copy_from_slice(part);
                });
                submitted.map_err(|error| self.broken(&error))?;
                put += part.len();
            }
            let completed = self.flows.out.complete(PATIENCE, &mut |_| {});
            let now = self.clock.now();
            match completed {
                Ok(Some(done)) => {
                    *taken += done.bytes;
                    self.moved_ns = now;
                    if done.stalled {
                        // It carried nothing: what it held is lost.
                        return Err(self.broken(&io::ErrorKind::BrokenPipe.into()));
                    }
                }
                Ok(None) => self.still()?,
                Err(error) => return Err(self.broken(&error)),
            }
            if now - asked >= PATIENCE.as_nanos() as u64 {
                asked = now;
                self.ask()?;
            }
        }
        Ok(())
    }
}

impl Engine {
    fn shape(
        &self,
        transfer_bytes: usize,
        queue: usize,
        most: usize,
    ) -> Result<FlowShape, LinkError> {
        let refuse = |said: String, hint: &str| Err(self.usage(said, hint));
        if transfer_bytes == 0 || queue == 0 {
            return refuse(
                "without bytes or transfers nothing moves".into(),
                "both from 1",
            );
        }
        if transfer_bytes > most {
            return refuse(
                format!(
                    "a transfer of {transfer_bytes} B is more than the link carries ({most} B)"
                ),
                "smaller transfers",
            );
        }
        Ok(FlowShape {
            transfer_bytes,
            // Elsewhere the system queues by itself.
            queue: if self.is_usb() { queue } else { 1 },
        })
    }

    /// Lets `work` stream over the link, and lays it out for exchanges again.
    fn stream<T>(
        &mut self,
        shape: FlowShape,
        way: Way,
        work: impl FnOnce(&mut Run<'_>) -> Result<T, LinkError>,
    ) -> Result<T, LinkError> {
        let flows = match self.link.flows(shape) {
            Ok(flows) => flows,
            Err(error) => return Err(trouble::broken(self.doing, &self.address, &error)),
        };
        let mut run = Run {
            address: &self.address,
            doing: self.doing,
            timeout: self.timeout,
            interrupt: &mut self.interrupt,
            clock: self.clock,
            datagram: self.datagram,
            flows,
            shape,
            way,
            moved_ns: self.clock.now(),
            ends: false,
        };
        let done = work(&mut run);
        let _ = run.flows.in_.cancel(&mut |_| {});
        let _ = run.flows.out.cancel(&mut |_| {});
        drop(run);
        // A HELLO ends whatever still flows.
        self.unproven |= done.is_err() && self.speech.is_numbered();
        self.forget_layout();
        let patient = self.be_patient().map_err(|error| self.broken(&error));
        done.and_then(|done| patient.map(|()| done))
    }
}

impl Device {
    /// The engine at rest, and its transfers; `None` where there is nobody to order.
    fn streaming(
        &mut self,
        doing: &'static str,
        (transfer_bytes, queue): (usize, usize),
        ability: u32,
    ) -> Result<(&mut Engine, FlowShape, Option<u32>), LinkError> {
        let abilities = self.about.responder.as_ref().map(|said| said.abilities);
        let most = self.most_bytes();
        let outstanding = self.outstanding();
        let engine = self.engine(doing)?;
        if outstanding > 0 {
            return Err(engine.usage(
                format!("{outstanding} submitted requests are outstanding"),
                "take their replies first",
            ));
        }
        let shape = engine.shape(transfer_bytes, queue, most)?;
        if abilities.is_some_and(|able| able & ability == 0) {
            return Err(engine.usage("the device offers no such stream", "other firmware"));
        }
        engine.begin_anew(doing)?;
        let order = abilities.map(|_| {
            engine.order = engine.order.wrapping_add(2);
            engine.order
        });
        Ok((engine, shape, order))
    }

    /// Fills `into` with what the device sends, in transfers of so many bytes, `queue` of them pending
    /// (USB only). With the wiregauge protocol the device is told to begin and to end, and what it sends is
    /// its own (a responder's pattern); otherwise bytes are taken as they come. Returns how many came.
    pub fn read_stream(
        &mut self,
        into: &mut [u8],
        transfer_bytes: usize,
        queue: usize,
    ) -> Result<usize, (usize, LinkError)> {
        let parts = (transfer_bytes, queue);
        let (engine, shape, order) = self
            .streaming("reading a stream from", parts, abilities::SOURCE)
            .map_err(|error| (0, error))?;
        let mut filled = 0;
        if order.is_none() {
            // What came before belongs to it.
            let came = engine.input.bytes();
            filled = came.len().min(into.len());
            into[..filled].copy_from_slice(&came[..filled]);
            engine.input.drop_front(filled);
        }
        let mut surplus = Vec::new();
        let read = engine.stream(shape, Way::In, |run| {
            let Some(order) = order else {
                return run.fill(
                    into,
                    &mut filled,
                    &mut |rest| surplus.extend_from_slice(rest),
                    None,
                );
            };
            run.begin(order, &mut |rest| {
                let fits = rest.len().min(into.len());
                into[..fits].copy_from_slice(&rest[..fits]);
                filled = fits;
            })?;
            let came = run.fill(into, &mut filled, &mut |_| {}, Some(order));
            let ended = run.end(order.wrapping_add(1));
            came.and(ended.map(drop))
        });
        engine.input.put_back(&surplus);
        read.map(|()| filled).map_err(|error| (filled, error))
    }

    /// Sends all of `from` likewise. Returns how many were taken: of a device that speaks the wiregauge protocol
    /// as many as it says, else as many as the system took.
    pub fn write_stream(
        &mut self,
        from: &[u8],
        transfer_bytes: usize,
        queue: usize,
    ) -> Result<usize, (usize, LinkError)> {
        let parts = (transfer_bytes, queue);
        let (engine, shape, order) = self
            .streaming("writing a stream to", parts, abilities::SINK)
            .map_err(|error| (0, error))?;
        let mut taken = 0;
        let written = engine.stream(shape, Way::Out, |run| {
            let Some(order) = order else {
                return run.pour(from, &mut taken);
            };
            run.begin(order, &mut |_| {})?;
            let poured = run.pour(from, &mut taken);
            let report = run.end(order.wrapping_add(1));
            if let Ok(Some(report)) = &report {
                taken = taken.min(usize::try_from(report.bytes).unwrap_or(usize::MAX));
            }
            poured.and(report.map(drop))
        });
        written.map(|()| taken).map_err(|error| (taken, error))
    }
}
