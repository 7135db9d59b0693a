//! A measurement of the delays of a link: an exchange at each tick of a loop, as `wiregauge exchange --interval` makes.

use super::{Script, drive};
use crate::oracle::Fault;
use crate::scenario::Scenario;
use crate::world::Device;
use wiregauge_control::{CycleAction, CycleExchange};

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
    fn poll(&mut self, now_ns: u64) -> CycleAction {
        loop {
            let next = self.delays.len() as u64;
            if next >= self.cycles {
                return match self.outstanding {
                    0 => CycleAction::Ended,
                    _ => CycleAction::WaitForReplies,
                };
            }
            let due_ns = (next + 1) * self.period_ns;
            if now_ns < due_ns {
                return CycleAction::WaitUntil(due_ns);
            }
            self.delays.push(None);
            if self.outstanding < self.depth && now_ns - due_ns < self.period_ns {
                self.outstanding += 1;
                let exchange = CycleExchange {
                    cycle: next,
                    is_command: false,
                };
                return CycleAction::Send(exchange, Vec::new(), self.reply_bytes);
            }
        }
    }

    fn ended(
        &mut self,
        exchange: CycleExchange,
        (start_ns, rtt_ns): (u64, u64),
        reply: Option<&[u8]>,
    ) {
        self.outstanding -= 1;
        let due_ns = (exchange.cycle + 1) * self.period_ns;
        let delay = start_ns + rtt_ns - due_ns;
        self.delays[exchange.cycle as usize] = reply.map(|_| delay);
    }

    fn cycles(&self) -> u64 {
        self.cycles
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
    drive(scenario, device, &mut probe)?;
    Ok(probe.delays)
}
