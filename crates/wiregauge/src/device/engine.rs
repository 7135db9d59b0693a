//! What sends, waits and receives for an open device. The rules of the measuring path hold here as well:
//! nothing is allocated once buffers have grown to size, sending never blocks, and what is received is
//! hostile. There is no other thread to wake this one, so a wait ends by itself after a tenth of a second
//! (or sooner, for a short timeout) and looks up.

use super::Timing;
use super::buffers::{Input, Output};
use super::framing::Framing;
use super::speech::{Came, Fate, Heard, Speech};
use super::trouble;
use super::window::{Slot, Window};
use crate::error::LinkError;
use crate::exchange::hello::hello;
use crate::host::Clock;
use crate::link::{Address, Link, PATIENCE};
use std::io;
use std::ops::Range;
use std::time::Duration;
use wiregauge_record::{Point, Wait};
use wiregauge_wire::Status;

/// Part of the depth that is handed over in one call at most; see `exchange::measure`.
const TOGETHER: u32 = 8;

/// Tries of a spinning wait between two looks at the clock.
const SPINS: u32 = 64;

/// A blocking receive cannot wait less exactly than the kernel's tick; what is left of a timeout below
/// this is waited for in `poll`, which can.
const LEAST_PATIENCE: Duration = Duration::from_millis(8);

/// How often whoever may interrupt is asked.
const ASK_NS: u64 = 100_000_000;

/// A wait for room lasts so long at most: a pseudo-terminal does not always tell that there is some.
const NUDGE_NS: u64 = 10_000_000;

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

/// A timeout in nanoseconds; what is longer than a life is cut.
fn as_ns(timeout: Duration) -> u64 {
    u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX / 4)
}

/// Asked whether a waiting call is to end.
pub type Interrupt = Box<dyn FnMut() -> bool + Send>;

/// Takes what comes.
pub trait Taker {
    /// A reply, and where its payload lies in `input` until the next receive. True ends the turn here;
    /// what follows is looked at in the next one.
    fn reply(&mut self, input: &Input, reply: &Reply) -> Result<bool, Refusal>;

    /// No reply to this exchange within the timeout; an error ends the call.
    fn lost(&mut self, _sequence: u64, _slot: &Slot, _now_ns: u64) -> Result<(), Refusal> {
        Err(Refusal::Silent)
    }
}

/// A reply, as a [`Taker`] is given it.
pub struct Reply {
    /// Its exchange.
    pub sequence: u64,
    /// Where its payload lies.
    pub place: Range<usize>,
    /// When.
    pub timing: Timing,
    /// What became of it.
    pub fate: Fate,
}

/// Why a call cannot go on.
pub enum Refusal {
    /// No reply in time.
    Silent,
    /// The exchange came to no good end.
    Failed(Fate),
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

/// An open link and all that passes over it.
pub struct Engine {
    pub(super) link: Box<dyn Link>,
    pub(super) address: String,
    pub(super) datagram: bool,
    pub(super) speech: Speech,
    /// What the call that runs does, for messages; the address follows.
    pub(super) doing: &'static str,
    pub(super) wait: Wait,
    pub(super) timeout: Duration,
    pub(super) timeout_ns: u64,
    /// How long a blocking receive sleeps; `None` if it cannot be used.
    patience_ns: Option<u64>,
    pub(super) clock: Clock,
    /// What the clock said last.
    pub(super) now_ns: u64,
    /// When something came last.
    heard_ns: u64,
    /// When the device took something last, if it takes nothing now: since when.
    stuck_ns: Option<u64>,
    asked_ns: Option<u64>,
    pub(super) interrupt: Option<Interrupt>,
    /// Requests handed over in one call at most.
    together: usize,
    pub(super) output: Output,
    pub(super) input: Input,
    pub(super) window: Window,
    /// There are received bytes that were not looked at.
    unread: bool,
    prepared: Point,
    pub(super) unsettled: Option<super::settle::Unsettled>,
    /// Each request is a transfer of its own.
    is_usb: bool,
    /// The largest payload of a request, and of a reply.
    pub(super) largest: (usize, usize),
    /// Most requests that may be outstanding at once.
    pub(super) most_outstanding: u32,
    /// It takes messages.
    pub(super) able: bool,
    /// It is told HELLO before the next exchange: it does not know this host, or a stream may still flow.
    pub(super) unproven: bool,
    /// Number of the last order that began or ended a stream.
    pub(super) order: u32,
}

impl Engine {
    /// Over a link that was just opened.
    pub fn new(
        link: Box<dyn Link>,
        address: &Address,
        speech: Speech,
        wait: Wait,
        timeout: Duration,
    ) -> io::Result<Engine> {
        let kind = address.kind();
        let mut engine = Engine {
            link,
            address: address.to_string(),
            datagram: kind.datagram,
            speech,
            doing: "opening",
            wait,
            timeout,
            timeout_ns: as_ns(timeout),
            patience_ns: None,
            clock: Clock::start(),
            now_ns: 0,
            heard_ns: 0,
            stuck_ns: None,
            asked_ns: None,
            interrupt: None,
            together: 1,
            output: Output::default(),
            input: Input::default(),
            window: Window::default(),
            unread: false,
            prepared: UNPREPARED,
            unsettled: None,
            is_usb: kind.scheme == "usb",
            largest: (0, 0),
            most_outstanding: u32::MAX,
            able: true,
            unproven: false,
            order: 0,
        };
        engine.window.lay_out(1);
        engine.be_patient()?;
        Ok(engine)
    }

