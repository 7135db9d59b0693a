//! Drives a [`Measurement`] through a world, as the measuring loop drives it over a link, and shows the oracle
//! and the judge every call and every row.

use crate::judge::{Judge, Kind, Row, Rules};
use crate::oracle::{Fault, Oracle};
use crate::queries::{for_engine, requests};
use crate::scenario::{Devices, Protocols, Scenario};
use crate::world::{Broken, Byte, Device, Tag, Woken, World, device_of};
use wiregauge_record::{Sample, Status};
use wiregauge_session::{
    BatchTrial, Echo, End, Exchange, Generator, Lines, Measurement, Modbus, Next, Numbers, Query,
};

/// Calls after which a scenario counts as one that never ends.
const MOST_CALLS: u64 = 2_000_000;

/// Room for received bytes that an engine lays out, beside two answers.
const RECEIVED: u64 = 256 << 10;

/// Room for a reply of text, whose size is not known, and for one of Modbus.
const LONGEST_USUAL: u64 = 64 << 10;
const LONGEST_MODBUS: u64 = 260;

/// What a scenario was like.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Rows of samples.
    pub rows: u64,
    /// Calls of the engine.
    pub calls: u64,
    /// Virtual time.
    pub virtual_ns: u64,
}

/// Runs one scenario with the simulator's own device.
///
/// # Errors
/// What the engine did wrong.
pub fn run(scenario: &Scenario, trace: bool) -> Result<Outcome, Fault> {
    let mut world = World::new(scenario, device_of(scenario), trace);
    // What a device forges cannot be told from answers, and exchanges of a trial have no rows.
    let is_judged = scenario.device == Devices::Plain && scenario.trial.is_none();
    run_in(scenario, &mut world, is_judged, trace)
}

/// Runs one scenario with this device, whose answers carry no tags.
///
/// # Errors
/// What the engine did wrong.
pub fn run_with(
    scenario: &Scenario,
    device: Box<dyn Device>,
    trace: bool,
) -> Result<Outcome, Fault> {
    run_in(
        scenario,
        &mut World::new(scenario, device, trace),
        false,
        trace,
    )
}

fn run_in(
    scenario: &Scenario,
    world: &mut World,
    is_judged: bool,
    trace: bool,
) -> Result<Outcome, Fault> {
    let mut outcome = Outcome::default();
    let mut numbers = Numbers::starting_at(scenario.base);
    let mut used_to = scenario.base;
    let judge = |index: usize, base| {
        is_judged.then(|| Judge::new(Rules::of_point(scenario, scenario.cells[index], base)))
    };
    for index in 0..scenario.cells.len() {
        let (cell, base) = (scenario.cells[index], numbers.base());
        if base < used_to {
            let what = format!("number {base} comes again: all below {used_to} are used");
            return Err(Fault::new(world.now_ns(), what));
        }
        let (out, in_) = (cell.out_bytes, cell.in_bytes);
        let datagram = scenario.datagram;
        let went_on = match scenario.protocol {
            Protocols::Exchange => {
                let codec = Exchange::new(base, out, in_, datagram);
                Run::new(scenario, index, base, codec, judge(index, base), trace)
                    .run(world, &mut outcome)
            }
            Protocols::Echo => {
                let codec = Echo::new(base, out, datagram);
                Run::new(scenario, index, base, codec, judge(index, base), trace)
                    .run(world, &mut outcome)
            }
            Protocols::Lines => {
                let codec = Lines::new(base, out, in_, datagram);
                Run::new(scenario, index, base, codec, judge(index, base), trace)
                    .run(world, &mut outcome)
            }
            Protocols::Text | Protocols::Silence => {
                let codec = Query::new(&for_engine(scenario, cell), datagram);
                let codec = codec.map_err(|what| Fault::new(0, what))?;
                Run::new(scenario, index, base, codec, judge(index, base), trace)
                    .run(world, &mut outcome)
            }
            Protocols::Tcp | Protocols::Rtu => {
                let codec = Modbus::new(base, &for_engine(scenario, cell), datagram);
                let codec = codec.map_err(|what| Fault::new(0, what))?;
                Run::new(scenario, index, base, codec, judge(index, base), trace)
                    .run(world, &mut outcome)
            }
        }?;
        match went_on {
            Some(started) => numbers.end_point(started),
            None => break,
        }
        used_to = base + went_on.unwrap_or(0);
    }
    outcome.virtual_ns = world.now_ns();
    Ok(outcome)
}

