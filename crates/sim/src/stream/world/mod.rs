//! The link and the device of a simulated stream: bytes and datagrams on their way, and what happens to them.

mod to_device;
mod to_host;

use super::device::StreamDevice;
use super::scenario::{StreamFaults, Streaming};
use super::truth::{AnswerTruth, Origin, StreamByte};
use crate::random::Random;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Bytes that a device's end of a byte stream holds.
const HELD: usize = 256;

/// Events after the end of a stream.
const MOST_EVENTS: u32 = 1_000_000;

/// A transfer to the device that pends.
#[derive(Debug)]
pub struct OutTransfer {
    bytes: Vec<StreamByte>,
    is_order: bool,
    /// How many of them the system has taken.
    put: usize,
    stalled: bool,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Up,
    Down,
    UpArrives(usize),
    DownArrives(usize),
    Chatter,
    /// Time has come for something that the scenario says.
    Look,
}

/// The link and the device.
pub struct World<'s> {
    scenario: &'s Streaming,
    faults: StreamFaults,
    random: Random,
    device: Box<dyn StreamDevice>,
    /// The time.
    pub now_ns: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    scheduled: u64,
    up_moves: bool,
    down_moves: bool,
    stalled_until_ns: u64,
    was_reset: bool,
    /// Transfers to the device.
    pub out: VecDeque<OutTransfer>,
    /// What the system holds: pieces of a byte stream, or datagrams.
    up: VecDeque<Vec<StreamByte>>,
    at_device: Vec<StreamByte>,
    from_device: Vec<u8>,
    /// Where the source is.
    position: u64,
    source_number: Option<u32>,
    down: VecDeque<Vec<StreamByte>>,
    /// What the system holds for the host.
    pub host: VecDeque<Vec<StreamByte>>,
    /// Bytes in it, of a byte stream.
    host_bytes: usize,
    flying: Vec<Vec<StreamByte>>,
    /// All answers that the device gave.
    pub answers: Vec<AnswerTruth>,
    /// Numbers of the orders that were given.
    numbers: Vec<u32>,
    /// All that arrived at the device, for the oracle; resets are marked.
    pub arrived: Vec<Arrived>,
    /// Something was lost on its way as a whole.
    pub lost: bool,
    /// Bytes of orders were damaged; those of answers.
    pub damaged: (bool, bool),
    trace: bool,
}

/// What the device saw.
#[derive(Clone, Copy, Debug)]
pub enum Arrived {
    /// A byte.
    Byte(StreamByte),
    /// The end of a datagram.
    End,
    /// A reset.
    Reset,
}

