//! A control loop: each cycle's command is made from the newest measurement, at absolute times, so that
//! a late cycle delays no other one and shows as late. Nothing is allocated once it has begun.

use super::driver::{Driver, Failure, Handler, is_answered};
use super::{Device, Timing};
use std::ops::ControlFlow;
use wiregauge_link::LinkError;
use wiregauge_link::host::Raised;
use wiregauge_record::Wait;
use wiregauge_session::{Ended, Engine, Messages};

/// Turns the newest measurement into the next command: given the number of the cycle, the newest reply (`None`
/// before there is one) and the buffer of the request, it returns the bytes that it wrote, or `None` to end the loop.
pub type Step<'a> = dyn FnMut(u64, Option<&[u8]>, &mut [u8]) -> Option<usize> + 'a;

/// What a control loop is to be.
#[derive(Clone, Debug)]
pub struct ControlPlan {
    /// Time between the starts of two cycles, in nanoseconds; 0: as fast as replies come.
    pub period_ns: u64,
    /// Requests outstanding at once. With 1, a cycle's command is made from the reply to the cycle before; with d, from
    /// that to the cycle d before: the repetition time shrinks, the dead time grows.
    pub depth: u32,
    /// Room for a request's payload, in bytes.
    pub largest_request: usize,
    /// Bytes of a reply's payload, where the framing does not show it; see `Device::exchange`.
    pub reply_bytes: Option<usize>,
    /// SCHED_FIFO priority of the loop, 1 to 99.
    pub priority: Option<u8>,
    /// The processor that the loop is kept on.
    pub pin: Option<u32>,
    /// Lost cycles in a row that end the loop; 0: none do.
    pub give_up: u32,
}

impl Default for ControlPlan {
    /// As fast as replies come, one outstanding, as an ordinary thread; ten lost cycles in a row end it.
    fn default() -> ControlPlan {
        ControlPlan {
            period_ns: 0,
            depth: 1,
            largest_request: 256,
            reply_bytes: None,
            priority: None,
            pin: None,
            give_up: 10,
        }
    }
}

/// One cycle as it was. Times are nanoseconds since the first cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Cycle {
    /// When it should have begun; equal to `start_ns` without a period.
    pub intended_ns: u64,
    /// When its request was handed over.
    pub start_ns: u64,
    /// Time to the last byte of its reply; how long was waited if there was none.
    pub rtt_ns: u64,
    /// Time that `step` took.
    pub step_ns: u64,
    /// Device clock when the request had arrived, in ticks.
    pub device_rx_ticks: u64,
    /// Device clock when the reply was handed over, in ticks.
    pub device_tx_ticks: u64,
    /// The cycle whose reply its command was made from; `u64::MAX` before there was one.
    pub made_from: u64,
    /// How it ended.
    pub status: CycleStatus,
}

/// How a cycle ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CycleStatus {
    /// Its reply came.
    #[default]
    Ok = 0,
    /// Its reply came, but it began later than the next one should have.
    Overrun = 1,
    /// No reply within the timeout.
    Lost = 2,
}

/// Taken for the payload of a reply whose size is not known.
const USUAL_REPLY: usize = 4096;

/// Cycles that may begin behind one whose reply does not come.
const SPAN: usize = 4096;

/// A sleep is no longer than this before the interrupt callback is asked.
const LONGEST_SLEEP_NS: u64 = 100_000_000;

/// The rows, and what the next command is made from.
struct Cycles<'a> {
    rows: &'a mut [Cycle],
    /// Number of the exchange of cycle 0.
    base: u64,
    zero_ns: u64,
    newest: Vec<u8>,
    newest_of: Option<u64>,
    lost_in_a_row: u32,
    give_up: u32,
}

