//! What keeps a loop's figures from being trusted, and the remedy in the flags that the user is using.

use super::codes::Code;
use super::common as warnings;
use super::warning::{Warning, add};
use crate::tables::places::Places;
use wiregauge_quantity::{exact_time, grouped, percent, time};
use wiregauge_record::{Aim, DeviceLate, Disturbance, Ending, LoopSummary, LoopWait, Verified};
use wiregauge_run::{Loop, RunFile};

/// A real-time thread that runs for more than this part of the time is near the kernel's limit
/// (sched(7): 950 ms a second by default), beyond which it stands still for the rest of the second.
/// The period is a second where it was not changed (sched_rt_period_us).
const NEAR_THROTTLE: f64 = 0.90;

/// A loop that works for more than this part of the time has nothing left for a bad moment.
const BUSY: f64 = 0.90;

/// Blocks below which nothing can be said of tails.
const FEW: u64 = 1_000;

/// A warning about a loop run or some of its points.
pub(in crate::tables) enum LoopWarning {
    /// It stalled although the rings were meant to be large enough for anything.
    Stalled { points: Vec<u32>, most: u64 },
    /// The preload that was asked for did not hold.
    TooShort { points: Vec<u32> },
    /// A preload under test did not hold, a longer one did.
    NotHeld { points: Vec<u32> },
    /// No preload held.
    NeverHeld { points: Vec<u32> },
    /// The output was not what it should be.
    Wrong { points: Vec<u32> },
    /// The marker that was sent never came round.
    Unheard { points: Vec<u32> },
    /// The latency could not be verified.
    Unverified { points: Vec<u32> },
    /// The processing takes nearly all of the time.
    Busy { points: Vec<u32>, worst: f64 },
    /// It runs for so much of the time at a real-time priority that the kernel stops it.
    Throttled { runs: f64, runtime_us: i64 },
    /// The device is a program on this host, and was late by itself.
    DeviceLate { points: Vec<u32>, worst: DeviceLate },
    /// Too few blocks.
    FewBlocks {
        points: Vec<u32>,
        fewest: u64,
        most: u64,
    },
    /// A load ran.
    Load { cpu: u32, memory: u32 },
    /// A point is not whole.
    Cut { points: Vec<u32> },
    /// What disturbs any measurement.
    Other(warnings::Disturbed),
}

