//! Programs with an open device: requests of their own, one by one, in batches or pipelined, given up in the middle, with a
//! timeout that changes, over MESSAGE or a foreign framing. They read late.

mod device;
mod judge;
mod matrix;
mod run;

pub use matrix::PROGRAM_MATRIX;

use crate::random::Random;
use crate::scenario::{Cell, Devices, Faults, MS, Protocols, Scenario, US, most_unanswered};
use crate::world::{Device, Flooding};
use device::{Foreign, Messaged};
use judge::Rules;
use wiregauge_session::{Framing, LengthField, Message, Messages, Splitter};

/// Bytes of a message at most.
const LIMIT: usize = 4096;

/// Bytes of an answer at most, beside those of the program.
const OVERHEAD: usize = 40;

/// What a program calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// The engine, as it likes.
    Any,
    /// One exchange after the other.
    Exchange,
    /// A batch; one that fails ends it, and the rest is another batch.
    ExchangeMany,
    /// Requests are submitted, and their answers taken in the order of the requests.
    Pipeline,
}

/// What a program does.
#[derive(Clone, Debug)]
pub struct Program {
    /// The link, the timeout, and what goes wrong.
    pub scenario: Scenario,
    /// `None`: MESSAGE.
    pub framing: Option<Framing>,
    /// What it calls.
    pub calls: Calls,
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
    /// Time between the end of a call and the next.
    pub pauses_ns: u64,
    /// Times in a million that it does something else for a while, up to three timeouts.
    pub naps: u32,
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
            calls: random.pick(&[
                Calls::Any,
                Calls::Any,
                Calls::Exchange,
                Calls::ExchangeMany,
                Calls::Pipeline,
            ]),
            requests: match random.chance(300_000) {
                true => random.between(1, 60),
                false => random.between(1, 10),
            },
            depth: random.pick(&[1, 2, 16, 64]),
            largest: random.pick(&[1, 20, 200, 1000]),
            abandons: random.pick(&[0, 0, 10_000]),
            hurries: random.pick(&[0, 0, 10_000]),
            naps: random.pick(&[0, 10_000, 100_000]),
            pauses_ns: random.pick(&[0, 0, 0, 5 * MS, 200 * MS]),
            framing,
            scenario,
        };
        program.scenario.faults = program.faults(random);
        if random.chance(3_000) {
            program.flood(random);
        }
        program
    }

    /// A device that sends some MiB, over a link that lets them pass soon.
    fn flood(&mut self, random: &mut Random) {
        let scenario = &mut self.scenario;
        scenario.device = Devices::Flooding;
        scenario.timeout_ns = 500 * MS;
        scenario.shape = Scenario::plain(0, scenario.protocol, scenario.cells[0]).shape;
        scenario.shape.piece_read = random.pick(&[30_000, 1 << 16, 1 << 20]);
        scenario.shape.jitter_ns = 0;
        scenario.faults = Faults {
            silent_from: random.pick(&[None, Some(0)]),
            ..Faults::default()
        };
        (self.abandons, self.hurries) = (0, 0);
        self.largest = random.pick(&[self.largest, 1000]);
    }

    fn faults(&self, random: &mut Random) -> Faults {
        let timeout = self.scenario.timeout_ns;
        // So that an answer comes when the line has long been quiet behind its timeout.
        let long = 3 * timeout + 100 * MS;
        let mut faults = Faults {
            stall_ns: random.pick(&[US, MS, timeout + timeout / 2]),
            oversleep_ns: MS,
            late_ns: random.pick(&[2 * timeout, long]),
            pause_ns: random.pick(&[US, timeout, long]),
            unasked_ns: random.pick(&[US, timeout, long]),
            ..Faults::default()
        };
        let numbered = self.framing.is_none();
        for _ in 0..random.pick(&[0, 1, 1, 2]) {
            let often = random.pick(&[5_000, 50_000, 300_000]);
            // Few enough that the check of a message notices all of them.
            let of_bytes = often / 3_000;
            match random.below(16) {
                0 => faults.idle_call = often,
                1 => faults.stall = often / 10,
                2 => faults.drop_answer = often,
                3 if numbered => faults.double_answer = often,
                4 if numbered => faults.swap_answer = often,
                5 => faults.late_answer = often,
                6 => faults.silent_from = Some(random.below(5 * timeout)),
                7 => faults.flip_down = of_bytes,
                8 => faults.flip_up = of_bytes,
                9 if !self.scenario.datagram => faults.cut_down = of_bytes,
                10 if !self.scenario.datagram => faults.cut_up = of_bytes,
                11 if self.scenario.datagram => faults.lose = often,
                12 => faults.pause = often,
                13 => faults.unasked = often,
                14 => {
                    faults.service_ns = random.pick(&[US, MS, timeout / 2]);
                    faults.stall_every = random.pick(&[0, 2, 5]);
                }
                15 if self.scenario.datagram && numbered => faults.shorten = often,
                _ => faults.oversleep = often,
            }
        }
        faults
    }

    /// Whether answers can be known by their order: with several outstanding, one that is missing shifts the
    /// others, whatever the engine does.
    fn keeps_order(&self) -> bool {
        let faults = self.scenario.faults;
        let loses = faults.drop_answer + faults.late_answer + faults.lose + faults.shorten > 0;
        let drops = loses || faults.silent_from.is_some();
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
        let device: Box<dyn Device> = match &self.framing {
            None => Box::new(Messaged::new(datagram)),
            Some(framing) => Box::new(Foreign::new(framing, self.size(), datagram)),
        };
        match self.scenario.device {
            Devices::Flooding => {
                let most = self.rules().most_unanswered;
                Box::new(Flooding::new(device, most, &self.scenario))
            }
            _ => device,
        }
    }

    fn rules(&self) -> Rules {
        let answer = (self.largest + OVERHEAD) as u64;
        Rules {
            numbered: self.framing.is_none(),
            keeps_order: self.keeps_order(),
            datagram: self.scenario.datagram,
            most_unanswered: most_unanswered(answer, self.depth),
        }
    }

    /// What is required of its answers.
    fn truth(&self) -> crate::judge::Rules {
        crate::judge::Rules::of_program(self.scenario.timeout_ns, self.framing.is_none())
    }

    /// Bytes of every message, where the framing does not say how long it is.
    fn size(&self) -> usize {
        match self.framing {
            Some(Framing::Fixed { bytes }) => bytes,
            _ => self.largest,
        }
    }
}
