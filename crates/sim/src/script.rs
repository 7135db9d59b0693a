//! Exchanges that a script decides on while they run, as a control loop does: the engine of exchanges that
//! `wiregauge loop-control` uses, over the simulator's links and any device. `tests/control_loops.rs` has the loops.

use crate::oracle::Fault;
use crate::scenario::Scenario;
use crate::world::{Broken, Byte, Device, Tag, Woken, World};
use std::collections::HashMap;
use wiregauge_session::{Config, Engine, Event, Message, Messages, Outcome};

/// Bytes of a message or reply with its header, at most.
const LARGEST: usize = 128;

/// Exchanges that may begin behind one that is not answered.
const SPAN: usize = 4096;

/// Turns for each cycle after which a run counts as one that never ends.
const MOST_TURNS: u64 = 1_000;

/// What a script wants next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An exchange.
    Send {
        /// By which [`Script::ended`] names it.
        exchange: u64,
        /// The payload of the request.
        message: Vec<u8>,
        /// The size of the reply that is asked for.
        reply_bytes: usize,
    },
    /// Nothing before this time, or before a reply.
    WaitUntil(u64),
    /// Nothing before a reply.
    WaitForReplies,
    /// Nothing more.
    Ended,
}

/// Decides on exchanges.
pub trait Script {
    /// What it wants at this time.
    fn poll(&mut self, now_ns: u64) -> Step;

    /// An exchange ended: when it started and how long it took, and its reply if it was answered.
    ///
    /// # Errors
    /// The reply is wrong.
    fn ended(
        &mut self,
        exchange: u64,
        times: (u64, u64),
        reply: Option<&[u8]>,
    ) -> Result<(), String>;
}

/// Runs a script over the link of a scenario until its last exchange ended. As the driver of an open device
/// (`crates/device`): hands over what is staged, waits, receives. `cycles`: how many exchanges there are, about; a run
/// that takes many more turns counts as one that never ends.
///
/// # Errors
/// The link broke, a reply was wrong, or it never ends.
pub fn run_script(
    scenario: &Scenario,
    device: Box<dyn Device>,
    script: &mut dyn Script,
    cycles: u64,
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
    let mut waiting: HashMap<u64, u64> = HashMap::new();
    let broken = |Broken| Fault::new(0, "the link broke");
    for _ in 0..MOST_TURNS * cycles.max(1) {
        let now = world.now_ns();
        if engine.has_unpolled() {
            poll(&mut engine, now, script, &mut waiting)?;
        }
        let mut until = u64::MAX;
        if engine.has_room() {
            match script.poll(now) {
                Step::Ended => return Ok(()),
                Step::WaitForReplies => {}
                Step::WaitUntil(due_ns) => until = due_ns,
                Step::Send {
                    exchange,
                    message,
                    reply_bytes,
                } => {
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
    waiting: &mut HashMap<u64, u64>,
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
        let times = (ended.start_ns, rtt_ns);
        let judged = script.ended(exchange, times, reply);
        judged.map_err(|wrong| Fault::new(now_ns, wrong))?;
    }
    Ok(())
}
