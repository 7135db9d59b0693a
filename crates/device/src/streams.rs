//! Streams into and out of the caller's memory, with one copy. The engine of a measured stream decides; here its two
//! ends take turns on the caller's thread.

use super::driver::{Driver, Interrupt};
use super::{Device, errors};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_link::host::Time;
use wiregauge_link::{FlowShape, Flows, MAX_WAIT};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{Direction, TransferStatus, Way};
use wiregauge_session::stream::{
    Answers, ORDERS, Orders, ReceiverConfig, ReceiverNext, SenderConfig, SenderNext, Shared,
    StreamFailure, StreamReceiver, StreamSender,
};
use wiregauge_wire::{Status, abilities};

/// How long a device that sends is not listened to while an order is on its way.
const DEAF: Duration = Duration::from_millis(1);

/// Where received data goes.
struct Destination<'a> {
    into: &'a mut [u8],
    filled: usize,
    /// What came beyond.
    surplus: Vec<u8>,
}

impl Destination<'_> {
    fn take(&mut self, bytes: &[u8]) {
        let free = &mut self.into[self.filled..];
        let (fits, beyond) = bytes.split_at(bytes.len().min(free.len()));
        free[..fits.len()].copy_from_slice(fits);
        self.filled += fits.len();
        self.surplus.extend_from_slice(beyond);
    }

    fn left(&self) -> usize {
        self.into.len() - self.filled
    }
}

/// What is streamed.
enum Work<'a, 'b> {
    Read(&'a mut Destination<'b>),
    /// From there; the number of bytes that were taken.
    Write(&'a [u8], &'a mut usize),
}

/// One stream while it runs.
struct Stream<'a> {
    address: &'a str,
    doing: &'static str,
    timeout: Duration,
    interrupt: &'a mut Option<Interrupt>,
    interrupt_checked_ns: u64,
    stop: &'a AtomicBool,
    clock: &'a dyn Time,
    flows: Flows<'a>,
    shape: FlowShape,
    shared: Shared<'a>,
    /// The device gets orders.
    ordered: bool,
    receiver: StreamReceiver,
    answers: Answers,
    failure: Option<LinkError>,
}

