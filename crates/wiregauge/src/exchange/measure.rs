//! The measuring loop: one thread, one link, one point of the sweep. Between the two reads of the
//! clock that make an RTT stand only the system calls of the exchange. Nothing in here allocates,
//! locks or prints once `run` has begun.

use super::buffers::{Input, Output};
use super::codec::{Answer, Codec, Expect, Step};
use super::failures;
use super::samples::SampleLog;
use super::window::{Finished, Slot, Window};
use crate::error::LinkError;
use crate::host::{Clock, ClockGaps, Sleeper};
use crate::link::{Link, PATIENCE};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_record::{Connect, Limit, Phase, Plan, Point, Sample, Schedule, Status, Wait};

/// Part of the depth that is handed over in one call at most. All in one would make host and device
/// take turns, each asleep while the other works; one by one costs a system call each (bench/ has
/// the figures).
const TOGETHER: u32 = 8;

/// Tries of a spinning wait between two looks at the clock and at the stop flag.
const SPINS: u32 = 64;

/// After a corrupted echo the line must be silent so long before it is trusted again.
const SETTLE_NS: u64 = 20_000_000;

/// After the last answer of a point, stragglers are waited for so long.
const LINGER_NS: u64 = 5_000_000;

/// Losses in a row, for each exchange outstanding, at which a link that never answered has failed.
const NEVER_ANSWERED: u32 = 3;

fn together(depth: u32) -> usize {
    (depth / TOGETHER).max(1) as usize
}

/// How the loop is told something while it runs.
#[derive(Clone, Copy)]
pub struct Ears<'a> {
    /// Raised when it is to stop.
    pub stop: &'a AtomicBool,
    /// By which another thread wakes it from a receive; without one, receives time out.
    pub sleeper: Option<&'a Sleeper>,
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

/// What the loop saw besides samples.
#[derive(Default)]
pub struct Sights {
    /// Bytes that belong to no answer.
    pub stray_bytes: u64,
    /// Gaps in the clock.
    pub gaps: ClockGaps,
    /// Exchanges started.
    pub exchanges: u64,
}

/// The loop and all that it touches.
pub struct Loop<'a, C> {
    link: &'a mut dyn Link,
    codec: C,
    plan: &'a Plan,
    point: Point,
    datagram: bool,
    /// Requests handed over in one call at most.
    together: usize,
    ears: Ears<'a>,
    log: &'a mut SampleLog,
    clock: Clock,
    window: Window,
    output: Output,
    input: Input,
    /// Exchanges to stage; beyond it the point is done. Falls when a duration is over.
    total: u64,
    /// When the measured phase must end, once it has begun.
    deadline_ns: Option<u64>,
    /// When measured exchange 0 of the schedule is due.
    schedule_zero_ns: Option<u64>,
    /// The blocking receive wakes up as often as the timeout needs.
    patient: bool,
    first_done: bool,
    answered_once: bool,
    lost_in_a_row: u64,
    /// Until when the line must be silent, and whether because of a loss.
    settle_until_ns: Option<u64>,
    settles_a_loss: bool,
    /// When the settling that goes on began.
    settles_since_ns: u64,
    last_sent_ns: u64,
    connect_ns: u64,
    /// What the system said of an exchange that could not be made.
    trouble: Option<io::Error>,
    sights: Sights,
}

impl<'a, C: Codec> Loop<'a, C> {
    /// Lays everything out.
    pub fn new(
        link: &'a mut dyn Link,
        datagram: bool,
        codec: C,
        plan: &'a Plan,
        point: Point,
        ears: Ears<'a>,
        log: &'a mut SampleLog,
    ) -> Self {
        Loop {
            link,
            codec,
            plan,
            point,
            datagram,
            together: if datagram { 1 } else { together(point.depth) },
            ears,
            log,
            clock: Clock::start(),
            window: Window::new(point.depth),
            output: Output::new(point.out_bytes),
            input: Input::new(point.in_bytes),
            total: plan.exchanges_per_point().unwrap_or(u64::MAX),
            deadline_ns: None,
            schedule_zero_ns: None,
            patient: true,
            first_done: false,
            answered_once: false,
            lost_in_a_row: 0,
            settle_until_ns: None,
            settles_a_loss: false,
            settles_since_ns: 0,
            last_sent_ns: 0,
            connect_ns: 0,
            trouble: None,
            sights: Sights::default(),
        }
    }

