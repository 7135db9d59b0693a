//! Programs with an open device: requests of their own, pipelined, given up in the middle, with a timeout that changes,
//! over MESSAGE or a foreign framing.

mod device;
mod judge;

use crate::driver::Outcome;
use crate::oracle::Fault;
use crate::random::Random;
use crate::scenario::{Cell, Faults, MS, Protocols, Scenario, US};
use crate::world::{Broken, Byte, Device, Tag, Woken, World};
use device::{Foreign, Messaged};
use judge::Judge;
use wiregauge_session::{Config, Engine, Framing, LengthField, Message, Messages, Splitter};

/// Bytes of a message at most.
const LIMIT: usize = 4096;

/// Turns after which a program counts as one that never ends.
const MOST_TURNS: u64 = 300_000;

/// What a program does.
#[derive(Clone, Debug)]
pub struct Program {
    /// The link, the timeout, and what goes wrong.
    pub scenario: Scenario,
    /// `None`: MESSAGE.
    pub framing: Option<Framing>,
    /// Requests that it makes.
    pub requests: u64,
    /// Outstanding at most.
    pub depth: u64,
    /// Bytes of a request at most.
    pub largest: usize,
    /// Times in a million that it gives up all instead of doing something else.
    pub abandons: u32,
    /// Times in a million that it changes the timeout.
    pub hurries: u32,
}

impl Program {
    /// What this seed stands for.
    pub fn random(seed: u64) -> Program {
        let mut random = Random::new(seed ^ 0x0009_0609);
        let random = &mut random;
        let cell = Cell {
            out_bytes: 64,
            in_bytes: 64,
            depth: 1,
        };
        let mut scenario = Scenario::plain(seed, Protocols::Exchange, cell);
        scenario.datagram = random.chance(300_000);
        scenario.timeout_ns = random.pick(&[MS, 10 * MS, 50 * MS, 500 * MS]);
        let sizes = [7, 64, 300, 1 << 20];
        scenario.shape.send_room = random.pick(&sizes);
        scenario.shape.receive_room = random.pick(&sizes);
        scenario.shape.piece_up = random.pick(&sizes);
        scenario.shape.piece_down = random.pick(&sizes);
        scenario.shape.piece_read = random.pick(&sizes);
        scenario.shape.delay_ns = random.pick(&[0, US, 50 * US]);
        scenario.shape.jitter_ns = random.pick(&[0, US, 100 * US]);
        let framing = random.pick(&[0, 0, 0, 1, 2, 3, 4]);
        let framing = match framing {
            0 => None,
            1 => Some(Framing::Raw),
            2 => Some(Framing::Fixed { bytes: 20 }),
            3 => Some(Framing::Terminator {
                end: b"\r\n".to_vec(),
            }),
            _ => Some(Framing::LengthPrefix(LengthField {
                bytes: 2,
                big_endian: random.chance(500_000),
                counts_itself: random.chance(500_000),
            })),
        };
        if framing.is_some() && scenario.datagram {
            // A line that may overtake itself has no order.
            scenario.shape.jitter_ns = 0;
        }
        let mut program = Program {
            requests: match random.chance(300_000) {
                true => random.between(1, 60),
                false => random.between(1, 10),
            },
            depth: random.pick(&[1, 2, 16, 64]),
            largest: random.pick(&[1, 20, 200, 1000]),
            abandons: random.pick(&[0, 0, 10_000]),
            hurries: random.pick(&[0, 0, 10_000]),
            framing,
            scenario,
        };
        program.scenario.faults = program.faults(random);
        program
    }

    fn faults(&self, random: &mut Random) -> Faults {
        let timeout = self.scenario.timeout_ns;
        let mut faults = Faults {
            stall_ns: random.pick(&[US, MS, timeout + timeout / 2]),
            oversleep_ns: MS,
            late_ns: 2 * timeout,
            ..Faults::default()
        };
        let numbered = self.framing.is_none();
        for _ in 0..random.pick(&[0, 1, 1, 2]) {
            let often = random.pick(&[5_000, 50_000, 300_000]);
            // Few enough that the check of a message notices all of them.
            let of_bytes = often / 3_000;
            match random.below(12) {
                0 => faults.idle_call = often,
                1 => faults.stall = often / 10,
                2 => faults.drop_answer = often,
                3 if numbered => faults.double_answer = often,
                4 if numbered => faults.swap_answer = often,
                5 if numbered => faults.late_answer = often,
                6 => faults.silent_from = Some(random.below(5 * timeout)),
                7 => faults.flip_down = of_bytes,
                8 => faults.flip_up = of_bytes,
                9 if !self.scenario.datagram => faults.cut_down = of_bytes,
                10 if !self.scenario.datagram => faults.cut_up = of_bytes,
                11 if self.scenario.datagram => faults.lose = often,
                _ => faults.oversleep = often,
            }
        }
        faults
    }

    /// Whether answers can be known by their order: with several outstanding, one that is missing shifts the
    /// others, whatever the engine does.
    fn keeps_order(&self) -> bool {
        let faults = self.scenario.faults;
        let drops = faults.drop_answer + faults.lose > 0 || faults.silent_from.is_some();
        self.hurries == 0 && (self.depth == 1 || !drops && !self.scenario.datagram)
    }

