//! Streams: both ends of the engine against a device, over a link in virtual time, and what they must report.

mod device;
mod judge;
mod scenario;
mod truth;
mod world;

pub use device::StreamDevice;
pub use scenario::{StreamFaults, Streaming};
pub use truth::StreamByte;

use crate::driver::Outcome;
use crate::oracle::Fault;
use crate::random::Random;
use device::Plain;
use judge::{Judge, Known};
use std::sync::atomic::{AtomicBool, Ordering};
use truth::{Origin, pattern};
use wiregauge_record::Direction;
use wiregauge_session::stream::{
    Answers, Orders, ReceiverConfig, ReceiverNext, SenderConfig, SenderNext, Shared,
    StreamReceiver, StreamSender,
};
use world::World;

/// Actions after which a stream counts as one that never ends.
const MOST_TURNS: u64 = 1_000_000;

/// How long a receiver waits for a transfer at most.
const TIMEOUT_NS: u64 = 100_000_000;

/// What an end waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// Nothing.
    Ready,
    /// The oldest transfer, until then.
    Transfer(u64),
    /// An answer, until then.
    Answer(u32, u64),
    /// An answer or a failure, until then.
    Sleep(u64),
    /// It has ended.
    Over,
}

impl Wait {
    fn until(self) -> Option<u64> {
        match self {
            Wait::Ready | Wait::Over => None,
            Wait::Transfer(until) | Wait::Answer(_, until) | Wait::Sleep(until) => Some(until),
        }
    }
}

impl Streaming {
    /// Runs it with the simulator's own device.
    ///
    /// # Errors
    /// What an engine did wrong.
    pub fn run(&self, trace: bool) -> Result<Outcome, Fault> {
        self.run_with(Box::new(Plain::new(self.datagram)), trace)
    }

    /// Runs it with this device.
    ///
    /// # Errors
    /// What an engine did wrong.
    pub fn run_with(&self, device: Box<dyn StreamDevice>, trace: bool) -> Result<Outcome, Fault> {
        let direction = self.direction;
        let orders = Orders::new(direction, self.transfer_bytes, self.sequence);
        let sender = StreamSender::new(SenderConfig {
            orders: Some(orders.clone()),
            sends_data: direction != Direction::In,
            transfer_bytes: self.transfer_bytes as usize,
            queue: self.queue,
            datagram: self.datagram,
            timeout_ns: self.timeout_ns,
            lasts_ns: self.lasts_ns,
            sends_bytes: self.bytes.unwrap_or(u64::MAX),
        });
        let takes_data = direction != Direction::Out;
        let receive_queue = if takes_data { self.queue } else { 1 };
        let receiver = StreamReceiver::new(ReceiverConfig {
            orders: Some(orders),
            takes_data,
            pattern: None,
            check: self.check,
            datagram: self.datagram,
            queue: receive_queue,
            timeout_ns: self.timeout_ns,
        });
        let stop = AtomicBool::new(false);
        let mut run = Run {
            scenario: self,
            world: World::new(self, device, trace),
            random: Random::new(self.seed ^ 0x0D12_17E5),
            sender,
            receiver: Some(receiver),
            receive_queue,
            stop: &stop,
            shared: Shared::new(&stop),
            answers: Answers::default(),
            judge: Judge::new(self),
            sends: Wait::Ready,
            receives: Wait::Ready,
            known: Known::default(),
            link_failed_ns: None,
            wanted: self.bytes.filter(|_| takes_data),
            heard_of: false,
            blocked: false,
        };
        run.all()?;
        Ok(Outcome {
            rows: run.judge.rows,
            calls: run.judge.calls,
            virtual_ns: run.world.now_ns,
        })
    }
}

struct Run<'s> {
    scenario: &'s Streaming,
    world: World<'s>,
    random: Random,
    sender: StreamSender,
    receiver: Option<StreamReceiver>,
    receive_queue: usize,
    stop: &'s AtomicBool,
    shared: Shared<'s>,
    answers: Answers,
    judge: Judge<'s>,
    sends: Wait,
    receives: Wait,
    known: Known,
    link_failed_ns: Option<u64>,
    /// Bytes that a program still wants.
    wanted: Option<u64>,
    /// An answer came since the sender slept.
    heard_of: bool,
    /// The system did not take the last order.
    blocked: bool,
}

