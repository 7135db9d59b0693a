//! The measuring loop: one thread, one link, one point of the sweep. It does what the session says, and between the
//! two reads of the clock that make an RTT stand only the system calls of the exchange. Nothing in here
//! allocates, locks or prints once `run` has begun.

use super::errors;
use super::samples::SampleLog;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_link::host::Time;
use wiregauge_link::host::{COARSEST_WAIT_NS, ClockGaps, Interrupter};
use wiregauge_link::{Link, LinkError, MAX_WAIT};
use wiregauge_record::{BatchTrial, Plan, Point, Surplus, Wait};
use wiregauge_session::{End, Generator, Measurement, Next};

/// Tries of a spinning wait between two looks at the clock and at the stop flag.
const SPINS: u32 = 64;

/// How the loop is stopped and woken while it runs.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Raised when it is to stop.
    pub stop: &'a AtomicBool,
    /// By which another thread wakes it from a receive; without one, receives time out.
    pub sleeper: Option<&'a Interrupter>,
}

/// How the loop ended.
pub enum LoopEnd {
    /// All was measured.
    Complete,
    /// The stop flag was raised.
    Stopped,
    /// The link failed.
    Failed(LinkError),
}

/// What the loop counted besides samples.
#[derive(Default)]
pub struct Counters {
    /// Bytes that belong to no answer.
    pub stray_bytes: u64,
    /// What the device sent behind each answer.
    pub surplus: Option<Surplus>,
    /// Gaps in the clock.
    pub gaps: ClockGaps,
    /// Exchanges started, those of a trial included.
    pub exchanges: u64,
    /// What the trial of batches has found.
    pub batch: Option<BatchTrial>,
}

/// The loop and all that it touches.
pub struct Driver<'a, C, T> {
    link: &'a mut dyn Link,
    session: Measurement<C>,
    plan: &'a Plan,
    point: Point,
    datagram: bool,
    control: Control<'a>,
    log: &'a mut SampleLog,
    clock: T,
    /// The time of what happened last.
    now_ns: u64,
    /// The blocking receive wakes up as often as the timeout needs.
    may_block: bool,
    gaps: ClockGaps,
    /// The last error of the system that was taken for a lost exchange, or that ended the point.
    error: Option<io::Error>,
}

