//! What a run means for a control loop, in tables with units; what is not known, and why.

use super::columns::{Columns, MAX, Numbered, P999};
use super::no_tail::{Extent, Refused, by_reason};
use super::places::Places;
use super::table::Table;
use super::taken::{self, Skipped};
use super::warnings::{Code, Warning};
use super::{Tables, heading};
use crate::load::{Beyond, DeadlinePoint, Deadlines, Taken};
use wiregauge_quantity::{
    TimeUnit, about, about_time, exact_time, grouped, percent_number, two_digits,
};
use wiregauge_run::RunFile;
use wiregauge_stats::Exceeding;

/// Tells of it, beside what the run was.
pub fn of_deadlines(file: &RunFile, deadlines: &Deadlines) -> Tables {
    let mut tables = vec![cycles(deadlines), bursts(deadlines)];
    tables.extend(beyond(deadlines));
    Tables {
        heading: heading::of_exchange(file),
        note: heading::note(&file.conditions),
        set_off: vec![file.plan.address.clone()],
        tables,
        notes: notes(file, deadlines),
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
        "Missed {}; {response} in {}",
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
            (0, _) => None,
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

/// True if the run has a response that long: it is counted, not extrapolated.
fn is_seen(point: &DeadlinePoint) -> bool {
    matches!(point.beyond.late, Some(Exceeding::Seen))
}

/// How often the deadline is exceeded, where no response did, and what one in N exceeds.
fn beyond(deadlines: &Deadlines) -> Vec<Table> {
    let points = &deadlines.points[..];
    let shown = &deadlines.places;
    let requested = |point: &&DeadlinePoint| point.beyond.one_in.is_some();
    let unit = unit(points);
    let mut rates = Table::new(
        format!(
            "Tail extrapolation (generalised Pareto): misses of the deadline in {}",
            unit.name()
        ),
        &shown.heads_and(&["deadline", "1 in", "per hour"]),
    );
    let mut levels = Table::new(
        format!("Response that one in N exceeds, in {}", unit.name()),
        &shown.heads_and(&[
            "1 in",
            "exceeds",
            "threshold",
            "over",
            "independent excesses",
            "shape",
        ]),
    );
    let period = deadlines.control_loop.period_ns as f64;
    for point in points.iter().filter(requested) {
        if let Some(cells) = rarity(&point.beyond, period) {
            let mut row = shown.cells(point.point.index);
            row.push(unit.show(point.limit_ns));
            row.extend(cells);
            rates.row(row);
        }
        let mut row = shown.cells(point.point.index);
        row.extend(tail(&point.beyond, unit));
        levels.row(row);
    }
    let tables = [rates, levels].into_iter();
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// Rarer than one in how many is a late response, and fewer than how many are in an hour; `None` if a response of the
/// run was.
fn rarity(beyond: &Beyond, period_ns: f64) -> Option<[String; 2]> {
    match beyond.late? {
        Exceeding::Rarer { than } => Some([
            format!("> {}", about(1.0 / than)),
            format!("< {}", two_digits(than * 3600e9 / period_ns)),
        ]),
        Exceeding::Seen => None,
    }
}

fn tail(beyond: &Beyond, unit: TimeUnit) -> Vec<String> {
    let (Some(tail), Some(one_in)) = (&beyond.tail, beyond.one_in) else {
        return vec!["-".into(); 6];
    };
    let level = beyond.level.map(|level| format!("< {}", unit.show(level)));
    vec![
        about(one_in),
        level.unwrap_or_else(|| "-".into()),
        unit.show(tail.threshold),
        grouped(tail.over),
        grouped(tail.independent.round() as u64),
        format!("{:.2}", tail.shape),
    ]
}

fn notes(file: &RunFile, deadlines: &Deadlines) -> Vec<String> {
    let has_depth = deadlines.points.iter().any(|p| p.point.depth > 1);
    let period_ns = deadlines.control_loop.period_ns;
    let mut notes = vec![taken::note(
        deadlines.taken,
        period_ns,
        has_depth,
        Skipped::Missed,
    )];
    let none_missed = |point: &&DeadlinePoint| point.cycles.missed == 0 && point.cycles.cycles > 0;
    if deadlines.points.iter().any(|point| none_missed(&point)) {
        notes.push(
            "`<`: no miss was observed, and the value is the upper bound (95 %) of the miss rate."
                .into(),
        );
    }
    let is_rarer =
        |point: &DeadlinePoint| matches!(point.beyond.late, Some(Exceeding::Rarer { .. }));
    if deadlines.points.iter().any(is_rarer) {
        notes.push(
            "Tail: bounds (95 %), without an estimate, because it may end anywhere beyond the longest response."
                .into(),
        );
    }
    let seen = deadlines.points.iter().filter(|point| is_seen(point));
    let seen: Vec<u32> = seen.map(|point| point.point.index).collect();
    if !seen.is_empty() {
        notes.push(format!(
            "Misses are not extrapolated{}: this run has late responses, which are counted.",
            deadlines.places.bracketed(&seen)
        ));
    }
    let measured: u64 = file
        .points
        .iter()
        .map(|point| point.elapsed_ns)
        .max()
        .unwrap_or(0);
    notes.push(format!(
        "All figures assume that host and link behave as in this run. A point lasted {} at most: disturbances \
         that occur less often may be missing.",
        about_time(measured as f64)
    ));
    notes
}

fn warnings(file: &RunFile, deadlines: &Deadlines) -> Vec<Warning> {
    let points = &deadlines.points[..];
    let places = &deadlines.places;
    let requested = match deadlines.control_loop.beyond {
        Some(one_in) => format!(" to one in {}", about(one_in)),
        None => String::new(),
    };
    let refused = points.iter().filter_map(|point| {
        let responses = point.response.as_ref().map_or(0, |found| found.n);
        Some(Refused {
            point: point.point,
            why: point.beyond.refused?,
            extent: Extent::of(file, point.point, responses),
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