    /// Another timeout, from now on.
    pub fn set_timeout(&mut self, timeout: Duration) -> Result<(), LinkError> {
        self.timeout = timeout;
        self.timeout_ns = as_ns(timeout);
        self.be_patient().map_err(|error| self.broken(&error))
    }

    /// A wait begins: whoever may interrupt it is asked after a while.
    pub fn begin_waiting(&mut self) {
        self.asked_ns = None;
    }

    /// Sets how long a blocking receive sleeps: short enough that a timeout is found in time, and long
    /// enough that the usual reply comes before.
    pub fn be_patient(&mut self) -> io::Result<()> {
        let patience = (self.timeout / 4).clamp(LEAST_PATIENCE, PATIENCE);
        let patience = match self.link.set_patience(Some(patience))? {
            true => patience,
            // A tty's own is fixed.
            false => PATIENCE,
        };
        self.patience_ns = Some(patience.as_nanos() as u64);
        Ok(())
    }

    /// The link reported an error.
    #[cold]
    pub fn broken(&self, error: &io::Error) -> LinkError {
        trouble::broken(self.doing, &self.address, error)
    }

    /// The caller asks for what cannot be.
    #[cold]
    pub fn usage(&self, said: impl Into<String>, hint: &str) -> LinkError {
        trouble::usage(self.doing, &self.address, said, hint)
    }

    #[cold]
    fn explain(&self, refusal: Refusal) -> LinkError {
        let (doing, address) = (self.doing, &self.address);
        match refusal {
            Refusal::Silent => trouble::silent(
                doing,
                address,
                self.timeout,
                self.input.bytes(),
                &self.speech,
            ),
            Refusal::Failed(fate) => trouble::failed(doing, address, fate),
            Refusal::TooLong { n, length, row } => {
                trouble::too_long(doing, address, n, length, row)
            }
        }
    }

    /// Asks the device who it is, over datagrams also to be believed.
    pub fn hello(&mut self) -> Result<wiregauge_record::Responder, LinkError> {
        self.input.drop_all();
        self.speech.restart();
        self.unread = false;
        let said = hello(
            self.link.as_mut(),
            &self.address,
            self.datagram,
            self.timeout,
            &mut || self.interrupt.as_mut().is_some_and(|interrupt| interrupt()),
        );
        self.now_ns = self.clock.now();
        self.heard_ns = self.now_ns;
        said.map_err(|error| match error.kind() {
            crate::LinkErrorKind::Silent | crate::LinkErrorKind::Rubbish => error.hint(
                "is its firmware wiregauge's? a device that knows nothing of wiregauge is opened with \
                 a framing; for a serial line: the right baud rate",
            ),
            _ => error,
        })
    }

    /// Made before every call: what is left of the last one is settled, and the device knows this host.
    #[inline]
    pub fn begin(&mut self, doing: &'static str) -> Result<(), LinkError> {
        self.begin_anew(doing)?;
        if !self.speech.is_numbered() && !self.input.bytes().is_empty() {
            // It came before the request was sent, so that it is no reply to it.
            self.input.drop_all();
            self.speech.restart();
            self.unread = false;
        }
        Ok(())
    }

