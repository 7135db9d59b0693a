//! Closed loops: a digitizer's blocks are processed and played by a generator. How short can the
//! latency be before the input is lost or the output starved? One thread loops; the caller's thread
//! takes the blocks away, point by point, and chooses the preloads to be tested.
//!
//! What is done to a block between input and output is a chain of stages:
//!
//! ```
//! use wiregauge_loop::process::Chain;
//! use wiregauge_record::Stage;
//!
//! # fn main() -> Result<(), wiregauge_link::LinkError> {
//! // One channel, 1 MHz, blocks of at most 4096 bytes.
//! let mut chain = Chain::new(&[Stage::Gain { factor: 0.5 }], 1, 1_000_000, 4096)?;
//! let mut output = [0_i16; 4];
//! chain.run(&[100, 200, -100, 0], &mut output);
//! assert_eq!(output, [50, 100, -50, 0]);
//! # Ok(())
//! # }
//! ```

mod check;
mod device;
mod find;
#[cfg(feature = "gpu")]
mod gpu;
mod kind;
pub mod marker;
mod open;
mod pages;
mod platform;
mod point;
pub mod process;
mod timer;
mod verify;
mod virtual_clock;
mod virtual_device;
mod waiting;
mod worker;

pub use check::check;
pub use device::{Arrived, DeviceEnd, LentRings, LoopDevice, Rings, STALLS_KEPT, Submitted};
pub use platform::{
    be_device_if_asked, be_device_if_asked_with, serve_devices_with, serve_devices_with_program,
};
pub use virtual_clock::VirtualClock;
pub use virtual_device::VirtualDevice;

use find::Search;
use point::{Ears, PointEnd, run_point};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wiregauge_link::LinkError;
use wiregauge_link::host::{self, Heartbeat};
use wiregauge_measure::hand_over::HandOver;
use wiregauge_measure::ring::{self, Drain, Log};
use wiregauge_measure::runner::{self, Measurer, StopFlags, Watcher};
use wiregauge_measure::sink::{Opened, Progress, RunError, Sink};
use wiregauge_measure::slices::{Seen, Slice, Slices, Times};
use wiregauge_record::{Block, LoopPlan, LoopPoint, LoopSummariser, LoopSummary, Xrun};
use worker::Workers;

/// What takes the blocks of a run.
pub type Taker<'a> = dyn Sink<Point = LoopPoint, Row = Block, Summary = LoopSummary> + 'a;

/// Blocks held in memory at most: 20 MB, a second at 500,000 blocks a second. A longer point is
/// emptied to the sink while it runs.
const RING_BLOCKS: usize = 1 << 19;

/// A real-time loop that does not come round for this long is ended, beyond two of its periods.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Words from the loop's thread, sent only between points.
enum Report {
    Opened(Box<Opened>),
    PointEnded(Box<PointEnd>),
}

/// Runs a plan. Returns whether it came to its end (true) or was stopped by the flag (false). A
/// failure after the device was open has first delivered every block.
pub fn run(plan: &LoopPlan, stop: &AtomicBool, sink: &mut Taker<'_>) -> Result<bool, RunError> {
    let (halt, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let (heartbeat, zero_ns) = (Heartbeat::default(), AtomicU64::new(0));
    let flags = StopFlags {
        stop,
        halt: &halt,
        sleeper: None,
    };
    let (log, drain) = ring::ring(RING_BLOCKS);
    let longest_ns = plan.points.iter().map(LoopPoint::period_ns);
    let timeout = MAX_WAIT + Duration::from_nanos(2 * longest_ns.fold(0.0, f64::max) as u64);
    std::thread::scope(|scope| {
        // Made before any priority is raised, as all threads beside the loop's own are.
        if let Some(priority) = plan.host.priority {
            let (heartbeat, halt, over) = (&heartbeat, &halt, &over);
            scope.spawn(move || host::watch(heartbeat, priority, timeout, halt, over));
        }
        let ears = Ears {
            halt: &halt,
            heartbeat: &heartbeat,
            zero_ns: &zero_ns,
        };
        let zero_ns = &zero_ns;
        let outcome = runner::run(
            "loop",
            &plan.host,
            flags,
            |measurer| looping_thread(plan, ears, log, measurer),
            |watcher| {
                let caller = Caller {
                    plan,
                    watcher,
                    zero_ns,
                };
                caller.take(drain, sink)
            },
        );
        over.store(true, Ordering::Relaxed);
        outcome
    })
}

/// The caller's side: takes the blocks of the loop's thread, summarises them, and chooses what is to
/// be tested next.
struct Caller<'a> {
    plan: &'a LoopPlan,
    watcher: &'a Watcher<'a, Report, LoopPoint>,
    /// Of the point that loops, by CLOCK_MONOTONIC: see [`Ears`].
    zero_ns: &'a AtomicU64,
}

