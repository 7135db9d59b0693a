//! What the cycles of a loop amount to, and what was to be expected of them.

use super::against::Against;
use wiregauge_control::{
    CyclePlan, CycleTimes, Loop, Matrix, MeanCost, mean_cost, sampled_step, step_target,
    times_of_delays,
};
use wiregauge_record::{
    ControlCycle, ControlPlan, ControlSummariser, ControlSummary, CycleStatus, Ending,
    MeasuredStep, Predicted,
};
use wiregauge_stats::{Estimate, mean_of};

/// Cycles that bring a loop from rest to its usual variance, at least; fewer in a short run.
const LEAD: usize = 200;

/// Half of a 95 % interval in standard deviations.
const HALF: f64 = 1.96;

/// The part of the final value within which the output has settled.
const SETTLED: f64 = 0.02;

/// Predicted steps, evenly spread over the delays.
const STEPS: usize = 40;

/// Longest predicted step, in cycles.
const LONGEST_STEP: usize = 400;

/// The summary of the rows of a run.
pub fn of(
    plan: &ControlPlan,
    model: &Loop,
    rows: &[ControlCycle],
    ending: Ending,
    diverged_at: Option<u64>,
    against: Option<&Against>,
) -> ControlSummary {
    let mut summariser = ControlSummariser::new(plan.point);
    rows.iter().for_each(|row| summariser.push(row));
    let has_step = plan.point.step != 0.0;
    let cycles = CyclePlan {
        cycles: plan.cycles,
        depth: plan.point.depth,
        step: plan.point.step,
    };
    let step_at = match has_step {
        true => usize::try_from(cycles.step_cycle()).map_or(rows.len(), |at| at.min(rows.len())),
        false => rows.len(),
    };
    let lead = lead(step_at);
    let before = &rows[..step_at];
    let measured: Vec<f64> = before[lead..]
        .iter()
        .filter(|row| row.ran())
        .map(|row| cost_of(model, row))
        .collect();
    let own = own_times(rows);
    let left_out = before[..lead].iter().filter(|row| row.ran()).count();
    let own_mean = mean_cost(model, &own[..step_at], left_out);
    let cost = match diverged_at {
        None => mean_of(&measured).map(|cost| bounded(cost, own_mean.as_ref())),
        Some(_) => None,
    };
    let target = step_target(model).filter(|_| step_at < rows.len());
    let step = target.map(|target| measured_step(&rows[step_at..], plan, target));
    let overshoot = |times: &[CycleTimes], starts: &[usize]| {
        let target = target.filter(|_| !starts.is_empty())?;
        let length = (rows.len() - step_at).min(LONGEST_STEP);
        let all = starts.iter().map(|&start| {
            let end = (start + length).min(times.len());
            let outputs = sampled_step(model, &times[..end], start, plan.point.step);
            let relative = |y: &f64| y / (target * plan.point.step) - 1.0;
            outputs.iter().map(relative).fold(0.0, f64::max)
        });
        Some(all.fold((f64::INFINITY, 0.0_f64), |(low, high), of| {
            (low.min(of), high.max(of))
        }))
    };
    let mut predicted = Vec::new();
    if rows.iter().any(ControlCycle::ran) {
        let start: &[usize] = if step.is_some() { &[step_at] } else { &[] };
        predicted.push(Predicted {
            cycles: step_at as u64,
            overshoot: overshoot(&own, start),
            // The delays are those of the measured cost.
            ..beside(own_mean.as_ref(), Some(0.0), cost)
        });
    }
    if let Some(against) = against {
        let times = times_of_delays(&against.delays, plan.point.period_ns);
        let room = times.len().saturating_sub(LONGEST_STEP);
        let count = STEPS.min(room + 1);
        let starts: Vec<usize> = (0..count).map(|i| i * room / (count - 1).max(1)).collect();
        let sampled = times.iter().filter(|time| time.sample_ns.is_some()).count();
        let mean = mean_cost(model, &times, self::lead(sampled));
        let of_delays = mean
            .as_ref()
            .and_then(|mean| of_delays(mean, measured.len()));
        let mean = mean.map(|mean| mean.of_samples(measured.len()));
        predicted.push(Predicted {
            run: Some(against.run.clone()),
            cycles: times.len() as u64,
            overshoot: overshoot(&times, &starts),
            ..beside(mean.as_ref(), of_delays, cost)
        });
    }
    ControlSummary {
        left_out: lead as u64,
        cost,
        step,
        diverged_at,
        clipped: rows.iter().filter(|row| is_clipped(model, row)).count() as u64,
        predicted,
        ..summariser.finish(ending)
    }
}

