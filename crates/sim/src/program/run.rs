//! Drives the engine through a program's calls, as an open device does (`crates/device`), and shows the oracle all of it.

use super::judge::Judge;
use super::{Calls, OVERHEAD, Program};
use crate::driver::Outcome as Ran;
use crate::judge;
use crate::oracle::Fault;
use crate::random::Random;
use crate::world::{Broken, Byte, Device, Tag, Woken, World};
use std::collections::VecDeque;
use wiregauge_session::{Config, Engine, Event, Framing, Messages, Outcome};

/// Turns after which a program counts as one that never ends.
const MOST_TURNS: u64 = 300_000;

/// What an event is to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continue,
    /// The call has what it waited for.
    Break,
    /// The call fails: all that is under way is given up.
    Fail,
}

impl Program {
    /// Runs it.
    ///
    /// # Errors
    /// What the engine did wrong.
    pub fn run(&self, trace: bool) -> Result<Ran, Fault> {
        let scenario = &self.scenario;
        let config = Config {
            datagram: scenario.datagram,
            timeout_ns: scenario.timeout_ns,
            batch: if scenario.datagram { 1 } else { scenario.batch },
            span: self.depth as usize,
            request_bytes: self.largest + 20,
            answer_bytes: self.largest + OVERHEAD,
            staged: self.depth as usize,
        };
        let mut engine = Engine::new(config, self.codec());
        engine.set_reads_late(true);
        let judge = Judge::new(self.rules(), scenario.faults, scenario.timeout_ns);
        Run::new(self, self.device(), engine, judge, trace).run()
    }
}

/// The requests on their way, whose bytes carry the names of their answers.
#[derive(Debug, Default)]
struct Requests {
    /// Bytes of each that was made ready.
    sizes: Vec<usize>,
    names: Vec<u32>,
    started: usize,
    /// Bytes taken of the newest one that started, if not all.
    part: usize,
}

impl Requests {
    /// One was made ready; those that were and have this number or a later one are dropped.
    fn staged(&mut self, sequence: u64, bytes: usize) {
        self.sizes.truncate(sequence as usize);
        self.names.truncate(sequence as usize);
        self.sizes.push(bytes);
    }

    /// Marks bytes that are offered.
    fn tagged(&mut self, offered: &[u8], world: &mut World) -> Vec<Byte> {
        let mut tagged = Vec::with_capacity(offered.len());
        let (mut sequence, mut at) = match self.part {
            0 => (self.started, 0),
            part => (self.started - 1, part),
        };
        for &value in offered {
            if self.names.len() <= sequence {
                let bytes = self.sizes[sequence] as u32;
                self.names.push(world.name_answer(sequence as u64, bytes));
            }
            let tag = Tag {
                answer: self.names[sequence],
                at: at as u32,
                changed: 0,
            };
            tagged.push(Byte { value, tag });
            at += 1;
            if at == self.sizes[sequence] {
                (sequence, at) = (sequence + 1, 0);
            }
        }
        tagged
    }

    /// The system took bytes, and the judge sees which requests began and ended with them.
    fn sent(
        &mut self,
        now: u64,
        mut count: usize,
        truth: &mut judge::Judge,
        world: &World,
    ) -> Result<(), Fault> {
        while count > 0 {
            if self.part == 0 {
                self.started += 1;
                truth.started(now, world)?;
            }
            let whole = self.sizes[self.started - 1];
            let piece = (whole - self.part).min(count);
            self.part = (self.part + piece) % whole;
            count -= piece;
            if self.part == 0 {
                truth.handed_over();
            }
        }
        Ok(())
    }
}

/// A program that runs.
pub struct Run<'a> {
    program: &'a Program,
    world: World,
    engine: Engine<Messages>,
    judge: Judge,
    /// Holds the answers to what the device gave.
    truth: judge::Judge,
    requests: Requests,
    random: Random,
    /// Requests that were made.
    asked: u64,
    /// Pipeline: requests whose answers were not taken, and whether those have come.
    submitted: VecDeque<(u64, bool)>,
    /// When something was received last, or a receive found nothing.
    received_ns: u64,
    is_blocked: bool,
    turns: u64,
    trace: bool,
}

/// An event as the judge sees it; `None` if it is not about one exchange.
fn row_of(event: &Event) -> Option<judge::Row> {
    let Event::Ended(ended) = event else {
        return None;
    };
    Some(judge::Row {
        sequence: ended.sequence,
        kind: match ended.outcome {
            Outcome::Answered => judge::Kind::Ok,
            Outcome::Reordered => judge::Kind::Reordered,
            Outcome::Lost => judge::Kind::Lost,
            Outcome::Late => judge::Kind::Late,
            Outcome::Duplicated => judge::Kind::Duplicated,
            _ => judge::Kind::Corrupted,
        },
        start_ns: ended.start_ns,
        end_ns: ended.end_ns,
        bytes: ended.payload.len() as u64,
    })
}

