//! What is searched for, and how far from the optimum a search ends.

use super::{Device, Figure};
use wiregauge_model::Setting;
use wiregauge_record::{Connect, Wait};
use wiregauge_stats::Estimate;
use wiregauge_tune::{Advice, Bound, Candidate, Compliance, Effort, Search, Sense, Space};

/// A space, an objective, a constraint.
#[derive(Clone, Debug)]
pub struct Task {
    pub name: &'static str,
    pub space: Space,
    pub sense: Sense,
    pub objective: Figure,
    /// A figure, and where between the least and the most that is possible its bound lies.
    pub constraint: Option<(Figure, f64)>,
}

/// How a search went.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub name: &'static str,
    /// Objective of the choice against the best that keeps the constraint, as a part: above 0 is
    /// worse.
    pub loss: f64,
    /// The same against the best that nine of ten confirmations show to keep it.
    pub shown_loss: f64,
    /// Whether any candidate can be shown to keep the constraint by such a run.
    pub is_showable: bool,
    /// Exchanges spent, as a part of exhaustive search's.
    pub spent: f64,
    pub probes: usize,
    pub observed: Option<Compliance>,
    /// Whether the choice truly keeps the constraint.
    pub is_true: bool,
    pub advice: Advice,
    pub best: Candidate,
}

impl Outcome {
    /// True if the first confirmation proved its candidate: until one does, they go on beyond the effort.
    pub fn is_proven_at_once(&self) -> bool {
        let best = self.advice.best.as_ref().expect("something answered");
        best.keeps_all() && self.advice.set_aside.iter().all(|aside| aside.was_outdone)
    }

    /// All of it, to be read.
    pub fn line(&self) -> String {
        let choice = self.advice.best.as_ref().expect("something answered");
        format!(
            "{}: loss {:.4}, shown {:.4}, spent {:.4}, probes {}, {:?}, true {}, showable {}, {:?} for {:?}",
            self.name,
            self.loss,
            self.shown_loss,
            self.spent,
            self.probes,
            self.observed,
            self.is_true,
            self.is_showable,
            choice.at.setting,
            self.best.setting,
        )
    }
}

pub fn candidates(space: &Space) -> Vec<Candidate> {
    let mut all = Vec::new();
    for &out_bytes in &space.out_bytes {
        for &in_bytes in &space.in_bytes {
            for &depth in &space.depth {
                for &wait in &space.wait {
                    for &connect in &space.connect {
                        if connect == Connect::Once || depth == 1 {
                            let setting = Setting {
                                out_bytes,
                                in_bytes,
                                depth,
                            };
                            all.push(Candidate {
                                setting,
                                wait,
                                connect,
                            });
                        }
                    }
                }
            }
        }
    }
    all
}

/// True if the whole interval keeps the bound.
pub fn shows(bound: Bound, found: Estimate) -> bool {
    let end = [found.low, found.high][usize::from(bound.is_upper())];
    end.is_some_and(|end| bound.keeps(end))
}

/// Searches, and compares with the truth at every candidate.
pub fn solve(task: &Task, device: &mut dyn Device, effort: Effort) -> Outcome {
    let all = candidates(&task.space);
    let bound = task.constraint.map(|(figure, part)| {
        let mut values: Vec<f64> = all
            .iter()
            .map(|&at| device.truth(at, figure, None))
            .collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (values[0], values[values.len() - 1]);
        let limit = least * (most / least).powf(part);
        match figure {
            Figure::InRate | Figure::Exchanges => Bound::AtLeast(limit),
            _ => Bound::Below(limit),
        }
    });
    let mut search = Search::new(
        task.space.clone(),
        task.sense,
        bound.into_iter().collect(),
        effort,
    )
    .expect("a space with candidates");
    assert_eq!(search.candidates(), all.len() as u64);
    let mut figures = vec![task.objective];
    figures.extend(task.constraint.map(|(figure, _)| figure));
    while let Some(probe) = search.next() {
        let measured = device.measure(probe.at, probe.exchanges, &figures);
        search.tell(&probe, measured);
    }
    let advice = search.advice();
    let choice = advice.best.clone().expect("something answered");
    let mut order: Vec<(Candidate, f64)> = (all.iter())
        .map(|&at| (at, device.truth(at, task.objective, None)))
        .collect();
    order.sort_by(|a, b| match task.sense {
        Sense::Maximise => b.1.total_cmp(&a.1),
        Sense::Minimise => a.1.total_cmp(&b.1),
    });
    let value = device.truth(choice.at, task.objective, None);
    let mut keeping = |shown: Option<u64>| -> Vec<(Candidate, f64)> {
        let mut keeps = |at| match (bound, task.constraint) {
            (Some(bound), Some((figure, _))) => bound.keeps(device.truth(at, figure, shown)),
            _ => true,
        };
        order.iter().copied().filter(|(at, _)| keeps(*at)).collect()
    };
    let best = keeping(None)[0];
    let likely = keeping(Some(search.confirmation()));
    // Of those that could be shown, by the shape of the tail alone: the best that nine of ten real
    // confirmations show. What is no better than the choice need not be tried.
    let mut shown = None;
    for &(at, its) in &likely {
        let is_shown = match bound {
            Some(bound) if task.sense.prefers(its, value) => {
                let kept = |_: &u32| {
                    let run = device.measure(at, search.confirmation(), &figures);
                    shows(bound, run.constraints[0].expect("measured"))
                };
                (0..10).filter(kept).count() >= 9
            }
            _ => true,
        };
        if is_shown {
            shown = Some((at, its));
            break;
        }
    }
    let loss = |best: f64| match task.sense {
        Sense::Maximise => 1.0 - value / best,
        Sense::Minimise => value / best - 1.0,
    };
    let is_true = match (bound, task.constraint) {
        (Some(bound), Some((figure, _))) => bound.keeps(device.truth(choice.at, figure, None)),
        _ => true,
    };
    Outcome {
        name: task.name,
        loss: loss(best.1),
        shown_loss: loss(shown.unwrap_or(best).1),
        is_showable: shown.is_some(),
        spent: advice.spent as f64 / advice.exhaustive as f64,
        probes: advice.probes.len(),
        observed: choice.constraints.first().map(|v| v.compliance),
        is_true,
        best: best.0,
        advice,
    }
}