/// One point.
struct Run<'a, C> {
    scenario: &'a Scenario,
    measurement: Measurement<C>,
    oracle: Oracle<'a>,
    /// None where the device does not mark its answers.
    judge: Option<Judge>,
    /// Number on the wire of exchange 0.
    base: u64,
    /// Bytes of the requests, of the first and of the second in turn.
    sizes: [usize; 2],
    /// Bytes of requests that the system took, over the link that is open.
    sent: usize,
    /// The exchange that this link began with.
    first_of_link: u64,
    /// What names the answers to the requests that were sent, in order.
    names: Vec<u32>,
    trace: bool,
}

impl<'a, C: Generator> Run<'a, C> {
    fn new(
        scenario: &'a Scenario,
        index: usize,
        base: u64,
        codec: C,
        judge: Option<Judge>,
        trace: bool,
    ) -> Self {
        let plan = scenario.plan();
        let point = scenario.point(index);
        let trial = scenario
            .trial
            .and_then(|turns| BatchTrial::new(point.depth, turns));
        let is_trying = trial.is_some();
        let (datagram, batch) = (scenario.datagram, scenario.batch);
        Run {
            scenario,
            measurement: Measurement::new(&plan, point, datagram, batch, codec).with_trial(trial),
            oracle: Oracle::new(scenario, index, base, is_trying),
            judge,
            base,
            sizes: match scenario.protocol.has_queries() {
                true => {
                    requests(scenario.protocol, scenario.cells[index]).map(|request| request.len())
                }
                false => [point.out_bytes as usize; 2],
            },
            sent: 0,
            first_of_link: 0,
            names: Vec::new(),
            trace,
        }
    }

    /// Returns how many exchanges were started, or `None` if nothing can follow.
    fn run(mut self, world: &mut World, outcome: &mut Outcome) -> Result<Option<u64>, Fault> {
        let mut stopped = false;
        self.oracle.begin(world.now_ns());
        loop {
            outcome.calls += 1;
            if outcome.calls > MOST_CALLS {
                return Err(Fault::new(world.now_ns(), "it never ends: too many calls"));
            }
            let now = world.now_ns();
            if !stopped && self.scenario.faults.stop_at.is_some_and(|at| now >= at) {
                self.say(now, || "stop".into());
                stopped = true;
                self.measurement.stop();
                self.oracle.stop();
                self.judge.iter_mut().for_each(Judge::ends);
            }
            let next = self.measurement.next(now);
            self.say(now, || format!("{next:?}"));
            self.oracle.trial_ended(now, self.measurement.trial())?;
            self.oracle.next(now, &next)?;
            let until = |until_ns: u64| match self.scenario.faults.stop_at {
                Some(at) if !stopped => until_ns.min(at),
                _ => until_ns,
            };
            match next {
                Next::Connect => self.connect(world),
                Next::Disconnect => {
                    world.disconnect();
                    self.judge.iter_mut().for_each(Judge::link_closed);
                }
                Next::Send => self.send(world)?,
                Next::Receive {
                    until_ns,
                    or_writable,
                    ..
                } => {
                    if world.wait(until(until_ns), or_writable) == Woken::Never {
                        return Err(Fault::new(now, "it waits for what never comes"));
                    }
                    self.receive(world, false)?;
                }
                Next::Rest { until_ns } => {
                    if world.wait(until(until_ns), false) == Woken::Never {
                        return Err(Fault::new(now, "it rests for ever"));
                    }
                    self.receive(world, false)?;
                }
                Next::Drain => self.receive(world, true)?,
                Next::Sleep { until_ns } => {
                    if world.sleep(until(until_ns)) == Woken::Never {
                        return Err(Fault::new(now, "it sleeps for ever"));
                    }
                }
                Next::Done => break,
            }
            self.poll(world, outcome)?;
        }
        self.poll(world, outcome)?;
        let (end, stray) = (self.measurement.end(), self.measurement.stray_bytes());
        let surplus = self.measurement.surplus();
        let now = world.now_ns();
        let Some(end) = end else {
            return Err(Fault::new(now, "done, but there is no end"));
        };
        self.say(now, || format!("{end:?}, {stray} stray bytes"));
        self.oracle.finish(now, end, stray, surplus.as_ref())?;
        let is_whole = *end == End::Complete && !stopped;
        if let Some(judge) = self.judge.as_ref().filter(|_| is_whole) {
            let surplus = surplus.as_ref();
            let behind = surplus.map_or(0, |found| found.bytes.len() as u64 * found.times);
            judge.finish(now, stray, behind)?;
        }
        Ok((*end == End::Complete).then(|| self.measurement.started()))
    }

