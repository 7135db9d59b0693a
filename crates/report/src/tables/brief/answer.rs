//! What an exchange run was for, answered in one sentence: a rate to keep, a depth, a size, or the time of an exchange.

use super::points::{carried, lost, pace, troubles, varies};
use super::{Rated, Used, depths, is_sure, of_limits, saturation};
use crate::tables::places::Places;
use wiregauge_explain::ExchangeVerdict;
use wiregauge_quantity::{RateUnit, grouped, percent, significant, time};
use wiregauge_record::{
    BusLimit, Figure, Keeping, Lateness, Part, Plan, Point, PointSummary, Schedule, Times,
};
use wiregauge_run::RunFile;

/// Of points in the order of their numbers.
pub(super) fn of_exchange(file: &RunFile, points: &[PointSummary]) -> String {
    if points.is_empty() {
        return "no point was finished".into();
    }
    let places = Places::new(points.iter().map(|point| point.point));
    let mut parts = match file.plan.schedule {
        Schedule::EveryNs(period_ns) => vec![rate(points, &places, period_ns)],
        Schedule::AsFastAsPossible => fastest(&file.plan, points, &places),
    };
    if let [point] = points {
        parts.extend(time_of(file, point));
    }
    let used = points.iter().map(|point| Used {
        link: point.point.link,
        limit: point.limit.as_ref().map(|limit| limit.bytes_s),
        used: point.limit.as_ref().map_or(0.0, |limit| limit.used),
    });
    parts.extend(of_limits(&used.collect::<Vec<_>>()));
    parts.extend(losses(points));
    parts.join("; ")
}

/// At which points a rate was kept, and how far the best of the others fell behind.
fn rate(points: &[PointSummary], places: &Places, period_ns: u64) -> String {
    let pace = pace(period_ns);
    let known = points
        .iter()
        .filter_map(|point| Some((point, point.lateness?)));
    let known: Vec<(&PointSummary, Lateness)> = known.collect();
    let is_kept = |lateness: &Lateness| {
        matches!(
            lateness.keeping(period_ns),
            Keeping::Kept | Keeping::LateStarts
        )
    };
    let (kept, missed): (Vec<_>, Vec<_>) =
        known.iter().partition(|(_, lateness)| is_kept(lateness));
    let indices = |of: &[&(&PointSummary, Lateness)]| -> Vec<u32> {
        of.iter().map(|(point, _)| point.point.index).collect()
    };
    let late = |of: &[&(&PointSummary, Lateness)]| {
        let late: u64 = of.iter().map(|(_, lateness)| lateness.late).sum();
        let all: u64 = of.iter().map(|(point, _)| point.counts.exchanges).sum();
        match late {
            0 => String::new(),
            _ => format!(", {} of {} starts late", grouped(late), grouped(all)),
        }
    };
    let (at, not_at) = (indices(&kept), indices(&missed));
    match (&kept[..], &missed[..]) {
        ([], []) => format!("whether {pace} was kept is not known"),
        (kept, []) => format!("{pace} is kept{}{}", places.at_all(&at), late(kept)),
        ([], missed) => {
            let least = missed.iter().min_by_key(|(_, lateness)| lateness.end_ns);
            let (index, end_ns) = least.map_or((0, 0), |(p, late)| (p.point.index, late.end_ns));
            let (anywhere, there) = match missed.len() {
                1 => ("", String::new()),
                _ => (" at any point", places.bracketed(&[index])),
            };
            let end = time(end_ns as f64);
            format!("{pace} is not kept{anywhere}: the last exchange starts {end} late{there}")
        }
        (kept, _) => format!(
            "{pace} is kept{}{}, not{}",
            places.at_all(&at),
            late(kept),
            places.at_all(&not_at)
        ),
    }
}

/// Of the only point: what limits it, and the response times that are rarer.
fn time_of(file: &RunFile, point: &PointSummary) -> Vec<String> {
    let mut parts: Vec<String> = limited(file, point).into_iter().collect();
    let most = point
        .modes
        .iter()
        .map(|mode| mode.share)
        .fold(0.0, f64::max);
    let rare = point.modes.iter().filter(|mode| mode.share < most);
    let rare = rare.map(|mode| format!("{} take about {}", percent(mode.share), time(mode.peak)));
    parts.extend(rare.take(2));
    parts
}

