//! What an exchange run was for, answered in one sentence: a rate to keep, a depth, a size, or the time of an exchange.

use super::depths;
use super::points::{carried, lost, of_limit, pace, troubles, varies};
use crate::tables::places::Places;
use crate::tables::warnings::spread;
use wiregauge_explain::VerdictKind;
use wiregauge_quantity::{RateUnit, grouped, percent, significant, time};
use wiregauge_record::{
    Connect, Figure, Keeping, Part, Plan, Point, PointSummary, Schedule, Times,
};
use wiregauge_run::RunFile;
use wiregauge_stats::{Distribution, Mode};

/// Peaks of the RTT that are named; the table with --full has all.
const PEAKS: usize = 3;

/// A peak is slow from this factor of the largest peak's time on.
const SLOW: f64 = 2.0;

/// The range of a peak is one time if it is narrower than this part of that.
const NARROW: f64 = 0.1;

/// The longest time is named beside a peak from this factor of the peak's time on: a stall.
const STALL: f64 = 10.0;

/// Of points in the order of their numbers. `late_responses`: the part of the point at a place of `file.points` without a
/// right response by the end of its period, where that is known.
pub(super) fn of_exchange(
    file: &RunFile,
    points: &[PointSummary],
    late_responses: &dyn Fn(usize) -> Option<f64>,
) -> String {
    if points.is_empty() {
        return "no point was finished".into();
    }
    let places = Places::of_run(&file.plan, points);
    let mut parts = match file.plan.schedule {
        Schedule::EveryNs(period_ns) => {
            let part = |point: &PointSummary| {
                let is_it = |other: &PointSummary| other.point.index == point.point.index;
                late_responses(file.points.iter().position(is_it)?)
            };
            let late = late(points, &places, period_ns, &part);
            std::iter::once(rate(points, &places, period_ns))
                .chain(late)
                .collect()
        }
        Schedule::AsFastAsPossible => fastest(&file.plan, points, &places),
    };
    if let [point] = points {
        parts.extend(time_of(file, point));
        parts.extend(of_limit(point));
    } else {
        parts.extend(slow(points, &places));
    }
    parts.extend(losses(points));
    match parts.is_empty() {
        true => "no exchange was measured".into(),
        false => parts.join("; "),
    }
}

/// At which points the starts kept a rate, and how late the last exchange of the best of the others started.
fn rate(points: &[PointSummary], places: &Places, period_ns: u64) -> String {
    let pace = pace(period_ns);
    let all = |keep: &dyn Fn(Option<Keeping>) -> bool| -> Vec<&PointSummary> {
        let of = |point: &&PointSummary| keep(point.lateness.map(|late| late.keeping(period_ns)));
        points.iter().filter(of).collect()
    };
    let kept = all(&|of| matches!(of, Some(Keeping::Kept | Keeping::LateStarts)));
    let missed = all(&|of| of == Some(Keeping::FallsBehind));
    let open = all(&|of| matches!(of, None | Some(Keeping::LateAtEnd)));
    let name = |of: &[&PointSummary]| {
        let indices: Vec<u32> = of.iter().map(|point| point.point.index).collect();
        places.in_sentence(&indices)
    };
    let with = |before: &str, name: String| match name.is_empty() {
        true => name,
        false => format!("{before}{name}"),
    };
    // Of the best of them: where, if there are several.
    let there = |of: &[&PointSummary], best: &PointSummary| match of.len() {
        1 => String::new(),
        _ => places.bracketed(&[best.point.index]),
    };
    let at_most = |of: &[&PointSummary]| {
        let rate = |point: &&&PointSummary| point.throughput.exchanges_s;
        let best = of.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
        best.map_or(String::new(), |best| {
            let per_s = significant(best.throughput.exchanges_s);
            format!(": at most {per_s} per s{}", there(of, best))
        })
    };
    let end = |of: &[&PointSummary]| {
        let late = |point: &&&PointSummary| point.lateness.map(|lateness| lateness.end_ns);
        let known = of.iter().filter(|point| late(point).is_some());
        known.min_by_key(late).map_or(String::new(), |best| {
            let end = time(late(&best).unwrap_or(0) as f64);
            format!(": the last exchange starts {end} late{}", there(of, best))
        })
    };
    let is_all = kept.len() + missed.len() == points.len();
    match (&kept[..], &missed[..]) {
        ([], []) => format!(
            "this run does not show whether starts keep {pace}{}",
            end(&open)
        ),
        ([], missed) if is_all => {
            let anywhere = if missed.len() > 1 {
                " at any point"
            } else {
                ""
            };
            format!("starts do not keep {pace}{anywhere}{}", at_most(missed))
        }
        ([], missed) => format!(
            "starts do not keep {pace}{}{}",
            with(" at ", name(missed)),
            at_most(missed)
        ),
        (kept, missed) => {
            let late: u64 = kept
                .iter()
                .filter_map(|point| Some(point.lateness?.late))
                .sum();
            let exchanges: u64 = kept.iter().map(|point| point.counts.exchanges).sum();
            let late = match late {
                0 => String::new(),
                late => format!(", {} of {} late", grouped(late), grouped(exchanges)),
            };
            let not_at = name(missed);
            // Two counts would say the same twice.
            let not_at = match missed.is_empty() || not_at.contains(" of ") {
                true => String::new(),
                false => format!(", not at {not_at}"),
            };
            let at = with(" at ", name(kept));
            format!("starts keep {pace}{at}{late}{not_at}")
        }
    }
}

