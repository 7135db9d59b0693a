//! Drives the exchange engine over a link: sends, waits, receives. Sending never blocks. No other thread wakes this
//! one, so a wait ends after a tenth of a second at most, or sooner if the timeout is short.

mod begin;

use super::errors;
use std::io;
use std::ops::ControlFlow;
use std::time::Duration;
use wiregauge_link::host::{Clock, Time};
use wiregauge_link::{Kind, Link, LinkError, MAX_WAIT};
use wiregauge_record::{Point, Wait};
use wiregauge_session::{Config, Ended, Engine, Event, Messages, Outcome};
use wiregauge_wire::Status;

/// Tries of a spinning wait between two looks at the clock.
const SPINS: u32 = 64;

/// A blocking receive cannot wait less exactly than the kernel's tick; what is left of a timeout below
/// this is waited for in `poll`, which can.
const SHORTEST_SLEEP: Duration = Duration::from_millis(8);

/// How often the interrupt callback is asked.
const INTERRUPT_CHECK_NS: u64 = 100_000_000;

/// Longest wait for room to send: a pseudo-terminal does not always report that there is some.
const WRITABLE_WAIT_NS: u64 = 10_000_000;

/// A proof of this host's address holds for 60 s (docs/protocol.md); it is renewed well before.
const PROOF_NS: u64 = 30_000_000_000;

/// What the link is laid out for at first.
const UNPREPARED: Point = Point {
    index: 0,
    out_bytes: 0,
    in_bytes: 0,
    depth: 0,
    link: 0,
    together: false,
};

/// A timeout in nanoseconds, small enough that a time can be added.
fn as_ns(timeout: Duration) -> u64 {
    u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX / 4)
}

/// Returns true if a waiting call is to end.
pub type Interrupt = Box<dyn FnMut() -> bool + Send>;

/// Receives the exchanges that end.
pub trait Handler {
    /// An exchange ended; its payload lies in the engine until the next receive. `Break` ends the turn here: what
    /// follows is handled in the next one. An error ends the call.
    fn ended(
        &mut self,
        engine: &Engine<Messages>,
        ended: &Ended,
    ) -> Result<ControlFlow<()>, Failure>;
}

/// Ignores them.
struct Ignore;

impl Handler for Ignore {
    fn ended(&mut self, _: &Engine<Messages>, _: &Ended) -> Result<ControlFlow<()>, Failure> {
        Ok(ControlFlow::Continue(()))
    }
}

/// Why a call cannot go on.
pub enum Failure {
    /// An exchange was not answered rightly.
    Exchange(Ended),
    /// The reply to request `n` of a batch is longer than its row.
    TooLong {
        /// Which.
        n: usize,
        /// Its bytes.
        length: usize,
        /// Those of a row.
        row: usize,
    },
}

/// True for an exchange that was answered rightly.
#[inline]
pub fn is_answered(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Answered | Outcome::Reordered)
}

/// What a device takes, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request's payload.
    pub request: usize,
    /// Bytes of a reply's payload.
    pub reply: usize,
    /// Requests outstanding at once.
    pub outstanding: u32,
    /// It takes messages of a program.
    pub takes_messages: bool,
}

/// An open link and the engine of its exchanges.
pub struct Driver {
    pub(super) link: Box<dyn Link>,
    pub(super) engine: Engine<Messages>,
    pub(super) address: String,
    pub(super) datagram: bool,
    /// What the running call does, for messages; the address follows.
    pub(super) doing: &'static str,
    pub(super) wait: Wait,
    pub(super) timeout: Duration,
    pub(super) timeout_ns: u64,
    /// How long a blocking receive sleeps.
    sleep_ns: u64,
    pub(super) clock: Box<dyn Time + Send>,
    /// The time of the last send or receive.
    now_ns: u64,
    proved_ns: u64,
    /// After this time it is renewed.
    pub(super) proof_lasts_ns: u64,
    interrupt_checked_ns: Option<u64>,
    pub(super) interrupt: Option<Interrupt>,
    prepared: Point,
    /// Each request is a transfer of its own.
    is_usb: bool,
    pub(super) limits: Limits,
    /// HELLO goes before the next exchange: the device does not know this host, or a stream may still flow.
    pub(super) needs_hello: bool,
    /// Number of the last order that began or ended a stream.
    pub(super) order: u32,
    /// Why only one request may be outstanding, if that is so.
    pub(super) one_at_a_time: Option<&'static str>,
}

