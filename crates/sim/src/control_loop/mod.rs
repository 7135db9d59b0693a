//! A control loop over a link in virtual time: the decisions of [`LoopRun`] and the engine of exchanges, which
//! `wiregauge loop-control` uses as well, over the simulator's links and any device.

mod delays;

pub use delays::measure_delays;

use crate::oracle::Fault;
use crate::scenario::Scenario;
use crate::world::{Broken, Byte, Device, Tag, Woken, World};
use std::collections::HashMap;
use wiregauge_control::{CycleAction, CycleExchange, LoopRun};
use wiregauge_session::{Config, Engine, Event, Message, Messages, Outcome};

/// Bytes of a message or reply with its header, at most.
const LARGEST: usize = 128;

/// Exchanges that may begin behind one that is not answered.
const SPAN: usize = 4096;

/// Turns for each cycle after which a run counts as one that never ends.
const MOST_TURNS: u64 = 1_000;

/// What decides about the exchanges.
trait Script {
    fn poll(&mut self, now_ns: u64) -> CycleAction;
    fn ended(&mut self, exchange: CycleExchange, times: (u64, u64), reply: Option<&[u8]>);
    /// Cycles that it has at most.
    fn cycles(&self) -> u64;
}

struct Closed<'a> {
    run: &'a mut LoopRun,
    cycles: u64,
    wrong: Option<String>,
}

impl Script for Closed<'_> {
    fn poll(&mut self, now_ns: u64) -> CycleAction {
        self.run.poll(now_ns)
    }

    fn ended(&mut self, exchange: CycleExchange, times: (u64, u64), reply: Option<&[u8]>) {
        if let Err(wrong) = self.run.ended(exchange, times, reply) {
            self.wrong = Some(format!("{wrong:?}"));
        }
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }
}

/// Runs a loop over the link of a scenario until its last exchange ended. The first tick is that of `run`.
///
/// # Errors
/// The link broke, a reply was wrong, or it never ends.
pub fn run_loop(
    scenario: &Scenario,
    device: Box<dyn Device>,
    run: &mut LoopRun,
    cycles: u64,
) -> Result<(), Fault> {
    let mut script = Closed {
        run,
        cycles,
        wrong: None,
    };
    drive(scenario, device, &mut script)?;
    match script.wrong {
        None => Ok(()),
        Some(wrong) => Err(Fault::new(0, wrong)),
    }
}

/// As the driver of an open device (`crates/device`): hands over what is staged, waits, receives.
fn drive(
    scenario: &Scenario,
    device: Box<dyn Device>,
    script: &mut dyn Script,
) -> Result<(), Fault> {
    let config = Config {
        datagram: scenario.datagram,
        timeout_ns: scenario.timeout_ns,
        batch: if scenario.datagram { 1 } else { scenario.batch },
        span: SPAN,
        request_bytes: LARGEST,
        answer_bytes: LARGEST,
        staged: SPAN,
    };
    let codec = Messages::Wiregauge(Message::new(scenario.datagram));
    let mut engine = Engine::new(config, codec);
    engine.set_reads_late(true);
    let mut world = World::new(scenario, device, false);
    let mut waiting: HashMap<u64, CycleExchange> = HashMap::new();
    let broken = |Broken| Fault::new(0, "the link broke");
    for _ in 0..MOST_TURNS * script.cycles().max(1) {
        let now = world.now_ns();
        if engine.has_unpolled() {
            poll(&mut engine, now, script, &mut waiting)?;
        }
        let mut until = u64::MAX;
        if engine.has_room() {
            match script.poll(now) {
                CycleAction::Ended => return Ok(()),
                CycleAction::WaitForReplies => {}
                CycleAction::WaitUntil(due_ns) => until = due_ns,
                CycleAction::Send(exchange, message, reply_bytes) => {
                    let sequence = engine.stage(reply_bytes, |codec, sequence, to| {
                        codec.write(sequence, &message, reply_bytes, to);
                    });
                    waiting.insert(sequence, exchange);
                }
            }
        }
        if engine.wants_to_send() {
            let tag = Tag::default();
            let offered = engine.outgoing().iter();
            let offered: Vec<Byte> = offered.map(|&value| Byte { value, tag }).collect();
            let count = world.send(&offered).map_err(broken)?;
            engine.sent(now, count);
            if count > 0 {
                continue;
            }
        }
        let until = until.min(engine.wake_ns().unwrap_or(u64::MAX));
        if world.wait(until, engine.wants_to_send()) == Woken::Never {
            return Err(Fault::new(now, "it waits for what never comes"));
        }
        let space = engine.space();
        let came = world.receive(space.len()).map_err(broken)?;
        for (to, byte) in space.iter_mut().zip(&came) {
            *to = byte.value;
        }
        if world.was_idle() {
            continue;
        }
        let now = world.now_ns();
        engine.received(now, came.len());
        poll(&mut engine, now, script, &mut waiting)?;
    }
    Err(Fault::new(world.now_ns(), "it never ends: too many turns"))
}

fn poll(
    engine: &mut Engine<Messages>,
    now_ns: u64,
    script: &mut dyn Script,
    waiting: &mut HashMap<u64, CycleExchange>,
) -> Result<(), Fault> {
    while let Some(event) = engine.poll(now_ns) {
        let Event::Ended(ended) = event else {
            return Err(Fault::new(now_ns, format!("{event:?}")));
        };
        let is_answered = match ended.outcome {
            Outcome::Late | Outcome::Duplicated => continue,
            Outcome::Answered | Outcome::Reordered => true,
            _ => false,
        };
        let Some(exchange) = waiting.remove(&ended.sequence) else {
            return Err(Fault::new(now_ns, "an exchange ended twice"));
        };
        let reply = is_answered.then(|| engine.received_at(ended.payload.clone()));
        let rtt_ns = ended.end_ns.saturating_sub(ended.start_ns);
        script.ended(exchange, (ended.start_ns, rtt_ns), reply);
    }
    Ok(())
}
