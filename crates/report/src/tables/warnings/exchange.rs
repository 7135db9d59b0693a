//! Warnings about exchanges, and about what disturbs any run: what keeps a figure from being trusted.

use super::echo;
use super::few_samples;
use super::found::Found;
use wiregauge_record::{Connect, Disturbance, Ending, HostPlan, PointSummary, Protocol, Schedule};
use wiregauge_run::RunFile;

/// The warnings that a run deserves.
pub(in crate::tables) fn of_run(file: &RunFile) -> Vec<Found> {
    let plan = &file.plan;
    let mut warnings = Vec::new();
    let indices = |keep: &dyn Fn(&PointSummary) -> bool| -> Vec<u32> {
        file.points
            .iter()
            .filter(|p| keep(p))
            .map(|p| p.point.index)
            .collect()
    };
    let missing = |p: &PointSummary| {
        (p.counts.lost + p.counts.late) as f64 / p.counts.exchanges.max(1) as f64
    };
    let worst = |of: &dyn Fn(&PointSummary) -> f64| file.points.iter().map(of).fold(0.0, f64::max);
    let mut add = |points: Vec<u32>, make: &dyn Fn(Vec<u32>) -> Found| {
        if !points.is_empty() {
            warnings.push(make(points));
        }
    };
    add(indices(&|p| missing(p) > 0.0), &|points| Found::Lost {
        points,
        worst: worst(&missing),
    });
    // What is only displaced is not damaged.
    let displaced = |p: &PointSummary| plan.protocol == Protocol::Echo && echo::is_displaced(p);
    let corrupted = indices(&|p| p.counts.corrupted > 0 && !displaced(p));
    add(corrupted, &|points| Found::Corrupted { points });
    add(indices(&|p| p.ending != Ending::Complete), &|points| {
        Found::Cut { points }
    });
    let scheduled = matches!(plan.schedule, Schedule::EveryNs(_));
    // A schedule decides by itself how many are outstanding.
    let shallow = |p: &PointSummary| {
        !scheduled
            && p.counts.exchanges > 10 * u64::from(p.point.depth)
            && p.point.depth > 1
            && p.achieved_depth < 0.8 * f64::from(p.point.depth)
    };
    if let Some(first) = file.points.iter().find(|p| shallow(p)) {
        add(indices(&shallow), &|points| Found::Shallow {
            points,
            asked: first.point.depth,
            achieved: first.achieved_depth,
        });
    }
    warnings.extend(echo::of(file));
    warnings.extend(few_samples::of(file));
    let mut add = |points: Vec<u32>, make: &dyn Fn(Vec<u32>) -> Found| {
        if !points.is_empty() {
            warnings.push(make(points));
        }
    };
    // A whole period late: less is the delay of a timer.
    let behind = |p: &PointSummary| match (plan.schedule, &p.from_intended, &p.rtt) {
        (Schedule::EveryNs(every), Some(intended), Some(rtt)) => {
            intended.p99.value - rtt.p99.value > every as f64
        }
        _ => false,
    };
    let each = plan.connect == Connect::Each;
    add(indices(&behind), &|points| Found::Behind { points, each });
    let disturbed = file.points.iter();
    let disturbed = disturbed.map(|p| (p.point.index, &p.disturbances[..]));
    add_disturbances(disturbed, &plan.host, &mut add);
    let floor = |p: &PointSummary| -> Option<f64> {
        let floors = &file.conditions.before.as_ref()?.floors;
        let floor = floors.last().filter(|_| floors.len() > 1)?.rtt.p50.value;
        (p.point.depth == 1 && p.rtt.as_ref()?.p50.value < 1.5 * floor).then_some(floor)
    };
    if let Some(floor_ns) = file.points.iter().find_map(floor) {
        let wait = plan.wait;
        add(indices(&|p| floor(p).is_some()), &|points| {
            Found::NearFloor {
                points,
                floor_ns,
                wait,
            }
        });
    }
    let load = plan.host.load;
    if load.cpu + load.memory > 0 {
        warnings.push(Found::Load {
            cpu: load.cpu,
            memory: load.memory,
        });
    }
    warnings
}

/// Adds a warning about some points, made from their indices, if there are any.
type Add<'a> = &'a mut dyn FnMut(Vec<u32>, &dyn Fn(Vec<u32>) -> Found);

/// Warnings about what disturbed a run: for each row its index and what disturbed it.
pub(super) fn of_disturbances<'a>(
    rows: impl Iterator<Item = (u32, &'a [Disturbance])>,
    host: &HostPlan,
) -> Vec<Found> {
    let mut warnings = Vec::new();
    add_disturbances(rows, host, &mut |rows, make| {
        if !rows.is_empty() {
            warnings.push(make(rows));
        }
    });
    warnings
}

fn add_disturbances<'a>(
    rows: impl Iterator<Item = (u32, &'a [Disturbance])>,
    host: &HostPlan,
    add: Add<'_>,
) {
    let mut steal = (Vec::new(), 0.0_f64);
    let mut preempted = (Vec::new(), 0);
    let mut shared = (Vec::new(), 0.0_f64);
    let mut gaps = (Vec::new(), 0);
    let mut storage = Vec::new();
    let mut stalled = (Vec::new(), 0);
    for (index, disturbances) in rows {
        for disturbance in disturbances {
            match *disturbance {
                Disturbance::Steal { share } => {
                    steal.0.push(index);
                    steal.1 = steal.1.max(share);
                }
                Disturbance::Preempted { waited_ns, .. } => {
                    preempted.0.push(index);
                    preempted.1 = waited_ns.max(preempted.1);
                }
                Disturbance::SharedProcessor { share } => {
                    shared.0.push(index);
                    shared.1 = shared.1.max(share);
                }
                Disturbance::ClockGap { longest_ns, .. } => {
                    gaps.0.push(index);
                    gaps.1 = longest_ns.max(gaps.1);
                }
                Disturbance::StorageTooSlow { .. } => storage.push(index),
                // Only of loops, which tell it themselves.
                Disturbance::DeviceLate(_) => {}
                // Tables by `wiregauge explain`, which alone reads those times.
                Disturbance::UrbEventsLost { .. } => {}
                Disturbance::EndpointStalled { times } => {
                    stalled.0.push(index);
                    stalled.1 += times;
                }
            }
        }
    }
    let (pinned, real_time) = (host.pin.is_some(), host.priority.is_some());
    add(steal.0, &|points| Found::Steal {
        points,
        worst: steal.1,
    });
    add(preempted.0, &|points| Found::Preempted {
        points,
        waited_ns: preempted.1,
        pinned,
        real_time,
    });
    add(shared.0, &|points| Found::Shared {
        points,
        worst: shared.1,
    });
    add(gaps.0, &|points| Found::ClockGap {
        points,
        longest_ns: gaps.1,
    });
    add(storage, &|points| Found::Storage { points });
    add(stalled.0, &|points| Found::Stalled {
        points,
        times: stalled.1,
    });
}
