//! Runs to gather and draw, written as the engine writes them: samples, and the summaries that they
//! amount to.

#![allow(dead_code)]

use std::path::Path;
use wiregauge_record::*;
use wiregauge_report::Reported;
use wiregauge_run::{AnyRun, Control, Exchange, Loop, Run, RunWriter, State, Stream, with_run};

/// One exchange of a point at depth 1, the first of which is kept apart.
pub fn exchange(sequence: u64) -> Sample {
    Sample {
        sequence,
        outstanding: 1,
        phase: match sequence {
            0 => Phase::First,
            _ => Phase::Measured,
        },
        ..Sample::default()
    }
}

/// A plan of one point of this depth.
pub fn of_depth(depth: u32) -> Plan {
    let mut plan = plan(1);
    plan.points[0].depth = depth;
    plan
}

/// Measured exchanges that each begin when the one before has ended, behind a first one of 1 ms.
pub fn one_by_one(outcomes: &[(u64, Status)]) -> Vec<Sample> {
    let mut start_ns = 0;
    let first = (1_000_000, Status::Ok);
    let all = std::iter::once(&first).chain(outcomes).enumerate();
    all.map(|(sequence, &(rtt_ns, status))| {
        let intended_ns = start_ns;
        start_ns += rtt_ns;
        Sample {
            intended_ns,
            start_ns: intended_ns,
            rtt_ns,
            status,
            ..exchange(sequence as u64)
        }
    })
    .collect()
}

/// Measured exchanges of these times, each started at its tick or when the one before has ended, if that is later.
pub fn on_ticks(period_ns: u64, rtts_ns: &[u64]) -> Vec<Sample> {
    let mut free_ns = 0;
    let all = (0_u64..).zip(rtts_ns);
    all.map(|(sequence, &rtt_ns)| {
        let intended_ns = sequence * period_ns;
        let start_ns = free_ns.max(intended_ns);
        free_ns = start_ns + rtt_ns;
        Sample {
            sequence: sequence + 1,
            intended_ns,
            start_ns,
            rtt_ns,
            ..Sample::default()
        }
    })
    .collect()
}

/// A run of 1,000 exchanges, one due every 100 us: how late each starts, and its RTT, in nanoseconds.
pub fn late_run(dir: &Path, plan: &Plan, of: impl Fn(u64) -> (u64, u64)) -> AnyRun {
    let plan = Plan {
        schedule: Schedule::EveryNs(100_000),
        ..plan.clone()
    };
    exchange_run(dir, &plan, |_| {
        let samples = (0..=1000_u64).map(|sequence| {
            let (late_ns, rtt_ns) = of(sequence);
            Sample {
                intended_ns: sequence * 100_000,
                start_ns: sequence * 100_000 + late_ns,
                rtt_ns,
                ..exchange(sequence)
            }
        });
        let mut samples: Vec<Sample> = samples.collect();
        samples.sort_by_key(|sample| sample.start_ns + sample.rtt_ns);
        samples.into_iter()
    })
}

/// Starts of such a run: at first 19 wait for one of 2,000 us, twice; then the host is late by itself with every twentieth.
pub fn late_by_both(sequence: u64) -> (u64, u64) {
    match sequence {
        0..100 if sequence.is_multiple_of(50) => (0, 2_000_000),
        0..100 => (2_000_000 - sequence % 50 * 40_000, 1_000),
        _ if sequence.is_multiple_of(20) => (150_000, 1_000),
        _ => (0, 1_000),
    }
}

/// An exchange run that has these samples at each of its points.
pub fn run_of(dir: &tempfile::TempDir, plan: &Plan, samples: &[Sample]) -> Run<Exchange> {
    let dir = dir.path().join("run");
    match exchange_run(&dir, plan, |_| samples.iter().copied()) {
        AnyRun::Exchange(run) => run,
        _ => panic!("not an exchange run"),
    }
}