/// At which of the points that kept the rate right answers came after the end of their period, and their part of all.
fn late(
    points: &[PointSummary],
    places: &Places,
    period_ns: u64,
    part: &dyn Fn(&PointSummary) -> Option<f64>,
) -> Option<String> {
    let is_kept = |point: &&PointSummary| {
        let keeping = point.lateness.map(|late| late.keeping(period_ns));
        matches!(keeping, Some(Keeping::Kept | Keeping::LateStarts))
    };
    let of = |point: &PointSummary| {
        let [all, answered] = [point.counts.exchanges, point.counts.answered].map(|n| n as f64);
        // Those without a right answer are missed too, and are named for themselves.
        let late = (part(point)? * all - (all - answered)).round() / answered;
        (late > 0.0 && late.is_finite()).then_some((point.point.index, late))
    };
    let found = points.iter().filter(is_kept).filter_map(of);
    let (indices, parts): (Vec<u32>, Vec<f64>) = found.unzip();
    (!indices.is_empty()).then(|| {
        let at = match places.in_sentence(&indices) {
            name if name.is_empty() => name,
            name => format!(" at {name}"),
        };
        let late = spread(parts.into_iter(), percent);
        format!("{late} of the responses{at} come after the end of their period")
    })
}

/// Of the only point: what limits it, and its response times if they have several peaks.
fn time_of(file: &RunFile, point: &PointSummary) -> Vec<String> {
    limited(file, point)
        .into_iter()
        .chain(peaks(point))
        .collect()
}

/// At which of several points the RTT has a slow peak, its share and its time.
fn slow(points: &[PointSummary], places: &Places) -> Option<String> {
    let of = |point: &PointSummary| Some((point.point.index, *slow_peak(point)?));
    let (indices, peaks): (Vec<u32>, Vec<Mode>) = points.iter().filter_map(of).unzip();
    (!indices.is_empty()).then(|| {
        let at = places.in_sentence(&indices);
        let share = spread(peaks.iter().map(|mode| mode.share), percent);
        let times = spread(peaks.iter().map(|mode| mode.peak), time);
        let longest = peaks.iter().filter(|mode| has_stalls(mode));
        let longest = longest.map(|mode| mode.high).reduce(f64::max);
        let up_to = longest.map_or(String::new(), up_to);
        format!("slow RTT peak at {at}: {share} take about {times}{up_to}")
    })
}

/// The slowest peak, if it is slow.
fn slow_peak(point: &PointSummary) -> Option<&Mode> {
    let (peaks, slowest) = (point.modes.iter(), point.modes.last()?);
    let largest = peaks.reduce(|a, b| if b.share > a.share { b } else { a })?;
    (slowest.peak >= SLOW * largest.peak).then_some(slowest)
}

/// The largest peaks with their shares, the majority first; `None` if there is only one.
fn peaks(point: &PointSummary) -> Option<String> {
    let slowest = point.modes.last();
    let mut modes: Vec<&Mode> = point.modes.iter().collect();
    modes.sort_by(|a, b| b.share.total_cmp(&a.share));
    modes.truncate(PEAKS);
    let words = |mode: &Mode| {
        let span = span(mode, Some(mode) == slowest);
        format!("{} take {span}", percent(mode.share))
    };
    let words: Vec<String> = modes.into_iter().map(words).collect();
    (words.len() > 1).then(|| words.join(", "))
}

/// True if the longest time that the slowest peak holds is far beyond it.
fn has_stalls(slowest: &Mode) -> bool {
    slowest.high > STALL * slowest.peak
}

/// `, up to 50.00 ms`.
fn up_to(ns: f64) -> String {
    format!(", up to {}", time(ns))
}

/// `2.200 to 3.200 ms`: all that a peak holds; `about 3.119 ms` if that is narrow. The slowest one holds the outliers,
/// too, which are no part of a peak: `2.200 ms or more`, with the longest where that is far away.
fn span(mode: &Mode, is_slowest: bool) -> String {
    match mode.high - mode.low < NARROW * mode.peak {
        true => format!("about {}", time(mode.peak)),
        false if is_slowest && has_stalls(mode) => {
            format!("{} or more{}", time(mode.low), up_to(mode.high))
        }
        false if is_slowest => format!("{} or more", time(mode.low)),
        false => spread([mode.low, mode.high].into_iter(), time),
    }
}

/// What limits the only point.
fn limited(file: &RunFile, point: &PointSummary) -> Option<String> {
    let points = std::slice::from_ref(point);
    let splits = wiregauge_explain::of_exchange(&file.plan, &file.conditions, points);
    let verdict = splits.into_iter().next()?.verdict;
    match verdict.kind {
        VerdictKind::Behind => too_long(&file.plan, point),
        _ => verdict.short,
    }
}

