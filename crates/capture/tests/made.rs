//! A modelled bus whose limit is known: packets with their times, and what was counted while they were made.

use fastrand::Rng;
use wiregauge_capture::{Pid, Speed, Writer, frame_ns, packet, wire_ns};

/// What limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Host,
    Device,
    Bus,
}

/// What the generator counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    pub tokens: u64,
    pub transfers: u64,
    pub packets: u64,
    pub bytes: u64,
    pub naks: u64,
    pub retries: u64,
    pub unanswered: u64,
    pub short: u64,
    pub empty: u64,
    pub frames: u64,
    pub all_packets: u64,
    pub turn_around_max_ns: u64,
}

/// A capture of a bus.
pub struct Made {
    pub file: Vec<u8>,
    pub truth: Truth,
    pub speed: Speed,
    pub address: u8,
    pub endpoint: u8,
    pub max_packet: u32,
}

pub(crate) struct Wire {
    pub(crate) writer: Writer<Vec<u8>>,
    speed: Speed,
    pub(crate) now_ns: u64,
    frame: u64,
    pub(crate) truth: Truth,
    random: Rng,
}

/// Where the made captures begin: as those of a system, whose clock counts from 1970.
const EPOCH_NS: u64 = 1_700_000_000_000_000_000;

impl Wire {
    pub(crate) fn new(speed: Speed, random: Rng) -> Wire {
        let mut wire = Wire {
            writer: Writer::new(Vec::new(), speed).expect("a vector takes everything"),
            speed,
            now_ns: 0,
            frame: 0,
            truth: Truth::default(),
            random,
        };
        wire.start_of_frame();
        wire
    }

    fn put(&mut self, bytes: &[u8]) {
        self.writer
            .packet(EPOCH_NS + self.now_ns, bytes)
            .expect("a vector takes everything");
        self.now_ns += wire_ns(bytes, bytes.len() as u32, self.speed);
        self.truth.all_packets += 1;
    }

    fn start_of_frame(&mut self) {
        self.now_ns = self.frame * frame_ns(self.speed);
        self.put(&packet::sof(self.frame));
        self.truth.frames += 1;
        self.frame += 1;
        self.now_ns += self.gap();
    }

    /// Starts of frame until `at_ns`.
    pub(crate) fn wait_until(&mut self, at_ns: u64) {
        while self.frame * frame_ns(self.speed) <= at_ns {
            self.start_of_frame();
        }
        self.now_ns = self.now_ns.max(at_ns);
    }

    /// Waits for the next frame if what needs this many nanoseconds does not fit into this one.
    fn fit(&mut self, needed_ns: u64) {
        self.wait_until(self.now_ns);
        if self.now_ns + needed_ns > self.frame * frame_ns(self.speed) {
            self.start_of_frame();
        }
    }

    fn gap(&self) -> u64 {
        match self.speed {
            Speed::High => 184,
            _ => 167,
        }
    }

    fn turn_around(&mut self) -> u64 {
        let ns = match self.speed {
            Speed::High => self.random.u64(20..400),
            _ => self.random.u64(170..540),
        };
        self.now_ns += ns;
        ns
    }

    /// What a transaction with so many bytes takes at most.
    fn longest(&self, bytes: u32) -> u64 {
        let bits = 8 * u64::from(bytes) * 7 / 6 + 300;
        bits * self.speed.bit_ps() / 1000 + 1000
    }
}

/// An endpoint of the modelled bus and what it sends next.
pub(crate) struct Pipe {
    address: u8,
    number: u8,
    is_in: bool,
    toggle: bool,
    counted: bool,
}

impl Pipe {
    pub(crate) fn new(address: u8, number: u8, is_in: bool, counted: bool) -> Pipe {
        Pipe {
            address,
            number,
            is_in,
            toggle: false,
            counted,
        }
    }

    fn token(&self) -> [u8; 3] {
        let pid = if self.is_in { Pid::In } else { Pid::Out };
        packet::token(pid, self.address, self.number)
    }

    fn data(&self, payload: &[u8]) -> Vec<u8> {
        let pid = if self.toggle { Pid::Data1 } else { Pid::Data0 };
        packet::data(pid, payload)
    }