impl Driver {
    /// Over a link that was just opened.
    pub fn new(
        link: Box<dyn Link>,
        address: String,
        kind: &'static Kind,
        codec: Messages,
        wait: Wait,
        timeout: Duration,
    ) -> io::Result<Driver> {
        let datagram = kind.datagram;
        let config = Config {
            datagram,
            timeout_ns: as_ns(timeout),
            batch: if datagram || kind.separate {
                1
            } else {
                usize::MAX
            },
            span: 1,
            request_bytes: 0,
            answer_bytes: 0,
            staged: 1,
        };
        let mut driver = Driver {
            link,
            engine: Engine::new(config, codec),
            is_usb: kind.scheme == "usb",
            address,
            datagram,
            doing: "cannot open",
            wait,
            timeout,
            timeout_ns: as_ns(timeout),
            sleep_ns: 0,
            clock: Box::new(Clock::start()),
            now_ns: 0,
            proved_ns: 0,
            proof_lasts_ns: PROOF_NS,
            interrupt_checked_ns: None,
            interrupt: None,
            prepared: UNPREPARED,
            limits: Limits {
                request: 0,
                reply: 0,
                outstanding: u32::MAX,
                takes_messages: true,
            },
            needs_hello: false,
            order: 0,
            one_at_a_time: kind.one_request,
        };
        driver.engine.set_reads_late(true);
        driver.set_sleep()?;
        Ok(driver)
    }

    /// Changes the timeout from now on.
    pub fn set_timeout(&mut self, timeout: Duration) -> Result<(), LinkError> {
        self.timeout = timeout;
        self.timeout_ns = as_ns(timeout);
        self.engine.set_timeout(self.timeout_ns);
        self.set_sleep().map_err(|error| self.link_failed(&error))
    }

    /// Sets how long a blocking receive sleeps: short enough that a timeout is noticed in time, and long
    /// enough that the usual reply comes before.
    pub fn set_sleep(&mut self) -> io::Result<()> {
        let wanted = (self.timeout / 4).clamp(SHORTEST_SLEEP, MAX_WAIT);
        let sleep = match self.link.set_receive_timeout(Some(wanted))? {
            true => wanted,
            // A tty's own is fixed.
            false => MAX_WAIT,
        };
        self.sleep_ns = sleep.as_nanos() as u64;
        Ok(())
    }

