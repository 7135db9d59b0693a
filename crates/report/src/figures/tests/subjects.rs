//! Runs to draw, made without a run directory where their samples are not needed.

use super::common::{self, Random, loop_plan, plan, stream_plan, summarised_loop};
use crate::Subject;
use crate::tables::Tables;
use std::path::PathBuf;
use wiregauge_record::*;
use wiregauge_run::{AnyRun, Files, Run, RunFile, State};
use wiregauge_stats::Estimate;

pub(super) fn stored<K: Files>(plan: K::Plan, points: Vec<K::Summary>) -> Run<K> {
    let file = RunFile {
        state: State::Complete,
        points,
        ..RunFile::new(&plan, &Conditions::default())
    };
    Run::new(PathBuf::from("/there is no such directory"), file)
}

/// A run without sample files: what is drawn of it comes from its summaries.
pub(super) fn subject(label: &str, run: AnyRun) -> Subject {
    Subject::load(label.to_owned(), run, Tables::default(), None, &|_| {})
}

/// A point whose RTTs these are.
pub(super) fn summarised(
    plan: &Plan,
    point: Point,
    rtts: impl IntoIterator<Item = u64>,
) -> PointSummary {
    let mut summary = Summariser::new(plan, point, None);
    let mut start_ns = 0_u64;
    for (sequence, rtt_ns) in rtts.into_iter().enumerate() {
        summary.push(&Sample {
            sequence: sequence as u64,
            intended_ns: start_ns,
            start_ns,
            rtt_ns,
            connect_ns: rtt_ns / 3,
            access_ns: rtt_ns - rtt_ns / 8,
            bytes_out: point.out_bytes,
            bytes_in: point.in_bytes,
            outstanding: 1,
            status: Status::Ok,
            phase: Phase::Measured,
            ..Sample::default()
        });
        start_ns = start_ns.saturating_add(rtt_ns / u64::from(point.depth.max(1)));
    }
    summary.finish(Ending::Complete, 0, None, ResourceUse::default())
}

pub(super) fn exchange(label: &str, plan: Plan, rtts: impl Fn(Point) -> Vec<u64>) -> Subject {
    let points = plan.points.iter();
    let points = points.map(|point| summarised(&plan, *point, rtts(*point)));
    let points = points.collect();
    subject(label, AnyRun::Exchange(stored(plan, points)))
}

/// Every combination of sizes and depths.
pub(super) fn sweep(sizes: &[u32], depths: &[u32]) -> Plan {
    let mut plan = plan(0);
    for in_bytes in sizes {
        for depth in depths {
            plan.points.push(Point {
                index: plan.points.len() as u32,
                out_bytes: 16,
                in_bytes: *in_bytes,
                depth: *depth,
                link: 0,
                together: false,
            });
        }
    }
    plan
}

/// Two links, alone and together, at these sizes and depth 1.
pub(super) fn two_links(sizes: &[u32]) -> Plan {
    let mut plan = plan(0);
    plan.more_links = vec!["tcp://10.0.0.6:7700".to_owned()];
    for (together, link) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
        for point in sweep(sizes, &[1]).points {
            plan.points.push(Point {
                index: plan.points.len() as u32,
                link,
                together,
                ..point
            });
        }
    }
    plan
}

/// RTTs such as those of a device on a bus.
pub(super) fn likely(point: Point) -> Vec<u64> {
    let mut random = Random(u64::from(point.index) * 77 + 1);
    let base = 200_000 + 800 * u64::from(point.in_bytes);
    (0..300).map(|_| base + random.bits(18)).collect()
}

pub(super) fn flow(way: Way, rate: f64) -> FlowSummary {
    FlowSummary {
        way,
        transfers: 1000,
        bytes: 1_000_000,
        stalls: 0,
        rate: Some(Estimate {
            value: rate,
            low: Some(rate * 0.9),
            high: Some(rate * 1.1),
        }),
        rate_bytes_s: vec![rate, rate * 0.9, rate * 1.1],
        rate_step_ns: 1_000_000_000,
        counts: ByteCounts::default(),
        jumps: None,
        device: None,
        report_error: None,
        transfer_time: None,
        gap: None,
        host_gap: None,
        stack_time: None,
        urb_time: None,
        achieved_queue: 1.0,
        buffers: Vec::new(),
        cpu_ns_per_mb: 0.0,
        limit: Some(BusLimit {
            bytes_s: 53_248_000.0,
            shared: true,
            source: "USB high-speed bulk, USB 2.0 table 5-10".to_owned(),
            used: 0.5,
        }),
        recording: None,
        isochronous: None,
    }
}

pub(super) fn stream(
    label: &str,
    sizes: &[u32],
    queues: &[u32],
    rate: impl Fn(StreamPoint, Way) -> f64,
) -> Subject {
    let mut points = Vec::new();
    for direction in [Direction::In, Direction::Out, Direction::Both] {
        for transfer_bytes in sizes {
            for queue in queues {
                let point = StreamPoint {
                    index: points.len() as u32,
                    direction,
                    transfer_bytes: *transfer_bytes,
                    queue: *queue,
                    link: 0,
                    together: false,
                };
                let flows = direction.ways().iter();
                let flows = flows.map(|way| flow(*way, rate(point, *way))).collect();
                points.push(StreamSummary {
                    point,
                    ending: Ending::Complete,
                    elapsed_ns: 3_000_000_000,
                    flows,
                    resources: ResourceUse::default(),
                    disturbances: Vec::new(),
                });
            }
        }
    }
    let plan = stream_plan(points.iter().map(|summary| summary.point).collect());
    subject(label, AnyRun::Stream(stored(plan, points)))
}

/// A loop run of these rates and block sizes, each counted for a curve and then with the preloads
/// under test; its blocks have these service delays.
pub(super) fn looped(
    label: &str,
    rates: &[u64],
    sizes: &[u32],
    preloads: &[u64],
    services: impl Fn(LoopPoint) -> Vec<u64>,
) -> Subject {
    let tests = preloads.iter().map(|preload| Some(*preload));
    let aims: Vec<Option<u64>> = [None].into_iter().chain(tests).collect();
    let mut points = Vec::new();
    for &rate_hz in rates {
        for &notify_bytes in sizes {
            points.extend(aims.iter().map(|tested| LoopPoint {
                rate_hz,
                notify_bytes,
                ..common::loop_point(0, *tested)
            }));
        }
    }
    for (index, point) in (0..).zip(&mut points) {
        point.index = index;
    }
    let summary = |point: &LoopPoint| {
        let blocks = (1..).zip(services(*point)).map(|(sequence, service_ns)| {
            let due_ns = (sequence as f64 * point.period_ns()) as u64;
            Block {
                sequence,
                due_ns,
                begun_ns: due_ns,
                done_ns: due_ns.saturating_add(service_ns),
                phase: Phase::Measured,
                ..Block::default()
            }
        });
        summarised_loop(*point, blocks)
    };
    let summaries = points.iter().map(summary).collect();
    subject(label, AnyRun::Loop(stored(loop_plan(points), summaries)))
}

/// Delays of some tens of microseconds, every hundredth one of up to 4 ms.
pub(super) fn delays(point: LoopPoint) -> Vec<u64> {
    let mut random = Random(u64::from(point.index) * 77 + 1);
    let delay = |n: u32| match n % 100 {
        50 => random.bits(22),
        _ => 20_000 + random.bits(14),
    };
    (0..3000).map(delay).collect()
}