/// The warnings that a run deserves.
pub(in crate::tables) fn of_run(file: &RunFile<Loop>) -> Vec<LoopWarning> {
    let points = &file.points;
    let mut found = Vec::new();
    let those = |keep: &dyn Fn(&LoopSummary) -> bool| -> Vec<u32> {
        let kept = points.iter().filter(|point| keep(point));
        kept.map(|point| point.point.index).collect()
    };
    let stalls = |p: &LoopSummary| p.overruns + p.underruns;
    let stalled = |p: &LoopSummary| p.point.aim == Aim::Curve && stalls(p) > 0;
    add(&mut found, those(&stalled), |hit| LoopWarning::Stalled {
        points: hit,
        // A preload that was tested and is too short is another warning.
        most: (points.iter().filter(|p| stalled(p)))
            .map(stalls)
            .max()
            .unwrap_or(0),
    });
    let not_held = |p: &LoopSummary| p.point.aim == Aim::Hold && stalls(p) > 0;
    // Asked for with --preload, a preload is not followed by a longer one.
    let searched = file.plan.find;
    add(&mut found, those(&|p| !searched && not_held(p)), |points| {
        LoopWarning::TooShort { points }
    });
    let ever_held = |cell: &LoopSummary| {
        points.iter().any(|p| {
            let same =
                |of: &LoopSummary| (of.point.rate_hz, of.point.channels, of.point.notify_bytes);
            p.point.aim == Aim::Hold && same(p) == same(cell) && stalls(p) == 0
        })
    };
    let at_last = |p: &LoopSummary| searched && not_held(p) && ever_held(p);
    add(&mut found, those(&at_last), |points| LoopWarning::NotHeld {
        points,
    });
    let never = |p: &LoopSummary| searched && not_held(p) && !ever_held(p);
    add(&mut found, those(&never), |points| LoopWarning::NeverHeld {
        points,
    });
    let wrong = |p: &LoopSummary| {
        let verified = p.verified.as_ref();
        stalls(p) == 0 && verified.is_some_and(|v| !v.holds() && !v.is_unheard())
    };
    add(&mut found, those(&wrong), |points| LoopWarning::Wrong {
        points,
    });
    let unheard = |p: &LoopSummary| p.verified.as_ref().is_some_and(Verified::is_unheard);
    add(&mut found, those(&unheard), |points| LoopWarning::Unheard {
        points,
    });
    add(&mut found, those(&|p| p.verified.is_none()), |points| {
        LoopWarning::Unverified { points }
    });
    let busy = |p: &LoopSummary| p.duty > BUSY;
    add(&mut found, those(&busy), |hit| LoopWarning::Busy {
        points: hit,
        worst: points.iter().map(|p| p.duty).fold(0.0, f64::max),
    });
    // The kernel counts the spinning too.
    let runs = |p: &LoopSummary| match file.plan.wait {
        LoopWait::Sleep => p.duty,
        LoopWait::Spin => 1.0,
        LoopWait::Hybrid { margin_ns } => {
            (p.duty + margin_ns as f64 / p.point.period_ns()).min(1.0)
        }
    };
    let most = points.iter().map(runs).fold(0.0, f64::max);
    let limit = |runtime_us: i64| NEAR_THROTTLE.min(runtime_us as f64 / 1e6);
    if let Some(runtime_us) = file.conditions.host.rt_runtime_us
        && file.plan.host.priority.is_some()
        && runtime_us >= 0
        && most > limit(runtime_us)
    {
        found.push(LoopWarning::Throttled {
            runs: most,
            runtime_us,
        });
    }
    add(&mut found, those(&|p| device_late(p).is_some()), |hit| {
        let late = points.iter().filter_map(device_late);
        LoopWarning::DeviceLate {
            points: hit,
            worst: late.max_by_key(|late| late.longest_ns).unwrap_or_default(),
        }
    });
    let few = |p: &LoopSummary| p.point.aim == Aim::Curve && p.blocks < FEW;
    let blocks = || points.iter().filter(|p| few(p)).map(|p| p.blocks);
    add(&mut found, those(&few), |hit| LoopWarning::FewBlocks {
        points: hit,
        fewest: blocks().min().unwrap_or(0),
        most: blocks().max().unwrap_or(0),
    });
    add(
        &mut found,
        those(&|p| p.ending != Ending::Complete),
        |points| LoopWarning::Cut { points },
    );
    let load = file.plan.host.load;
    if load.cpu + load.memory > 0 {
        found.push(LoopWarning::Load {
            cpu: load.cpu,
            memory: load.memory,
        });
    }
    let disturbed = points.iter().map(|p| (p.point.index, &p.disturbances[..]));
    let others = warnings::of_disturbances(disturbed, &file.plan.host);
    found.extend(others.into_iter().map(LoopWarning::Other));
    found
}

/// How late the device itself was at a point, if it is one that can be.
fn device_late(point: &LoopSummary) -> Option<DeviceLate> {
    point.disturbances.iter().find_map(|d| match d {
        Disturbance::DeviceLate(late) => Some(*late),
        _ => None,
    })
}