/// What limits the only point.
fn limited(file: &RunFile, point: &PointSummary) -> Option<String> {
    let points = std::slice::from_ref(point);
    let splits = wiregauge_explain::of_exchange(&file.plan, &file.conditions, points);
    Some(match &splits.first()?.verdict {
        ExchangeVerdict::Nothing
        | ExchangeVerdict::ScheduleUnknown
        | ExchangeVerdict::Schedule { .. }
        | ExchangeVerdict::Unfinished { .. }
        | ExchangeVerdict::SlowestStage { .. }
        | ExchangeVerdict::Outlier { .. }
        | ExchangeVerdict::TooFew { .. }
        | ExchangeVerdict::Waiting { .. } => return None,
        ExchangeVerdict::Behind { .. } => {
            let median = |of: &Option<wiregauge_stats::Distribution>| {
                of.as_ref().map_or(0.0, |times| times.p50.value)
            };
            let each_ns = median(&point.connect) + median(&point.rtt);
            let Schedule::EveryNs(period_ns) = file.plan.schedule else {
                return None;
            };
            if each_ns <= period_ns as f64 * f64::from(point.point.depth) {
                return None;
            }
            format!("an exchange takes {} (median)", time(each_ns))
        }
        ExchangeVerdict::Losses { waited } => format!(
            "losses limit the rate: {} of the time is spent waiting for them",
            percent(*waited)
        ),
        ExchangeVerdict::Bus { .. } => "bottleneck: the bus".into(),
        ExchangeVerdict::LatencyTimer { timer_ms, .. } => format!(
            "bottleneck: the FTDI adapter's latency timer ({timer_ms} ms), which a higher --depth does not shorten"
        ),
        ExchangeVerdict::Device { share } => format!(
            "bottleneck: the device ({} of the RTT is device time)",
            percent(*share)
        ),
        ExchangeVerdict::DeviceBusy { .. } => {
            "bottleneck: the device (it needs nearly the whole TRT)".into()
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
    })
}

/// The fastest of several points, and from which depth on its sizes are as fast; of one, its RTT.
fn fastest(plan: &Plan, points: &[PointSummary], places: &Places) -> Vec<String> {
    let answered = points.iter().filter(|point| point.rtt.is_some());
    let one_size = !varies(points, |point| (point.out_bytes, point.in_bytes));
    let fast = |point: &PointSummary| match one_size {
        true => point.throughput.exchanges_s,
        false => carried(point),
    };
    let Some(best) = answered.max_by(|a, b| fast(a).total_cmp(&fast(b))) else {
        return Vec::new();
    };
    if points.len() == 1 {
        return takes(best).into_iter().collect();
    }
    let at = places.at(best.point.index);
    let sizes = |point: &Point| (point.out_bytes, point.in_bytes);
    let is_like = |point: &Point| {
        let links = (point.link, point.together) == (best.point.link, best.point.together);
        links && sizes(point) == sizes(&best.point)
    };
    let here: Vec<&PointSummary> = points
        .iter()
        .filter(|point| is_like(&point.point))
        .collect();
    let words = match one_size {
        true => depths::fastest(&here, places)
            .unwrap_or_else(|| format!("fastest{at}: {} per s", significant(fast(best)))),
        false => {
            let unit = RateUnit::fitting(fast(best));
            format!("fastest{at}: {} {}", unit.show(fast(best)), unit.name())
        }
    };
    let planned = plan.points.iter().filter(|point| is_like(point));
    let planned = planned.map(|point| point.index);
    let saturation = saturation(
        "depth",
        planned,
        here.iter().map(|point| rated(point)).collect(),
    );
    // The depth at which others saturate may be another one.
    let here = if one_size { "" } else { " at this size" };
    let saturation = saturation.map(|text| text + here);
    // Near the limit, and where no gain is proven, a higher depth has little to gain.
    let of_link = points.iter().filter(|p| p.point.link == best.point.link);
    let mut limits = of_link.filter_map(|point| point.limit.as_ref());
    let near = limits.any(BusLimit::is_near);
    let gains = !near && !words.starts_with("no depth");
    let saturation = saturation.filter(|text| gains || text.starts_with("saturated"));
    std::iter::once(words).chain(saturation).collect()
}

/// The typical and the longest RTT. Of exchanges that were not answered, the time is longer than any.
fn takes(point: &PointSummary) -> Option<String> {
    let rtt = point.rtt.as_ref()?;
    let (typical, longest) = (time(rtt.p50.value), time(rtt.max));
    let longest = match point.counts.answered == point.counts.exchanges {
        true => format!("at most {longest} here"),
        false => format!("the longest answered one {longest}"),
    };
    let median = Figure::Time(Times::Rtt, Part::P50);
    Some(match median.unanswered_share(point) {
        None => format!("an exchange takes {typical} (median), {longest}"),
        Some(_) => longest,
    })
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

/// What was lost or wrong, of all points together.
fn losses(points: &[PointSummary]) -> Vec<String> {
    let (missing, all) = points.iter().fold((0, 0), |(missing, all), point| {
        (missing + lost(point), all + point.counts.exchanges)
    });
    let missing = (missing > 0).then(|| format!("{} of {} lost", grouped(missing), grouped(all)));
    let others = troubles(points).map(|(what, count)| match what {
        "unexpected" => format!("{} unexpected replies", grouped(count)),
        what => format!("{} {what}", grouped(count)),
    });
    missing.into_iter().chain(others).collect()
}
