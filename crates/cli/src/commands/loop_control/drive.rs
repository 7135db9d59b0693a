//! The threads of a loop: one drives the open device, the caller's stores the cycles as they end.

use super::against::Against;
use super::{plant_check, summary};
use crate::commands::recorder::LinkRecorder;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wiregauge_control::{
    CycleAction, CycleEnd, CycleExchange, CyclePlan, CycleRow, Loop, LoopRun, WrongReply,
};
use wiregauge_device::{Device, DeviceOptions, Script, ScriptAction, Timing};
use wiregauge_link::host::{self, Raised};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_measure::ring::{self, Drain, Log};
use wiregauge_measure::runner::{self, Measurer, StopFlags, Watcher};
use wiregauge_measure::sink::{Opened, Progress, RunError, Sink};
use wiregauge_record::{ControlCycle, ControlPlan, CycleStatus, Ending};
use wiregauge_run::Control;

/// Opening a device and its HELLO may take so long, whatever the timeout of a cycle.
const OPEN: Duration = Duration::from_secs(1);

/// From the last check to the first tick.
const BEFORE_NS: u64 = 5_000_000;

/// From the thread that drives the device.
enum Report {
    Opened(Box<Opened>),
    Ended(Box<Cycles>),
}

/// How the cycles ended.
struct Cycles {
    diverged: Option<u64>,
    ending: Ending,
}

/// Cycles between the two threads at most.
const RING_CYCLES: usize = 1 << 15;

/// Runs the loop; true if it came to its end.
pub fn run(
    plan: &ControlPlan,
    model: &Loop,
    against: Option<&Against>,
    stop: &AtomicBool,
    sink: &mut LinkRecorder<'_, Control>,
) -> Result<bool, RunError> {
    let halt = AtomicBool::new(false);
    let (log, drain) =
        ring::ring(RING_CYCLES.min(usize::try_from(plan.cycles).unwrap_or(RING_CYCLES)));
    let flags = StopFlags {
        stop,
        halt: &halt,
        sleeper: None,
    };
    runner::run(
        "loop-control",
        &plan.host,
        flags,
        |measurer| driving_thread(plan, model, &halt, log, measurer),
        |watcher| take(plan, model, against, (watcher, drain), sink),
    )
}

/// The caller's thread.
fn take(
    plan: &ControlPlan,
    model: &Loop,
    against: Option<&Against>,
    (watcher, mut drain): (&Watcher<'_, Report, ()>, Drain<ControlCycle>),
    sink: &mut LinkRecorder<'_, Control>,
) -> io::Result<()> {
    let mut begun = Instant::now();
    let mut ended = 0;
    // Predictions need all of them.
    let mut rows = Vec::new();
    let mut take = |drain: &mut Drain<ControlCycle>, sink: &mut LinkRecorder<'_, Control>| {
        drain.take_oldest(drain.waiting(), |row| {
            rows.push(*row);
            sink.row(row, &[])
        })
    };
    loop {
        match watcher.receive() {
            Ok(Some(Report::Opened(opened))) => {
                sink.opened(&opened)?;
                sink.begin_point(plan.point)?;
                begun = Instant::now();
                watcher.go(());
            }
            Ok(Some(Report::Ended(cycles))) => {
                take(&mut drain, sink)?;
                let ending = cycles.ending;
                let summary = summary::of(plan, model, &rows, ending, cycles.diverged, against);
                return sink.end_point(summary);
            }
            Ok(None) => {
                ended += take(&mut drain, sink)?;
                sink.progress(Progress {
                    ended,
                    elapsed: begun.elapsed(),
                });
            }
            Err(runner::Gone) => return Ok(()),
        }
    }
}

fn driving_thread(
    plan: &ControlPlan,
    model: &Loop,
    halt: &AtomicBool,
    log: Log<ControlCycle>,
    measurer: &Measurer<Report, ()>,
) -> Result<(), LinkError> {
    if plan.host.lock_memory {
        host::lock_memory()?;
    }
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let options = DeviceOptions {
        timeout: timeout.max(OPEN),
        link: plan.link.clone(),
        ..DeviceOptions::default()
    };
    let mut device = Device::open(&plan.address, &options)?;
    plant_check::check(&mut device, model)?;
    device.set_timeout(timeout)?;
    let about = device.about();
    measurer.send(Report::Opened(Box::new(Opened {
        host: host::host_state(plan.host.lock_memory),
        link: about.link.clone(),
        responder: about.responder.clone(),
        usb: None,
        warnings: Vec::new(),
        calibration: None,
    })));
    if measurer.next().is_none() {
        return Ok(());
    }
    let _raised = Raised::begin(plan.host.priority, plan.host.pin)?;
    let mut script = LoopScript {
        model,
        plan,
        halt,
        log,
        logged: 0,
        run: None,
        wrong: None,
    };
    let sizes = (8 * model.plant.inputs(), 8 * (1 + model.plant.outputs()));
    let driven = device.run_script(&mut script, sizes);
    let outcome = match (script.wrong, driven) {
        (Some(wrong), _) => Err(wrong_reply(&plan.address, wrong)),
        (None, driven) => driven,
    };
    let ending = match &outcome {
        Err(error) => Ending::LinkFailed {
            error: error.to_string(),
        },
        Ok(()) if halt.load(Ordering::Relaxed) => Ending::Interrupted,
        Ok(()) => Ending::Complete,
    };
    let diverged = script.run.as_ref().and_then(LoopRun::diverged);
    script.log_rows(LoopRun::rows);
    measurer.send(Report::Ended(Box::new(Cycles { diverged, ending })));
    outcome
}