/// Exchanges of `rtt_ns` at this depth, of which every `lost`th gets no response.
pub fn paced(depth: u32, rtt_ns: u64, n: u64, lost: u64) -> impl Iterator<Item = Sample> {
    let trt_ns = rtt_ns / u64::from(depth);
    (0..=n).map(move |sequence| Sample {
        intended_ns: sequence * trt_ns,
        start_ns: sequence * trt_ns,
        rtt_ns,
        bytes_out: 16,
        bytes_in: 48,
        outstanding: depth,
        status: match lost > 0 && sequence % lost == 1 {
            true => Status::Lost,
            false => Status::Ok,
        },
        ..exchange(sequence)
    })
}

/// The limit of USB at full speed, of which this part was used.
pub fn full_speed(used: f64) -> BusLimit {
    BusLimit {
        bytes_s: 1_216_000.0,
        shared: true,
        source: "USB full-speed bulk".into(),
        used,
    }
}

/// Numbers that look random and are the same every time.
pub struct Random(pub u64);

impl Random {
    /// A number of so many bits.
    pub fn bits(&mut self, bits: u32) -> u64 {
        // xorshift64, Marsaglia 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> (64 - bits)
    }
}

pub fn point(index: u32) -> Point {
    Point {
        index,
        out_bytes: 16,
        in_bytes: 48 << (index / 4 % 8),
        depth: 1 + index % 4,
        link: 0,
        together: false,
    }
}