impl<'a> Run<'a> {
    /// A program that begins.
    pub fn new(
        program: &'a Program,
        device: Box<dyn Device>,
        engine: Engine<Messages>,
        judge: Judge,
        trace: bool,
    ) -> Run<'a> {
        Run {
            program,
            world: World::new(&program.scenario, device, trace),
            engine,
            judge,
            truth: judge::Judge::new(program.truth()),
            requests: Requests::default(),
            random: Random::new(program.scenario.seed),
            asked: 0,
            submitted: VecDeque::new(),
            received_ns: 0,
            is_blocked: false,
            turns: 0,
            trace,
        }
    }

    /// Runs it to its end.
    pub fn run(mut self) -> Result<Ran, Fault> {
        self.all()?;
        Ok(Ran {
            rows: self.judge.events,
            calls: self.turns,
            virtual_ns: self.world.now_ns(),
        })
    }

    fn all(&mut self) -> Result<(), Fault> {
        while self.asked < self.program.requests || self.is_busy() {
            let now = self.world.now_ns();
            self.turns += 1;
            if self.turns > MOST_TURNS {
                return Err(Fault::new(now, "it never ends: too many turns"));
            }
            if self.random.chance(self.program.naps) {
                let most = 3 * self.program.scenario.timeout_ns;
                let until = now + self.random.below(most);
                self.world.sleep(until);
                self.say("the program was away");
            }
            self.take_answers();
            if self.may_ask() {
                self.pause();
                self.ask();
            } else if self.random.chance(self.program.abandons) {
                self.abandon(now);
            } else if self.random.chance(self.program.hurries) {
                let timeout = self.program.scenario.timeout_ns * self.random.between(1, 3);
                self.say("another timeout");
                self.engine.set_timeout(timeout);
                self.judge.set_timeout(timeout);
                self.truth.set_timeout(timeout);
            } else if !self.turn()? {
                return Ok(());
            }
        }
        self.judge.finish(self.world.now_ns())
    }

    fn is_busy(&self) -> bool {
        let engine = &self.engine;
        let is_waiting = engine.window().under_way() > 0 || engine.is_resyncing();
        is_waiting || engine.wants_to_send() || engine.has_unpolled()
    }

    fn may_ask(&mut self) -> bool {
        let depth = self.program.depth;
        let has_room = self.engine.has_room() && self.engine.window().under_way() < depth;
        let now = match self.program.calls {
            Calls::Exchange => !self.is_busy(),
            Calls::ExchangeMany => true,
            Calls::Pipeline if self.submitted.len() as u64 >= depth => false,
            Calls::Any | Calls::Pipeline => !self.is_busy() || self.random.chance(700_000),
        };
        self.asked < self.program.requests && has_room && now
    }

    /// The program takes the answers that have come, in the order of the requests.
    fn take_answers(&mut self) {
        while let Some((_, true)) = self.submitted.front() {
            self.submitted.pop_front();
        }
    }

    fn ask(&mut self) {
        let free = matches!(
            self.program.framing,
            None | Some(Framing::Terminator { .. } | Framing::LengthPrefix(_))
        );
        let size = match free {
            true => self.random.between(1, self.program.largest as u64) as usize,
            false => self.program.size(),
        };
        // No terminator in it, and each differs from the one before.
        let first = (self.asked % 97) as u8 + b' ';
        let said: Vec<u8> = (0..size)
            .map(|at| first.wrapping_add((at % 3) as u8))
            .collect();
        let awaited = match self.program.framing {
            None => self.random.below(self.program.largest as u64 + 1) as usize,
            Some(_) => size,
        };
        let mut bytes = 0;
        let sequence = self.engine.stage(awaited, |codec, sequence, to| {
            let begin = to.len();
            codec.write(sequence, &said, awaited, to);
            bytes = to.len() - begin;
        });
        self.asked += 1;
        if self.program.calls == Calls::Pipeline {
            self.submitted.push_back((sequence, false));
        }
        self.judge.staged(sequence, said, awaited, bytes);
        self.requests.staged(sequence, bytes);
    }

    /// The program does something else between two calls.
    fn pause(&mut self) {
        let pauses_ns = self.program.pauses_ns;
        if pauses_ns > 0 && !self.is_busy() {
            self.world.sleep(self.world.now_ns() + pauses_ns);
            self.say("a pause between two calls");
        }
    }

    /// The program gives up all that is under way.
    fn abandon(&mut self, now: u64) {
        self.say("abandon");
        self.submitted.clear();
        self.engine.abandon(now);
        self.judge.abandoned(now, &self.engine);
        self.truth.abandoned();
    }

    /// Sends, or waits and receives; false if the device takes nothing any more.
    fn turn(&mut self) -> Result<bool, Fault> {
        if self.engine.has_unpolled() {
            self.poll()?;
            return Ok(true);
        }
        let now = self.world.now_ns();
        if self.engine.wants_to_send() && self.engine.begins() {
            // As an open device: what is there answers nothing, and the line must be silent for long enough.
            let is_numbered = self.engine.codec().is_numbered();
            if !is_numbered && (self.engine.needs_drain() || self.received_ns != now) {
                return self.receive();
            }
            if let Some(ends_ns) = self.engine.gap_ends_ns().filter(|ends_ns| now < *ends_ns) {
                self.world.wait(ends_ns, false);
                return self.receive();
            }
        }
        if self.engine.wants_to_send() && !self.is_blocked {
            let offered = self.engine.outgoing();
            let tagged = self.requests.tagged(offered, &mut self.world);
            let Ok(count) = self.world.send(&tagged) else {
                return Ok(false);
            };
            self.is_blocked = count == 0;
            self.judge.sent(now, count);
            self.requests
                .sent(now, count, &mut self.truth, &self.world)?;
            self.engine.sent(now, count);
            if self.trace {
                self.say(&format!(
                    "sent {count} B, resync {}",
                    self.engine.is_resyncing()
                ));
            }
            return Ok(true);
        }
        let since = self.engine.blocked().map_or(now, |(since, _)| since);
        let gives_up = since + 2 * self.program.scenario.timeout_ns;
        let until = self.engine.wake_ns().unwrap_or(gives_up);
        if self.engine.window().waiting() == 0 && self.is_blocked && now >= gives_up {
            return Ok(false);
        }
        if self.world.wait(until, self.engine.wants_to_send()) == Woken::Never {
            return Err(Fault::new(now, "it waits for what never comes"));
        }
        self.is_blocked = false;
        self.receive()
    }

    fn receive(&mut self) -> Result<bool, Fault> {
        let space = self.engine.space();
        let came = match self.world.receive(space.len()) {
            Ok(came) => came,
            Err(Broken) => return Ok(false),
        };
        for (to, byte) in space.iter_mut().zip(&came) {
            *to = byte.value;
        }
        // An interrupted receive does not show that nothing was there.
        if self.world.was_idle() {
            return Ok(true);
        }
        let now = self.world.now_ns();
        self.received_ns = now;
        self.engine.received(now, came.len());
        if came.is_empty() {
            self.engine.drained();
        }
        self.judge.received(now, &came, &self.world);
        self.truth.received(now, &came, &self.world)?;
        if self.trace {
            self.say(&format!(
                "received {} B, resync {}",
                came.len(),
                self.engine.is_resyncing()
            ));
        }
        self.poll()?;
        Ok(true)
    }

    /// Polls until there is no event, or until the call ends.
    fn poll(&mut self) -> Result<(), Fault> {
        let now = self.received_ns;
        let was_resyncing = self.engine.is_resyncing();
        let mut events = Vec::new();
        let mut flow = Flow::Continue;
        while flow == Flow::Continue
            && let Some(event) = self.engine.poll(now)
        {
            if self.trace {
                self.say(&format!("{event:?}"));
            }
            let payload = match &event {
                Event::Ended(ended) => self.engine.received_at(ended.payload.clone()).to_vec(),
                _ => Vec::new(),
            };
            flow = self.flow_of(&event, was_resyncing);
            events.push((event, payload));
        }
        let all = flow == Flow::Continue;
        let rows = events.iter().filter_map(|(event, _)| row_of(event));
        self.truth.polled(now, rows, all, &self.world)?;
        self.judge
            .polled(now, &events, all, &self.engine, &self.world)?;
        match flow {
            Flow::Continue => {}
            Flow::Fail => self.abandon(now),
            // What is left of a datagram has no continuation.
            Flow::Break if self.program.scenario.datagram => self.engine.discard(),
            Flow::Break => {}
        }
        Ok(())
    }

    /// What an open device makes of an event in this call.
    fn flow_of(&mut self, event: &Event, was_resyncing: bool) -> Flow {
        let calls = self.program.calls;
        let ended = match event {
            _ if calls == Calls::Any => return Flow::Continue,
            Event::Malformed(..) if was_resyncing => return Flow::Continue,
            Event::Malformed(..) | Event::NeverQuiet => return Flow::Fail,
            Event::Ended(ended) => ended,
        };
        let is_right = match ended.outcome {
            Outcome::Late | Outcome::Duplicated => return Flow::Continue,
            Outcome::Answered | Outcome::Reordered => true,
            _ => false,
        };
        match calls {
            Calls::Pipeline => {
                let foreign = self.program.framing.is_some();
                if foreign && ended.outcome == Outcome::Lost {
                    return Flow::Fail;
                }
                let is_head = self.submitted.front() == Some(&(ended.sequence, false));
                let place = self.submitted.iter_mut();
                for (_, came) in place.filter(|(sequence, _)| *sequence == ended.sequence) {
                    *came = true;
                }
                match is_head {
                    true => Flow::Break,
                    false => Flow::Continue,
                }
            }
            _ if !is_right => Flow::Fail,
            Calls::Exchange => Flow::Break,
            _ => Flow::Continue,
        }
    }

    fn say(&self, what: &str) {
        if self.trace {
            println!("{:>12} ns  {what}", self.world.now_ns());
        }
    }
}