    /// The processor that the loop is kept on.
    pub fn pinned(&self) -> Option<u32> {
        self.plan.host.pin
    }

    /// Measures the point.
    pub fn run(mut self) -> (LoopEnd, Sights) {
        let end = match self.measure() {
            Ok(true) => LoopEnd::Complete,
            Ok(false) => LoopEnd::Stopped,
            Err(error) => LoopEnd::Failed(error),
        };
        self.sights.exchanges = self.window.next();
        (end, self.sights)
    }

    /// True when the point is complete, false when it was stopped.
    fn measure(&mut self) -> Result<bool, LinkError> {
        self.link
            .prepare(self.point)
            .map_err(|e| failures::broken(self.plan, self.window.next(), &e))?;
        let timeout = Duration::from_nanos(self.plan.timeout_ns);
        // Who is woken from outside within a moment needs a timer only for a short timeout.
        let is_woken = self.ears.sleeper.is_some() && timeout >= 2 * PATIENCE;
        let patience = (!is_woken).then(|| timeout.min(PATIENCE));
        self.patient = self
            .link
            .set_patience(patience)
            .map_err(|e| failures::broken(self.plan, self.window.next(), &e))?;
        while self.window.next() < self.total || self.window.waiting() > 0 {
            if self.ears.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            self.stage()?;
            self.send()?;
            if self.window.waiting() == 0
                && self.output.is_empty()
                && self.settle_until_ns.is_none()
            {
                self.sleep_until_due();
                continue;
            }
            let received = self.receive()?;
            let now = self.clock.now();
            self.understand(received, now)?;
            self.expire(now)?;
            self.settle(now)?;
            if self.plan.connect == Connect::Each && self.window.waiting() == 0 {
                self.link.close();
            }
        }
        self.linger();
        Ok(true)
    }

    /// When exchange `sequence` is due; `None` if it has no schedule.
    fn due_ns(&self, sequence: u64) -> Option<u64> {
        match (self.plan.schedule, self.schedule_zero_ns) {
            (Schedule::EveryNs(every), Some(zero)) => Some(zero + (sequence - 1) * every),
            _ => None,
        }
    }

    /// With a duration: true if nothing that is due now or later belongs to the point. What was
    /// due before the end is still sent, or a stall near it would not be seen; a device that cannot
    /// keep up at all is let go after twice the duration.
    fn is_over(&self, now: u64, due: u64) -> bool {
        match (self.deadline_ns, self.plan.limit) {
            (Some(deadline), Limit::DurationNs(duration)) => {
                due >= deadline || now >= deadline + duration
            }
            _ => false,
        }
    }

    fn next_to_stage(&self) -> u64 {
        self.window.next() + self.output.not_started() as u64
    }

    /// True if the next exchange could start but for its schedule.
    fn has_place(&self) -> bool {
        let depth = if self.first_done { self.point.depth } else { 1 };
        let staged = self.output.not_started() as u64;
        u64::from(self.window.waiting()) + staged < u64::from(depth)
            && self.window.room() > staged
            && self.settle_until_ns.is_none()
            && self.output.has_room()
            && self.next_to_stage() < self.total
    }

    /// Makes ready the requests that may start now.
    fn stage(&mut self) -> Result<(), LinkError> {
        while self.has_place() {
            let sequence = self.next_to_stage();
            if self.plan.schedule != Schedule::AsFastAsPossible || self.deadline_ns.is_some() {
                let now = self.clock.now();
                let due = self.due_ns(sequence).unwrap_or(now);
                if self.is_over(now, due) {
                    self.total = sequence;
                    break;
                }
                if due > now {
                    break;
                }
            }
            if self.plan.connect == Connect::Each && !self.connect()? {
                continue;
            }
            self.codec.request(sequence, self.output.stage());
            if self.plan.connect == Connect::Each {
                break;
            }
        }
        Ok(())
    }

    /// Opens the link for one exchange. A link that cannot be opened is a lost exchange.
    fn connect(&mut self) -> Result<bool, LinkError> {
        let before = self.clock.now();
        let opened = self.link.reopen();
        let after = self.clock.now();
        self.connect_ns = after - before;
        match opened {
            Ok(()) => Ok(true),
            Err(error) => {
                self.trouble = Some(error);
                self.start_one(before);
                if let Some(slot) = self.window.give_up_oldest() {
                    self.lose(slot, after)?;
                }
                Ok(false)
            }
        }
    }