impl Task {
    fn new(name: &'static str, sense: Sense, objective: Figure, space: Space) -> Task {
        Task {
            name,
            space,
            sense,
            objective,
            constraint: None,
        }
    }

    fn most(figure: Figure, name: &'static str, space: Space) -> Task {
        Task::new(name, Sense::Maximise, figure, space)
    }

    fn least(figure: Figure, name: &'static str, space: Space) -> Task {
        Task::new(name, Sense::Minimise, figure, space)
    }

    fn bounded(self, figure: Figure, random: &mut fastrand::Rng) -> Task {
        let constraint = Some((figure, 0.25 + 0.6 * random.f64()));
        Task { constraint, ..self }
    }
}

fn space(out: u32, in_bytes: impl IntoIterator<Item = u32>, depth: u32) -> Space {
    Space {
        out_bytes: vec![out],
        in_bytes: in_bytes.into_iter().collect(),
        depth: (1..=depth).collect(),
        wait: vec![Wait::Block],
        connect: vec![Connect::Once],
    }
}

/// What users ask.
pub fn tasks(random: &mut fastrand::Rng) -> Vec<Task> {
    use Figure::{Exchanges, InRate, P99, Rtt, Trt};
    let many = || space(16, (3..=500).map(|n| 16 * n), 16);
    let hundreds = || (1..=20).map(|n| 100 * n);
    let both = Space {
        out_bytes: hundreds().collect(),
        ..space(16, hundreds(), 8)
    };
    let ways = Space {
        wait: vec![Wait::Block, Wait::Poll, Wait::Spin],
        connect: vec![Connect::Once, Connect::Each],
        ..space(16, [256], 12)
    };
    let three = space(64, [64, 512, 4096], 16);
    vec![
        Task::most(InRate, "most bytes in", many()),
        Task::most(InRate, "most bytes in, p99 bounded", many()).bounded(P99, random),
        Task::least(Trt, "least TRT of one size", space(16, [100], 32)),
        Task::least(P99, "least p99 at a rate", many()).bounded(InRate, random),
        Task::most(Exchanges, "most exchanges, p99 bounded", three).bounded(P99, random),
        Task::least(Rtt, "least RTT at a rate, both sizes", both).bounded(InRate, random),
        Task::most(Exchanges, "most exchanges, ways to wait and connect", ways),
    ]
}

/// What users ask of a device on a bus, in spaces that can be searched whole in virtual time.
pub fn bus_tasks(random: &mut fastrand::Rng) -> Vec<Task> {
    let sizes = [
        48, 64, 100, 128, 200, 256, 400, 512, 640, 800, 1000, 1024, 1216, 1500, 1600, 2000, 2048,
        2400, 2800, 3000,
    ];
    use Figure::{InRate, Rtt, Trt};
    let sizes = || space(16, sizes, 6);
    let fine = space(16, (1..=60).map(|n| 48 * n), 1);
    vec![
        Task::most(InRate, "bus: most bytes in", sizes()),
        Task::most(InRate, "bus: most bytes in, one at a time", fine),
        Task::most(InRate, "bus: most bytes in, RTT bounded", sizes()).bounded(Rtt, random),
        Task::least(Rtt, "bus: least RTT at a rate", sizes()).bounded(InRate, random),
        Task::least(Trt, "bus: least TRT of one size", space(16, [100], 24)),
    ]
}
