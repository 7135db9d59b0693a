//! What a run means for a control loop, in tables with units; what is not known, and why.

use super::columns::{Columns, MAX, Numbered, P999};
use super::no_tail::{Extent, Refused, by_reason};
use super::places::Places;
use super::table::Table;
use super::warnings::{Code, Warning};
use super::{Tables, heading, taken};
use crate::load::{DeadlinePoint, Deadlines, Taken};
use wiregauge_quantity::{
    TimeUnit, about, about_time, exact_time, grouped, percent_number, two_digits,
};
use wiregauge_run::RunFile;
use wiregauge_stats::{Exceeding, FittedTail};

/// Tells of it, beside what the run was.
pub fn of_deadlines(file: &RunFile, deadlines: &Deadlines) -> Tables {
    let mut tables = vec![cycles(deadlines), bursts(deadlines)];
    let beyond = beyond(deadlines).into_iter();
    tables.extend(beyond.filter(|table| !table.rows.is_empty()));
    Tables {
        heading: heading::of_exchange(file),
        note: heading::note(&file.conditions),
        set_off: vec![file.plan.address.clone()],
        tables,
        notes: notes(deadlines),
        warnings: warnings(file, deadlines),
        ..Tables::default()
    }
}

/// The title's part that names the loop.
fn of_loop(deadlines: &Deadlines) -> String {
    let asked = deadlines.control_loop;
    let mut text = format!("cycles of {}", exact_time(asked.period_ns));
    if asked.deadline_ns != asked.period_ns {
        text += &format!(", deadline {}", exact_time(asked.deadline_ns));
    }
    if let Some(jitter) = asked.jitter_ns {
        text += &format!(", jitter limit {}", exact_time(jitter));
    }
    text
}

fn unit(points: &[DeadlinePoint]) -> TimeUnit {
    let responses = points.iter().filter_map(|p| p.response.as_ref());
    TimeUnit::of_median(responses.map(|times| times.p50.value))
}

impl Numbered for &DeadlinePoint {
    fn number(self) -> u32 {
        self.point.index
    }
}

fn cycles(deadlines: &Deadlines) -> Table {
    let unit = unit(&deadlines.points);
    let response = match deadlines.taken {
        Taken::AsScheduled => "response from the intended start",
        Taken::Replayed | Taken::ReplayedFrom { .. } => "response",
    };
    let title = format!(
        "Missed {} (no response in time); {response} in {}",
        of_loop(deadlines),
        unit.name()
    );
    let mut columns = Columns::<&DeadlinePoint>::new();
    columns.add("cycles", |point| grouped(point.cycles.cycles));
    columns.add("missed", |point| grouped(point.cycles.missed));
    columns.add("%", |point| percent_number(point.cycles.share.value));
    columns.add("95 % CI", interval_of_share);
    columns.some("p50", |point| {
        Some(unit.show(point.response.as_ref()?.p50.value))
    });
    columns.statistics(unit, |point| point.response.as_ref(), &[P999, MAX]);
    columns.table(title, &deadlines.places, &deadlines.points)
}

fn bursts(deadlines: &Deadlines) -> Table {
    let period_ns = deadlines.control_loop.period_ns;
    let period = period_ns as f64;
    let title = format!(
        "Bursts of missed cycles; lengths in cycles, times as cycles of {} each",
        exact_time(period_ns)
    );
    let mut columns = Columns::<&DeadlinePoint>::new();
    columns.add("independent cycles", |point| {
        grouped(point.cycles.effective_cycles.round() as u64)
    });
    columns.add("bursts", |point| grouped(point.cycles.runs));
    columns.add("longest", |point| grouped(point.cycles.longest_run));
    columns.some("mean (if 10+ bursts)", |point| {
        Some(format!("{:.1}", point.cycles.mean_run?))
    });
    columns.some("mean time between bursts", |point| {
        let found = &point.cycles;
        match (found.runs, found.share.high) {
            (0, Some(high)) if found.cycles > 0 => Some(format!("> {}", about_time(period / high))),
            // One burst has none after it.
            (0 | 1, _) => None,
            (runs, _) => Some(about_time(period * found.cycles as f64 / runs as f64)),
        }
    });
    columns.table(title, &deadlines.places, &deadlines.points)
}

fn interval_of_share(point: &DeadlinePoint) -> String {
    let share = point.cycles.share;
    let (Some(low), Some(high)) = (share.low, share.high) else {
        return "-".into();
    };
    match point.cycles.missed {
        0 => format!("< {}", percent_number(high)),
        _ => format!("{} to {}", percent_number(low), percent_number(high)),
    }
}

/// How many cycles missed, for a limit that this does not meet: `164 of 5,155 cycles, 3.2 % (95 %:
/// 0.55 to 9.7 %)`.
pub fn missed_share(point: &DeadlinePoint) -> String {
    let found = &point.cycles;
    let (missed, cycles) = (grouped(found.missed), grouped(found.cycles));
    if found.cycles == 0 {
        return "no cycle was measured".into();
    }
    let share = percent_number(found.share.value);
    format!(
        "{missed} of {cycles} cycles, {share} % (95 %: {} %)",
        interval_of_share(point)
    )
}