    /// Sets what the device takes and gives.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        let largest = self.engine.codec().longest_answer(limits.reply);
        self.engine.set_largest_answer(largest);
    }

    // --- errors ---

    /// The link reported an error.
    #[cold]
    pub fn link_failed(&self, error: &io::Error) -> LinkError {
        errors::link_failed(self.doing, &self.address, error)
    }

    /// The arguments of a call cannot be used.
    #[cold]
    pub fn usage(&self, problem: impl Into<String>, hint: &str) -> LinkError {
        errors::usage(self.doing, &self.address, problem, hint)
    }

    /// The exchange `sequence` was not answered rightly, but with this.
    #[cold]
    pub fn exchange_failed(&self, outcome: Outcome, sequence: u64, answer: &[u8]) -> LinkError {
        match (outcome, self.engine.codec()) {
            (Outcome::Lost, codec) => errors::timeout(
                self.doing,
                &self.address,
                self.timeout,
                self.engine.incomplete(),
                codec,
            ),
            (Outcome::Unexpected | Outcome::Damaged, Messages::Modbus(queries)) => {
                let (problem, exception) = queries.describe(sequence, answer);
                errors::modbus(self.doing, &self.address, &problem, exception)
            }
            (outcome, _) => errors::failed(self.doing, &self.address, outcome),
        }
    }

    #[cold]
    fn failed(&self, failure: &Failure) -> LinkError {
        match failure {
            Failure::Exchange(ended) => {
                let answer = self.engine.received_at(ended.answer.clone());
                self.exchange_failed(ended.outcome, ended.sequence, answer)
            }
            Failure::TooLong { n, length, row } => {
                errors::too_long(self.doing, &self.address, *n, *length, *row)
            }
        }
    }

    // --- before an exchange ---

    /// Lays the link and the engine out for payloads of these sizes; nothing may be outstanding.
    #[inline]
    pub fn prepare(&mut self, request: usize, awaited: usize, depth: u32) -> Result<(), LinkError> {
        let codec = self.engine.codec();
        let out_bytes = (request + codec.request_overhead()) as u32;
        let in_bytes = codec.answer_bytes(awaited) as u32;
        let fits = out_bytes <= self.prepared.out_bytes
            && depth <= self.prepared.depth
            && match self.needs_exact_replies() {
                true => in_bytes == self.prepared.in_bytes,
                false => in_bytes <= self.prepared.in_bytes,
            };
        match fits {
            true => Ok(()),
            false => self.lay_out(out_bytes, in_bytes, depth),
        }
    }

    /// A reply that fills its last USB packet ends a transfer only if the sizes agree.
    #[inline]
    fn needs_exact_replies(&self) -> bool {
        self.is_usb && !self.engine.codec().is_wiregauge()
    }

    #[cold]
    fn lay_out(&mut self, out_bytes: u32, in_bytes: u32, depth: u32) -> Result<(), LinkError> {
        let before = self.prepared;
        self.prepared = Point {
            out_bytes: out_bytes.max(before.out_bytes),
            in_bytes: match self.needs_exact_replies() {
                true => in_bytes,
                false => in_bytes.max(before.in_bytes),
            },
            depth: depth.max(before.depth).max(1),
            ..UNPREPARED
        };
        let (request, span) = (self.prepared.out_bytes, 4 * self.prepared.depth);
        self.engine.reserve(request as usize, 0, span as usize);
        let prepared = self.link.prepare(self.prepared);
        prepared.map_err(|error| self.link_failed(&error))
    }

    /// How many requests may be outstanding.
    pub fn most_outstanding(&self) -> u32 {
        match self.one_at_a_time {
            Some(_) => 1,
            None => self.limits.outstanding,
        }
    }

    /// True if transfers are the device's own, and can be queued.
    pub fn is_usb(&self) -> bool {
        self.is_usb
    }

    /// The link was used otherwise; it is laid out again before the next exchange.
    pub fn forget_layout(&mut self) {
        self.prepared = UNPREPARED;
    }

    // --- exchanges ---

    /// Stages a request and returns its number. There must be room in the window.
    #[inline]
    pub fn stage(&mut self, request: &[u8], awaited: usize) -> u64 {
        self.engine.stage(awaited, |codec, sequence, to| {
            codec.write(sequence, request, awaited, to);
        })
    }

    /// Awaits a reply to nothing that was staged.
    pub fn expect_reply(&mut self, awaited: usize) {
        self.now_ns = self.clock.now();
        self.engine.expect(awaited, self.now_ns);
    }

    /// Nothing is outstanding. Where a reply does not say which request it answers, takes what is there, so that it
    /// answers none, and waits until the line was silent for long enough before a request.
    #[inline]
    fn clear_line(&mut self) -> Result<(), LinkError> {
        if self.engine.codec().is_numbered() {
            return Ok(());
        }
        // Time may have passed since the last receive.
        self.take_unasked()?;
        while self.engine.needs_drain() {
            self.take_unasked()?;
        }
        let mut since = None;
        while self.engine.gap_ends_ns().is_some() {
            // Silence is a look that finds nothing when the gap is over, however long this thread slept before.
            let looked = self.clock.now();
            self.take_unasked()?;
            let Some(left_ns) = self
                .engine
                .gap_ends_ns()
                .and_then(|ends| ends.checked_sub(looked))
            else {
                break;
            };
            if looked - *since.get_or_insert(looked) >= self.engine.never_quiet_ns() {
                return Err(errors::never_quiet(self.doing, &self.address));
            }
            self.check_interrupt(looked, false)?;
            let waited = self.link.wait(false, Duration::from_nanos(left_ns));
            waited.map_err(|error| self.link_failed(&error))?;
        }
        Ok(())
    }

    /// Receives without waiting, while nothing is outstanding.
    fn take_unasked(&mut self) -> Result<(), LinkError> {
        self.poll_unasked()?;
        let received = match self.link.only_replies() {
            true => Ok(0),
            false => self.link.receive(self.engine.space()),
        };
        let received = received.map_err(|error| self.link_failed(&error))?;
        self.now_ns = self.clock.now();
        self.engine.received(self.now_ns, received);
        if received == 0 {
            self.engine.drained();
        }
        self.poll_unasked()
    }

    fn poll_unasked(&mut self) -> Result<(), LinkError> {
        while let Some(event) = self.engine.poll(self.now_ns) {
            if event == Event::NeverQuiet {
                return Err(errors::never_quiet(self.doing, &self.address));
            }
        }
        Ok(())
    }

    /// One turn: hands over what is staged, waits until something comes (or until `until`), and gives
    /// what ended to the handler.
    #[inline]
    pub fn turn<H: Handler>(
        &mut self,
        handler: &mut H,
        until: Option<u64>,
    ) -> Result<(), LinkError> {
        let mut woken = false;
        let begins = self.engine.begins() && self.engine.wants_to_send();
        let is_numbered = self.engine.codec().is_numbered();
        if !self.engine.has_unpolled() || (begins && !is_numbered) {
            self.send()?;
            let blocked = self.engine.wants_to_send();
            let received = match self.receive(blocked, until) {
                Ok(received) => received,
                Err(error) => return Err(self.link_failed(&error)),
            };
            self.now_ns = self.clock.now();
            self.engine.received(self.now_ns, received);
            woken = received == 0 && !blocked && until.is_none() && self.wait != Wait::Spin;
        }
        let was_resyncing = self.engine.is_resyncing();
        while let Some(event) = self.engine.poll(self.now_ns) {
            match event {
                Event::Ended(ended) => {
                    if self.ended(handler, &ended)?.is_break() {
                        return Ok(());
                    }
                }
                // What was given up may come in any form.
                Event::Malformed(..) if was_resyncing => {}
                Event::Malformed(malformed, place) => {
                    let received = self.engine.received_at(place);
                    let (doing, address) = (self.doing, &self.address);
                    return Err(errors::malformed(doing, address, malformed, received));
                }
                Event::NeverQuiet => return Err(errors::never_quiet(self.doing, &self.address)),
            }
        }
        if self.engine.window().waiting() == 0 && !self.engine.is_resyncing() {
            return Ok(());
        }
        self.check_interrupt(self.now_ns, woken)
    }

    #[inline]
    fn ended<H: Handler>(
        &mut self,
        handler: &mut H,
        ended: &Ended,
    ) -> Result<ControlFlow<()>, LinkError> {
        match ended.outcome {
            Outcome::Late | Outcome::Duplicated => return Ok(ControlFlow::Continue(())),
            Outcome::Refused(Status::Unproven) => self.needs_hello = true,
            _ => {}
        }
        let flow = match handler.ended(&self.engine, ended) {
            Ok(flow) => flow,
            Err(failure) => return Err(self.failed(&failure)),
        };
        if flow.is_break() && self.datagram {
            // What is left of a datagram has no continuation.
            self.engine.discard();
        }
        Ok(flow)
    }

    /// Asks the interrupt callback between two exchanges of one call, if it is time to: a turn that ends all that
    /// was outstanding does not, or a call of one exchange would lose its reply.
    #[inline]
    pub fn check_interrupt_between(&mut self) -> Result<(), LinkError> {
        self.check_interrupt(self.now_ns, false)
    }

    /// Asks the interrupt callback, if it is time to.
    #[inline]
    pub fn check_interrupt(&mut self, now: u64, at_once: bool) -> Result<(), LinkError> {
        let checked = *self.interrupt_checked_ns.get_or_insert(now);
        if !at_once && now.saturating_sub(checked) < INTERRUPT_CHECK_NS {
            return Ok(());
        }
        self.interrupt_checked_ns = Some(now);
        match self.interrupt.as_mut().is_some_and(|interrupt| interrupt()) {
            true => Err(errors::interrupted(self.doing, &self.address)),
            false => Ok(()),
        }
    }

    /// Hands staged requests to the system, as many as it takes now.
    #[inline]
    pub fn send(&mut self) -> Result<(), LinkError> {
        while self.engine.wants_to_send() {
            if self.engine.begins() {
                self.clear_line()?;
            }
            let now = self.clock.now();
            let sent = match self.link.send(self.engine.outgoing()) {
                Ok(sent) => sent,
                // Of an earlier datagram, reported now; this one was not sent.
                Err(error) if self.datagram && error.kind() == io::ErrorKind::ConnectionRefused => {
                    let again = self.link.send(self.engine.outgoing());
                    again.map_err(|error| self.link_failed(&error))?
                }
                Err(error) => return Err(self.link_failed(&error)),
            };
            self.now_ns = now;
            self.engine.sent(now, sent);
            if sent == 0 {
                return self.check_blocked(now);
            }
        }
        Ok(())
    }

    /// The system takes nothing. Where replies are awaited, their timeout decides; else this one.
    #[cold]
    fn check_blocked(&self, now: u64) -> Result<(), LinkError> {
        match self.engine.blocked() {
            Some((since, rest))
                if now - since > self.timeout_ns && self.engine.window().waiting() == 0 =>
            {
                let (doing, address) = (self.doing, &self.address);
                Err(errors::send_timeout(doing, address, self.timeout, rest))
            }
            _ => Ok(()),
        }
    }

    /// Waits for bytes and receives them; 0 if none came for now.
    #[inline]
    fn receive(&mut self, blocked: bool, until: Option<u64>) -> io::Result<usize> {
        if self.wait == Wait::Block && !blocked && self.may_sleep(until) {
            return self.link.receive_blocking(self.engine.space());
        }
        if self.wait == Wait::Spin {
            let into = self.engine.space();
            for _ in 0..SPINS {
                let received = self.link.receive(into)?;
                if received > 0 {
                    return Ok(received);
                }
            }
            return Ok(0);
        }
        let at_most = self.longest_wait(blocked, until);
        self.link.wait(blocked, at_most)?;
        self.link.receive(self.engine.space())
    }

    /// When a wait must end: the engine's timeout, or what is due.
    #[inline]
    fn wake_ns(&self, until: Option<u64>) -> u64 {
        let wake = self.engine.wake_ns().unwrap_or(u64::MAX);
        until.map_or(wake, |until| wake.min(until))
    }

    /// True if nothing happens before a blocking receive ends by itself.
    #[inline]
    fn may_sleep(&self, until: Option<u64>) -> bool {
        self.wake_ns(until) >= self.now_ns.saturating_add(self.sleep_ns)
    }

    fn longest_wait(&self, blocked: bool, until: Option<u64>) -> Duration {
        let longest_ns = match blocked {
            true => WRITABLE_WAIT_NS,
            false => MAX_WAIT.as_nanos() as u64,
        };
        // A moment more, so that what it waits for is past when it is over.
        let left_ns = self
            .wake_ns(until)
            .saturating_sub(self.clock.now())
            .saturating_add(1_000);
        Duration::from_nanos(left_ns.min(longest_ns))
    }

    /// Gives up all that is under way: whatever comes of it later answers nothing.
    #[cold]
    pub fn abandon(&mut self) {
        self.engine.abandon(self.now_ns);
    }
}