impl Cycles<'_> {
    fn row(&mut self, sequence: u64) -> &mut Cycle {
        &mut self.rows[(sequence - self.base) as usize]
    }

    /// An error ended the loop: cycles that are still unanswered are lost.
    fn lose_unanswered(&mut self, driver: &Driver) {
        let (window, now) = (driver.engine.window(), driver.clock.now());
        for sequence in window.oldest()..window.next() {
            let start_ns = match window.awaited(sequence) {
                Some(slot) => slot.start_ns,
                None if sequence >= window.started() => now,
                None => continue,
            };
            let zero_ns = self.zero_ns;
            let row = self.row(sequence);
            row.start_ns = start_ns - zero_ns;
            row.rtt_ns = now - start_ns;
            row.status = CycleStatus::Lost;
        }
    }

    /// A cycle was not answered; an error where that is one too many in a row.
    fn count_loss(&mut self, ended: &Ended) -> Result<(), Failure> {
        self.row(ended.sequence).status = CycleStatus::Lost;
        self.lost_in_a_row += 1;
        match self.give_up {
            0 => Ok(()),
            most if self.lost_in_a_row < most => Ok(()),
            _ => Err(Failure::Exchange(ended.clone())),
        }
    }
}

impl Handler for Cycles<'_> {
    fn ended(
        &mut self,
        engine: &Engine<Messages>,
        ended: &Ended,
    ) -> Result<ControlFlow<()>, Failure> {
        let (timing, zero_ns) = (Timing::of(ended), self.zero_ns);
        let row = self.row(ended.sequence);
        row.start_ns = timing.start_ns - zero_ns;
        row.rtt_ns = timing.rtt_ns;
        row.device_rx_ticks = timing.device_rx_ticks;
        row.device_tx_ticks = timing.device_tx_ticks;
        if !is_answered(ended.outcome) {
            self.count_loss(ended)?;
            return Ok(ControlFlow::Continue(()));
        }
        self.lost_in_a_row = 0;
        let cycle = ended.sequence - self.base;
        // One that was overtaken is not the newest.
        if self.newest_of.is_none_or(|newest| newest < cycle) {
            self.newest.clear();
            self.newest
                .extend_from_slice(engine.received_at(ended.payload.clone()));
            self.newest_of = Some(cycle);
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// When the cycles are due, and how they are made.
struct Schedule<'a> {
    plan: &'a ControlPlan,
    zero_ns: u64,
}

impl Schedule<'_> {
    /// When a cycle is to begin.
    fn due_ns(&self, cycle: u64) -> Option<u64> {
        match self.plan.period_ns {
            0 => None,
            period => Some(self.zero_ns + cycle * period),
        }
    }

    /// Waits until a cycle may begin, and receives replies meanwhile.
    fn wait(
        &self,
        driver: &mut Driver,
        cycles: &mut Cycles<'_>,
        cycle: u64,
    ) -> Result<(), LinkError> {
        loop {
            let waiting = driver.engine.window().waiting();
            if waiting >= self.plan.depth || !driver.engine.has_room() {
                driver.turn(cycles, None)?;
                continue;
            }
            let now = driver.clock.now();
            let Some(due) = self.due_ns(cycle).filter(|due| now < *due) else {
                return Ok(());
            };
            if waiting > 0 {
                driver.turn(cycles, Some(due))?;
            } else if driver.wait == Wait::Spin {
                driver.check_interrupt(now, false)?;
                std::hint::spin_loop();
            } else {
                let wake = due.min(now + LONGEST_SLEEP_NS);
                driver.clock.sleep_until(wake);
                // Early: a signal came.
                let now = driver.clock.now();
                driver.check_interrupt(now, now < wake)?;
            }
        }
    }

    /// Sends the request of a cycle and returns when its first byte was handed over.
    fn send(
        &self,
        driver: &mut Driver,
        cycles: &mut Cycles<'_>,
        (request, awaited): (&[u8], usize),
    ) -> Result<u64, LinkError> {
        loop {
            let sequence = driver.stage(request, awaited);
            driver.send()?;
            while driver.engine.wants_to_send() {
                driver.turn(cycles, None)?;
            }
            if let Some(slot) = driver.engine.window().awaited(sequence) {
                return Ok(slot.start_ns - self.zero_ns);
            }
            if sequence < driver.engine.window().started() {
                // It ended already.
                return Ok(cycles.row(sequence).start_ns);
            }
            // An earlier reply was lost before it was handed over, and the device dropped it: it goes
            // again once the line is quiet.
            while !driver.engine.has_room() {
                driver.turn(cycles, None)?;
            }
        }
    }

    /// One cycle; false if `step` ends the loop.
    fn cycle(
        &self,
        driver: &mut Driver,
        cycles: &mut Cycles<'_>,
        (cycle, request): (u64, &mut [u8]),
        step: &mut Step<'_>,
    ) -> Result<bool, LinkError> {
        self.wait(driver, cycles, cycle)?;
        let made_from = cycles.newest_of;
        let newest = made_from.map(|_| &cycles.newest[..]);
        let before = driver.clock.now();
        let Some(length) = step(cycle, newest, request) else {
            return Ok(false);
        };
        let after = driver.clock.now();
        let Some(request) = request.get(..length) else {
            return Err(driver.usage(
                format!(
                    "the step returned {length} B for a request of {} B",
                    request.len()
                ),
                "use a larger `largest_request`",
            ));
        };
        let awaited = self.plan.reply_bytes.unwrap_or(length);
        driver.check(request, awaited)?;
        let start_ns = self.send(driver, cycles, (request, awaited))?;
        let intended_ns = self
            .due_ns(cycle)
            .map_or(start_ns, |due| due - self.zero_ns);
        let late = start_ns.saturating_sub(intended_ns) > self.plan.period_ns;
        let row = &mut cycles.rows[cycle as usize];
        row.intended_ns = intended_ns;
        row.start_ns = start_ns;
        row.step_ns = after - before;
        row.made_from = made_from.unwrap_or(u64::MAX);
        if late && self.plan.period_ns > 0 && row.status == CycleStatus::Ok {
            row.status = CycleStatus::Overrun;
        }
        Ok(true)
    }
}

