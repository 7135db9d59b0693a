//! What a program decides in each cycle of a loop over a link: when to sample, when to send the command, what a missing
//! reply means. No clock and no I/O: the caller has both.
//!
//! A cycle has two exchanges. An empty message samples the plant at the tick; as soon as its reply is there, a message
//! carries the command (docs/serve.md has the format). Replies are awaited without holding up later cycles.

use crate::controller::Controller;
use crate::error::ControlError;
use crate::model::Loop;
use std::collections::VecDeque;

/// Inputs and outputs of a plant at most.
pub const MOST_SIGNALS: usize = 4;

/// Bytes of a number and of the time.
const NUMBER: usize = 8;

/// Outputs and commands beyond this: the loop has diverged.
const DIVERGED: f64 = 1e100;

/// What a run of a loop is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclePlan {
    /// Cycles.
    pub cycles: u64,
    /// Samples outstanding at most; a tick beyond them passes unsent.
    pub depth: u32,
    /// The reference of the first output from half of the cycles on; before and else it is 0.
    pub step: f64,
}

impl CyclePlan {
    /// The first cycle with the reference `step`.
    pub fn step_cycle(&self) -> u64 {
        self.cycles.div_ceil(2)
    }

    /// The reference of the first output in a cycle.
    pub fn reference(&self, cycle: u64) -> f64 {
        match cycle >= self.step_cycle() {
            true => self.step,
            false => 0.0,
        }
    }
}

/// How a cycle ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CycleEnd {
    /// Sample and command were answered.
    #[default]
    Ok,
    /// The sample has no reply: the controller did not run.
    SampleLost,
    /// The command has no reply; whether it came into force is not known.
    CommandLost,
    /// The sample came after a newer one: the controller did not run.
    Overtaken,
    /// The tick passed: the program was late, or too many samples were outstanding.
    Unsent,
}

/// One cycle as it was. Times of the host are nanoseconds since the first tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CycleRow {
    /// Its number, from 0.
    pub cycle: u64,
    /// How it ended.
    pub end: CycleEnd,
    /// Its tick.
    pub intended_ns: u64,
    /// When the sample was requested.
    pub start_ns: u64,
    /// From there to the reply with the sample, or how long it was awaited.
    pub sample_rtt_ns: u64,
    /// When the command was sent; 0 if none was.
    pub command_start_ns: u64,
    /// From there to its reply, or how long it was awaited.
    pub command_rtt_ns: u64,
    /// Device time of the sample; 0 without one.
    pub sample_device_ns: u64,
    /// Device time at which the command came into force; 0 if not known.
    pub command_device_ns: u64,
    /// References.
    pub reference: [f64; MOST_SIGNALS],
    /// Outputs.
    pub output: [f64; MOST_SIGNALS],
    /// Commands.
    pub command: [f64; MOST_SIGNALS],
}

impl CycleRow {
    /// True if the controller ran.
    pub fn ran(&self) -> bool {
        matches!(self.end, CycleEnd::Ok | CycleEnd::CommandLost)
    }

    /// From the sample to the command, by the device's clock; `None` if one of them is missing.
    pub fn delay_ns(&self) -> Option<u64> {
        (self.end == CycleEnd::Ok)
            .then(|| (self.command_device_ns).saturating_sub(self.sample_device_ns))
    }
}

/// An exchange of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleExchange {
    /// Of which cycle.
    pub cycle: u64,
    /// It carries the command; else it samples.
    pub is_command: bool,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleAction {
    /// Send the message, and ask for a reply of so many bytes.
    Send(CycleExchange, usize),
    /// Wait until this time, or until an exchange ends.
    WaitUntil(u64),
    /// Wait until an exchange ends.
    WaitForReplies,
    /// All cycles ended.
    Ended,
}

/// A reply that is none of a plant with as many outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongReply {
    /// Its bytes.
    pub found: usize,
    /// Those of the model's plant.
    pub expected: usize,
}