    /// Hands staged requests to the system, as many as it takes now.
    fn send(&mut self) -> Result<(), LinkError> {
        while !self.output.is_empty() {
            let now = self.clock.now();
            let sent = match self.link.send(self.output.unsent(self.together)) {
                Ok(sent) => sent,
                Err(error) => self.tolerate(error)?,
            };
            if sent == 0 {
                let stuck = now.saturating_sub(self.last_sent_ns);
                let patience = self.plan.timeout_ns.saturating_mul(2);
                if self.window.waiting() == 0 && self.last_sent_ns > 0 && stuck > patience {
                    return Err(failures::takes_nothing(self.plan, self.output.part_taken()));
                }
                if self.last_sent_ns == 0 {
                    self.last_sent_ns = now;
                }
                return Ok(());
            }
            self.last_sent_ns = now;
            for _ in 0..self.output.take(sent) {
                self.start_one(now);
            }
            if self.deadline_ns.is_none()
                && let Limit::DurationNs(duration) = self.plan.limit
                && self.window.next() > self.plan.warmup + 1
            {
                let begin = self.due_ns(self.plan.warmup + 1).unwrap_or(now);
                self.deadline_ns = Some(begin + duration);
            }
        }
        Ok(())
    }

    fn start_one(&mut self, now: u64) {
        let sequence = self.window.next();
        let phase = match sequence {
            0 => Phase::First,
            _ if sequence <= self.plan.warmup => Phase::WarmUp,
            _ => Phase::Measured,
        };
        self.window.start(Slot {
            intended_ns: self.due_ns(sequence).unwrap_or(now),
            start_ns: now,
            connect_ns: self.connect_ns,
            phase,
            ..Slot::default()
        });
    }

    /// Waits for bytes and takes them; 0 if there are none yet.
    fn receive(&mut self) -> Result<usize, LinkError> {
        let blocked = !self.output.is_empty();
        // Where another exchange could start before an answer comes, sleeping in the receive would
        // make it late.
        let due = if self.has_place() {
            self.due_ns(self.next_to_stage())
        } else {
            None
        };
        let simple = !blocked && due.is_none() && self.settle_until_ns.is_none() && self.patient;
        let received = match self.plan.wait {
            Wait::Block if simple => {
                let into = self.input.space(self.datagram);
                match self.ears.sleeper {
                    Some(sleeper) => sleeper.sleeps(|| self.link.receive_blocking(into)),
                    None => self.link.receive_blocking(into),
                }
            }
            Wait::Block | Wait::Poll => {
                let at_most = self.longest_wait(due);
                let waited = self.link.wait(blocked, at_most);
                let into = self.input.space(self.datagram);
                waited.and_then(|()| self.link.receive(into))
            }
            Wait::Spin => self.spin(),
        };
        match received {
            Ok(received) => Ok(received),
            Err(error) => self.tolerate(error),
        }
    }

    fn spin(&mut self) -> io::Result<usize> {
        let into = self.input.space(self.datagram);
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
        self.sights.gaps.take(self.clock.now() - before);
        Ok(0)
    }

    /// How long a wait may last: until the next start is due, the oldest exchange is lost, or the
    /// stop flag should be looked at.
    fn longest_wait(&self, due: Option<u64>) -> Duration {
        let now = self.clock.now();
        let lost = self
            .window
            .oldest_start_ns()
            .map(|start| start + self.plan.timeout_ns);
        let until = [due, lost, self.settle_until_ns]
            .into_iter()
            .flatten()
            .min();
        let left = until.map_or(u64::MAX, |until| until.saturating_sub(now).max(1));
        Duration::from_nanos(left).min(PATIENCE)
    }

    /// Nothing is outstanding: waits for the next start.
    fn sleep_until_due(&mut self) {
        let Some(due) = self.due_ns(self.next_to_stage()) else {
            return;
        };
        let now = self.clock.now();
        if due <= now {
            return;
        }
        if self.plan.wait == Wait::Spin {
            let mut last = now;
            while last < due && !self.ears.stop.load(Ordering::Relaxed) {
                let now = self.clock.now();
                self.sights.gaps.take(now - last);
                last = now;
            }
        } else {
            // Ends early on the signal that comes with a stop.
            self.clock.sleep_until(due);
        }
    }

