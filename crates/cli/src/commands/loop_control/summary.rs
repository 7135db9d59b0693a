//! What the cycles of a loop amount to, and what was to be expected of them.

use super::against::Against;
use wiregauge_control::{
    CyclePlan, CycleTimes, Loop, Matrix, sampled_costs, sampled_step, step_target, times_of_delays,
};
use wiregauge_record::{
    ControlCycle, ControlPlan, ControlSummariser, ControlSummary, CycleStatus, Ending,
    MeasuredStep, Predicted,
};
use wiregauge_stats::{Estimate, expected_mean, mean_of};

/// Cycles that bring a loop from rest to its usual variance, at least; fewer in a short run.
const LEAD: usize = 200;

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
    let cost = match diverged_at {
        None => mean_of(&measured),
        Some(_) => None,
    };
    let target = step_target(model).filter(|_| step_at < rows.len());
    let step = target.map(|target| measured_step(&rows[step_at..], plan, target));
    let own = own_times(rows);
    let predict = |run: Option<&str>, times: &[CycleTimes], starts: &[usize]| {
        let used = match run {
            None => &times[..step_at],
            Some(_) => times,
        };
        let overshoot = target.filter(|_| !starts.is_empty()).map(|target| {
            let length = (rows.len() - step_at).min(LONGEST_STEP);
            let all = starts.iter().map(|&start| {
                let end = (start + length).min(times.len());
                let outputs = sampled_step(model, &times[..end], start, plan.point.step);
                let relative = |y: &f64| y / (target * plan.point.step) - 1.0;
                outputs.iter().map(relative).fold(0.0, f64::max)
            });
            all.fold((f64::INFINITY, 0.0_f64), |(low, high), of| {
                (low.min(of), high.max(of))
            })
        });
        let expected = expected(model, used, cost);
        Predicted {
            run: run.map(str::to_owned),
            cycles: used.len() as u64,
            // A loop that stays at rest agrees with anything.
            is_within: expected
                .zip(cost.filter(|cost| cost.value != 0.0))
                .and_then(|(expected, cost)| {
                    Some((expected.low?..=expected.high?).contains(&cost.value))
                }),
            cost: expected,
            overshoot,
        }
    };
    let mut predicted = Vec::new();
    if rows.iter().any(ControlCycle::ran) {
        let start: &[usize] = if step.is_some() { &[step_at] } else { &[] };
        predicted.push(predict(None, &own, start));
    }
    if let Some(against) = against {
        let times = times_of_delays(&against.delays, plan.point.period_ns);
        let room = times.len().saturating_sub(LONGEST_STEP);
        let count = STEPS.min(room + 1);
        let starts: Vec<usize> = (0..count).map(|i| i * room / (count - 1).max(1)).collect();
        predicted.push(predict(Some(&against.run), &times, &starts));
    }
    ControlSummary {
        left_out: lead as u64,
        cost: cost.map(positive),
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

/// The predicted mean, with the interval in which the measured one is expected.
fn expected(model: &Loop, times: &[CycleTimes], measured: Option<Estimate>) -> Option<Estimate> {
    let sampled = times.iter().filter(|time| time.sample_ns.is_some()).count();
    let costs = sampled_costs(model, times);
    if costs.len() < sampled {
        // It ended early: the cost is unbounded.
        return None;
    }
    let lead = lead(costs.len());
    let predicted = mean_of(&costs[lead..])?;
    Some(positive(expected_mean(predicted, measured?)))
}

/// No cost is negative.
fn positive(of: Estimate) -> Estimate {
    Estimate {
        low: of.low.map(|low| low.max(0.0)),
        ..of
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
