//! A device that sends some MiB without being asked, about as many as the host takes before it gives up.

use super::device::{Device, Message, answering};
use super::{Byte, Given, Tag};
use crate::random::Random;
use crate::scenario::{Devices, Scenario, most_unanswered};

/// Bytes that it sends at once at most, over datagrams too.
const PIECE: u64 = 60_000;

/// Time between two pieces at most.
const EVERY_NS: u64 = 20_000;

/// What it sends.
#[derive(Clone, Copy, Debug)]
enum What {
    Noise,
    Zeros,
    /// The last answer again and again.
    LastAnswer,
}

/// The device of a scenario.
pub fn device_of(scenario: &Scenario) -> Box<dyn Device> {
    let device = answering(scenario);
    let cell = scenario.cells[0];
    let most = most_unanswered(cell.in_bytes.into(), cell.depth.into());
    match scenario.device {
        Devices::Flooding => Box::new(Flooding::new(device, most, scenario)),
        _ => device,
    }
}

/// Answers as the device within, and floods the host.
pub struct Flooding {
    inner: Box<dyn Device>,
    what: What,
    datagram: bool,
    /// Bytes that it still sends.
    left: u64,
    last: Vec<Byte>,
}

impl Flooding {
    /// One for a host that takes `most` bytes without an answer.
    pub fn new(inner: Box<dyn Device>, most: u64, scenario: &Scenario) -> Flooding {
        let mut random = Random::new(scenario.seed ^ 0x0F10_0D00);
        let what = random.pick(&[What::Noise, What::Zeros, What::LastAnswer]);
        let near = random.pick(&[most - 1, most, most + 1, 2 * most]);
        Flooding {
            inner,
            what,
            datagram: scenario.datagram,
            left: match what {
                What::LastAnswer => 3 * most,
                _ => near,
            },
            last: Vec::new(),
        }
    }
}

impl Device for Flooding {
    fn take(
        &mut self,
        bytes: &[Byte],
        now_ns: u64,
        given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        self.inner.take(bytes, now_ns, given, answers);
        if let Some(last) = answers.last() {
            self.last.clone_from(last);
        }
    }

    fn opened(&mut self) {
        self.inner.opened();
    }

    fn restart(&mut self) {
        self.inner.restart();
    }

    fn unasked(&mut self, given: &[Given], random: &mut Random) -> Message {
        self.inner.unasked(given, random)
    }

    fn speaks_unasked(&self) -> bool {
        true
    }

    fn speak(&mut self, _now_ns: u64, random: &mut Random) -> Option<(Vec<Byte>, u64)> {
        let again_ns = match self.what {
            What::LastAnswer if self.datagram => random.between(1, EVERY_NS / 40),
            _ => random.between(1, EVERY_NS),
        };
        let size = random.between(1, PIECE).min(self.left);
        let bytes: Vec<Byte> = match self.what {
            _ if size == 0 => return None,
            // Few large answers, or there are more rows than anybody would compare.
            What::LastAnswer if self.last.len() >= 250 && self.datagram => self.last.clone(),
            What::LastAnswer if self.last.len() >= 250 => {
                let count = (size as usize / self.last.len()).max(1);
                self.last.repeat(count)
            }
            What::Noise => (0..size).map(|_| untagged(random.any() as u8)).collect(),
            _ => vec![untagged(0); size as usize],
        };
        self.left = self.left.saturating_sub(bytes.len() as u64);
        Some((bytes, again_ns))
    }
}

fn untagged(value: u8) -> Byte {
    Byte {
        value,
        tag: Tag::default(),
    }
}