impl<'s> World<'s> {
    /// At rest.
    pub fn new(scenario: &'s Streaming, device: Box<dyn StreamDevice>, trace: bool) -> World<'s> {
        let faults = scenario.faults;
        let mut world = World {
            scenario,
            faults,
            random: Random::new(scenario.seed ^ 0x00F1_0775),
            device,
            now_ns: 1,
            events: BinaryHeap::new(),
            scheduled: 0,
            up_moves: false,
            down_moves: false,
            stalled_until_ns: 0,
            was_reset: false,
            out: VecDeque::new(),
            up: VecDeque::new(),
            at_device: Vec::new(),
            from_device: Vec::new(),
            position: 0,
            source_number: None,
            down: VecDeque::new(),
            host: VecDeque::new(),
            host_bytes: 0,
            flying: Vec::new(),
            answers: Vec::new(),
            numbers: Vec::new(),
            arrived: Vec::new(),
            lost: false,
            damaged: (false, false),
            trace,
        };
        let times = [
            faults.reset_at,
            faults.silent_from,
            faults.mute_from,
            faults.break_at,
            faults.stop_at,
        ];
        for at in times.into_iter().flatten() {
            world.schedule(at, Event::Look);
        }
        if let Some(every) = faults.chatter_every {
            world.schedule(every, Event::Chatter);
        }
        world
    }

    /// Prints what happens.
    pub fn say(&self, what: impl FnOnce() -> String) {
        if self.trace {
            println!("{:>12} ns  {}", self.now_ns, what());
        }
    }

    fn schedule(&mut self, at_ns: u64, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at_ns, self.scheduled, event)));
    }

    fn has_come(&self, at: Option<u64>) -> bool {
        at.is_some_and(|at| self.now_ns >= at)
    }

    /// The link reports errors.
    pub fn is_broken(&self) -> bool {
        self.has_come(self.faults.break_at)
    }

    /// The user wants an end.
    pub fn is_stopped(&self) -> bool {
        self.has_come(self.faults.stop_at)
    }

    fn is_silent(&self) -> bool {
        self.has_come(self.faults.silent_from)
    }

    /// Nothing went wrong that an order or an answer may not survive.
    pub fn is_sound(&self) -> bool {
        let gone = [
            self.faults.silent_from,
            self.faults.mute_from,
            self.faults.break_at,
        ];
        !self.lost
            && self.damaged == (false, false)
            && !gone.into_iter().any(|at| self.has_come(at))
    }

    /// Whether streams flow, IN first.
    pub fn device_flows(&self) -> [bool; 2] {
        self.device.flows()
    }

    /// The device was reset.
    pub fn was_reset(&self) -> bool {
        self.was_reset
    }

    // --- time ---

    /// When something happens next.
    pub fn next_event_ns(&self) -> Option<u64> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// Time passes by; what was due by then happens.
    pub fn pass_to(&mut self, to_ns: u64) {
        loop {
            match self.events.peek() {
                Some(Reverse((at, ..))) if *at <= to_ns => {}
                _ => break,
            }
            let Some(Reverse((at, _, event))) = self.events.pop() else {
                break;
            };
            self.now_ns = self.now_ns.max(at);
            self.happen(event);
        }
        self.now_ns = self.now_ns.max(to_ns);
    }

    /// What is on its way to the device arrives. What the device sends is received and ignored.
    pub fn deliver_rest(&mut self) {
        let mut rest = 0;
        for _ in 0..MOST_EVENTS {
            self.host.clear();
            self.host_bytes = 0;
            self.down.clear();
            self.kick();
            let flies = |Reverse((.., event)): &Reverse<(u64, u64, Event)>| {
                matches!(event, Event::UpArrives(_))
            };
            let at_rest = self.up.is_empty() && self.at_device.is_empty();
            if at_rest && !self.events.iter().any(flies) {
                // An order may wait in the device until it has given an answer.
                rest += 1;
                if rest > 200 || self.device.flows() == [false; 2] {
                    return;
                }
            }
            match self.next_event_ns() {
                Some(at) => self.pass_to(at),
                None => return,
            }
        }
    }

    fn happen(&mut self, event: Event) {
        if self.has_come(self.faults.reset_at) && !self.was_reset {
            self.was_reset = true;
            self.say(|| "the device is reset".into());
            self.device.reset();
            self.at_device.clear();
            self.source_number = None;
            self.arrived.push(Arrived::Reset);
        }
        match event {
            Event::Look => {}
            Event::Chatter => {
                if let Some(every) = self.faults.chatter_every
                    && !self.is_silent()
                {
                    let value = self.random.any() as u8;
                    let origin = Origin::Noise;
                    // What the device has no room for it does not send.
                    if self.down.len() < HELD {
                        self.down.push_back(vec![StreamByte { value, origin }]);
                    }
                    self.schedule(self.now_ns + every, Event::Chatter);
                }
            }
            Event::Up => self.move_up(),
            Event::Down => self.move_down(),
            Event::UpArrives(index) => {
                let message = std::mem::take(&mut self.flying[index]);
                self.reach_device(message);
            }
            Event::DownArrives(index) => {
                let message = std::mem::take(&mut self.flying[index]);
                match self.host.len() < self.scenario.room.1 {
                    true => self.host.push_back(message),
                    false => self.lost = true,
                }
            }
        }
        self.kick();
    }

    /// Sets in motion what can move.
    fn kick(&mut self) {
        self.fill_up();
        if !self.up_moves
            && (!self.up.is_empty() || !self.at_device.is_empty())
            && !self.is_silent()
        {
            self.up_moves = true;
            let at = self.now_ns.max(self.stalled_until_ns) + self.step();
            self.schedule(at, Event::Up);
        }
        if !self.down_moves && !self.is_silent() {
            self.take_from_device();
            let has_room = self.scenario.datagram || self.host_bytes < self.scenario.room.1;
            if !self.down.is_empty() && has_room {
                self.down_moves = true;
                let at = self.now_ns.max(self.stalled_until_ns) + self.step();
                self.schedule(at, Event::Down);
            }
        }
    }

    fn step(&mut self) -> u64 {
        let step = self.scenario.step_ns;
        self.random.between(step / 2 + 1, step + 1)
    }

    fn flight(&mut self) -> u64 {
        let (delay, jitter) = self.scenario.delay_ns;
        delay + self.random.below(jitter + 1)
    }

    fn stalls(&mut self) -> bool {
        if self.now_ns >= self.stalled_until_ns && self.random.chance(self.faults.stall) {
            self.stalled_until_ns = self.now_ns + self.faults.stall_ns;
            self.say(|| format!("the device stalls until {}", self.stalled_until_ns));
        }
        self.now_ns < self.stalled_until_ns
    }

    // --- on the way ---

    fn copies(&mut self) -> u32 {
        if self.random.chance(self.faults.lose) {
            self.lost = true;
            return 0;
        }
        1 + u32::from(self.random.chance(self.faults.duplicate))
    }

    fn piece_of(&mut self, up: bool) -> Vec<StreamByte> {
        let most = match up {
            true => self.scenario.piece,
            false => {
                let room = self.scenario.room.1.saturating_sub(self.host_bytes);
                self.scenario.piece.min(room)
            }
        };
        let count = self.random.between(1, most.max(1) as u64) as usize;
        let from = if up { &mut self.up } else { &mut self.down };
        let mut piece = Vec::with_capacity(count);
        while piece.len() < count
            && let Some(first) = from.front_mut()
        {
            let end = first.len().min(count - piece.len());
            piece.extend(first.drain(..end));
            if first.is_empty() {
                from.pop_front();
            }
        }
        piece
    }

    fn damage(&mut self, bytes: Vec<StreamByte>, up: bool) -> Vec<StreamByte> {
        let faults = self.faults;
        let (flip, cut) = match up {
            true => (faults.flip_up, faults.cut_up),
            false => (faults.flip_down, faults.cut_down),
        };
        let drops = if up { faults.drop_order } else { 0 };
        if flip + cut + drops == 0 {
            return bytes;
        }
        let mut arrived = Vec::with_capacity(bytes.len());
        for mut byte in bytes {
            let is_data = matches!(byte.origin, Origin::Data(_));
            if let Origin::Order(number, _) = byte.origin
                && drops > 0
                && Random::new(self.scenario.seed ^ u64::from(number)).chance(drops)
            {
                self.lost = true;
                continue;
            }
            let may_hit = is_data || !faults.spares_frames;
            if may_hit && self.random.chance(cut) {
                self.note_damage(is_data, up);
                continue;
            }
            if may_hit && self.random.chance(flip) {
                self.note_damage(is_data, up);
                byte.value ^= 1 << self.random.below(8);
                if !is_data {
                    byte.origin = Origin::Noise;
                }
            }
            arrived.push(byte);
        }
        arrived
    }

    fn note_damage(&mut self, is_data: bool, up: bool) {
        match up {
            _ if is_data => {}
            true => self.damaged.0 = true,
            false => self.damaged.1 = true,
        }
    }
}