/// A loop that runs.
///
/// The caller asks [`LoopRun::poll`] what to do, and reports each exchange that ended.
#[derive(Clone, Debug)]
pub struct LoopRun {
    controller: Controller,
    plan: CyclePlan,
    period_ns: u64,
    inputs: usize,
    outputs: usize,
    zero_ns: u64,
    rows: Vec<CycleRow>,
    /// Rows at the front that change no more.
    settled: usize,
    /// Of each row behind them, the exchanges that are to end.
    open: VecDeque<u8>,
    /// Exchanges without an end: samples, commands.
    samples: u32,
    commands: u32,
    ready: VecDeque<u64>,
    newest: Option<u64>,
    is_stopped: bool,
    diverged: Option<u64>,
}

impl LoopRun {
    /// A loop whose first tick is at `zero_ns` of the caller's clock.
    ///
    /// # Errors
    /// [`ControlError::Value`] if the plant has more than [`MOST_SIGNALS`] inputs or outputs.
    pub fn new(model: &Loop, plan: CyclePlan, zero_ns: u64) -> Result<LoopRun, ControlError> {
        let (inputs, outputs) = (model.plant.inputs(), model.plant.outputs());
        let most = inputs.max(outputs);
        if most > MOST_SIGNALS {
            return Err(ControlError::Value {
                key: "plant",
                value: most as f64,
                reason: "inputs or outputs are too many: a loop over a link has at most 4 of each",
            });
        }
        Ok(LoopRun {
            controller: Controller::new(model),
            plan,
            period_ns: model.period_ns(),
            inputs,
            outputs,
            zero_ns,
            rows: Vec::with_capacity(usize::try_from(plan.cycles).unwrap_or(0)),
            settled: 0,
            open: VecDeque::with_capacity(2 * plan.depth as usize),
            samples: 0,
            commands: 0,
            ready: VecDeque::with_capacity(plan.depth as usize),
            newest: None,
            is_stopped: false,
            diverged: None,
        })
    }

    /// Bytes of a reply of the plant: the device's time, and its outputs.
    pub fn reply_bytes(&self) -> usize {
        NUMBER * (1 + self.outputs)
    }

    /// What to do now; `message` gets the bytes to send, if any.
    pub fn poll(&mut self, now_ns: u64, message: &mut Vec<u8>) -> CycleAction {
        message.clear();
        let reply_bytes = self.reply_bytes();
        if let Some(cycle) = self.ready.pop_front() {
            let command = &self.rows[cycle as usize].command[..self.inputs];
            message.extend(command.iter().flat_map(|value| value.to_le_bytes()));
            self.commands += 1;
            let exchange = CycleExchange {
                cycle,
                is_command: true,
            };
            return CycleAction::Send(exchange, reply_bytes);
        }
        loop {
            let next = self.rows.len() as u64;
            if self.is_stopped || next >= self.plan.cycles {
                return match self.samples + self.commands {
                    0 => CycleAction::Ended,
                    _ => CycleAction::WaitForReplies,
                };
            }
            let due_ns = self.zero_ns + next * self.period_ns;
            let Some(late_ns) = now_ns.checked_sub(due_ns) else {
                return CycleAction::WaitUntil(due_ns);
            };
            // An overdue tick passes: a burst of samples would not be a loop with this period.
            let is_sent = late_ns < self.period_ns && self.samples < self.plan.depth;
            self.begin(next, is_sent);
            if is_sent {
                self.samples += 1;
                let exchange = CycleExchange {
                    cycle: next,
                    is_command: false,
                };
                return CycleAction::Send(exchange, reply_bytes);
            }
        }
    }

    fn begin(&mut self, cycle: u64, is_sent: bool) {
        let mut row = CycleRow {
            cycle,
            end: match is_sent {
                // Until there is a reply.
                true => CycleEnd::SampleLost,
                false => CycleEnd::Unsent,
            },
            intended_ns: cycle * self.period_ns,
            ..CycleRow::default()
        };
        row.reference[0] = self.plan.reference(cycle);
        self.rows.push(row);
        self.open.push_back(u8::from(is_sent));
        self.settle();
    }

