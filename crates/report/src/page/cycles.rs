//! The section on the cycles of a control loop: how many missed their deadline.

use super::parts::{lead, notes, of_each, tables};
use crate::Subject;
use crate::load::{DeadlinePoint, Deadlines};
use crate::tables::{of_deadlines, sentence};
use wiregauge_quantity::{exact_time, grouped, percent};

/// Empty if no run has cycles: neither a schedule nor a period that was asked for.
pub(super) fn section(subjects: &[Subject]) -> String {
    of_each(subjects, |subject| {
        let cycles = subject.deadlines.as_ref().zip(subject.exchange_run());
        cycles.map_or_else(String::new, |(deadlines, (run, _))| {
            let of_cycles = of_deadlines(&run.file, deadlines);
            lead(&answer(deadlines)) + &tables(&of_cycles.tables) + &notes(&of_cycles.notes)
        })
    })
}

/// The cycles of all points, and the worst of them.
fn answer(deadlines: &Deadlines) -> String {
    let points = &deadlines.points;
    let share = |point: &DeadlinePoint| point.cycles.share.value;
    let worst = points.iter().max_by(|a, b| share(a).total_cmp(&share(b)));
    let worst = worst.filter(|worst| worst.cycles.missed > 0 && points.len() > 1);
    let most = worst.map_or(String::new(), |worst| {
        format!("; most at {}: {}", worst.point, percent(share(worst)))
    });
    let sum = |of: fn(&DeadlinePoint) -> u64| points.iter().map(of).sum::<u64>();
    let (cycles, missed) = (
        sum(|point| point.cycles.cycles),
        sum(|point| point.cycles.missed),
    );
    let asked = deadlines.control_loop;
    let period = exact_time(asked.period_ns);
    let deadline = match asked.deadline_ns == asked.period_ns {
        true => ", the end of the cycle".to_owned(),
        false => format!(" of {}", exact_time(asked.deadline_ns)),
    };
    let jitter = asked.jitter_ns.map_or(String::new(), |jitter| {
        format!(", or the jitter limit of {}", exact_time(jitter))
    });
    sentence(&format!(
        "responses: {} of {} cycles of {period} missed their deadline{deadline}{jitter} ({}){most}",
        grouped(missed),
        grouped(cycles),
        percent(missed as f64 / cycles.max(1) as f64)
    ))
}