pub fn plan(points: u32) -> Plan {
    Plan {
        address: "tcp://127.0.0.1:7700".to_owned(),
        more_links: Vec::new(),
        protocol: Protocol::Wiregauge,
        queries: None,
        connect: Connect::Once,
        points: (0..points).map(point).collect(),
        limit: Limit::Count(10_000),
        warmup: 0,
        schedule: Schedule::AsFastAsPossible,
        timeout_ns: 1_000_000_000,
        give_up: 10,
        wait: Wait::Block,
        below_ns: vec![30_000, 100_000],
        keep_data: false,
        batch: None,
        calibrate: false,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

/// Writes an exchange run, each point of the samples that the plan's point gives.
pub fn exchange_run<I: Iterator<Item = Sample>>(
    dir: &Path,
    plan: &Plan,
    samples: impl FnMut(Point) -> I,
) -> AnyRun {
    exchange_run_with(dir, plan, &Conditions::default(), samples)
}

/// The same under these conditions.
pub fn exchange_run_with<I: Iterator<Item = Sample>>(
    dir: &Path,
    plan: &Plan,
    conditions: &Conditions,
    mut samples: impl FnMut(Point) -> I,
) -> AnyRun {
    let mut run =
        RunWriter::<Exchange>::create(dir, plan, conditions).expect("the directory can be written");
    for &point in &plan.points {
        let mut writer = run.begin_point(point).expect("a point begins");
        let mut summary = Summariser::new(plan, point, conditions.responder.as_ref());
        for sample in samples(point) {
            writer.push(&sample, &[]).expect("there is room");
            summary.push(&sample);
        }
        let summary = summary.finish(Ending::Complete, 0, None, ResourceUse::default());
        run.end_point(writer, summary).expect("a point ends");
    }
    run.finish(State::Complete).expect("the run ends");
    AnyRun::open(dir).expect("what was written can be read")
}

/// Exchanges such as those of a TCP link: some microseconds of jitter, a long one now and then, and
/// one in 10,000 lost.
pub fn exchanges(n: u64, seed: u64) -> impl Iterator<Item = Sample> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut start_ns = 0;
    (0..=n).map(move |sequence| {
        let lost = sequence % 10_000 == 7;
        let tail = if random.bits(7) == 0 {
            random.bits(16)
        } else {
            0
        };
        let rtt_ns = if lost {
            1_000_000
        } else {
            20_000 + random.bits(12) + random.bits(12) + tail
        };
        let sample = Sample {
            intended_ns: start_ns,
            start_ns,
            rtt_ns,
            bytes_out: 16,
            bytes_in: 100,
            status: if lost { Status::Lost } else { Status::Ok },
            ..exchange(sequence)
        };
        start_ns += rtt_ns + 300 + random.bits(6);
        sample
    })
}

pub fn stream_point(index: u32, direction: Direction) -> StreamPoint {
    StreamPoint {
        index,
        direction,
        transfer_bytes: 512 << (index % 4),
        queue: 1 + index / 4 % 4,
        link: 0,
        together: false,
    }
}

pub fn stream_plan(points: Vec<StreamPoint>) -> StreamPlan {
    StreamPlan {
        address: "tcp://127.0.0.1:7700".to_owned(),
        protocol: StreamProtocol::Wiregauge,
        pattern: None,
        more_links: Vec::new(),
        points,
        duration_ns: 1_000_000_000,
        settle_ns: 1_000_000,
        check: true,
        timeout_ns: 1_000_000_000,
        rates_bytes_s: vec![2_000_000, 20_000_000],
        loss: 0.001,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

/// Writes a stream run, each point of the transfers that the plan's point gives.
pub fn stream_run<I: Iterator<Item = Transfer>>(
    dir: &Path,
    plan: &StreamPlan,
    mut transfers: impl FnMut(StreamPoint) -> I,
) -> AnyRun {
    let mut run = RunWriter::<Stream>::create(dir, plan, &Conditions::default())
        .expect("the directory can be written");
    for &point in &plan.points {
        let mut writer = run.begin_point(point).expect("a point begins");
        let mut summary = StreamSummariser::new(plan, point);
        let mut end_ns = 0;
        for transfer in transfers(point) {
            writer.push(&transfer, &[]).expect("there is room");
            summary.push(&transfer);
            end_ns = end_ns.max(transfer.complete_ns);
        }
        let summary = summary.finish(Ending::Complete, end_ns, &[], ResourceUse::default());
        run.end_point(writer, summary).expect("a point ends");
    }
    run.finish(State::Complete).expect("the run ends");
    AnyRun::open(dir).expect("what was written can be read")
}

/// Transfers of both ways of a point, mixed, with a long gap now and then; the last one of each way
/// is cancelled.
pub fn transfers(point: StreamPoint, n: u64, seed: u64) -> impl Iterator<Item = Transfer> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let ways = point.direction.ways();
    let mut at_ns = 0;
    (0..n).flat_map(move |sequence| {
        let tail = if random.bits(8) == 0 {
            random.bits(21)
        } else {
            0
        };
        at_ns += 50_000 + random.bits(14) + tail;
        let cancelled = sequence + 1 == n;
        let transfer = Transfer {
            sequence,
            submit_ns: at_ns - 40_000,
            complete_ns: at_ns,
            bytes: if cancelled { 0 } else { point.transfer_bytes },
            pending: 1,
            status: if cancelled {
                TransferStatus::Cancelled
            } else if sequence % 1000 == 500 {
                TransferStatus::Stalled
            } else {
                TransferStatus::Ok
            },
            phase: match sequence {
                0 => Phase::First,
                1..20 => Phase::WarmUp,
                _ => Phase::Measured,
            },
            ..Transfer::default()
        };
        ways.iter().map(move |&way| Transfer { way, ..transfer })
    })
}

/// A cell of a loop run: 1, 2, 4 or 8 MS/s in blocks of 1,024 or 4,096 B; with a preload it is one
/// under test.
pub fn loop_point(index: u32, tested: Option<u64>) -> LoopPoint {
    LoopPoint {
        index,
        rate_hz: 1_000_000 << (index % 4),
        channels: 1,
        notify_bytes: 1_024 << (index / 4 % 2 * 2),
        ring_bytes: 16 << 20,
        preload_bytes: tested.unwrap_or(16 << 20),
        path: LoopPath::Cpu,
        aim: match tested {
            None => Aim::Curve,
            Some(_) => Aim::Hold,
        },
    }
}

pub fn loop_plan(points: Vec<LoopPoint>) -> LoopPlan {
    LoopPlan {
        address: "virtual:".to_owned(),
        points,
        duration_ns: 1_000_000_000,
        settle_ns: 10_000_000,
        find: false,
        hold_ns: 1_000_000_000,
        process: vec![Stage::Copy, Stage::Gain { factor: 0.5 }],
        wait: LoopWait::Sleep,
        calibrate: true,
        gpu_device: 0,
        host: HostPlan::default(),
    }
}

/// What the engine adds to the summary of a loop point: its timer thread, that its latency was verified, and
/// the speed of its stages.
pub fn with_timer(mut summary: LoopSummary) -> LoopSummary {
    let mut wake_up = wiregauge_stats::Series::new();
    (0..1000).for_each(|n| wake_up.push(20_000 + 100 * n));
    let wake_up = wake_up.distribution().expect("there are samples");
    let point = summary.point;
    summary.timer = Some(TimerThread { wake_up, cpu: None });
    let preload_frames = point.preload_bytes / u64::from(point.frame_bytes());
    summary.verified = Some(Verified {
        method: "sequence".to_owned(),
        found_frames: Some(preload_frames),
        cable_frames: None,
        preload_frames,
        compared: summary.blocks,
        wrong: 0,
    });
    summary.stages = vec![StageSpeed {
        stage: "copy".to_owned(),
        bytes_s: 7e9,
    }];
    summary.memory_bytes_s = Some(9e9);
    summary
}

/// The blocks of a point and what the engine makes of them.
pub fn summarised_loop(point: LoopPoint, blocks: impl Iterator<Item = Block>) -> LoopSummary {
    let mut summary = LoopSummariser::new(point);
    let mut facts = LoopFacts::default();
    for block in blocks {
        summary.push(&block);
        facts.overruns += u64::from(block.xrun.is_over());
        facts.underruns += u64::from(block.xrun.is_under());
    }
    with_timer(summary.finish(Ending::Complete, facts))
}

/// Writes a loop run, each point of the blocks that the plan's point gives.
pub fn loop_run<I: Iterator<Item = Block>>(
    dir: &Path,
    plan: &LoopPlan,
    mut blocks: impl FnMut(LoopPoint) -> I,
) -> AnyRun {
    let mut run = RunWriter::<Loop>::create(dir, plan, &Conditions::default())
        .expect("the directory can be written");
    for &point in &plan.points {
        let mut writer = run.begin_point(point).expect("a point begins");
        let blocks: Vec<Block> = blocks(point).collect();
        for block in &blocks {
            writer.push(block, &[]).expect("there is room");
        }
        let summary = summarised_loop(point, blocks.into_iter());
        run.end_point(writer, summary).expect("a point ends");
    }
    run.finish(State::Complete).expect("the run ends");
    AnyRun::open(dir).expect("what was written can be read")
}

/// Blocks such as those of a busy host: some tens of microseconds of delay, now and then some
/// milliseconds. Those later than the preload are underruns.
pub fn blocks(point: LoopPoint, n: u64, seed: u64) -> impl Iterator<Item = Block> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let period_ns = point.period_ns();
    (0..n).map(move |sequence| {
        let tail = match random.bits(6) {
            0 => random.bits(22),
            _ => 0,
        };
        let due_ns = ((sequence + 1) as f64 * period_ns) as u64;
        let begun_ns = due_ns + 20_000 + random.bits(14) + tail;
        let done_ns = begun_ns + 2_000 + random.bits(10);
        let late = period_ns + (done_ns - due_ns) as f64 > point.preload_ns();
        Block {
            sequence,
            due_ns,
            begun_ns,
            done_ns,
            xrun: Xrun::of(false, late),
            phase: match sequence {
                0 => Phase::First,
                1..20 => Phase::WarmUp,
                _ => Phase::Measured,
            },
        }
    })
}

/// Writes a run of a control loop with one output and one command, of these cycles.
pub fn control_run(dir: &Path, plan: &ControlPlan, cycles: &[ControlCycle]) -> AnyRun {
    let mut run = RunWriter::<Control>::create(dir, plan, &Conditions::default())
        .expect("the directory can be written");
    let mut writer = run.begin_point(plan.point).expect("a point begins");
    let mut summary = ControlSummariser::new(plan.point);
    for cycle in cycles {
        writer.push(cycle, &[]).expect("there is room");
        summary.push(cycle);
    }
    let summary = summary.finish(Ending::Complete);
    run.end_point(writer, summary).expect("a point ends");
    run.finish(State::Complete).expect("the run ends");
    AnyRun::open(dir).expect("what was written can be read")
}

/// Reads the samples of a run.
pub fn samples_of(run: &AnyRun) -> wiregauge_report::load::Loaded {
    with_run!(run, run => Reported::load(run, &|_| {}))
}
