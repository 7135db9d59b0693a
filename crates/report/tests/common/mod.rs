//! Runs to gather and draw, written as the engine writes them: samples, and the summaries that they
//! amount to.

#![allow(dead_code)]

use std::path::Path;
use wiregauge_record::*;
use wiregauge_run::{AnyRun, Exchange, RunWriter, State, Stream};

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
        calibrate: false,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

/// Writes an exchange run, each point of the samples that the plan's point gives.
pub fn exchange_run<I: Iterator<Item = Sample>>(
    dir: &Path,
    plan: &Plan,
    mut samples: impl FnMut(Point) -> I,
) -> AnyRun {
    let mut run = RunWriter::<Exchange>::create(dir, plan, &Conditions::default())
        .expect("the directory can be written");
    for &point in &plan.points {
        let mut writer = run.begin_point(point).expect("a point begins");
        let mut summary = Summariser::new(plan, point, None);
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
            sequence,
            intended_ns: start_ns,
            start_ns,
            rtt_ns,
            bytes_out: 16,
            bytes_in: 100,
            outstanding: 1,
            status: if lost { Status::Lost } else { Status::Ok },
            phase: if sequence == 0 {
                Phase::First
            } else {
                Phase::Measured
            },
            ..Sample::default()
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

/// Reads the samples of a run.
pub fn gather(run: &AnyRun) -> wiregauge_report::gather::Gathered {
    wiregauge_report::gather::run(run, &|_| {})
}
