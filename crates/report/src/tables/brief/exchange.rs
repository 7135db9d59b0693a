//! An exchange run in one table and one sentence.

use super::{Brief, Fitted, Rated, Used, is_sure, of_limits, saturation};
use crate::tables::can::can;
use crate::tables::exchange::{below, explained, intervals, limits_of, queries, unexpected};
use crate::tables::percentile::{bounded, range};
use crate::tables::places::Places;
use crate::tables::point_columns::{columns, dashes, point_cells, typical};
use crate::tables::stages::stages;
use crate::tables::table::Table;
use wiregauge_explain::ExchangeVerdict;
use wiregauge_quantity::{RateUnit, exact_time, grouped, percent, significant, times};
use wiregauge_record::{BusLimit, Plan, Point, PointSummary, Schedule};
use wiregauge_run::RunFile;
use wiregauge_stats::Distribution;

/// The column of the mean TRT.
const TRT: &str = "TRT";

/// The column of p99 from the intended start.
const INTENDED: &str = "p99 (intended)";

/// What a narrow terminal does without.
const SPARE: &[&str] = &[
    TRT,
    "n",
    "lost",
    DUPLICATED,
    REORDERED,
    "max",
    "exchanges/s",
    "% of limit",
    "p50",
];

/// The same of a run with losses, which are always shown.
const SPARE_OF_LOSSES: &[&str] = &[
    TRT,
    "n",
    DUPLICATED,
    REORDERED,
    "max",
    "exchanges/s",
    "% of limit",
    "p50",
];

const DUPLICATED: &str = "duplicated";

const REORDERED: &str = "out of order";

/// One table and one sentence; and the tables that a flag requested.
pub(in crate::tables) fn of_exchange(file: &RunFile, confidence: bool) -> Brief {
    // Links that run together may end in any order.
    let mut points = file.points.clone();
    points.sort_by_key(|point| point.point.index);
    let (table, trt) = table(&points);
    let mut tables = vec![Fitted {
        table,
        spare: match points.iter().any(|point| missing(point) > 0) {
            true => SPARE_OF_LOSSES,
            false => SPARE,
        },
        titled: trt.map(|text| (TRT, text)),
    }];
    let requested = confidence.then(|| intervals(&points));
    tables.extend(
        requested
            .into_iter()
            .chain(stages(&file.plan, &points))
            .chain(queries(&points))
            .chain(below(&file.plan, &points))
            .chain(unexpected(&points))
            .chain(can(&points))
            .map(|table| Fitted {
                table,
                spare: &[],
                titled: None,
            }),
    );
    for fitted in &mut tables {
        fitted.table = explained(std::mem::take(&mut fitted.table), &points);
    }
    Brief {
        tables,
        finding: finding(file, &points),
    }
}

/// The table, and what its title says of TRT.
fn table(points: &[PointSummary]) -> (Table, Option<String>) {
    let unit = typical(points, |p| p.rtt.as_ref());
    // With a schedule the start is given, and TRT says nothing.
    let intended = points.iter().any(|p| p.from_intended.is_some());
    let (other, other_unit) = match intended {
        true => (INTENDED, typical(points, |p| p.from_intended.as_ref())),
        false => (TRT, typical(points, |p| p.trt.as_ref())),
    };
    let limit = points.iter().find_map(|p| p.limit.as_ref());
    let mut title = format!("RTT in {}", unit.name());
    let trt = match intended {
        true => {
            title += &format!(", p99 from the intended start in {}", other_unit.name());
            None
        }
        false => Some(format!(", mean TRT in {}", other_unit.name())),
    };
    title += trt.as_deref().unwrap_or_default();
    let is_corrupted = points.iter().any(|point| point.counts.corrupted > 0);
    let is_unexpected = points.iter().any(|point| point.counts.unexpected > 0);
    let mut rest = vec!["n", "lost"];
    rest.extend(is_corrupted.then_some("corrupted"));
    rest.extend(is_unexpected.then_some("unexpected"));
    let is_duplicated = points.iter().any(|point| point.counts.duplicated > 0);
    let is_reordered = points.iter().any(|point| point.counts.reordered > 0);
    rest.extend(is_duplicated.then_some(DUPLICATED));
    rest.extend(is_reordered.then_some(REORDERED));
    rest.extend(["p50", "p99", "max", other, "exchanges/s"]);
    let mut heads = columns(points, &rest);
    if let Some(limits) = limits_of(points) {
        title += &format!("; {limits}");
        heads.push("% of limit");
    }
    let mut table = Table::new(title, &heads);
    for point in points {
        let mut cells = point_cells(points, point);
        cells.extend([point.counts.answered, missing(point)].map(grouped));
        cells.extend(is_corrupted.then(|| grouped(point.counts.corrupted)));
        cells.extend(is_unexpected.then(|| grouped(point.counts.unexpected)));
        cells.extend(is_duplicated.then(|| grouped(point.counts.duplicated)));
        cells.extend(is_reordered.then(|| grouped(point.counts.reordered)));
        match &point.rtt {
            Some(rtt) => cells.extend([
                bounded(unit, &rtt.p50),
                bounded(unit, &rtt.p99),
                unit.show(rtt.max),
            ]),
            None => cells.extend(dashes(3)),
        }
        let from_intended = point.from_intended.as_ref();
        let trt = point.trt.as_ref().map(|trt| &trt.mean);
        cells.push(match intended {
            true => from_intended.map_or("-".into(), |of| bounded(other_unit, &of.p99)),
            false => trt.map_or("-".into(), |trt| other_unit.show(trt.value)),
        });
        cells.push(significant(point.throughput.exchanges_s));
        if limit.is_some() {
            let used = point.limit.as_ref().map(|limit| percent(limit.used));
            cells.push(used.unwrap_or("-".into()));
        }
        table.row(cells);
    }
    (table, trt)
}