    /// Counts the rows that change no more.
    fn settle(&mut self) {
        while self.open.front() == Some(&0) {
            self.open.pop_front();
            self.settled += 1;
        }
    }

    /// The exchanges of a row that are to end.
    fn open_of(&mut self, cycle: u64) -> Option<&mut u8> {
        let at = usize::try_from(cycle).ok()?.checked_sub(self.settled)?;
        self.open.get_mut(at)
    }

    /// An exchange that was sent at `start_ns` ended after so long: with a reply, or without.
    ///
    /// # Errors
    /// A reply that is none of this plant.
    pub fn ended(
        &mut self,
        exchange: CycleExchange,
        times: (u64, u64),
        reply: Option<&[u8]>,
    ) -> Result<(), WrongReply> {
        let noted = self.note(exchange, times, reply);
        if let Some(open) = self.open_of(exchange.cycle) {
            *open = open.saturating_sub(1);
        }
        self.settle();
        noted
    }

    fn note(
        &mut self,
        exchange: CycleExchange,
        (start_ns, rtt_ns): (u64, u64),
        reply: Option<&[u8]>,
    ) -> Result<(), WrongReply> {
        let expected = self.reply_bytes();
        match exchange.is_command {
            true => self.commands -= 1,
            false => self.samples -= 1,
        }
        let row = &mut self.rows[exchange.cycle as usize];
        let since_ns = start_ns.saturating_sub(self.zero_ns);
        match exchange.is_command {
            true => (row.command_start_ns, row.command_rtt_ns) = (since_ns, rtt_ns),
            false => (row.start_ns, row.sample_rtt_ns) = (since_ns, rtt_ns),
        }
        let Some(reply) = reply else {
            return Ok(());
        };
        let (numbers, rest) = reply.as_chunks::<NUMBER>();
        if numbers.len() != 1 + self.outputs || !rest.is_empty() {
            return Err(WrongReply {
                found: reply.len(),
                expected,
            });
        }
        let time_ns = u64::from_le_bytes(numbers[0]);
        if exchange.is_command {
            row.command_device_ns = time_ns;
            row.end = CycleEnd::Ok;
            return Ok(());
        }
        row.sample_device_ns = time_ns;
        for (output, bytes) in row.output.iter_mut().zip(&numbers[1..]) {
            *output = f64::from_le_bytes(*bytes);
        }
        if self.newest.is_some_and(|newest| newest > exchange.cycle) {
            row.end = CycleEnd::Overtaken;
            return Ok(());
        }
        self.newest = Some(exchange.cycle);
        self.control(exchange.cycle);
        Ok(())
    }

    /// The controller runs.
    fn control(&mut self, cycle: u64) {
        let row = &mut self.rows[cycle as usize];
        let mut error = [0.0; MOST_SIGNALS];
        for (error, (reference, output)) in
            error.iter_mut().zip(row.reference.iter().zip(&row.output))
        {
            *error = reference - output;
        }
        let command = self.controller.step(&error[..self.outputs]);
        let is_usual = |value: &f64| value.abs() < DIVERGED;
        if !command.iter().all(is_usual) || !row.output.iter().all(is_usual) {
            self.diverged = Some(cycle);
            self.is_stopped = true;
            row.end = CycleEnd::CommandLost;
            return;
        }
        row.command[..self.inputs].copy_from_slice(command);
        // Until there is a reply.
        row.end = CycleEnd::CommandLost;
        self.ready.push_back(cycle);
        if let Some(open) = self.open_of(cycle) {
            *open += 1;
        }
    }

    /// Begins no further cycle.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// The cycle in which outputs or commands were beyond 1e100; nothing was sent since.
    pub fn diverged(&self) -> Option<u64> {
        self.diverged
    }

    /// Cycles that ended, in order, up to the first that has not: these change no more.
    pub fn settled(&self) -> &[CycleRow] {
        &self.rows[..self.settled]
    }

    /// Cycles that began, in order.
    pub fn rows(&self) -> &[CycleRow] {
        &self.rows
    }
}