    /// The same, where what came before is not dropped.
    #[inline]
    pub fn begin_anew(&mut self, doing: &'static str) -> Result<(), LinkError> {
        self.doing = doing;
        self.asked_ns = None;
        if self.unsettled.is_some() {
            self.settle()?;
        }
        let is_old = |engine: &Engine| {
            engine.datagram
                && engine.speech.is_numbered()
                && engine.clock.now() - engine.heard_ns > PROOF_NS
        };
        if self.unproven || is_old(self) {
            self.hello()?;
            self.unproven = false;
        }
        Ok(())
    }

    /// Lays the link and the window out for payloads of these sizes; nothing may be outstanding.
    #[inline]
    pub fn prepare(&mut self, request: usize, awaited: usize, depth: u32) -> Result<(), LinkError> {
        let out_bytes = (request + self.speech.request_overhead()) as u32;
        let in_bytes = self.speech.reply_on_link(awaited) as u32;
        let fits = out_bytes <= self.prepared.out_bytes
            && depth <= self.prepared.depth
            && match self.is_usb && !self.speech.is_numbered() {
                // A reply that fills its last packet ends a transfer only if the sizes agree.
                true => in_bytes == self.prepared.in_bytes,
                false => in_bytes <= self.prepared.in_bytes,
            };
        if fits {
            return Ok(());
        }
        self.lay_out(out_bytes, in_bytes, depth)
    }

    #[cold]
    fn lay_out(&mut self, out_bytes: u32, in_bytes: u32, depth: u32) -> Result<(), LinkError> {
        let exact = self.is_usb && !self.speech.is_numbered();
        let before = self.prepared;
        self.prepared = Point {
            out_bytes: out_bytes.max(before.out_bytes),
            in_bytes: if exact {
                in_bytes
            } else {
                in_bytes.max(before.in_bytes)
            },
            depth: depth.max(before.depth).max(1),
            ..UNPREPARED
        };
        self.window.lay_out(4 * self.prepared.depth as usize);
        let prepared = self.link.prepare(self.prepared);
        prepared.map_err(|error| self.broken(&error))
    }

    /// Transfers are the device's own, and pend.
    pub fn is_usb(&self) -> bool {
        self.is_usb
    }

    /// The link was used otherwise; it is laid out again before the next exchange.
    pub fn forget_layout(&mut self) {
        self.prepared = UNPREPARED;
    }

    /// Refuses a request that cannot be made, or a reply that cannot be asked for.
    #[inline]
    pub fn check(&self, request: &[u8], awaited: usize) -> Result<(), LinkError> {
        if request.len() > self.largest.0 || awaited > self.largest.1 || !self.able {
            return Err(self.refuse(request.len(), awaited));
        }
        let Speech::Foreign(splitter) = &self.speech else {
            return Ok(());
        };
        if let Err(said) = splitter.check_request(request) {
            return Err(self.usage(said, "another request, or another framing"));
        }
        if awaited == 0 && !self.datagram && *splitter.framing() == Framing::Raw {
            return Err(self.usage(
                "without a framing a reply of 0 bytes cannot be waited for",
                "say how many bytes the reply has, or open it with a framing that tells",
            ));
        }
        Ok(())
    }