impl Device {
    /// A loop at a fixed rate: each cycle's request is what `step` made of the newest reply. Every cycle leaves a row in
    /// `cycles`, which has room for all of them; returns how many there were. Those whose reply had not come
    /// when an error ended it are lost.
    pub fn control(
        &mut self,
        plan: &ControlPlan,
        step: &mut Step<'_>,
        cycles: &mut [Cycle],
    ) -> Result<usize, (usize, LinkError)> {
        let early = |error| (0, error);
        let driver = self.at_rest("controlling").map_err(early)?;
        driver.check_depth(plan.depth).map_err(early)?;
        if plan.depth as usize > SPAN {
            let problem = format!("{} outstanding requests are not possible", plan.depth);
            return Err(early(driver.usage(problem, "use a depth of 1 to 4096")));
        }
        // Memory is laid out for no more than the device can take and give.
        let (largest_out, largest_in) = (driver.limits.request, driver.limits.reply);
        let largest = plan.largest_request.min(largest_out);
        let awaited = match plan.reply_bytes {
            Some(bytes) if bytes > largest_in => {
                let problem = format!(
                    "a reply of {bytes} B is too large: the device sends at most {largest_in} B"
                );
                return Err(early(driver.usage(problem, "use a smaller `reply_bytes`")));
            }
            Some(bytes) => bytes,
            None => largest.min(largest_in),
        };
        driver
            .prepare(largest, awaited, plan.depth)
            .map_err(early)?;
        let usual = awaited.max(USUAL_REPLY);
        // Where a reply is lost, the others go on until its timeout.
        let span = match plan.depth {
            1 => 1,
            _ => SPAN,
        };
        driver.engine.reserve(largest + 64, usual + 64, span);
        let mut request = vec![0; largest];
        let newest = Vec::with_capacity(usual);
        cycles.fill(Cycle::default());
        let _raised = Raised::begin(plan.priority, plan.pin).map_err(early)?;
        let zero_ns = driver.clock.now();
        let schedule = Schedule { plan, zero_ns };
        let total = cycles.len() as u64;
        let mut cycles = Cycles {
            rows: cycles,
            base: driver.engine.window().next(),
            zero_ns,
            newest,
            newest_of: None,
            lost_in_a_row: 0,
            give_up: plan.give_up,
        };
        let mut run = || {
            for cycle in 0..total {
                driver.check_interrupt_between()?;
                if !schedule.cycle(driver, &mut cycles, (cycle, &mut request), step)? {
                    break;
                }
            }
            while driver.engine.window().waiting() > 0 {
                driver.turn(&mut cycles, None)?;
            }
            Ok(())
        };
        let ran = run();
        let begun = (driver.engine.window().next() - cycles.base) as usize;
        if let Err(error) = ran {
            cycles.lose_unanswered(driver);
            driver.abandon();
            return Err((begun, error));
        }
        Ok(begun)
    }
}