impl LoopWarning {
    /// What is printed.
    pub(in crate::tables) fn warning_at(&self, places: &Places) -> Warning {
        let at = |points: &[u32]| places.at_all(points);
        match self {
            LoopWarning::Stalled { points, most } => Warning::new(
                Code::LoopStalled,
                format!(
                    "up to {most} stalls (input lost, or output without data){}",
                    at(points)
                ),
                ", although the rings should exceed any delay; the lowest latency is longer than shown. Try a \
                 larger --ring, --priority, or a lower --rate",
            ),
            LoopWarning::TooShort { points } => Warning::new(
                Code::PreloadTooShort,
                format!(
                    "the requested preload was too short{}",
                    places.bracketed(points)
                ),
                ": input was lost, or the output had no data. Try a longer --preload, or --find, which tests \
                 preloads until one has no stall",
            ),
            LoopWarning::NotHeld { points } => Warning::new(
                Code::PreloadNotHeld,
                format!("the preload was too short{}", places.bracketed(points)),
                ": a longer delay occurred than in the run before. Longer runs (--duration, --hold) find longer \
                 delays; rely on the confidence bound, not on one run",
            ),
            LoopWarning::NeverHeld { points } => Warning::new(
                Code::NoPreloadHeld,
                format!(
                    "every tested preload was too short{}",
                    places.bracketed(points)
                ),
                ": the delays of this host kept growing within --hold. Try --priority, --pin, or a less loaded \
                 machine",
            ),
            LoopWarning::Wrong { points } => Warning::new(
                Code::WrongOutput,
                format!(
                    "the output{} is not the processed input, delayed by the preload",
                    at(points)
                ),
                ": the latency in the table is wrong",
            ),
            LoopWarning::Unheard { points } => Warning::new(
                Code::MarkerLost,
                format!("the marker sent{} did not return", at(points)),
                ", so the latency was not checked. Try a cable from output to input, the output's volume and \
                 the input's gain (alsamixer)",
            ),
            LoopWarning::Unverified { points } => Warning::new(
                Code::Unverified,
                format!("the output{} was not checked", at(points)),
                ": too few blocks without a stall",
            ),
            LoopWarning::Busy { points, worst } => Warning::new(
                Code::Busy,
                format!(
                    "processing takes up to {} of the time{}",
                    percent(*worst),
                    at(points)
                ),
                ": there is no reserve for delays. Try a lower --rate, fewer stages, or a larger --notify",
            ),
            LoopWarning::Throttled { runs, runtime_us } => Warning::new(
                Code::Throttled,
                format!(
                    "the loop's thread runs for up to {} of the time at real-time priority",
                    percent(*runs)
                ),
                format!(
                    "; above {} the kernel throttles it for the rest of each second, {} \
                     (kernel.sched_rt_runtime_us is {runtime_us}). Try --wait sleep or hybrid with a shorter \
                     spin, a lower --rate, or sysctl kernel.sched_rt_runtime_us=-1",
                    percent(*runtime_us as f64 / 1e6),
                    exact_time((1_000_000 - runtime_us).max(0).cast_unsigned() * 1_000)
                ),
            ),
            LoopWarning::DeviceLate { points, worst } => Warning::new(
                Code::DeviceLate,
                format!(
                    "the virtual device, a program on this host, was up to {} late{}",
                    time(worst.longest_ns as f64),
                    at(points)
                ),
                format!(
                    " ({} of the blocks by over 100 us): the delays of the loop include this. Try `virtual`, \
                     which needs no CPU time of its own and is never late, or --priority",
                    worst.times
                ),
            ),
            LoopWarning::FewBlocks {
                points,
                fewest,
                most,
            } => Warning::new(
                Code::FewBlocks,
                format!("only {} blocks{}", from_to(*fewest, *most), at(points)),
                ", too few for rare delays. Try a longer --duration",
            ),
            LoopWarning::Load { cpu, memory } => warnings::load(*cpu, *memory),
            LoopWarning::Cut { points } => warnings::cut_at(&places.bracketed(points)),
            LoopWarning::Other(found) => found.warning_at(&|points| places.bracketed(points)),
        }
    }
}