impl<'a, C: Generator, T: Time> Driver<'a, C, T> {
    /// Lays everything out.
    pub fn new(
        link: &'a mut dyn Link,
        datagram: bool,
        session: Measurement<C>,
        (plan, point): (&'a Plan, Point),
        control: Control<'a>,
        log: &'a mut SampleLog,
        clock: T,
    ) -> Self {
        Driver {
            link,
            session,
            plan,
            point,
            datagram,
            control,
            log,
            clock,
            now_ns: 0,
            may_block: true,
            gaps: ClockGaps::default(),
            error: None,
        }
    }

    /// The processor that the loop is kept on.
    pub fn pinned(&self) -> Option<u32> {
        self.plan.host.pin
    }

    /// Measures the point.
    pub fn run(mut self) -> (LoopEnd, Counters) {
        let prepared = self.prepare();
        if let Err(error) = prepared {
            self.fail(error);
        }
        self.measure();
        let end = match self.session.end() {
            Some(End::Complete) => LoopEnd::Complete,
            Some(End::Failed(failure)) => {
                let started = self.session.next_sequence();
                let error = self.error.as_ref();
                let context = (self.plan, self.point);
                LoopEnd::Failed(errors::explain(
                    context,
                    failure,
                    (started, self.session.stray_bytes()),
                    error,
                ))
            }
            Some(End::Stopped) | None => LoopEnd::Stopped,
        };
        let counters = Counters {
            stray_bytes: self.session.stray_bytes(),
            surplus: self.session.surplus(),
            gaps: self.gaps,
            exchanges: self.session.started(),
            batch: self.session.trial().filter(|trial| trial.exchanges > 0),
        };
        (end, counters)
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.link.prepare(self.point)?;
        let timeout = Duration::from_nanos(self.plan.timeout_ns);
        // Who is woken from outside within a moment needs a timer only for a short timeout.
        let is_woken = self.control.sleeper.is_some() && timeout >= 2 * MAX_WAIT;
        let receive_timeout = (!is_woken).then(|| timeout.min(MAX_WAIT));
        self.may_block = self.link.set_receive_timeout(receive_timeout)?;
        Ok(())
    }

    fn measure(&mut self) {
        // The line was empty when it was looked at, at `now_ns`; whatever came since was not seen.
        let mut was_empty = false;
        loop {
            if self.control.stop.load(Ordering::Relaxed) {
                self.session.stop();
            }
            if !std::mem::take(&mut was_empty) && self.session.needs_time() {
                self.now_ns = self.clock.now();
            }
            match self.session.next(self.now_ns) {
                Next::Send => self.send(),
                Next::Receive {
                    until_ns,
                    exact,
                    or_writable,
                } => {
                    let received = self.receive(until_ns, exact, or_writable);
                    self.received(received);
                }
                Next::Rest { until_ns } => {
                    let received = self.rest(until_ns);
                    self.received(received);
                }
                Next::Drain => match self.drain() {
                    Ok(0) => {
                        self.session.drained();
                        was_empty = true;
                    }
                    received => self.received(received),
                },
                Next::Sleep { until_ns } => self.sleep_until(until_ns),
                Next::Connect => self.connect(),
                Next::Disconnect => self.link.close(),
                Next::Done => break,
            }
        }
        // What was outstanding when the link failed.
        self.store();
    }

    /// Stores the exchanges that have ended.
    #[inline]
    fn store(&mut self) {
        while let Some(row) = self.session.poll(self.now_ns) {
            let answer = self.session.received_at(row.answer);
            self.log.push(row.sample, answer);
        }
    }

    /// Reports what a receive gave, with the time right after it.
    #[inline]
    fn received(&mut self, received: io::Result<usize>) {
        self.now_ns = self.clock.now();
        match received {
            Ok(count) => self.session.received(self.now_ns, count),
            Err(error) => {
                self.session.received(self.now_ns, 0);
                self.link_failed(error);
            }
        }
        self.store();
    }

    #[inline]
    fn send(&mut self) {
        self.now_ns = self.clock.now();
        match self.link.send(self.session.outgoing()) {
            Ok(count) => self.session.sent(self.now_ns, count),
            Err(error) => {
                self.session.sent(self.now_ns, 0);
                self.link_failed(error);
                self.store();
            }
        }
    }

    /// Waits for bytes and takes them; 0 if there are none yet.
    #[inline]
    fn receive(&mut self, until_ns: u64, exact: bool, or_writable: bool) -> io::Result<usize> {
        match self.plan.wait {
            Wait::Block if self.may_block && !exact && !or_writable => {
                let into = self.session.space();
                match self.control.sleeper {
                    Some(sleeper) => sleeper.sleeps(|| self.link.receive_blocking(into)),
                    None => self.link.receive_blocking(into),
                }
            }
            Wait::Block | Wait::Poll => self.wait(until_ns, or_writable),
            Wait::Spin => self.spin(),
        }
    }

    /// Sleeps until bytes come, but not past `until_ns`, and takes them.
    #[inline]
    fn wait(&mut self, until_ns: u64, or_writable: bool) -> io::Result<usize> {
        // A moment more, so that what it waits for is past when it is over.
        let left = until_ns.saturating_sub(self.clock.now()).saturating_add(1);
        let at_most = Duration::from_nanos(left).min(MAX_WAIT);
        self.link.wait(or_writable, at_most)?;
        self.link.receive(self.session.space())
    }

    /// Nothing is outstanding: waits for the next start, and takes what comes before.
    fn rest(&mut self, until_ns: u64) -> io::Result<usize> {
        if self.link.only_replies() {
            self.sleep_until(until_ns);
            return Ok(0);
        }
        if self.plan.wait == Wait::Spin {
            return self.spin_until(until_ns);
        }
        // Where a wait for bytes is coarser than a sleep, the last part of it is slept.
        let wait_until_ns = until_ns.saturating_sub(COARSEST_WAIT_NS);
        if COARSEST_WAIT_NS == 0 || self.clock.now() < wait_until_ns {
            return self.wait(wait_until_ns, false);
        }
        self.sleep_until(until_ns);
        self.link.receive(self.session.space())
    }

    /// Takes what is there.
    fn drain(&mut self) -> io::Result<usize> {
        match self.link.only_replies() {
            true => Ok(0),
            false => self.link.receive(self.session.space()),
        }
    }

    /// Receives again and again until bytes come, or until a start is due, which must not be late.
    fn spin_until(&mut self, until_ns: u64) -> io::Result<usize> {
        let into = self.session.space();
        let mut last = self.clock.now();
        while last < until_ns && !self.control.stop.load(Ordering::Relaxed) {
            let received = self.link.receive(into)?;
            if received > 0 {
                return Ok(received);
            }
            let now = self.clock.now();
            self.gaps.take(now - last);
            last = now;
        }
        Ok(0)
    }

    fn spin(&mut self) -> io::Result<usize> {
        let into = self.session.space();
        let received = self.link.receive(into)?;
        if received > 0 {
            return Ok(received);
        }
        let before = self.clock.now();
        for _ in 0..SPINS {
            let received = self.link.receive(into)?;
            if received > 0 {
                return Ok(received);
            }
        }
        // An ordinary turn of so many empty receives takes a few microseconds.
        self.gaps.take(self.clock.now() - before);
        Ok(0)
    }

    /// Waits for the next start.
    fn sleep_until(&mut self, until_ns: u64) {
        let now = self.clock.now();
        if self.plan.wait == Wait::Spin {
            let mut last = now;
            while last < until_ns && !self.control.stop.load(Ordering::Relaxed) {
                let now = self.clock.now();
                self.gaps.take(now - last);
                last = now;
            }
        } else if now < until_ns {
            // Ends early on the signal that comes with a stop.
            self.clock.sleep_until(until_ns);
        }
        self.now_ns = self.clock.now();
    }

    fn connect(&mut self) {
        let before = self.clock.now();
        let stop = self.control.stop;
        let mut is_stopped = || stop.load(Ordering::Relaxed);
        let opened = match self.control.sleeper {
            Some(sleeper) => sleeper.sleeps(|| self.link.reopen(&mut is_stopped)),
            None => self.link.reopen(&mut is_stopped),
        };
        self.now_ns = self.clock.now();
        match opened {
            Ok(()) => self.session.connected(before, self.now_ns),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.error = Some(error);
                self.session.connect_failed(before, self.now_ns);
                self.store();
            }
        }
    }

    /// The system reported an error. A datagram that was refused (ICMP) is a lost exchange, not a failed link.
    #[cold]
    fn link_failed(&mut self, error: io::Error) {
        let refused = error.kind() == io::ErrorKind::ConnectionRefused;
        let answered = self.session.answered_once();
        self.error = Some(error);
        if self.datagram && refused && answered {
            // It is of an earlier datagram, which will time out.
        } else if refused {
            self.session.abort();
        } else {
            self.session.link_failed(self.now_ns);
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.error = Some(error);
        self.session.abort();
    }
}