    fn codec(&self) -> Messages {
        let datagram = self.scenario.datagram;
        match &self.framing {
            None => Messages::Wiregauge(Message::new(datagram)),
            Some(framing) => {
                let splitter = Splitter::new(framing, datagram, LIMIT);
                Messages::Foreign(splitter.expect("a sound framing"))
            }
        }
    }

    fn device(&self) -> Box<dyn Device> {
        let datagram = self.scenario.datagram;
        match &self.framing {
            None => Box::new(Messaged::new(datagram)),
            Some(framing) => Box::new(Foreign::new(framing, self.size(), datagram)),
        }
    }

    /// Bytes of every message, where the framing does not say how long it is.
    fn size(&self) -> usize {
        match self.framing {
            Some(Framing::Fixed { bytes }) => bytes,
            _ => self.largest,
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// What the engine did wrong.
    pub fn run(&self, trace: bool) -> Result<Outcome, Fault> {
        let config = Config {
            datagram: self.scenario.datagram,
            timeout_ns: self.scenario.timeout_ns,
            batch: if self.scenario.datagram {
                1
            } else {
                self.scenario.batch
            },
            span: self.depth as usize,
            request_bytes: self.largest + 20,
            answer_bytes: self.largest + 40,
            staged: self.depth as usize,
        };
        let mut run = Run {
            program: self,
            world: World::new(&self.scenario, self.device(), trace),
            engine: Engine::new(config, self.codec()),
            judge: Judge::new(&self.scenario, self.framing.is_none(), self.keeps_order()),
            random: Random::new(self.scenario.seed),
            asked: 0,
            is_blocked: false,
            turns: 0,
            trace,
        };
        run.all()?;
        Ok(Outcome {
            rows: run.judge.events,
            calls: run.turns,
            virtual_ns: run.world.now_ns(),
        })
    }
}

struct Run<'a> {
    program: &'a Program,
    world: World,
    engine: Engine<Messages>,
    judge: Judge,
    random: Random,
    asked: u64,
    is_blocked: bool,
    turns: u64,
    trace: bool,
}

impl Run<'_> {
    fn all(&mut self) -> Result<(), Fault> {
        while self.asked < self.program.requests || self.is_busy() {
            self.turns += 1;
            if self.turns > MOST_TURNS {
                return Err(Fault::new(
                    self.world.now_ns(),
                    "it never ends: too many turns",
                ));
            }
            let may_ask = self.asked < self.program.requests
                && self.engine.window().under_way() < self.program.depth
                && self.engine.has_room();
            if may_ask && (!self.is_busy() || self.random.chance(700_000)) {
                self.ask();
            } else if self.random.chance(self.program.abandons) {
                let now = self.world.now_ns();
                self.say("abandon");
                self.engine.abandon(now);
                self.judge.abandoned(now);
                self.poll()?;
            } else if self.random.chance(self.program.hurries) {
                let timeout = self.program.scenario.timeout_ns * self.random.between(1, 3);
                self.say("another timeout");
                self.engine.set_timeout(timeout);
                self.judge.set_timeout(timeout);
                self.poll()?;
            } else if !self.turn()? {
                return Ok(());
            }
        }
        self.judge.finish(self.world.now_ns())
    }

    fn is_busy(&self) -> bool {
        let engine = &self.engine;
        engine.window().under_way() > 0 || engine.is_resyncing() || engine.wants_to_send()
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
        self.judge.staged(sequence, said, awaited, bytes);
    }

    /// Sends, or waits and receives; false if the device takes nothing any more.
    fn turn(&mut self) -> Result<bool, Fault> {
        let now = self.world.now_ns();
        if self.engine.wants_to_send() && !self.is_blocked {
            let offered = self.engine.outgoing();
            let byte = |&value| Byte {
                value,
                tag: Tag::default(),
            };
            let tagged: Vec<Byte> = offered.iter().map(byte).collect();
            let Ok(count) = self.world.send(&tagged) else {
                return Ok(false);
            };
            self.is_blocked = count == 0;
            self.judge.sent(now, count);
            self.engine.sent(now, count);
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
        let space = self.engine.space();
        let came = match self.world.receive(space.len()) {
            Ok(came) => came,
            Err(Broken) => return Ok(false),
        };
        for (to, byte) in space.iter_mut().zip(&came) {
            *to = byte.value;
        }
        let now = self.world.now_ns();
        self.engine.received(now, came.len());
        self.judge.received(now, &came, &self.world);
        self.poll()?;
        Ok(true)
    }

    fn poll(&mut self) -> Result<(), Fault> {
        let now = self.world.now_ns();
        let mut events = Vec::new();
        while let Some(event) = self.engine.poll(now) {
            let payload = match &event {
                wiregauge_session::Event::Ended(ended) => {
                    self.engine.received_at(ended.payload.clone()).to_vec()
                }
                _ => Vec::new(),
            };
            if self.trace {
                self.say(&format!("{event:?}"));
            }
            events.push((event, payload));
        }
        self.judge.polled(now, &events, &self.engine)
    }

    fn say(&self, what: &str) {
        if self.trace {
            println!("{:>12} ns  {what}", self.world.now_ns());
        }
    }
}