    /// Takes received bytes apart; `now` is when they came.
    fn understand(&mut self, received: usize, now: u64) -> Result<(), LinkError> {
        if received == 0 {
            return Ok(());
        }
        self.input.received(received);
        if self.plan.connect == Connect::Each {
            self.window.first_byte(now);
        }
        while !self.input.bytes().is_empty() {
            let expect = Expect {
                oldest: self.window.oldest(),
                next: self.window.next(),
            };
            match self.codec.next(self.input.bytes(), expect) {
                Step::More => break,
                Step::Stray(count) => {
                    self.sights.stray_bytes += count as u64;
                    self.input.drop_front(count.max(1));
                }
                Step::Answer(answer) => {
                    self.finish(answer, now);
                    self.input.drop_front(answer.end.max(1));
                }
                Step::Refused(status) => {
                    return Err(failures::refused(self.plan, self.point, status));
                }
            }
        }
        if self.datagram {
            // What is left of a datagram has no continuation.
            self.sights.stray_bytes += self.input.drop_all();
        } else if let Some(until) = &mut self.settle_until_ns {
            *until = now + SETTLE_NS.max(self.plan.timeout_ns.min(10 * SETTLE_NS));
        }
        Ok(())
    }

    fn finish(&mut self, answer: Answer, now: u64) {
        self.sights.stray_bytes += answer.skip as u64;
        let length = (answer.end - answer.skip) as u32;
        let finished = answer
            .sequence
            .map_or(Finished::Unknown, |sequence| self.window.finish(sequence));
        let (slot, status) = match finished {
            Finished::Unknown => {
                self.sights.stray_bytes += u64::from(length);
                return;
            }
            Finished::InTime(slot, status) => {
                self.lost_in_a_row = 0;
                self.answered_once = true;
                if slot.sequence == 0 {
                    self.begin_schedule(now);
                }
                if answer.intact {
                    (slot, status)
                } else {
                    self.settles_a_loss = false;
                    self.begin_settling(now, SETTLE_NS);
                    (slot, Status::Corrupted)
                }
            }
            Finished::Late(_) | Finished::Again(_) if !answer.intact => {
                // What is left of a damaged answer answers nothing: the exchange stays lost.
                self.lost_in_a_row = 0;
                self.sights.stray_bytes += u64::from(length);
                return;
            }
            Finished::Late(slot) => {
                self.lost_in_a_row = 0;
                self.answered_once = true;
                (slot, Status::Late)
            }
            Finished::Again(slot) => (
                Slot {
                    start_ns: now,
                    ..slot
                },
                Status::Duplicated,
            ),
        };
        let sample = Sample {
            sequence: slot.sequence,
            intended_ns: if status == Status::Duplicated {
                now
            } else {
                slot.intended_ns
            },
            start_ns: slot.start_ns,
            rtt_ns: now - slot.start_ns,
            connect_ns: slot.connect_ns,
            access_ns: slot.access_ns,
            device_rx_ticks: answer.rx_ticks,
            device_tx_ticks: answer.tx_ticks,
            bytes_out: self.point.out_bytes,
            bytes_in: length,
            outstanding: slot.outstanding,
            status,
            phase: slot.phase,
        };
        self.log
            .push(sample, &self.input.bytes()[answer.skip..answer.end]);
    }

    /// Gives up what has waited longer than the timeout.
    fn expire(&mut self, now: u64) -> Result<(), LinkError> {
        while let Some(start) = self.window.oldest_start_ns() {
            if now.saturating_sub(start) <= self.plan.timeout_ns {
                return Ok(());
            }
            if let Some(slot) = self.window.give_up_oldest() {
                self.lose(slot, now)?;
            }
        }
        Ok(())
    }