impl Caller<'_> {
    fn take(&self, mut drain: Drain<Block>, sink: &mut Taker<'_>) -> io::Result<()> {
        let opened = loop {
            match self.watcher.receive() {
                Ok(Some(Report::Opened(opened))) => break opened,
                Ok(_) => {}
                Err(runner::Gone) => return Ok(()),
            }
        };
        sink.opened(&opened)?;
        let memory_bytes_s = self
            .plan
            .calibrate
            .then(|| host::memory_speed().median_bytes_s);
        let mut index = self.plan.points.iter().map(|point| point.index + 1).max();
        for &point in &self.plan.points {
            let mut search = Search::of(self.plan, point);
            let mut next = Some(point);
            while let Some(point) = next {
                if self.watcher.is_stopped() {
                    return Ok(());
                }
                let Some(summary) = self.take_point(point, memory_bytes_s, &mut drain, sink)?
                else {
                    return Ok(());
                };
                next = search.next(&summary, index.unwrap_or(0));
                index = index.map(|index| index + u32::from(next.is_some()));
            }
        }
        Ok(())
    }

    /// Runs one point; `None` if the run is over.
    fn take_point(
        &self,
        point: LoopPoint,
        memory_bytes_s: Option<f64>,
        drain: &mut Drain<Block>,
        sink: &mut Taker<'_>,
    ) -> io::Result<Option<LoopSummary>> {
        // By themselves on the processor: that tells nothing of a GPU.
        let stages = match self.plan.calibrate && !point.path.is_gpu() {
            // What cannot be laid out is the loop's thread to tell.
            true => process::speeds(
                &self.plan.process,
                point.channels,
                point.rate_hz,
                point.notify_bytes,
            )
            .unwrap_or_default(),
            false => Vec::new(),
        };
        sink.begin_point(point)?;
        let mut summariser = LoopSummariser::new(point);
        let over = AtomicBool::new(false);
        self.zero_ns.store(0, Ordering::Relaxed);
        let (end, timer) = std::thread::scope(|scope| {
            let room = timer::has_room(self.plan.wait, &point);
            let timer = (self.plan.calibrate && room).then(|| {
                let measured = || {
                    let clock = timer::settled(self.plan.settle_ns, self.zero_ns, &over)?;
                    timer::measure(self.plan, &point, &clock, self.zero_ns, &over)
                };
                scope.spawn(measured)
            });
            self.watcher.go(point);
            let end = self.take_blocks(drain, &mut summariser, sink);
            over.store(true, Ordering::Relaxed);
            let timer = timer.and_then(|timer| timer.join().ok()?);
            (end, timer)
        });
        let Some(end) = end? else {
            return Ok(None);
        };
        let mut summary = summariser.finish(end.ending, end.facts);
        summary.verified = end.verified;
        summary.timer = timer;
        summary.stages = stages;
        summary.memory_bytes_s = memory_bytes_s;
        summary.disturbances = end.disturbances;
        sink.end_point(summary.clone())?;
        Ok(end.error.is_none().then_some(summary))
    }

    /// Takes the blocks of one point until it ends; `None` if the loop's thread is gone.
    fn take_blocks(
        &self,
        drain: &mut Drain<Block>,
        summariser: &mut LoopSummariser,
        sink: &mut Taker<'_>,
    ) -> io::Result<Option<PointEnd>> {
        let begun = Instant::now();
        let mut taken = 0;
        let mut hand_over = HandOver::default();
        let mut slices = Slices::new(sink.slice_time());
        let (mut seen, mut delays) = (Seen::default(), Times::default());
        let mut take = |drain: &mut Drain<Block>, blocks: usize, sink: &mut Taker<'_>| {
            drain.take_oldest(blocks, |block| {
                summariser.push(block);
                sink.row(block, &[])
            })
        };
        loop {
            match self.watcher.receive() {
                Ok(Some(Report::PointEnded(end))) => {
                    take(drain, drain.waiting(), sink)?;
                    return Ok(Some(*end));
                }
                Ok(_) => {}
                Err(runner::Gone) => return Ok(None),
            }
            let elapsed = begun.elapsed();
            let is_due = hand_over.is_due(elapsed, drain.is_pressing());
            // Those that come from now on stay in the ring until a slice has them.
            let waiting = drain.waiting();
            let slice = slices.end(elapsed);
            if slices.are_shown() && (is_due || slice.is_some()) {
                seen.rest(drain, |block| match block.xrun {
                    Xrun::None => delays.push(block.service_ns()),
                    _ => delays.fail(),
                });
            }
            if slice.is_some()
                && let Some(figures) = delays.take()
            {
                sink.slice(Slice {
                    end: elapsed,
                    figures,
                });
            }
            if is_due {
                let left = take(drain, waiting, sink)?;
                seen.left(left);
                taken += left;
            }
            sink.progress(Progress {
                ended: taken + drain.waiting() as u64,
                elapsed,
            });
        }
    }
}

/// The loop's thread: opens the device, and loops each point that it is given.
fn looping_thread(
    plan: &LoopPlan,
    ears: Ears<'_>,
    mut log: Log<Block>,
    measurer: &Measurer<Report, LoopPoint>,
) -> Result<(), LinkError> {
    // First the device and the GPU: their threads or processes must not inherit what is applied to this one.
    let mut device = open::open(&plan.address, &plan.host)?;
    let workers = Workers::open(plan)?;
    host::apply(&plan.host)?;
    let mut link = device.detail();
    link.settings.extend(workers.settings());
    let opened = Opened {
        host: host::host_state(plan.host.lock_memory),
        link,
        responder: None,
        usb: None,
        warnings: Vec::new(),
        calibration: None,
    };
    measurer.send(Report::Opened(Box::new(opened)));
    while let Some(point) = measurer.next() {
        let end = run_point(device.as_mut(), &workers, plan, &point, ears, &mut log);
        let error = end.error.clone();
        let interrupted = end.ending == wiregauge_record::Ending::Interrupted;
        measurer.send(Report::PointEnded(Box::new(end)));
        if let Some(error) = error {
            return Err(error);
        }
        if interrupted {
            return Ok(());
        }
    }
    Ok(())
}