fn wrong_reply(address: &str, wrong: WrongReply) -> LinkError {
    LinkError::new(
        LinkErrorKind::Protocol,
        format!("controlling {address}"),
        format!(
            "a reply of {} B is not that of the plant ({} B)",
            wrong.found, wrong.expected
        ),
    )
    .hint("was the device restarted without its plant?")
}

/// The loop as a script of the open device.
struct LoopScript<'a> {
    model: &'a Loop,
    plan: &'a ControlPlan,
    halt: &'a AtomicBool,
    log: Log<ControlCycle>,
    /// Rows that are in the log.
    logged: usize,
    run: Option<LoopRun>,
    wrong: Option<WrongReply>,
}

impl LoopScript<'_> {
    /// Puts those of the rows into the log that are not there yet.
    fn log_rows(&mut self, rows: fn(&LoopRun) -> &[CycleRow]) {
        let rows = self.run.as_ref().map(rows).unwrap_or_default();
        for row in rows.iter().skip(self.logged) {
            self.log.push(stored(row));
        }
        self.logged = self.logged.max(rows.len());
    }
}

impl Script for LoopScript<'_> {
    fn next(&mut self, now_ns: u64, request: &mut Vec<u8>) -> ScriptAction {
        if self.run.is_none() {
            let plan = CyclePlan {
                cycles: self.plan.cycles,
                depth: self.plan.point.depth,
                step: self.plan.point.step,
            };
            self.run = LoopRun::new(self.model, plan, now_ns + BEFORE_NS).ok();
        }
        let Some(run) = &mut self.run else {
            return ScriptAction::End;
        };
        if self.halt.load(Ordering::Relaxed) {
            run.stop();
        }
        let action = run.poll(now_ns, request);
        self.log_rows(LoopRun::settled);
        match action {
            CycleAction::Ended => ScriptAction::End,
            CycleAction::WaitForReplies => ScriptAction::WaitForReplies,
            CycleAction::WaitUntil(due_ns) => ScriptAction::WaitUntil(due_ns),
            CycleAction::Send(exchange, reply_bytes) => ScriptAction::Send {
                id: 2 * exchange.cycle + u64::from(exchange.is_command),
                reply_bytes,
            },
        }
    }

    fn ended(&mut self, id: u64, timing: Timing, reply: Option<&[u8]>) -> ControlFlow<()> {
        let exchange = CycleExchange {
            cycle: id / 2,
            is_command: id % 2 == 1,
        };
        let times = (timing.start_ns, timing.rtt_ns);
        let ended = (self.run.as_mut()).map_or(Ok(()), |run| run.ended(exchange, times, reply));
        match ended {
            Ok(()) => ControlFlow::Continue(()),
            Err(wrong) => {
                self.wrong = Some(wrong);
                ControlFlow::Break(())
            }
        }
    }
}

/// A cycle as it is stored.
fn stored(row: &CycleRow) -> ControlCycle {
    let [y1, y2, y3, y4] = row.output;
    let [u1, u2, u3, u4] = row.command;
    ControlCycle {
        sequence: row.cycle,
        status: match row.end {
            CycleEnd::Ok => CycleStatus::Ok,
            CycleEnd::SampleLost => CycleStatus::SampleLost,
            CycleEnd::CommandLost => CycleStatus::CommandLost,
            CycleEnd::Overtaken => CycleStatus::Overtaken,
            CycleEnd::Unsent => CycleStatus::Unsent,
        },
        intended_ns: row.intended_ns,
        start_ns: row.start_ns,
        sample_rtt_ns: row.sample_rtt_ns,
        command_start_ns: row.command_start_ns,
        command_rtt_ns: row.command_rtt_ns,
        sample_device_ns: row.sample_device_ns,
        command_device_ns: row.command_device_ns,
        reference: row.reference[0],
        y1,
        y2,
        y3,
        y4,
        u1,
        u2,
        u3,
        u4,
    }
}