/// The median time of exchanges that take longer than the schedule leaves for them.
fn too_long(plan: &Plan, point: &PointSummary) -> Option<String> {
    let median = |of: &Option<Distribution>| of.as_ref().map_or(0.0, |times| times.p50.value);
    let each_ns = median(&point.connect) + median(&point.rtt);
    let Schedule::EveryNs(period_ns) = plan.schedule else {
        return None;
    };
    let is_longer = each_ns > period_ns as f64 * f64::from(point.point.depth);
    is_longer.then(|| match plan.connect {
        Connect::Once => format!("median RTT {}", time(each_ns)),
        Connect::Each => format!("median of opening and RTT {}", time(each_ns)),
    })
}

/// The fastest of several points with its share of the limit, or the depth of saturation; of one, its RTT.
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
    let at = places.at(best.point.index);
    if points.len() == 1 {
        return takes(best, &at).into_iter().collect();
    }
    let sizes = |point: &Point| (point.out_bytes, point.in_bytes);
    let of_link = |point: &Point| (point.link, point.together);
    let is_like = |point: &Point| {
        of_link(point) == of_link(&best.point) && sizes(point) == sizes(&best.point)
    };
    let here: Vec<&PointSummary> = points
        .iter()
        .filter(|point| is_like(&point.point))
        .collect();
    let several_links = varies(points, of_link);
    if one_size && !several_links {
        let of_depths = depths::answer(plan, &here, &is_like, places);
        if let Some(words) = of_depths {
            return words;
        }
    }
    let words = match one_size {
        true => format!("fastest{at}: {} per s", significant(fast(best))),
        false => {
            let unit = RateUnit::fitting(fast(best));
            format!("fastest{at}: {} {}", unit.show(fast(best)), unit.name())
        }
    };
    std::iter::once(words).chain(of_limit(best)).collect()
}

/// The typical and the longest RTT. Of exchanges that were not answered, the time is longer than any.
fn takes(point: &PointSummary, at: &str) -> Option<String> {
    let rtt = point.rtt.as_ref()?;
    let is_whole = point.counts.answered == point.counts.exchanges;
    let longest = match is_whole {
        true => format!("longest {}", time(rtt.max)),
        false => format!("longest answered {}", time(rtt.max)),
    };
    let median = Figure::Time(Times::Rtt, Part::P50);
    Some(match median.unanswered_share(point) {
        None => format!("median RTT{at} {}, {longest}", time(rtt.p50.value)),
        Some(_) => format!("RTT{at}: {longest}"),
    })
}

/// How many exchanges have no right answer in time, by what came instead; responses duplicated or out of order. Of all
/// points together.
fn losses(points: &[PointSummary]) -> Vec<String> {
    let sum = |of: fn(&PointSummary) -> u64| points.iter().map(of).sum::<u64>();
    let (missing, all) = (sum(lost), sum(|point| point.counts.exchanges));
    let (unanswered, late) = (
        sum(|point| point.counts.lost),
        sum(|point| point.counts.late),
    );
    let (mut instead, mut others) = (Vec::new(), Vec::new());
    if unanswered > 0 && unanswered < missing {
        instead.push(format!("{} unanswered", grouped(unanswered)));
    }
    if late > 0 {
        instead.push(format!("{} late", grouped(late)));
    }
    for (what, count) in troubles(points) {
        let n = grouped(count);
        match (what, count) {
            ("corrupted", _) => instead.push(format!("{n} corrupted")),
            ("unexpected", 1) => instead.push("1 unexpected reply".into()),
            ("unexpected", _) => instead.push(format!("{n} unexpected replies")),
            (what, 1) => others.push(format!("1 response {what}")),
            (what, _) => others.push(format!("{n} responses {what}")),
        }
    }
    let instead = match instead.is_empty() {
        true => String::new(),
        false => format!(" ({})", instead.join(", ")),
    };
    let (n, all) = (grouped(missing), grouped(all));
    let missing =
        (missing > 0).then(|| format!("{n} of {all} without a right answer in time{instead}"));
    missing.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_peak_does_not_end_at_an_outlier_but_names_a_stall() {
        let mode = |low, peak, high| Mode {
            low,
            peak,
            high,
            share: 0.5,
        };
        let wide = mode(70.0, 80.0, 16_060_000.0);
        assert_eq!(span(&wide, true), "70 ns or more, up to 16.06 ms");
        assert_eq!(span(&mode(70.0, 80.0, 790.0), true), "70 ns or more");
        assert_eq!(span(&wide, false), "70 ns to 16.06 ms");
        assert_eq!(span(&mode(2.2e6, 3e6, 3.2e6), false), "2.200 to 3.200 ms");
        let narrow = mode(3.1e6, 3.119e6, 3.2e6);
        assert_eq!(span(&narrow, true), "about 3.119 ms");
    }
}