/// Exchanges without an answer in time.
fn missing(point: &PointSummary) -> u64 {
    point.counts.lost + point.counts.late
}

fn finding(file: &RunFile, points: &[PointSummary]) -> String {
    if points.is_empty() {
        return "no point was finished".into();
    }
    let scheduled = matches!(file.plan.schedule, Schedule::EveryNs(_));
    let mut parts = Vec::new();
    match points {
        [_] => parts.extend(limited(file, points)),
        _ if scheduled => {}
        several => parts.extend(fastest(&file.plan, several)),
    }
    let used = points.iter().map(|p| Used {
        link: p.point.link,
        limit: p.limit.as_ref().map(|limit| limit.bytes_s),
        used: p.limit.as_ref().map_or(0.0, |limit| limit.used),
    });
    parts.extend(of_limits(&used.collect::<Vec<_>>()));
    let intended = points.iter().any(|p| p.from_intended.is_some());
    parts.extend(match intended {
        true => p99(points, "p99 from the intended start", |p| {
            p.from_intended.as_ref()
        }),
        false => p99(points, "p99", |p| p.rtt.as_ref()),
    });
    let (lost, all) = points.iter().fold((0, 0), |(lost, all), point| {
        (lost + missing(point), all + point.counts.exchanges)
    });
    parts.push(match lost {
        0 => "0 lost".into(),
        lost => format!("{} of {} lost", grouped(lost), grouped(all)),
    });
    let corrupted: u64 = points.iter().map(|p| p.counts.corrupted).sum();
    if corrupted > 0 {
        parts.push(format!("{} corrupted", grouped(corrupted)));
    }
    let unexpected: u64 = points.iter().map(|p| p.counts.unexpected).sum();
    if unexpected > 0 {
        parts.push(format!("{} unexpected replies", grouped(unexpected)));
    }
    let others = [
        (points.iter().map(|p| p.counts.duplicated).sum(), DUPLICATED),
        (points.iter().map(|p| p.counts.reordered).sum(), REORDERED),
    ];
    let others: [(u64, &str); 2] = others;
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    parts.extend(others.map(|(count, what)| format!("{} {what}", grouped(count))));
    parts.join("; ")
}