impl Stream<'_> {
    fn run(&mut self, sender: &mut StreamSender, work: &mut Work<'_, '_>) -> Result<(), LinkError> {
        if let Work::Read(to) = work
            && to.left() == 0
        {
            self.shared.enough();
        }
        loop {
            self.check_interrupt();
            let next = sender.next(self.clock.now(), &self.shared);
            if next == SenderNext::Done {
                break;
            }
            if let Err(error) = self.act(next, sender, work) {
                self.fail(errors::link_failed(self.doing, self.address, &error), true);
                sender.link_failed(self.clock.now());
            }
        }
        match self.failure.take() {
            Some(failure) => Err(failure),
            None if self.shared.is_stopped() => Err(errors::interrupted(self.doing, self.address)),
            None => Ok(()),
        }
    }

    /// Asks the interrupt callback, now and then.
    fn check_interrupt(&mut self) {
        let now = self.clock.now();
        if now - self.interrupt_checked_ns >= MAX_WAIT.as_nanos() as u64 {
            self.interrupt_checked_ns = now;
            if self.interrupt.as_mut().is_some_and(|interrupt| interrupt()) {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    fn fail(&mut self, error: LinkError, link_lost: bool) {
        self.failure.get_or_insert(error);
        self.shared.fail(link_lost);
    }

    /// Does what is next.
    fn act(
        &mut self,
        next: SenderNext,
        sender: &mut StreamSender,
        work: &mut Work<'_, '_>,
    ) -> io::Result<()> {
        match next {
            SenderNext::Data { position, bytes } => {
                let Work::Write(from, _) = work else {
                    return Ok(());
                };
                let part = &from[position as usize..][..bytes];
                let fill = &mut |to: &mut [u8]| to.copy_from_slice(part);
                self.flows.out.submit(bytes, self.timeout, fill)?;
                sender.submitted(self.clock.now());
            }
            SenderNext::Order(order) => {
                let bytes = order.encode();
                let fill = &mut |to: &mut [u8]| to.copy_from_slice(&bytes);
                self.flows.out.submit(bytes.len(), self.timeout, fill)?;
                sender.submitted(self.clock.now());
            }
            SenderNext::Complete { at_most_ns } => self.complete(at_most_ns, sender, work)?,
            SenderNext::Await {
                sequence,
                at_most_ns,
            } => {
                let until_ns = self.clock.now() + at_most_ns;
                while self
                    .answers
                    .take(sequence)
                    .map(|answer| sender.answered(answer))
                    .is_none()
                {
                    let left_ns = until_ns.saturating_sub(self.clock.now());
                    if left_ns == 0 || self.shared.is_failed() {
                        break;
                    }
                    self.receive(Duration::from_nanos(left_ns), work)?;
                }
            }
            SenderNext::Sleep { at_most_ns } => {
                self.receive(Duration::from_nanos(at_most_ns), work)?;
            }
            SenderNext::Begin => drop(self.shared.begin(self.clock.now())),
            SenderNext::End => self.shared.end(),
            SenderNext::Cancel => {
                let mut handed_over = 0;
                let count = &mut |bytes: &[u8]| handed_over += bytes.len() as u64;
                self.flows.out.cancel(count)?;
                sender.cancelled(handed_over);
            }
            SenderNext::Fail(failure) => self.fail(self.explain(&failure), false),
            SenderNext::Done => {}
        }
        Ok(())
    }

    /// Waits for the oldest transfer to the device.
    fn complete(
        &mut self,
        at_most_ns: u64,
        sender: &mut StreamSender,
        work: &mut Work<'_, '_>,
    ) -> io::Result<()> {
        let until_ns = self.clock.now() + at_most_ns;
        loop {
            let left = Duration::from_nanos(until_ns.saturating_sub(self.clock.now()));
            let at_most = match work {
                Work::Read(_) => left.min(DEAF),
                Work::Write(..) => left,
            };
            if let Some(over) = self.flows.out.complete(at_most, &mut |_| {})? {
                let row = sender.completed(self.clock.now(), over.stalled, &self.shared);
                if let (Work::Write(_, taken), Some(row)) = (work, row) {
                    **taken += row.bytes as usize;
                    if row.status == TransferStatus::Stalled {
                        // It carried nothing: what it held is lost.
                        let error = io::ErrorKind::BrokenPipe.into();
                        let error = errors::link_failed(self.doing, self.address, &error);
                        self.fail(error, false);
                    }
                }
                return Ok(());
            }
            if let Work::Read(_) = work {
                self.receive(Duration::ZERO, work)?;
            }
            if self.clock.now() >= until_ns {
                return Ok(());
            }
        }
    }

    /// Waits for the oldest transfer from the device.
    fn receive(&mut self, at_most: Duration, work: &mut Work<'_, '_>) -> io::Result<()> {
        loop {
            match self.receiver.next(&self.shared) {
                ReceiverNext::Submit => {
                    let bytes = match work {
                        // Of a foreign device no more is asked for than is wanted.
                        Work::Read(to) if !self.ordered => to.left().min(self.shape.transfer_bytes),
                        _ => self.shape.transfer_bytes,
                    };
                    let submit_ns = self.clock.now();
                    self.flows.in_.submit(bytes, self.timeout, &mut |_| {})?;
                    self.receiver.submitted(submit_ns);
                }
                ReceiverNext::Complete => break,
                ReceiverNext::Done => return Ok(()),
            }
        }
        let (receiver, shared, answers) = (&mut self.receiver, &self.shared, &mut self.answers);
        let clock = self.clock;
        let mut data = 0;
        let completed = self.flows.in_.complete(at_most, &mut |bytes| {
            let flows = shared.began_ns().is_some() && !shared.is_ending();
            let mut begins_at = None;
            data = receiver.take(bytes, shared, &mut |heard| {
                answers.put(heard.answer);
                if shared.heard(&heard, clock.now()) {
                    begins_at = Some(bytes.len() - heard.behind);
                }
            });
            if let Work::Read(to) = work {
                match begins_at {
                    Some(at) => to.take(&bytes[at..]),
                    None if flows && data > 0 => to.take(bytes),
                    None => {}
                }
                if to.left() == 0 {
                    shared.enough();
                }
            }
        })?;
        let now = self.clock.now();
        match completed {
            Some(over) => {
                let _ = receiver.completed(now, data, over.stalled, shared);
            }
            None => {
                if let Some(failure) = receiver.failure(now, shared) {
                    self.fail(self.explain(&failure), false);
                }
            }
        }
        Ok(())
    }

    fn explain(&self, failure: &StreamFailure) -> LinkError {
        let refused =
            |problem: &str, hint: &str| errors::usage(self.doing, self.address, problem, hint);
        let problem = match failure {
            StreamFailure::Refused { status, .. } => {
                return match status {
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
                };
            }
            StreamFailure::NoAnswer { order, within_ns } => {
                let within = Duration::from_nanos(*within_ns);
                format!("no answer to {} within {within:?}", order.name())
            }
            StreamFailure::NothingTaken { within_ns }
            | StreamFailure::NothingCame { within_ns } => {
                format!("no data for {:?}", Duration::from_nanos(*within_ns))
            }
        };
        let doing = format!("{} {}", self.doing, self.address);
        LinkError::new(LinkErrorKind::Timeout, doing, problem)
            .hint("does the device stream? use a longer timeout")
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

    /// Streams over the link, and lays it out for exchanges again. `order`: number of the first order.
    fn stream(
        &mut self,
        shape: FlowShape,
        order: Option<u32>,
        mut work: Work<'_, '_>,
    ) -> Result<(), LinkError> {
        let flows = match self.link.flows(shape) {
            Ok(flows) => flows,
            Err(error) => return Err(errors::link_failed(self.doing, &self.address, &error)),
        };
        let (way, sends_bytes) = match &work {
            Work::Read(_) => (Way::In, 0),
            Work::Write(from, _) => (Way::Out, from.len() as u64),
        };
        let direction = match way {
            Way::In => Direction::In,
            Way::Out => Direction::Out,
        };
        let orders =
            order.map(|number| Orders::new(direction, shape.transfer_bytes as u32, number));
        let mut sender = StreamSender::new(SenderConfig {
            orders: orders.clone(),
            sends_data: way == Way::Out,
            transfer_bytes: shape.transfer_bytes,
            queue: shape.queue,
            datagram: self.datagram,
            timeout_ns: self.timeout_ns,
            lasts_ns: u64::MAX,
            sends_bytes,
        });
        let receiver = StreamReceiver::new(ReceiverConfig {
            orders,
            takes_data: way == Way::In,
            pattern: None,
            check: false,
            datagram: self.datagram,
            queue: if way == Way::In { shape.queue } else { 1 },
            timeout_ns: self.timeout_ns,
        });
        let stop = AtomicBool::new(false);
        let mut stream = Stream {
            address: &self.address,
            doing: self.doing,
            timeout: self.timeout,
            interrupt: &mut self.interrupt,
            interrupt_checked_ns: self.clock.now(),
            stop: &stop,
            clock: self.clock.as_ref(),
            flows,
            shape,
            shared: Shared::new(&stop),
            ordered: order.is_some(),
            receiver,
            answers: Answers::default(),
            failure: None,
        };
        let done = stream.run(&mut sender, &mut work);
        let _ = stream.flows.in_.cancel(&mut |_| {});
        let _ = stream.flows.out.cancel(&mut |_| {});
        drop(stream);
        if let Work::Write(_, taken) = work
            && let Some(report) = sender.reports()[way as usize]
        {
            *taken = (*taken).min(usize::try_from(report.bytes).unwrap_or(usize::MAX));
        }
        // A HELLO ends whatever still flows.
        self.needs_hello |= done.is_err() && self.engine.codec().is_wiregauge();
        self.forget_layout();
        let sleep_set = self.set_sleep().map_err(|error| self.link_failed(&error));
        done.and(sleep_set)
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
        let driver = self.with_none_outstanding(doing)?;
        let shape = driver.shape(transfer_bytes, queue, most)?;
        if abilities.is_some_and(|able| able & ability == 0) {
            return Err(driver.usage(
                "the device does not support this stream",
                "use other firmware",
            ));
        }
        driver.begin(doing)?;
        let order = abilities.map(|_| {
            driver.order = driver.order.wrapping_add(ORDERS as u32);
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
        let mut to = Destination {
            into,
            filled: 0,
            surplus: Vec::new(),
        };
        if order.is_none() {
            // What came before belongs to it.
            to.filled = driver.engine.take_received(to.into);
        }
        let read = driver.stream(shape, order, Work::Read(&mut to));
        if order.is_none() {
            driver.put_back(&to.surplus);
        }
        let filled = to.filled;
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
        let written = driver.stream(shape, order, Work::Write(from, &mut taken));
        written.map(|()| taken).map_err(|error| (taken, error))
    }
}