impl Run<'_> {
    fn all(&mut self) -> Result<(), Fault> {
        if self.wanted == Some(0) {
            self.has_enough();
        }
        let mut turns = 0;
        while (self.sends, self.receives) != (Wait::Over, Wait::Over) {
            turns += 1;
            if turns > MOST_TURNS {
                return Err(Fault::new(self.world.now_ns, "it never ends"));
            }
            if self.world.is_stopped() {
                self.stop.store(true, Ordering::Relaxed);
                self.known.stopped = true;
            }
            self.judge.check_time(&self.world, self.link_failed_ns)?;
            let (sends, receives) = (self.sender_can_go(), self.receiver_can_go());
            match (sends, receives) {
                (false, false) => self.wait()?,
                (true, true) if self.random.chance(500_000) => self.receive()?,
                (true, _) => self.send()?,
                (false, true) => self.receive()?,
            }
        }
        self.world.deliver_rest();
        let receiver = self.receiver.take().expect("it is taken once");
        let received = receiver.finish();
        let known = self.known;
        self.judge.finish(&self.sender, received, &self.world)?;
        match self.blocked {
            true => Ok(()),
            false => self.judge.ends(&self.world, known),
        }
    }

    fn has_enough(&mut self) {
        self.shared.enough();
        self.known.enough = true;
    }

    /// Nothing can be done: time passes.
    fn wait(&mut self) -> Result<(), Fault> {
        let times = [
            self.world.next_event_ns(),
            self.sends.until(),
            self.receives.until(),
        ];
        let Some(to_ns) = times.into_iter().flatten().min() else {
            return Err(Fault::new(
                self.world.now_ns,
                "it waits for what never comes",
            ));
        };
        self.world.pass_to(to_ns);
        Ok(())
    }

    /// A call takes a moment.
    fn spend(&mut self) {
        let moment = self.random.between(1, 300);
        self.world.pass_to(self.world.now_ns + moment);
    }

    /// A wait until so much later, or later than that.
    fn until(&mut self, at_most_ns: u64) -> u64 {
        let late = match self.random.chance(300_000) {
            true => self.random.below(self.scenario.faults.oversleep_ns + 1),
            false => 0,
        };
        self.world.now_ns + at_most_ns + late
    }

    // --- the sender ---

    fn sender_can_go(&self) -> bool {
        let is_over = self.sends.until().is_some_and(|at| self.world.now_ns >= at);
        match self.sends {
            Wait::Ready => true,
            Wait::Transfer(_) => is_over || self.world.is_broken() || self.world.is_complete(),
            Wait::Answer(..) => is_over || self.known.failed || self.heard_of,
            Wait::Sleep(_) => is_over || self.known.failed || self.heard_of,
            Wait::Over => false,
        }
    }

    fn send(&mut self) -> Result<(), Fault> {
        let now = self.world.now_ns;
        match self.sends {
            Wait::Transfer(_) if self.world.is_broken() => self.link_fails_sender(),
            Wait::Transfer(_) if self.world.is_complete() => {
                let stalled = self.world.complete();
                let row = self.sender.completed(now, stalled, &self.shared);
                self.judge.completed(now, stalled, row)?;
            }
            Wait::Answer(sequence, until) => {
                self.heard_of = false;
                let answer = self.answers.take(sequence);
                let said = answer.map(|answer| {
                    let report = answer.report.map(|report| report.bytes);
                    (answer.header.status as u8, report)
                });
                self.judge.answered(now, sequence, said, &self.world)?;
                if let Some(answer) = answer {
                    self.world.say(|| format!("answer {said:?} to {sequence}"));
                    self.sender.answered(answer);
                } else if now < until && !self.known.failed {
                    return Ok(());
                }
            }
            _ => self.heard_of = false,
        }
        self.sends = Wait::Ready;
        let next = self.sender.next(self.world.now_ns, &self.shared);
        self.world.say(|| format!("{next:?}"));
        self.judge.next(self.world.now_ns, &next, self.known)?;
        self.act(next);
        self.spend();
        Ok(())
    }

    fn act(&mut self, next: SenderNext) {
        let now = self.world.now_ns;
        match next {
            SenderNext::Data { .. } | SenderNext::Order(_) if self.world.is_broken() => {
                self.link_fails_sender();
            }
            SenderNext::Data { position, bytes } => {
                let places = position..position + bytes as u64;
                let data = places.map(|at| StreamByte {
                    value: pattern(at),
                    origin: Origin::Data(at),
                });
                self.world.submit(data.collect(), None);
                self.sender.submitted(now);
                self.judge.submitted(now);
            }
            SenderNext::Order(order) => {
                let number = self.random.any() as u32;
                let bytes = order.encode();
                let bytes = bytes.iter().zip(0..).map(|(&value, at)| StreamByte {
                    value,
                    origin: Origin::Order(number, at),
                });
                self.world.submit(bytes.collect(), Some(order.sequence));
                self.sender.submitted(now);
                self.judge.submitted(now);
            }
            SenderNext::Complete { at_most_ns } => {
                self.sends = Wait::Transfer(self.until(at_most_ns));
            }
            SenderNext::Await {
                sequence,
                at_most_ns,
            } => {
                self.heard_of = true;
                self.sends = Wait::Answer(sequence, self.until(at_most_ns));
            }
            SenderNext::Sleep { at_most_ns } => {
                self.sends = Wait::Sleep(self.until(at_most_ns));
            }
            SenderNext::Begin => drop(self.shared.begin(now)),
            SenderNext::End => self.shared.end(),
            SenderNext::Cancel => self.cancel(),
            SenderNext::Fail(_) => {
                self.shared.fail(false);
                self.known.failed = true;
            }
            SenderNext::Done => {
                self.blocked = !self.world.out.is_empty() && !self.world.is_complete();
                self.cancel();
                self.shared.end();
                self.shared.finish();
                self.sends = Wait::Over;
            }
        }
    }

    fn cancel(&mut self) {
        let (all, data) = self.world.cancel();
        self.sender.cancelled(all);
        self.judge.cancelled(all, data);
    }

    fn link_fails(&mut self) {
        self.world.say(|| "the link failed".into());
        self.shared.fail(true);
        self.known.failed = true;
        self.known.link_lost = true;
        self.link_failed_ns.get_or_insert(self.world.now_ns);
    }

    fn link_fails_sender(&mut self) {
        self.link_fails();
        self.sender.link_failed(self.world.now_ns);
        self.judge.link_failed(self.world.now_ns);
    }

    // --- the receiver ---

    fn receiver_can_go(&self) -> bool {
        match self.receives {
            Wait::Over => false,
            Wait::Ready => true,
            wait => {
                let is_over = wait.until().is_some_and(|at| self.world.now_ns >= at);
                is_over || self.world.is_broken() || !self.world.host.is_empty()
            }
        }
    }

    fn receive(&mut self) -> Result<(), Fault> {
        let now = self.world.now_ns;
        let mut receiver = self.receiver.take().expect("it is put back");
        let received = match self.receives {
            Wait::Transfer(_) if self.world.is_broken() => {
                self.link_fails();
                self.receives = Wait::Over;
                Ok(())
            }
            Wait::Transfer(_) => self.transfer(&mut receiver),
            _ => self.receiver_next(&mut receiver, now),
        };
        self.receiver = Some(receiver);
        self.spend();
        received
    }

    fn receiver_next(&mut self, receiver: &mut StreamReceiver, now: u64) -> Result<(), Fault> {
        match receiver.next(&self.shared) {
            ReceiverNext::Submit => {
                self.judge.receiver_submits(now, self.receive_queue)?;
                receiver.submitted(now);
            }
            ReceiverNext::Complete => {
                self.judge.receiver_waits(now, self.receive_queue)?;
                self.receives = Wait::Transfer(self.until(TIMEOUT_NS));
            }
            ReceiverNext::Done => {
                for _ in 0..self.receive_queue {
                    let row = receiver.given_up(now, &self.shared);
                    self.judge.given_up(now, row)?;
                }
                self.receives = Wait::Over;
            }
        }
        Ok(())
    }

    /// A transfer is over, or its time.
    fn transfer(&mut self, receiver: &mut StreamReceiver) -> Result<(), Fault> {
        let now = self.world.now_ns;
        self.receives = Wait::Ready;
        if self.world.host.is_empty() {
            let failure = receiver.failure(now, &self.shared);
            self.world.say(|| format!("nothing came: {failure:?}"));
            self.judge.nothing_came(now, failure, self.known)?;
            if failure.is_some() {
                self.shared.fail(false);
                self.known.failed = true;
            }
            return Ok(());
        }
        let stalled = self.random.chance(self.scenario.faults.stall_transfer);
        let mut data = 0;
        if !stalled {
            let came = self.world.receive(self.scenario.transfer_bytes as usize);
            let values: Vec<u8> = came.iter().map(|byte| byte.value).collect();
            let flows = self.shared.began_ns().is_some() && !self.shared.is_ending();
            let mut heard = Vec::new();
            data = receiver.take(&values, &self.shared, &mut |answer| heard.push(answer));
            self.judge.received(now, &came, data, &heard, &self.world)?;
            let mut wanted = if flows { data } else { 0 };
            for answer in &heard {
                self.heard_of = true;
                self.answers.put(answer.answer);
                if self.shared.heard(answer, now) {
                    wanted = answer.behind;
                }
            }
            if let Some(left) = &mut self.wanted {
                *left = left.saturating_sub(wanted as u64);
                if *left == 0 {
                    self.has_enough();
                }
            }
        }
        let row = receiver.completed(now, data, stalled, &self.shared);
        self.judge.receiver_completed(now, data, stalled, row)
    }
}

/// Makes a stream that fails as small as it can be.
pub(crate) fn shrink(streaming: &Streaming, fails: impl Fn(&Streaming) -> bool) -> Streaming {
    let mut smallest = streaming.clone();
    loop {
        let smaller = smallest.smaller().into_iter();
        let mut smaller = smaller.filter(|smaller| *smaller != smallest);
        match smaller.find(|smaller| fails(smaller)) {
            Some(smaller) => smallest = smaller,
            None => return smallest,
        }
    }
}
