//! What decides on the exchanges of `control_loops`: the decisions of [`LoopRun`], which `wiregauge loop-control` uses as
//! well; and a measurement of the delays of a link, an exchange at each tick, as `wiregauge exchange --interval` makes.

use std::collections::HashMap;
use wiregauge_control::{CycleAction, CycleExchange, LoopRun};
use wiregauge_sim::{Device, Fault, Scenario, Script, Step, run_script};

/// A loop, and its exchanges that have not ended.
struct Closed<'a> {
    run: &'a mut LoopRun,
    waiting: HashMap<u64, CycleExchange>,
    sent: u64,
}

impl Script for Closed<'_> {
    fn poll(&mut self, now_ns: u64) -> Step {
        let mut message = Vec::new();
        match self.run.poll(now_ns, &mut message) {
            CycleAction::Send(exchange, reply_bytes) => {
                self.sent += 1;
                self.waiting.insert(self.sent, exchange);
                Step::Send {
                    exchange: self.sent,
                    message,
                    reply_bytes,
                }
            }
            CycleAction::WaitUntil(due_ns) => Step::WaitUntil(due_ns),
            CycleAction::WaitForReplies => Step::WaitForReplies,
            CycleAction::Ended => Step::Ended,
        }
    }

    fn ended(
        &mut self,
        exchange: u64,
        times: (u64, u64),
        reply: Option<&[u8]>,
    ) -> Result<(), String> {
        let exchange = self.waiting.remove(&exchange).ok_or("it was never sent")?;
        let judged = self.run.ended(exchange, times, reply);
        judged.map_err(|wrong| format!("{wrong:?}"))
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
        waiting: HashMap::new(),
        sent: 0,
    };
    run_script(scenario, device, &mut script, cycles)
}

/// Exchanges at ticks.
struct Probe {
    period_ns: u64,
    reply_bytes: usize,
    depth: usize,
    outstanding: usize,
    delays: Vec<Option<u64>>,
    cycles: u64,
}

impl Script for Probe {
    fn poll(&mut self, now_ns: u64) -> Step {
        loop {
            let next = self.delays.len() as u64;
            if next >= self.cycles {
                return match self.outstanding {
                    0 => Step::Ended,
                    _ => Step::WaitForReplies,
                };
            }
            let due_ns = (next + 1) * self.period_ns;
            if now_ns < due_ns {
                return Step::WaitUntil(due_ns);
            }
            self.delays.push(None);
            if self.outstanding < self.depth && now_ns - due_ns < self.period_ns {
                self.outstanding += 1;
                return Step::Send {
                    exchange: next,
                    message: Vec::new(),
                    reply_bytes: self.reply_bytes,
                };
            }
        }
    }

    fn ended(
        &mut self,
        exchange: u64,
        (start_ns, rtt_ns): (u64, u64),
        reply: Option<&[u8]>,
    ) -> Result<(), String> {
        self.outstanding -= 1;
        let due_ns = (exchange + 1) * self.period_ns;
        let delay = start_ns + rtt_ns - due_ns;
        self.delays[exchange as usize] = reply.map(|_| delay);
        Ok(())
    }
}

/// The delays of so many exchanges from their ticks (`None`: lost, or not sent because `depth` were outstanding).
///
/// # Errors
/// The link broke, or it never ends.
pub fn measure_delays(
    scenario: &Scenario,
    device: Box<dyn Device>,
    (period_ns, cycles): (u64, u64),
    (depth, reply_bytes): (u32, usize),
) -> Result<Vec<Option<u64>>, Fault> {
    let mut probe = Probe {
        period_ns,
        reply_bytes,
        depth: depth as usize,
        outstanding: 0,
        delays: Vec::new(),
        cycles,
    };
    run_script(scenario, device, &mut probe, cycles)?;
    Ok(probe.delays)
}
