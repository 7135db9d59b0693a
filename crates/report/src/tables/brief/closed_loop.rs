//! A loop run in one table and one sentence.

use super::{Brief, Wide, sentence};
use crate::tables::closed_loop::{is_too_short, needed, of_aim, paths, refuting, tested};
use wiregauge_quantity::{TimeUnit, about_time, grouped};
use wiregauge_record::{Aim, LoopSummary};
use wiregauge_stats::poisson_high;

/// Columns that only `--full` has.
const LEFT_OUT: &[&str] = &[
    "MB/s per direction",
    "period",
    "duty",
    "lowest ms",
    "measured latency",
];

/// One table and one sentence; and the GPU paths and tested preloads, which a flag requested.
pub(in crate::tables) fn of_loop(points: &[LoopSummary]) -> Brief {
    let curves = of_aim(points, Aim::Curve);
    let held = of_aim(points, Aim::Hold);
    let mut left_out = LEFT_OUT.to_vec();
    let channels = |point: &LoopSummary| point.point.channels;
    if points
        .iter()
        .all(|point| channels(point) == channels(&points[0]))
    {
        left_out.push("channels");
    }
    let mut tables = Vec::new();
    if !curves.is_empty() {
        tables.push(needed(&curves).without(&left_out).into());
        tables.extend(paths(&curves).map(Wide::from));
    }
    if !held.is_empty() {
        tables.push(tested(&held).without(&left_out).into());
    }
    Brief {
        answer: sentence(&answer(&curves, &held)),
        tables,
    }
}

fn answer(curves: &[&LoopSummary], held: &[&LoopSummary]) -> String {
    if curves.is_empty() && held.is_empty() {
        return "no point was finished".into();
    }
    let mut parts = Vec::new();
    parts.extend(latency(curves));
    parts.extend(refuted(curves, held));
    parts.extend(above_floor(curves));
    if !curves.is_empty() {
        let untested = if held.is_empty() {
            ""
        } else {
            " before the tests"
        };
        parts.push(stalls(curves) + untested);
    }
    parts.extend(preloads(held, !curves.is_empty()));
    let all = [curves, held].concat();
    if !all.iter().all(|point| is_too_short(point)) {
        parts.extend(verified(&all));
    }
    parts.join("; ")
}

/// The latency needed, from the lowest to the highest.
fn latency(curves: &[&LoopSummary]) -> Option<String> {
    let all = || curves.iter().filter_map(|p| Some((p.needed_ns?, p)));
    let (lowest, best) = all().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (highest, _) = all().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let [low, high] = [lowest, highest].map(|ns| TimeUnit::Milli.show(ns));
    let text = format!("lowest latency without a stall {} ms", range(low, high));
    Some(match curves.len() {
        1 => text,
        _ => format!("{text} (shortest: row {})", best.point.index + 1),
    })
}

/// A test that stalled with a preload at least as long as the shortest latency.
fn refuted(curves: &[&LoopSummary], tested: &[&LoopSummary]) -> Option<String> {
    let known = curves.iter().filter_map(|p| Some((p.needed_ns?, p)));
    let (_, best) = known.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let worst = refuting(tested.iter().copied(), best)?;
    Some(format!(
        "but {} with a tested preload of {} ms (row {})",
        counted(&[worst]),
        TimeUnit::Milli.show(worst.point.preload_ns()),
        worst.point.index + 1
    ))
}

/// How far the latency is above what this host adds by itself.
fn above_floor(curves: &[&LoopSummary]) -> Option<String> {
    let ratios = || {
        curves
            .iter()
            .filter_map(|p| Some(p.needed_ns? / p.floor_ns?))
    };
    let lowest = ratios().min_by(f64::total_cmp)?;
    let highest = ratios().max_by(f64::total_cmp)?;
    let [low, high] = [lowest, highest].map(|ratio| format!("{ratio:.2}"));
    Some(format!("{} x the floor", range(low, high)))
}

/// `1.2`, or `1.2 to 2.0` over several rows.
fn range(lowest: String, highest: String) -> String {
    match lowest == highest {
        true => lowest,
        false => format!("{lowest} to {highest}"),
    }
}

/// Stalls counted, and how many a minute they do not exclude.
fn stalls(points: &[&LoopSummary]) -> String {
    let elapsed: u64 = points.iter().map(|p| p.elapsed_ns).sum();
    let mut text = format!("{} in {}", counted(points), about_time(elapsed as f64));
    // Several points are several settings, which have no rate in common.
    if let [only] = points {
        text += &format!(" ({})", bound(only));
    }
    text
}

/// `1 stall`, `4,578 stalls`.
fn counted(points: &[&LoopSummary]) -> String {
    match points.iter().map(|p| p.overruns + p.underruns).sum() {
        1 => "1 stall".to_owned(),
        count => format!("{} stalls", grouped(count)),
    }
}

/// Upper bound of the stalls a minute.
fn bound(point: &LoopSummary) -> String {
    let minutes = point.elapsed_ns.max(1) as f64 / 60e9;
    let most = poisson_high(point.overruns + point.underruns) / minutes;
    format!("95 %: fewer than {most:.1} a minute")
}