/// What limits the only point.
fn limited(file: &RunFile, points: &[PointSummary]) -> Option<String> {
    let splits = wiregauge_explain::of_exchange(&file.plan, &file.conditions, points);
    Some(match &splits.first()?.verdict {
        ExchangeVerdict::Nothing
        | ExchangeVerdict::ScheduleUnknown
        | ExchangeVerdict::Unfinished { .. }
        | ExchangeVerdict::Waiting { .. } => return None,
        ExchangeVerdict::Schedule { under_way } => {
            let period = match file.plan.schedule {
                Schedule::EveryNs(ns) => format!("{} period", exact_time(ns)),
                Schedule::AsFastAsPossible => "period".into(),
            };
            match *under_way > 1.0 {
                true => format!("an exchange takes {} its {period}", times(*under_way)),
                false => format!("an exchange takes {} of its {period}", percent(*under_way)),
            }
        }
        ExchangeVerdict::Behind { .. } => "the schedule is not kept".into(),
        ExchangeVerdict::TooFew { .. } => "too few exchanges to find the bottleneck".into(),
        ExchangeVerdict::Losses { waited } => format!(
            "losses limit the rate: {} of the time is spent waiting for them",
            percent(*waited)
        ),
        ExchangeVerdict::Bus { .. } => "bottleneck: the bus".into(),
        ExchangeVerdict::LatencyTimer { timer_ms, .. } => format!(
            "bottleneck: the FTDI adapter's latency timer ({timer_ms} ms), which a higher --depth does not shorten"
        ),
        ExchangeVerdict::Device { share } => {
            format!(
                "bottleneck: the device ({} of the RTT is device time)",
                percent(*share)
            )
        }
        ExchangeVerdict::DeviceBusy { .. } => {
            "bottleneck: the device (it needs nearly the whole TRT)".into()
        }
        ExchangeVerdict::Outlier { .. } => {
            "slower than smaller and larger depths: measure again".into()
        }
        ExchangeVerdict::OneAtATime { try_depth, .. } => match try_depth {
            Some(_) => "one exchange at a time: a higher --depth may be faster".into(),
            None => "the device allows only one exchange at a time".into(),
        },
        ExchangeVerdict::Connection { share, larger } => match larger {
            Some((name, share)) => format!("{name}: {} of each exchange", percent(*share)),
            None => format!(
                "opening the link takes {} of each exchange",
                percent(*share)
            ),
        },
        ExchangeVerdict::HostBehind { achieved, depth } => {
            format!("bottleneck: the host (depth {achieved:.1} of {depth} achieved)")
        }
        ExchangeVerdict::PerhapsMore { try_depth } => match try_depth {
            Some(_) => "a higher --depth may be faster".into(),
            None => "the device allows no higher --depth".into(),
        },
        ExchangeVerdict::SlowestStage { .. } => "saturated".into(),
    })
}

/// The fastest of several points, and from which depth on its sizes are as fast.
fn fastest(plan: &Plan, points: &[PointSummary]) -> Vec<String> {
    let sizes = |p: &PointSummary| (p.point.out_bytes, p.point.in_bytes);
    let one_size = points.iter().all(|p| sizes(p) == sizes(&points[0]));
    let bytes_s = |p: &PointSummary| p.throughput.out_bytes_s + p.throughput.in_bytes_s;
    let fast = |p: &PointSummary| match one_size {
        true => p.throughput.exchanges_s,
        false => bytes_s(p),
    };
    let answered = points.iter().filter(|p| p.rtt.is_some());
    let Some(best) = answered.max_by(|a, b| fast(a).total_cmp(&fast(b))) else {
        return Vec::new();
    };
    let most = match one_size {
        true => format!("{} exchanges/s", significant(best.throughput.exchanges_s)),
        false => {
            let unit = RateUnit::fitting(bytes_s(best));
            format!("{} {} IN + OUT", unit.show(bytes_s(best)), unit.name())
        }
    };
    let places = Places::new(points.iter().map(|p| p.point));
    let place = places.bracketed(&[best.point.index]);
    let mut parts = vec![format!("fastest {most}{place}")];
    let same = |point: &Point| {
        let links = (point.link, point.together) == (best.point.link, best.point.together);
        links && (point.out_bytes, point.in_bytes) == sizes(best)
    };
    let here = || points.iter().filter(|p| same(&p.point));
    let planned = plan.points.iter().filter(|point| same(point));
    let planned = planned.map(|point| point.index);
    let saturation = saturation("depth", planned, here().map(rated).collect());
    // The depth at which others saturate may be another one.
    let at = if one_size { "" } else { " at this size" };
    let saturation = saturation.map(|text| text + at);
    // Near the limit, a higher depth has little to gain.
    let of_link = points.iter().filter(|p| p.point.link == best.point.link);
    let mut limits = of_link.filter_map(|p| p.limit.as_ref());
    let near = limits.any(BusLimit::is_near);
    parts.extend(saturation.filter(|text| !near || text.starts_with("saturated")));
    parts
}

fn rated(summary: &PointSummary) -> Rated {
    let (n, depth) = (summary.counts.exchanges, summary.point.depth);
    let mean = summary.trt.as_ref().map(|trt| &trt.mean);
    Rated {
        index: summary.point.index,
        setting: depth,
        rate: Some(summary.throughput.exchanges_s),
        is_sure: n >= 10 * u64::from(depth) && is_sure(&summary.ending, mean, n),
    }
}

fn p99(
    points: &[PointSummary],
    name: &str,
    of: impl Fn(&PointSummary) -> Option<&Distribution> + Clone,
) -> Option<String> {
    let all = points.iter().filter_map(&of).map(|times| &times.p99);
    range(name, typical(points, &of), all)
}