    fn connect(&mut self, world: &mut World) {
        let before = world.now_ns();
        let opened = world.connect();
        let after = world.now_ns();
        self.say(after, || format!("connected: {opened}"));
        self.sent = 0;
        self.first_of_link = self.measurement.started();
        self.judge.iter_mut().for_each(Judge::link_closed);
        match opened {
            true => self.measurement.connected(before, after),
            false => self.measurement.connect_failed(before, after),
        }
        self.oracle.connected(before, after, opened);
    }

    fn send(&mut self, world: &mut World) -> Result<(), Fault> {
        let now = world.now_ns();
        let offered = self.measurement.outgoing();
        let offered = offered[..offered.len().min(world.send_room())].to_vec();
        let tagged = self.tagged(&offered, world);
        let is_proof = self.oracle.is_proving();
        match world.send(&tagged) {
            Ok(count) => {
                self.say(now, || format!("  took {count} of {} B", offered.len()));
                self.oracle.sent(now, &offered, count)?;
                if !is_proof {
                    self.start(now, count, world)?;
                    self.sent += count;
                }
                self.measurement.sent(now, count);
            }
            Err(Broken) => self.fail(now),
        }
        Ok(())
    }

    /// The exchange to which a byte of this link belongs, and its place in the request.
    fn place(&self, sent: usize) -> (u64, usize) {
        let first = self.first_of_link;
        let of_first = self.sizes[first as usize % 2];
        let both = self.sizes[0] + self.sizes[1];
        let (turns, at) = (sent / both, sent % both);
        let sequence = first + 2 * turns as u64;
        match at < of_first {
            true => (sequence, at),
            false => (sequence + 1, at - of_first),
        }
    }

    /// The system took so many bytes of requests.
    fn start(&mut self, now: u64, count: usize, world: &World) -> Result<(), Fault> {
        let mut at = self.sent;
        while at < self.sent + count {
            let (sequence, place) = self.place(at);
            if let Some(judge) = self.judge.as_mut().filter(|_| place == 0) {
                judge.started(now, world)?;
            }
            at += self.sizes[sequence as usize % 2] - place;
            if let Some(judge) = self.judge.as_mut().filter(|_| at <= self.sent + count) {
                judge.handed_over();
            }
        }
        Ok(())
    }