/// True of a command at a limit of the model.
fn is_clipped(model: &Loop, row: &ControlCycle) -> bool {
    let commands = row.signals().1;
    let limits = model.limits.as_deref().unwrap_or_default();
    let mut pairs = commands.iter().zip(limits);
    row.ran() && pairs.any(|(command, (low, high))| command <= low || command >= high)
}

/// Cycles that are left out at the start of so many.
fn lead(cycles: usize) -> usize {
    LEAD.max(cycles / 20).min(cycles / 4)
}

/// `(y-r)' Qy (y-r) + u' Qu u` of a cycle.
fn cost_of(model: &Loop, row: &ControlCycle) -> f64 {
    let (mut error, command) = row.signals();
    error[0] -= row.reference;
    quadratic(&model.cost.output, &error) + quadratic(&model.cost.input, &command)
}

fn quadratic(weights: &Matrix, of: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (i, row) in weights.row_iter().enumerate() {
        for (j, weight) in row.iter().enumerate() {
            sum += weight * of[i] * of[j];
        }
    }
    sum
}

/// When samples were taken and commands came into force, by the device's clock.
fn own_times(rows: &[ControlCycle]) -> Vec<CycleTimes> {
    let first = rows.iter().map(|row| row.sample_device_ns);
    let zero_ns = first.filter(|time| *time > 0).min().unwrap_or(0);
    let since = |time_ns: u64| time_ns.saturating_sub(zero_ns);
    let times = rows.iter().map(|row| CycleTimes {
        sample_ns: row.ran().then(|| since(row.sample_device_ns)),
        command_ns: (row.status == CycleStatus::Ok).then(|| since(row.command_device_ns)),
    });
    times.collect()
}

/// A predicted mean beside the measured one; `of_delays` is the variance that other delays add to it, `None` if that is not
/// known.
fn beside(
    mean: Option<&MeanCost>,
    of_delays: Option<f64>,
    measured: Option<Estimate>,
) -> Predicted {
    let independent = mean.and_then(MeanCost::independent);
    let range = mean
        .zip(of_delays)
        .filter(|_| independent.is_some_and(|worth| worth >= Predicted::FEWEST_INDEPENDENT))
        .and_then(|(mean, of_delays)| mean.interval(of_delays));
    // A loop that stays at rest agrees with anything.
    let measured = measured.filter(|cost| cost.value != 0.0);
    Predicted {
        run: None,
        cycles: 0,
        cost: mean.map(|mean| Estimate {
            value: mean.value,
            low: range.map(|range| range.low),
            high: range.map(|range| range.high),
        }),
        independent,
        is_within: (range.zip(measured))
            .map(|(range, cost)| (range.low..=range.high).contains(&cost.value)),
        overshoot: None,
    }
}

/// The variance between a mean over so many samples and the predicted one because both have other delays.
fn of_delays(predicted: &MeanCost, samples: usize) -> Option<f64> {
    let mean = mean_of(&predicted.costs)?;
    let sd = (mean.high? - mean.low?) / 2.0 / HALF;
    Some(sd.powi(2) * (1.0 + predicted.costs.len() as f64 / samples.max(1) as f64))
}

/// The measured cost with the wider one of its own interval and that of the model with the same times; without an
/// interval where it is worth too few independent samples.
fn bounded(measured: Estimate, model: Option<&MeanCost>) -> Estimate {
    let known = model.and_then(|mean| Some((mean, mean.independent()?)));
    let Some((mean, independent)) = known else {
        return Estimate {
            low: measured.low.map(|low| low.max(0.0)),
            ..measured
        };
    };
    let range = mean.interval(0.0);
    let range =
        range.filter(|range| independent >= Predicted::FEWEST_INDEPENDENT && range.low > 0.0);
    let of = |bound: f64| measured.value * mean.value / bound;
    Estimate {
        low: (measured.low.zip(range)).map(|(low, range)| low.min(of(range.high)).max(0.0)),
        high: (measured.high.zip(range)).map(|(high, range)| high.max(of(range.low))),
        ..measured
    }
}