    /// Refuses more outstanding requests than the device takes.
    #[inline]
    pub fn check_depth(&self, depth: u32) -> Result<(), LinkError> {
        if depth == 0 {
            return Err(self.usage("a depth of 0 exchanges nothing", "a depth from 1"));
        }
        if depth > self.most_outstanding {
            return Err(self.usage(
                format!(
                    "{depth} outstanding requests are more than the device takes ({})",
                    self.most_outstanding
                ),
                "a smaller depth",
            ));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, request: usize, awaited: usize) -> LinkError {
        let (most_out, most_in) = self.largest;
        if !self.able {
            self.usage(
                "its firmware answers measurements, but takes no messages of a program",
                "newer firmware (ability MESSAGE), or open it with a framing if it speaks one",
            )
        } else if request > most_out {
            self.usage(
                format!("a request of {request} B is more than the device takes ({most_out} B)"),
                "a smaller request, or several",
            )
        } else {
            self.usage(
                format!("a reply of {awaited} B is more than the device gives ({most_in} B)"),
                "a smaller reply, or several",
            )
        }
    }

    /// So many requests outstanding share a call of the system with others.
    pub fn set_depth(&mut self, depth: u32) {
        self.together = match self.datagram || self.is_usb {
            true => 1,
            false => (depth / TOGETHER).max(1) as usize,
        };
    }

    /// Makes a request ready; its number. There must be room in the window.
    #[inline]
    pub fn stage(&mut self, request: &[u8], awaited: usize) -> u64 {
        let sequence = self.window.stage(awaited);
        let speech = &mut self.speech;
        self.output
            .stage(|to| speech.write(sequence, request, awaited, to));
        sequence
    }

    /// One turn: hands over what is staged, waits until something comes (or until `until`), and gives it
    /// to the taker.
    #[inline]
    pub fn turn<T: Taker>(&mut self, taker: &mut T, until: Option<u64>) -> Result<(), LinkError> {
        if self.unread {
            self.unread = false;
            return self.understand(taker);
        }
        if !self.output.is_empty() {
            self.send()?;
        }
        let blocked = !self.output.is_empty();
        let received = match self.receive(blocked, until) {
            Ok(received) => received,
            Err(error) => return Err(self.broken(&error)),
        };
        let now = self.clock.now();
        self.now_ns = now;
        if received > 0 {
            self.heard_ns = now;
            self.input.received(received);
            self.understand(taker)?;
        }
        if self.window.waiting() == 0 {
            return Ok(());
        }
        self.expire(now, taker)?;
        let woken = received == 0 && !blocked && until.is_none() && self.wait != Wait::Spin;
        self.ask(now, woken)
    }

    /// Asks whether the call is to end, if it is time to.
    #[inline]
    pub fn ask(&mut self, now: u64, at_once: bool) -> Result<(), LinkError> {
        let asked = *self.asked_ns.get_or_insert(now);
        if !at_once && now - asked < ASK_NS {
            return Ok(());
        }
        self.asked_ns = Some(now);
        match self.interrupt.as_mut().is_some_and(|interrupt| interrupt()) {
            true => Err(trouble::interrupted(self.doing, &self.address)),
            false => Ok(()),
        }
    }

    /// Hands staged requests to the system, as many as it takes now.
    #[inline]
    pub fn send(&mut self) -> Result<(), LinkError> {
        while !self.output.is_empty() {
            let now = self.clock.now();
            let sent = match self.link.send(self.output.unsent(self.together)) {
                Ok(sent) => sent,
                // Of an earlier datagram, told now; this one was not sent.
                Err(error) if self.datagram && error.kind() == io::ErrorKind::ConnectionRefused => {
                    let again = self.link.send(self.output.unsent(self.together));
                    again.map_err(|error| self.broken(&error))?
                }
                Err(error) => return Err(self.broken(&error)),
            };
            self.now_ns = now;
            if sent == 0 {
                return self.stuck(now);
            }
            self.stuck_ns = None;
            let begun = self.output.take(sent);
            self.window.start(begun, now);
        }
        Ok(())
    }

    /// The system takes nothing. Where replies are awaited, their timeout tells; else this one.
    #[cold]
    fn stuck(&mut self, now: u64) -> Result<(), LinkError> {
        let since = *self.stuck_ns.get_or_insert(now);
        if now - since <= self.timeout_ns || self.window.oldest_start_ns().is_some() {
            return Ok(());
        }
        self.stuck_ns = None;
        let part = self.output.part_taken();
        Err(trouble::takes_nothing(
            self.doing,
            &self.address,
            self.timeout,
            part,
        ))
    }

    /// Waits for bytes and takes them; 0 if none came for now.
    #[inline]
    fn receive(&mut self, blocked: bool, until: Option<u64>) -> io::Result<usize> {
        let sleeps = self.wait == Wait::Block && !blocked && self.may_sleep(until);
        if sleeps {
            return self.link.receive_blocking(self.input.space(self.datagram));
        }
        if self.wait == Wait::Spin {
            let into = self.input.space(self.datagram);
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
        self.link.receive(self.input.space(self.datagram))
    }

    /// What the wait must end for: the timeout of the oldest exchange, or what is due.
    #[inline]
    fn wakes_ns(&self, until: Option<u64>) -> u64 {
        let start = self.window.oldest_start_ns();
        let expires = start.map_or(u64::MAX, |start| start.saturating_add(self.timeout_ns));
        until.map_or(expires, |until| expires.min(until))
    }

    /// True if nothing happens before a blocking receive looks up by itself.
    #[inline]
    fn may_sleep(&self, until: Option<u64>) -> bool {
        self.patience_ns
            .is_some_and(|patience| self.wakes_ns(until) >= self.now_ns + patience)
    }

    fn longest_wait(&self, blocked: bool, until: Option<u64>) -> Duration {
        let now = self.clock.now();
        let most = if blocked {
            NUDGE_NS
        } else {
            PATIENCE.as_nanos() as u64
        };
        // A moment more, so that what it waits for is past when it is over.
        Duration::from_nanos(
            self.wakes_ns(until)
                .saturating_sub(now)
                .saturating_add(1_000)
                .min(most),
        )
    }

    /// Takes received bytes apart.
    #[inline]
    fn understand<T: Taker>(&mut self, taker: &mut T) -> Result<(), LinkError> {
        while !self.input.bytes().is_empty() {
            match self.speech.next(self.input.bytes(), &self.window) {
                Heard::More => break,
                Heard::Stray(count) => self.input.drop_front(count.max(1)),
                Heard::Wrong(wrong) => {
                    let came = self.input.bytes();
                    let error = trouble::wrong(self.doing, &self.address, wrong, came);
                    if self.datagram {
                        // It was the reply, such as it is.
                        self.window.give_up(self.now_ns);
                    }
                    self.unsettle();
                    return Err(error);
                }
                Heard::Reply(came, end) => {
                    let reply = self.finish(came);
                    self.input.drop_front(end.max(1));
                    match taker.reply(&self.input, &reply) {
                        Ok(false) => {}
                        Ok(true) => {
                            self.unread = !self.datagram && !self.input.bytes().is_empty();
                            break;
                        }
                        Err(refusal) => return Err(self.explain(refusal)),
                    }
                }
            }
        }
        if self.datagram {
            // What is left of a datagram has no continuation.
            self.input.drop_all();
            self.speech.restart();
        }
        Ok(())
    }

    #[inline]
    fn finish(&mut self, came: Came) -> Reply {
        if came.fate == Fate::Refused(Status::Unproven) {
            self.unproven = true;
        }
        let timing = Timing {
            device_rx_ticks: came.ticks.0,
            device_tx_ticks: came.ticks.1,
            ..Timing::default()
        };
        Reply {
            sequence: came.sequence,
            place: self.input.place(&came.payload),
            timing: self.window.finish(came.sequence, timing, self.heard_ns),
            fate: came.fate,
        }
    }

    /// Tells the taker of what has waited longer than the timeout.
    #[inline]
    fn expire<T: Taker>(&mut self, now: u64, taker: &mut T) -> Result<(), LinkError> {
        while let Some(start) = self.window.oldest_start_ns() {
            if now.saturating_sub(start) <= self.timeout_ns {
                return Ok(());
            }
            self.lose(now, taker)?;
        }
        Ok(())
    }

    #[cold]
    fn lose<T: Taker>(&mut self, now: u64, taker: &mut T) -> Result<(), LinkError> {
        if !self.speech.is_numbered() {
            // Whose reply comes next cannot be told any more.
            while self.window.waiting() > 0 {
                let (sequence, slot) = (
                    self.window.oldest(),
                    *self.window.slot(self.window.oldest()),
                );
                if let Err(refusal) = taker.lost(sequence, &slot, now) {
                    return Err(self.explain(refusal));
                }
                self.owe(&slot);
                self.window.give_up(now);
            }
            self.output.forget();
            return Ok(());
        }
        let sequence = self.window.oldest();
        let slot = *self.window.slot(sequence);
        taker
            .lost(sequence, &slot, now)
            .map_err(|refusal| self.explain(refusal))?;
        self.window.give_up(now);
        Ok(())
    }

    /// Lets go all that is under way: whatever comes of it later answers nothing.
    #[cold]
    pub fn let_go(&mut self) {
        let missing = self.window.let_go();
        self.output.forget();
        self.stuck_ns = None;
        if self.speech.is_numbered() {
            // The rest of a reply that has begun is noise, and skipped as such.
            self.input.drop_all();
            self.speech.restart();
            self.unread = false;
        } else if missing.0 > 0 {
            self.owe_all(missing);
        }
    }
}