    fn lose(&mut self, slot: Slot, now: u64) -> Result<(), LinkError> {
        if slot.sequence == 0 {
            self.begin_schedule(now);
        }
        self.settles_a_loss = true;
        self.begin_settling(now, self.plan.timeout_ns);
        self.log.push(
            Sample {
                sequence: slot.sequence,
                intended_ns: slot.intended_ns,
                start_ns: slot.start_ns,
                rtt_ns: now - slot.start_ns,
                connect_ns: slot.connect_ns,
                access_ns: slot.access_ns,
                bytes_out: self.point.out_bytes,
                outstanding: slot.outstanding,
                status: Status::Lost,
                phase: slot.phase,
                ..Sample::default()
            },
            &[],
        );
        self.lost_in_a_row += 1;
        let patience = match self.answered_once {
            true => self.plan.give_up,
            false => self.plan.give_up.min(NEVER_ANSWERED),
        };
        if self.lost_in_a_row >= u64::from(patience) * u64::from(self.point.depth) {
            let (row, trouble) = (self.lost_in_a_row, self.trouble.as_ref());
            return Err(failures::silent(
                self.plan,
                self.point,
                row,
                trouble,
                self.answered_once,
            ));
        }
        Ok(())
    }

    /// The first exchange is over, answered or not: from here on the schedule and the depth hold.
    fn begin_schedule(&mut self, now: u64) {
        self.first_done = true;
        if let Schedule::EveryNs(every) = self.plan.schedule {
            self.schedule_zero_ns = Some(now + every);
        }
    }

    fn begin_settling(&mut self, now: u64, silence_ns: u64) {
        if self.codec.must_settle() && !self.datagram && self.plan.connect == Connect::Once {
            if self.settle_until_ns.is_none() {
                self.settles_since_ns = now;
            }
            self.settle_until_ns = Some(now + silence_ns);
        }
    }

    /// Ends the settling once nothing is outstanding and the line has been silent. A device that
    /// talks without end never lets it be.
    fn settle(&mut self, now: u64) -> Result<(), LinkError> {
        let patience = self.plan.timeout_ns.max(SETTLE_NS) * u64::from(self.plan.give_up.max(10));
        if self.settle_until_ns.is_some_and(|until| now >= until) && self.window.waiting() == 0 {
            self.settle_until_ns = None;
            self.sights.stray_bytes += self.input.drop_all();
            self.codec.settled(self.window.next());
        } else if self.settle_until_ns.is_some()
            && self.window.missing() == 0
            && self.window.waiting() == 0
            && self.input.bytes().is_empty()
            && self.settles_a_loss
        {
            // Every answer that was missing has come after all: the place is known again.
            self.settle_until_ns = None;
        } else if self.settle_until_ns.is_some() && now - self.settles_since_ns > patience {
            return Err(failures::never_silent(self.plan));
        }
        Ok(())
    }

    /// Takes stragglers of this point: late and doubled answers. Errors no longer matter.
    fn linger(&mut self) {
        if self.plan.connect == Connect::Each {
            self.link.close();
            return;
        }
        let begin = self.clock.now();
        loop {
            let now = self.clock.now();
            let missing = self.window.missing() > 0;
            let until = begin
                + if missing {
                    self.plan.timeout_ns
                } else {
                    LINGER_NS
                };
            if now >= until || self.ears.stop.load(Ordering::Relaxed) {
                break;
            }
            let at_most = Duration::from_nanos(until - now).min(PATIENCE);
            let into = self.input.space(self.datagram);
            let received = self
                .link
                .wait(false, at_most)
                .and_then(|()| self.link.receive(into));
            let Ok(received) = received else { break };
            let now = self.clock.now();
            if self.understand(received, now).is_err() {
                break;
            }
        }
        self.sights.stray_bytes += self.input.drop_all();
    }

    /// A datagram that was refused (ICMP) or a connection of one exchange that broke is a lost
    /// exchange, not a failed link.
    fn tolerate(&mut self, error: io::Error) -> Result<usize, LinkError> {
        let refused = error.kind() == io::ErrorKind::ConnectionRefused;
        if self.datagram && refused && self.answered_once {
            self.trouble = Some(error);
            return Ok(0);
        }
        if self.plan.connect == Connect::Each && !refused {
            self.trouble = Some(error);
            self.output.clear();
            let now = self.clock.now();
            if self.window.waiting() == 0 {
                self.start_one(now);
            }
            if let Some(slot) = self.window.give_up_oldest() {
                self.lose(slot, now)?;
            }
            return Ok(0);
        }
        // What is under way will not come back: it is lost, and the samples say so.
        let now = self.clock.now();
        let failed = failures::broken(self.plan, self.window.next(), &error);
        while let Some(slot) = self.window.give_up_oldest() {
            let _ = self.lose(slot, now);
        }
        Err(failed)
    }
}