/// What became of the tested preloads; --find has searched where there are curves.
fn preloads(tested: &[&LoopSummary], searched: bool) -> Option<String> {
    let held: Vec<_> = tested
        .iter()
        .filter(|p| p.overruns + p.underruns == 0)
        .collect();
    Some(match (&held[..], tested.len()) {
        (_, 0) => return None,
        ([], 1) => {
            let bytes = grouped(tested[0].point.preload_bytes);
            let stalls = counted(tested);
            let hint = if searched { "" } else { "; try --find" };
            format!("the preload of {bytes} B is too short ({stalls}){hint}")
        }
        ([], all) => format!("all {all} tested preloads had stalls"),
        ([one], _) => format!(
            "preload of {} ms: no stall in {} (row {}; {})",
            TimeUnit::Milli.show(one.point.preload_ns()),
            about_time(one.elapsed_ns as f64),
            one.point.index + 1,
            bound(one)
        ),
        (several, all) => {
            let worst = tested.iter().max_by_key(|p| p.overruns + p.underruns);
            let worst = worst
                .filter(|_| several.len() < all)
                .map_or(String::new(), |worst| {
                    format!(
                        ", at most {} (row {})",
                        counted(&[worst]),
                        worst.point.index + 1
                    )
                });
            format!(
                "{} of {all} tested preloads without a stall{worst}",
                several.len()
            )
        }
    })
}

/// Whether the latency is the preload.
fn verified(points: &[&LoopSummary]) -> Option<String> {
    let checked = points.iter().filter_map(|p| p.verified.as_ref());
    let (good, all) = checked.fold((0, 0), |(good, all), verified| {
        (good + usize::from(verified.holds()), all + 1)
    });
    match (good, points.len()) {
        _ if all == 0 => Some("output not checked".into()),
        (good, points) if good == points => Some("output checked, no errors".into()),
        (good, points) => Some(format!(
            "output checked without errors at {good} of {points} points"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::{Aim, Ending, LoopPath, LoopPoint, ResourceUse, Verified};

    fn point(index: u32, aim: Aim, needed_ms: f64, underruns: u64) -> LoopSummary {
        LoopSummary {
            point: LoopPoint {
                index,
                rate_hz: 1_000_000,
                channels: 1,
                notify_bytes: 2_000,
                ring_bytes: 64_000,
                preload_bytes: 4_000,
                aim,
                path: LoopPath::Cpu,
            },
            ending: Ending::Complete,
            elapsed_ns: 10_000_000_000,
            blocks: 10_000,
            wake: None,
            work: None,
            service: None,
            needed_ns: Some(needed_ms * 1e6),
            needed_bytes: Some(4_000),
            curve: Vec::new(),
            overruns: 0,
            underruns,
            stalls: Vec::new(),
            verified: Some(Verified {
                method: "sequence".into(),
                found_frames: Some(2_000),
                cable_frames: None,
                preload_frames: 2_000,
                compared: 10_000,
                wrong: 0,
            }),
            duty: 0.1,
            host_delay: None,
            floor_ns: Some(1e6),
            timer: None,
            stages: Vec::new(),
            memory_bytes_s: None,
            resources: ResourceUse::default(),
            disturbances: Vec::new(),
        }
    }

    #[test]
    fn one_point_has_its_latency_and_the_bound_of_its_stalls() {
        let brief = of_loop(&[point(0, Aim::Curve, 1.25, 0)]);
        assert_eq!(
            brief.answer,
            "Lowest latency without a stall 1.250 ms; 1.25 x the floor; 0 stalls in 10 s (95 %: fewer than 18.0 \
             a minute); output checked, no errors."
        );
        assert_eq!(brief.tables(100).count(), 1);
    }

    #[test]
    fn several_points_name_the_row_of_the_shortest_and_a_test_adds_its_table() {
        let brief = of_loop(&[
            point(0, Aim::Curve, 2.5, 0),
            point(1, Aim::Curve, 1.25, 0),
            point(2, Aim::Hold, 1.25, 3),
            point(3, Aim::Hold, 1.25, 0),
        ]);
        assert!(
            brief.answer.starts_with(
                "Lowest latency without a stall 1.250 to 2.500 ms (shortest: row 2); but 3 stalls with a tested preload of \
                 2.000 ms (row 3); 1.25 to 2.50 x the floor"
            ),
            "{}",
            brief.answer
        );
        assert!(
            brief.answer.ends_with(
                "preload of 2.000 ms: no stall in 10 s (row 4; 95 %: fewer than 18.0 a minute); output checked, \
                 no errors."
            ),
            "{}",
            brief.answer
        );
        assert_eq!(brief.tables(100).count(), 2);
    }

    #[test]
    fn a_preload_that_stalled_has_its_stalls_and_no_praise() {
        let brief = of_loop(&[point(0, Aim::Hold, 2.5, 4_578)]);
        assert_eq!(
            brief.answer,
            "The preload of 4,000 B is too short (4,578 stalls); try --find."
        );
        let brief = of_loop(&[point(0, Aim::Hold, 2.5, 4_578), point(1, Aim::Hold, 2.5, 1)]);
        assert_eq!(brief.answer, "All 2 tested preloads had stalls.");
    }

    #[test]
    fn a_run_without_a_point_says_so() {
        let brief = of_loop(&[]);
        assert_eq!(brief.answer, "No point was finished.");
        assert_eq!(brief.tables(100).count(), 0);
    }

    #[test]
    fn both_tables_fit_a_terminal_of_100_columns() {
        let points = [point(0, Aim::Curve, 1.25, 0), point(1, Aim::Hold, 1.25, 0)];
        for table in of_loop(&points).tables(100) {
            assert!(table.width() <= 100, "{}: {}", table.title, table.width());
        }
    }
}