    fn tagged(&mut self, bytes: &[u8], world: &mut World) -> Vec<Byte> {
        // EXCHANGE has numbers that the device reads.
        let is_named = self.scenario.protocol != Protocols::Exchange;
        let mut tagged = Vec::with_capacity(bytes.len());
        for (index, value) in bytes.iter().enumerate() {
            let mut tag = Tag::default();
            if is_named {
                let (sequence, at) = self.place(self.sent + index);
                while self.names.len() as u64 <= sequence {
                    let next = self.names.len() as u64;
                    let size = self.sizes[next as usize % 2] as u32;
                    self.names.push(world.name_answer(self.base + next, size));
                }
                tag = Tag {
                    answer: self.names[sequence as usize],
                    at: at as u32,
                    changed: 0,
                };
            }
            tagged.push(Byte { value: *value, tag });
        }
        tagged
    }

    fn receive(&mut self, world: &mut World, to_the_end: bool) -> Result<(), Fault> {
        let space = self.measurement.space();
        // Room for 256 KiB and two answers was laid out; nothing that a device sends may need more.
        let largest = match self.scenario.protocol {
            Protocols::Text | Protocols::Silence => LONGEST_USUAL,
            Protocols::Tcp | Protocols::Rtu => LONGEST_MODBUS,
            _ => self.scenario.largest(),
        };
        if space.len() as u64 > RECEIVED + 2 * largest {
            return Err(Fault::new(world.now_ns(), "its memory grows"));
        }
        let mut received = world.receive(space.len());
        // An interrupted receive does not show that nothing is there.
        while to_the_end && world.was_idle() && received.is_ok() {
            received = world.receive(space.len());
        }
        let now = world.now_ns();
        match received {
            Ok(bytes) => {
                for (to, byte) in space.iter_mut().zip(&bytes) {
                    *to = byte.value;
                }
                self.say(now, || format!("  received {} B", bytes.len()));
                if to_the_end && bytes.is_empty() {
                    self.measurement.drained();
                    self.oracle.drained();
                } else {
                    self.measurement.received(now, bytes.len());
                    self.oracle.received(now, &bytes, world)?;
                }
                if let Some(judge) = &mut self.judge {
                    judge.received(now, &bytes, world)?;
                }
            }
            Err(Broken) => self.fail(now),
        }
        Ok(())
    }

    fn fail(&mut self, now: u64) {
        self.say(now, || "the link failed".into());
        self.measurement.link_failed(now);
        self.oracle.link_failed(now);
        self.judge.iter_mut().for_each(Judge::link_failed);
    }

    fn poll(&mut self, world: &World, outcome: &mut Outcome) -> Result<(), Fault> {
        let now = world.now_ns();
        let mut rows: Vec<Sample> = Vec::new();
        while let Some(row) = self.measurement.poll(now) {
            self.say(now, || format!("  row {:?}", row.sample));
            if rows.len() > 100_000 {
                return Err(Fault::new(now, "poll never ends"));
            }
            rows.push(row.sample);
        }
        outcome.rows += rows.len() as u64;
        self.judged(now, &rows, world)?;
        self.oracle.polled(now, &rows)
    }

    fn judged(&mut self, now: u64, rows: &[Sample], world: &World) -> Result<(), Fault> {
        let Some(judge) = &mut self.judge else {
            return Ok(());
        };
        if self
            .measurement
            .end()
            .is_some_and(|end| *end != End::Complete)
        {
            judge.ends();
        }
        let rows = rows.iter().map(|row| Row {
            sequence: row.sequence,
            kind: match row.status {
                Status::Ok => Kind::Ok,
                Status::Reordered => Kind::Reordered,
                Status::Unexpected => Kind::Unexpected,
                Status::Lost => Kind::Lost,
                Status::Late => Kind::Late,
                Status::Duplicated => Kind::Duplicated,
                Status::Corrupted => Kind::Corrupted,
            },
            start_ns: row.start_ns,
            end_ns: row.start_ns + row.rtt_ns,
            bytes: row.bytes_in.into(),
        });
        judge.polled(now, rows, true, world)
    }

    fn say(&self, now: u64, what: impl FnOnce() -> String) {
        if self.trace {
            println!("{now:>12} ns  {}", what());
        }
    }
}