fn measured_step(rows: &[ControlCycle], plan: &ControlPlan, target: f64) -> MeasuredStep {
    let size = target * plan.point.step;
    let period_s = plan.point.period_ns as f64 / 1e9;
    let sampled = rows.iter().filter(|row| row.ran());
    let relative = sampled.map(|row| (row.sequence, row.y1 / size - 1.0));
    let first = rows.first().map_or(0, |row| row.sequence);
    let last = rows.last().map_or(0, |row| row.sequence);
    let (mut overshoot, mut outside) = (0.0_f64, None);
    for (cycle, value) in relative {
        overshoot = overshoot.max(value);
        if value.abs() > SETTLED {
            outside = Some(cycle);
        }
    }
    MeasuredStep {
        target,
        overshoot,
        settling_s: match outside {
            None => Some(0.0),
            Some(cycle) if cycle < last => Some((cycle + 1 - first) as f64 * period_s),
            Some(_) => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_control::{Controller, Noise, Plant, PlantModel, StateSpace, TransferFunction};
    use wiregauge_record::{ControlModel, ControlPoint, HostPlan, LinkOptions};

    const PERIOD_NS: u64 = 1 << 21;

    /// A resonance of 48 Hz with a damping of 0.01 under a weak proportional controller.
    fn resonance() -> Loop {
        let plant = TransferFunction::parse("plant", 's', "90000/(s^2+6s+90000)")
            .and_then(|read| read.state_space())
            .expect("a plant");
        let controller = StateSpace::gain(Matrix::from_element(1, 1, 0.02));
        Loop::new(plant, controller, PERIOD_NS as f64 / 1e9).expect("a loop")
    }

    /// What a run of so many cycles, with commands after half a period, amounts to.
    fn summary(model: &Loop, cycles: u64) -> ControlSummary {
        let noise = Noise::on_input(&model.plant, 1.0);
        let plant = PlantModel::new(model.plant.clone(), noise, None).expect("a plant");
        let mut plant = Plant::new(plant, 1);
        let mut controller = Controller::new(model);
        let rows = (0..cycles).map(|sequence| {
            let tick_ns = sequence * PERIOD_NS;
            plant.advance(tick_ns);
            let y1 = plant.measure()[0];
            let u1 = controller.step(&[-y1])[0];
            plant.advance(tick_ns + PERIOD_NS / 2);
            plant.apply(&[u1]);
            ControlCycle {
                sequence,
                sample_device_ns: 1 + tick_ns,
                command_device_ns: 1 + tick_ns + PERIOD_NS / 2,
                y1,
                u1,
                ..ControlCycle::default()
            }
        });
        let rows: Vec<ControlCycle> = rows.collect();
        let plan = ControlPlan {
            address: "tcp://a:1".into(),
            link: LinkOptions::default(),
            model: ControlModel::default(),
            point: ControlPoint {
                period_ns: PERIOD_NS,
                depth: 1,
                ..ControlPoint::default()
            },
            cycles,
            timeout_ns: 10 * PERIOD_NS,
            host: HostPlan::default(),
        };
        of(&plan, model, &rows, Ending::Complete, None, None)
    }

    #[test]
    fn the_cost_of_a_lightly_damped_loop_is_compared_once_it_is_worth_ten_independent_samples() {
        let model = resonance();
        // 8 independent samples.
        let short = summary(&model, 1_400);
        let predicted = &short.predicted[0];
        let independent = predicted.independent.expect("noise");
        assert!((7.0..8.5).contains(&independent), "{independent}");
        assert_eq!(predicted.is_within, None, "{predicted:?}");
        let bounds = |of: Option<Estimate>| of.and_then(|of| of.low.zip(of.high));
        assert_eq!(bounds(predicted.cost), None);
        assert_eq!(bounds(short.cost), None, "{:?}", short.cost);
        let long = summary(&model, 20_000);
        let predicted = &long.predicted[0];
        assert!(predicted.is_within.is_some(), "{predicted:?}");
        let (low, high) = bounds(predicted.cost).expect("an interval");
        // 110 independent samples: a standard deviation of 13 %.
        assert!((1.5..2.2).contains(&(high / low)), "{low} to {high}");
        assert!(bounds(long.cost).is_some(), "{:?}", long.cost);
    }
}
