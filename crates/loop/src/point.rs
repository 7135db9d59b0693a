//! The loop itself: waits for a block, processes it, hands it over, writes down when.

use super::device::{DeviceEnd, LoopDevice};
use super::verify;
use super::worker::{Worker, Workers};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wiregauge_link::LinkError;
use wiregauge_link::host::{Clock, ClockGaps, Heartbeat, Watch};
use wiregauge_measure::ring::Log;
use wiregauge_record::{
    Aim, Block, Disturbance, Ending, LoopFacts, LoopPlan, LoopPoint, Phase, Stage, Verified,
};

/// What one point leaves behind.
pub(super) struct PointEnd {
    /// How it ended.
    pub(super) ending: Ending,
    /// The failure, if it failed.
    pub(super) error: Option<LinkError>,
    /// What the device counted, and what the thread used.
    pub(super) facts: LoopFacts,
    /// Whether the latency is the preload.
    pub(super) verified: Option<Verified>,
    /// What disturbed it.
    pub(super) disturbances: Vec<Disturbance>,
}

/// Who may end the loop, and who watches that it comes round.
#[derive(Clone, Copy)]
pub(super) struct Ears<'a> {
    pub(super) halt: &'a AtomicBool,
    pub(super) heartbeat: &'a Heartbeat,
    /// What CLOCK_MONOTONIC read at the first sample of the point; 0 before its first block is in, and once the
    /// loop has ended.
    pub(super) zero_ns: &'a AtomicU64,
}

/// Runs one point on the calling thread.
pub(super) fn run_point(
    device: &mut dyn LoopDevice,
    workers: &Workers,
    plan: &LoopPlan,
    point: &LoopPoint,
    ears: Ears<'_>,
    log: &mut Log<Block>,
) -> PointEnd {
    let stalls_before = log.stalls;
    let worker = workers.lay_out(plan, point, device);
    let watch = Watch::start(plan.host.pin, None);
    let looped = worker.and_then(|mut worker| {
        let looped = start_and_loop(device, &mut worker, plan, point, ears, log);
        // To end a GPU's kernel, to give memory back and to verify takes a while.
        ears.zero_ns.store(0, Ordering::Relaxed);
        ears.heartbeat.pause();
        looped
    });
    ears.heartbeat.pause();
    let end = device.stop();
    let (blocks, elapsed_ns, outcome) = match looped {
        Ok(looped) => (looped.blocks, looped.last_ns, looped.outcome),
        Err(error) => (0, 0, Err(error)),
    };
    let (resources, mut disturbances) = watch.finish(elapsed_ns, blocks, ClockGaps::default());
    let stalls = log.stalls - stalls_before;
    if stalls > 0 {
        disturbances.push(Disturbance::StorageTooSlow { times: stalls });
    }
    disturbances.extend(end.late.map(Disturbance::DeviceLate));
    // Verifying must not fail a point that ran.
    let verified = match outcome {
        Ok(_) => verified(device, plan, point, &end),
        Err(_) => None,
    };
    let (ending, error) = match outcome {
        Ok(true) => (Ending::Complete, None),
        Ok(false) => (Ending::Interrupted, None),
        Err(error) => {
            let error_text = error.to_string();
            (Ending::LinkFailed { error: error_text }, Some(error))
        }
    };
    PointEnd {
        ending,
        error,
        facts: LoopFacts {
            overruns: end.overruns,
            underruns: end.underruns,
            stalls: end.stalls,
            resources,
        },
        verified,
        disturbances,
    }
}

/// How far the loop came.
struct Looped {
    blocks: u64,
    last_ns: u64,
    /// True if it ran to its end, false if it was halted.
    outcome: Result<bool, LinkError>,
}

fn start_and_loop(
    device: &mut dyn LoopDevice,
    worker: &mut Worker,
    plan: &LoopPlan,
    point: &LoopPoint,
    ears: Ears<'_>,
    log: &mut Log<Block>,
) -> Result<Looped, LinkError> {
    let measured_ns = match point.aim {
        Aim::Curve => plan.duration_ns,
        Aim::Hold => plan.hold_ns,
    };
    let end_ns = plan.settle_ns + measured_ns;
    device.start(point, copies(plan))?;
    ears.heartbeat.here();
    let mut looped = Looped {
        blocks: 0,
        last_ns: 0,
        outcome: Ok(true),
    };
    let mut settled = false;
    while looped.last_ns < end_ns {
        let arrived = match device.wait(plan.wait, ears.halt) {
            Ok(Some(arrived)) => arrived,
            Ok(None) => {
                looped.outcome = Ok(false);
                break;
            }
            Err(error) => {
                looped.outcome = Err(error);
                break;
            }
        };
        if looped.blocks == 0 {
            let zero_ns = Clock::start().zero_ns() - arrived.seen_ns;
            ears.zero_ns.store(zero_ns, Ordering::Relaxed);
        }
        if !settled && arrived.due_ns >= plan.settle_ns {
            device.settled();
            settled = true;
        }
        let (input, output) = device.block();
        let submitted = match worker.run(input, output).and_then(|()| device.submit()) {
            Ok(submitted) => submitted,
            Err(error) => {
                looped.outcome = Err(error);
                break;
            }
        };
        log.push(Block {
            sequence: looped.blocks,
            due_ns: arrived.due_ns,
            begun_ns: arrived.seen_ns,
            done_ns: submitted.done_ns,
            xrun: submitted.xrun,
            phase: match looped.blocks {
                0 => Phase::First,
                _ if arrived.due_ns < plan.settle_ns => Phase::WarmUp,
                _ => Phase::Measured,
            },
        });
        looped.blocks += 1;
        looped.last_ns = arrived.due_ns;
        ears.heartbeat.beat(looped.blocks);
    }
    Ok(looped)
}

/// True if the output is the input, unchanged.
fn copies(plan: &LoopPlan) -> bool {
    plan.process.iter().all(|stage| *stage == Stage::Copy)
}

fn verified(
    device: &dyn LoopDevice,
    plan: &LoopPlan,
    point: &LoopPoint,
    end: &DeviceEnd,
) -> Option<Verified> {
    if let Some(verified) = device.verified() {
        return Some(verified);
    }
    if end.checked == 0 {
        return verify::by_reference(plan, point, device.rings()?).ok()?;
    }
    // The number stands in the first samples of a block: that a GPU brought the others back as well is seen
    // by the reference only.
    if point.path.is_gpu()
        && let Some(rings) = device.rings()
        && let Ok(Some(reference)) = verify::by_reference(plan, point, rings)
        && reference.wrong > 0
    {
        return Some(reference);
    }
    let preload_frames = point.preload_bytes / u64::from(point.frame_bytes());
    Some(Verified {
        method: "sequence".into(),
        found_frames: (end.wrong == 0).then_some(preload_frames),
        cable_frames: None,
        preload_frames,
        compared: end.checked,
        wrong: end.wrong,
    })
}