/// `31`, `31 to 306`.
fn from_to(fewest: u64, most: u64) -> String {
    match fewest == most {
        true => grouped(fewest),
        false => format!("{} to {}", grouped(fewest), grouped(most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::{
        Conditions, HostPlan, LoopFacts, LoopPath, LoopPlan, LoopPoint, LoopSummariser, Stage,
    };
    use wiregauge_run::State;

    /// Blocks of 1 ms at the usual limit of the kernel, 950 ms a second.
    fn point(aim: Aim, index: u32) -> LoopSummary {
        let point = LoopPoint {
            index,
            rate_hz: 1_000_000,
            channels: 1,
            notify_bytes: 2_000,
            ring_bytes: 2_000_000,
            preload_bytes: 4_000,
            aim,
            path: LoopPath::Cpu,
        };
        LoopSummariser::new(point).finish(Ending::Complete, LoopFacts::default())
    }

    fn warnings(change: impl Fn(&mut RunFile<Loop>)) -> String {
        let plan = LoopPlan {
            address: "virtual".into(),
            points: Vec::new(),
            duration_ns: 1,
            settle_ns: 0,
            find: false,
            hold_ns: 1,
            process: vec![Stage::Copy],
            wait: LoopWait::Sleep,
            calibrate: false,
            gpu_device: 0,
            host: HostPlan {
                priority: Some(50),
                ..HostPlan::default()
            },
        };
        let mut file = RunFile {
            state: State::Complete,
            points: vec![point(Aim::Curve, 0)],
            ..RunFile::new(&plan, &Conditions::default())
        };
        file.conditions.host.rt_runtime_us = Some(950_000);
        change(&mut file);
        let found = of_run(&file);
        let places = Places::of_loop(&file.points);
        let texts: Vec<String> = found
            .iter()
            .map(|one| one.warning_at(&places).to_string())
            .collect();
        texts.join("\n")
    }

    #[test]
    fn a_thread_that_the_kernel_will_stop_is_warned_about() {
        let text = |wait, change: &dyn Fn(&mut RunFile<Loop>)| {
            warnings(|file| {
                file.plan.wait = wait;
                change(file);
            })
        };
        let spin = LoopWait::Spin;
        let tables = text(spin, &|_| {});
        assert!(
            tables.contains("above 95 %") && tables.contains("second, 50 ms"),
            "{tables}"
        );
        let hybrid = |margin_ns| LoopWait::Hybrid { margin_ns };
        assert!(!text(hybrid(800_000), &|_| {}).contains("kernel"));
        assert!(text(hybrid(920_000), &|_| {}).contains("kernel"));
        let works = |file: &mut RunFile<Loop>| file.points[0].duty = 0.2;
        assert!(text(hybrid(800_000), &works).contains("kernel"));
        let half = |file: &mut RunFile<Loop>| {
            file.conditions.host.rt_runtime_us = Some(500_000);
        };
        assert!(text(hybrid(600_000), &half).contains("kernel"));
        let freed = |file: &mut RunFile<Loop>| file.conditions.host.rt_runtime_us = Some(-1);
        assert!(!text(spin, &freed).contains("kernel"));
        let usual = |file: &mut RunFile<Loop>| file.plan.host.priority = None;
        assert!(!text(spin, &usual).contains("kernel"));
    }

    #[test]
    fn a_preload_that_stalled_is_reported_by_how_it_came_to_be_tested() {
        let stalled = |file: &mut RunFile<Loop>, held: bool| {
            let mut tests = [point(Aim::Hold, 1), point(Aim::Hold, 2)];
            tests[0].underruns = 3;
            tests[1].underruns = u64::from(!held);
            file.points.extend(tests);
        };
        let asked_for = warnings(|file| stalled(file, false));
        assert!(
            asked_for.contains("--find, which tests preloads"),
            "{asked_for}"
        );
        let found = warnings(|file| {
            file.plan.find = true;
            stalled(file, true);
        });
        assert!(
            found.contains("rely on the confidence bound")
                && !found.contains("every tested preload")
        );
        let never = warnings(|file| {
            file.plan.find = true;
            stalled(file, false);
        });
        assert!(
            never.contains("every tested preload was too short"),
            "{never}"
        );
        assert!(!never.contains("rely on the confidence bound"), "{never}");
    }

    #[test]
    fn a_device_that_was_late_by_itself_is_reported_with_the_worst_of_all_rows() {
        let tables = warnings(|file| {
            file.points.push(point(Aim::Curve, 1));
            for (point, longest_ns) in file.points.iter_mut().zip([150_000, 2_000_000]) {
                let late = DeviceLate {
                    longest_ns,
                    times: longest_ns / 50_000,
                };
                point.disturbances.push(Disturbance::DeviceLate(late));
            }
        });
        for said in ["up to 2.000 ms late", "40 of the blocks", "Try `virtual`"] {
            assert!(tables.contains(said), "{tables}");
        }
        assert!(!warnings(|_| {}).contains("was up to"));
    }
}
