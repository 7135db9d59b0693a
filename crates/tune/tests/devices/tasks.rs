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
fn shows(bound: Bound, found: Estimate) -> bool {
    let end = if bound.is_upper() {
        found.high
    } else {
        found.low
    };
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

/// What users ask.
pub fn tasks(random: &mut fastrand::Rng) -> Vec<Task> {
    let many: Vec<u32> = (3..=500).map(|n| 16 * n).collect();
    let once = vec![Connect::Once];
    let block = vec![Wait::Block];
    let space = |out: u32, in_bytes: Vec<u32>, depth: u32| Space {
        out_bytes: vec![out],
        in_bytes,
        depth: (1..=depth).collect(),
        wait: block.clone(),
        connect: once.clone(),
    };
    let mut task = |name, space, sense, objective, constraint: Option<Figure>| Task {
        name,
        space,
        sense,
        objective,
        constraint: constraint.map(|figure| (figure, 0.25 + 0.6 * random.f64())),
    };
    use Figure::{Exchanges, InRate, P99, Rtt, Trt};
    use Sense::{Maximise, Minimise};
    vec![
        task(
            "most bytes in",
            space(16, many.clone(), 16),
            Maximise,
            InRate,
            None,
        ),
        task(
            "most bytes in, p99 bounded",
            space(16, many.clone(), 16),
            Maximise,
            InRate,
            Some(P99),
        ),
        task(
            "least TRT of one size",
            space(16, vec![100], 32),
            Minimise,
            Trt,
            None,
        ),
        task(
            "least p99 at a rate",
            space(16, many, 16),
            Minimise,
            P99,
            Some(InRate),
        ),
        task(
            "most exchanges, p99 bounded",
            space(64, vec![64, 512, 4096], 16),
            Maximise,
            Exchanges,
            Some(P99),
        ),
        task(
            "least RTT at a rate, both sizes",
            Space {
                out_bytes: (1..=20).map(|n| 100 * n).collect(),
                ..space(16, (1..=20).map(|n| 100 * n).collect(), 8)
            },
            Minimise,
            Rtt,
            Some(InRate),
        ),
        task(
            "most exchanges, ways to wait and connect",
            Space {
                wait: vec![Wait::Block, Wait::Poll, Wait::Spin],
                connect: vec![Connect::Once, Connect::Each],
                ..space(16, vec![256], 12)
            },
            Maximise,
            Exchanges,
            None,
        ),
    ]
}

/// What users ask of a device on a bus, in spaces that can be searched whole in virtual time.
pub fn bus_tasks(random: &mut fastrand::Rng) -> Vec<Task> {
    let sizes = [
        48, 64, 100, 128, 200, 256, 400, 512, 640, 800, 1000, 1024, 1216, 1500, 1600, 2000, 2048,
        2400, 2800, 3000,
    ];
    let space = |in_bytes: Vec<u32>, depth: u32| Space {
        out_bytes: vec![16],
        in_bytes,
        depth: (1..=depth).collect(),
        wait: vec![Wait::Block],
        connect: vec![Connect::Once],
    };
    let mut task = |name, space, sense, objective, constraint: Option<Figure>| Task {
        name,
        space,
        sense,
        objective,
        constraint: constraint.map(|figure| (figure, 0.25 + 0.6 * random.f64())),
    };
    use Figure::{InRate, Rtt, Trt};
    use Sense::{Maximise, Minimise};
    vec![
        task(
            "bus: most bytes in",
            space(sizes.to_vec(), 6),
            Maximise,
            InRate,
            None,
        ),
        task(
            "bus: most bytes in, one at a time",
            space((1..=60).map(|n| 48 * n).collect(), 1),
            Maximise,
            InRate,
            None,
        ),
        task(
            "bus: most bytes in, RTT bounded",
            space(sizes.to_vec(), 6),
            Maximise,
            InRate,
            Some(Rtt),
        ),
        task(
            "bus: least RTT at a rate",
            space(sizes.to_vec(), 6),
            Minimise,
            Rtt,
            Some(InRate),
        ),
        task(
            "bus: least TRT of one size",
            space(vec![100], 24),
            Minimise,
            Trt,
            None,
        ),
    ]
}