    /// A transaction that the device answers NAK.
    pub(crate) fn nak(&self, wire: &mut Wire, payload: &[u8]) {
        wire.fit(wire.longest(payload.len() as u32));
        wire.put(&self.token());
        if !self.is_in {
            wire.now_ns += wire.gap();
            let data = self.data(payload);
            wire.put(&data);
        }
        self.turn_around(wire);
        wire.put(&packet::handshake(Pid::Nak));
        if self.counted {
            wire.truth.tokens += 1;
            wire.truth.naks += 1;
        }
        wire.now_ns += wire.gap();
    }

    fn turn_around(&self, wire: &mut Wire) {
        let ns = wire.turn_around();
        if self.counted {
            wire.truth.turn_around_max_ns = wire.truth.turn_around_max_ns.max(ns);
        }
    }

    /// Data that is taken, after it was lost `lost` times.
    pub(crate) fn send(&mut self, wire: &mut Wire, payload: &[u8], lost: u32) {
        let data = self.data(payload);
        for attempt in 0..=lost {
            wire.fit(wire.longest(payload.len() as u32));
            wire.put(&self.token());
            if self.is_in {
                self.turn_around(wire);
            } else {
                wire.now_ns += wire.gap();
            }
            wire.put(&data);
            if self.counted {
                wire.truth.tokens += 1;
                wire.truth.retries += u64::from(attempt > 0);
                wire.truth.unanswered += u64::from(attempt < lost);
            }
            // The handshake of a packet that was lost is not there.
            if attempt == lost {
                if self.is_in {
                    wire.now_ns += wire.gap();
                } else {
                    self.turn_around(wire);
                }
                wire.put(&packet::handshake(Pid::Ack));
            } else {
                wire.now_ns += 1500;
            }
            wire.now_ns += wire.gap();
        }
        self.toggle = !self.toggle;
        if self.counted {
            wire.truth.packets += 1;
            wire.truth.bytes += payload.len() as u64;
        }
    }
}

pub(crate) fn any_speed(random: &mut Rng) -> Speed {
    if random.bool() {
        Speed::High
    } else {
        Speed::Full
    }
}

/// A bus with a device of this kind; the same seed makes the same bus.
pub fn bus(limit: Limit, seed: u64) -> Made {
    let mut random = Rng::with_seed(seed);
    let speed = any_speed(&mut random);
    let max_packet = if speed == Speed::High { 512 } else { 64 };
    let address = random.u8(1..128);
    let mut pipe = Pipe::new(address, random.u8(1..16), random.bool(), true);
    let mut other = Pipe::new(address % 127 + 1, random.u8(1..16), random.bool(), false);
    let with_other = random.bool();
    let mut wire = Wire::new(speed, Rng::with_seed(seed ^ 0x5eed));
    let transfers = random.usize(30..60);
    let largest = random.u32(1..12 * max_packet);
    // The host asks again after this time.
    let again_ns = random.u64(500..frame_ns(speed));
    for _ in 0..transfers {
        let bytes = match limit {
            Limit::Bus => random.u32(40 * max_packet..60 * max_packet),
            _ => random.u32(0..=largest),
        };
        let (mut left, begin_ns) = (bytes, wire.now_ns);
        loop {
            let size = left.min(max_packet);
            let payload: Vec<u8> = (0..size).map(|_| random.u8(..)).collect();
            let naks = match limit {
                Limit::Device => random.u32(2..30),
                Limit::Host => u32::from(random.u32(0..30) == 0),
                Limit::Bus => 0,
            };
            for _ in 0..naks {
                pipe.nak(&mut wire, &payload);
                if limit == Limit::Device {
                    wire.now_ns += again_ns;
                }
            }
            let lost = u32::from(random.u32(0..40) == 0);
            pipe.send(&mut wire, &payload, lost);
            if with_other && (limit == Limit::Bus || random.u32(0..4) == 0) {
                let size = random.usize(1..=max_packet as usize);
                other.send(&mut wire, &vec![0x55; size], 0);
            }
            left -= size;
            if size < max_packet {
                wire.truth.transfers += 1;
                wire.truth.short += u64::from(size > 0);
                wire.truth.empty += u64::from(size == 0);
                break;
            }
        }
        if limit == Limit::Host {
            // Twice to five times what the transfer took.
            let took = wire.now_ns - begin_ns;
            let until = wire.now_ns + took * random.u64(2..5) + random.u64(50_000..200_000);
            wire.wait_until(until);
        }
    }
    let endpoint = pipe.number | if pipe.is_in { 0x80 } else { 0 };
    Made {
        file: wire.writer.into_inner(),
        truth: wire.truth,
        speed,
        address,
        endpoint,
        max_packet,
    }
}
