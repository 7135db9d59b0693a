//! The table of an exchange run: the settings that vary, then the same columns for every run.

use super::answer;
use super::points::{TROUBLES, carried, lost, troubles, varies};
use super::{Brief, Wide, sentence};
use crate::tables::can::can;
use crate::tables::exchange::{below, intervals, limits_of, queries, unexpected};
use crate::tables::percentile::{Marks, marked};
use crate::tables::places::Places;
use crate::tables::point_columns::{dashes, typical};
use crate::tables::stages::stages;
use crate::tables::table::Table;
use crate::tables::warnings::few_samples;
use wiregauge_quantity::{RateUnit, grouped, percent, significant, time};
use wiregauge_record::{Keeping, Plan, PointSummary, Schedule};
use wiregauge_run::RunFile;

/// Links that run together may end in any order.
fn by_number(file: &RunFile) -> Vec<PointSummary> {
    let mut points = file.points.clone();
    points.sort_by_key(|point| point.point.index);
    points
}

/// One table and one sentence; and the tables that a flag requested.
pub(in crate::tables) fn of_exchange(
    file: &RunFile,
    confidence: bool,
    late_responses: &dyn Fn(usize) -> Option<f64>,
) -> Brief {
    let points = by_number(file);
    let places = &Places::of_run(&file.plan, &points);
    let requested = confidence.then(|| intervals(&points, places));
    let others = requested
        .into_iter()
        .chain(stages(&file.plan, &points, places))
        .chain(queries(&points, places))
        .chain(below(&file.plan, &points, places))
        .chain(unexpected(&points, places))
        .chain(can(&points, places));
    Brief {
        answer: sentence(&answer::of_exchange(file, &points, late_responses)),
        tables: std::iter::once(table(file, &points, places, confidence))
            .chain(others.map(Wide::from))
            .collect(),
    }
}

/// `confidence`: the intervals have a table of their own.
fn table(file: &RunFile, points: &[PointSummary], places: &Places, confidence: bool) -> Wide {
    let unit = typical(points, |point| point.rtt.as_ref());
    let mut title = format!("RTT in {}", unit.name());
    let mut heads = places.heads_and(&["n", "lost"]);
    let seen: Vec<&str> = troubles(points).map(|(head, _)| head).collect();
    let seen = TROUBLES.iter().filter(|(head, _)| seen.contains(head));
    heads.extend(seen.clone().map(|(head, _)| *head));
    heads.extend(["p50", "p99", "max", "jitter", "per s"]);
    let rates = varies(points, |point| (point.out_bytes, point.in_bytes)).then(|| {
        let bytes_s = points.iter().map(carried).fold(0.0, f64::max);
        RateUnit::fitting(bytes_s)
    });
    if let Some(rate) = rates {
        heads.push(rate.name());
        title += &format!("; {}: OUT + IN", rate.name());
    }
    let limits = limits_of(points);
    if let Some(limits) = &limits {
        heads.push("% of limit");
        title += &format!("; {limits}");
    }
    let period_ns = match file.plan.schedule {
        Schedule::EveryNs(period_ns) => Some(period_ns),
        Schedule::AsFastAsPossible => None,
    };
    heads.extend(period_ns.map(|_| "schedule"));
    let mut table = Table::new(title, &heads);
    let mut marks = Marks::default();
    for point in points {
        let mut cells = places.cells(point.point.index);
        cells.extend([point.counts.answered, lost(point)].map(grouped));
        cells.extend(seen.clone().map(|(_, of)| grouped(of(point))));
        match &point.rtt {
            Some(rtt) => cells.extend([
                marked(unit, &rtt.p50, &mut marks),
                marked(unit, &rtt.p99, &mut marks),
                unit.show(rtt.max),
                unit.show(rtt.sd),
            ]),
            None => cells.extend(dashes(4)),
        }
        cells.push(significant(point.throughput.exchanges_s));
        cells.extend(rates.map(|rate| rate.show(carried(point))));
        if limits.is_some() {
            let used = point.limit.as_ref().map(|limit| percent(limit.used));
            cells.push(used.unwrap_or("-".into()));
        }
        cells.extend(period_ns.map(|_| kept(&file.plan, point)));
        table.row(cells);
    }
    table
        .notes
        .extend(marks.note(few_samples::of(file).as_ref(), confidence));
    Wide::new(table, places, points.iter().map(|point| point.point.index))
}

/// What became of the schedule, in a cell.
fn kept(plan: &Plan, point: &PointSummary) -> String {
    let (Some(keeping), Some(lateness)) = (point.keeping(plan.schedule), point.lateness) else {
        return "-".into();
    };
    let end = time(lateness.end_ns as f64);
    match keeping {
        Keeping::Kept => "kept".into(),
        Keeping::LateStarts => format!("{} late", grouped(lateness.late)),
        Keeping::LateAtEnd => format!("{end} late"),
        Keeping::FallsBehind => format!("{end} behind"),
    }
}