/// How often the deadline is exceeded, where no response did, and what one in N exceeds.
fn beyond(deadlines: &Deadlines) -> [Table; 2] {
    let places = &deadlines.places;
    let is_requested = |point: &&DeadlinePoint| point.beyond.one_in.is_some();
    let requested = || deadlines.points.iter().filter(is_requested);
    let unit = unit(&deadlines.points);
    let period = deadlines.control_loop.period_ns as f64;
    let mut rates = Columns::<&DeadlinePoint>::new();
    rates.add("deadline", |p| unit.show(p.limit_ns));
    rates.some("1 in", |p| Some(format!("> {}", about(1.0 / rarer(p)?))));
    rates.some("per hour", |p| {
        Some(format!("< {}", two_digits(rarer(p)? * 3600e9 / period)))
    });
    let title = format!(
        "Tail extrapolation (generalised Pareto): misses of the deadline in {}",
        unit.name()
    );
    let rates = rates.table(title, places, requested().filter(|p| rarer(p).is_some()));
    let mut levels = Columns::<&DeadlinePoint>::new();
    levels.some("1 in", |p| tail(p).and(p.beyond.one_in).map(about));
    levels.some("exceeds", |p| {
        Some(format!("< {}", unit.show(p.beyond.level?)))
    });
    levels.some("threshold", |p| Some(unit.show(tail(p)?.threshold)));
    levels.some("over", |p| Some(grouped(tail(p)?.over)));
    levels.some("independent excesses", |p| {
        Some(grouped(tail(p)?.independent.round() as u64))
    });
    levels.some("shape", |p| Some(format!("{:.2}", tail(p)?.shape)));
    let title = format!("Response that one in N exceeds, in {}", unit.name());
    [rates, levels.table(title, places, requested())]
}

/// The rate that a late response is below; `None` if a response of the run was late, or the tail is not extrapolated.
fn rarer(point: &DeadlinePoint) -> Option<f64> {
    match point.beyond.late? {
        Exceeding::Rarer { than } => Some(than),
        Exceeding::Seen => None,
    }
}

fn tail(point: &DeadlinePoint) -> Option<&FittedTail> {
    point.beyond.tail.as_ref()
}

fn notes(deadlines: &Deadlines) -> Vec<String> {
    let period_ns = deadlines.control_loop.period_ns;
    let mut notes = vec![taken::note(deadlines.taken, period_ns, "missed")];
    let none_missed = |point: &&DeadlinePoint| point.cycles.missed == 0 && point.cycles.cycles > 0;
    if deadlines.points.iter().any(|point| none_missed(&point)) {
        notes.push(
            "`<`: no miss was observed, and the value is the upper bound (95 %) of the miss rate."
                .into(),
        );
    }
    let is_seen = |point: &&DeadlinePoint| matches!(point.beyond.late, Some(Exceeding::Seen));
    let seen = deadlines.points.iter().filter(is_seen);
    let seen: Vec<u32> = seen.map(|point| point.point.index).collect();
    if !seen.is_empty() {
        notes.push(format!(
            "Misses are not extrapolated{}: this run has late responses, which are counted.",
            deadlines.places.bracketed(&seen)
        ));
    }
    notes
}

fn warnings(file: &RunFile, deadlines: &Deadlines) -> Vec<Warning> {
    let points = &deadlines.points[..];
    let places = &deadlines.places;
    let requested = match deadlines.control_loop.beyond {
        Some(one_in) => format!(" to one in {}", about(one_in)),
        None => String::new(),
    };
    let is_scheduled = deadlines.taken == Taken::AsScheduled;
    let refused = points.iter().filter_map(|point| {
        let responses = point.response.as_ref().map_or(0, |found| found.n);
        Some(Refused {
            point: point.point,
            why: point.beyond.refused?,
            extent: Extent::of(file, point.point, responses, is_scheduled),
        })
    });
    let refused: Vec<Refused> = refused.collect();
    let mut warnings = Vec::new();
    for (which, why) in by_reason(&refused) {
        warnings.push(Warning::new(
            Code::NoExtrapolation,
            format!("no extrapolation{requested}{}", places.bracketed(&which)),
            format!(": {why}"),
        ));
    }
    warnings.extend(missed_unanswered(points, places));
    warnings
}

/// Losses are misses, and no part of a tail.
fn missed_unanswered(points: &[DeadlinePoint], places: &Places) -> Option<Warning> {
    let lossy: Vec<&DeadlinePoint> = points.iter().filter(|p| p.unanswered > 0).collect();
    lossy.first()?;
    let which: Vec<u32> = lossy.iter().map(|point| point.point.index).collect();
    let (subject, verb) = match lossy.iter().map(|point| point.unanswered).sum() {
        1 => ("1 exchange".into(), "counts as a missed cycle"),
        all => (
            format!("{} exchanges", grouped(all)),
            "count as missed cycles",
        ),
    };
    let has_tail = lossy.iter().any(|point| point.beyond.tail.is_some());
    Some(Warning::new(
        Code::MissedUnanswered,
        format!(
            "{subject} without a correct answer in time {verb}{}",
            places.bracketed(&which)
        ),
        match has_tail {
            true => "; the tail is fitted to the correct answers only",
            false => "",
        },
    ))
}
