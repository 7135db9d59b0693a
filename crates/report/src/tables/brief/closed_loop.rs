//! A loop run in one table and one sentence.

use super::{Brief, Wide, sentence};
use crate::tables::closed_loop::{needed, of_aim, paths, settings, tested};
use crate::tables::places::Places;
use crate::tables::table::Table;
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
    let places = &Places::of_loop(points).without_preload();
    let wide = |table: Table, points: &[&LoopSummary]| Wide {
        table: table.without(LEFT_OUT),
        settings: places.heads().len(),
        labels: points
            .iter()
            .map(|point| places.name(&[point.point.index]))
            .collect(),
    };
    let mut tables = Vec::new();
    if !curves.is_empty() {
        tables.push(wide(needed(&curves, places), &curves));
        tables.extend(paths(&curves).map(Wide::from));
    }
    if !held.is_empty() {
        tables.push(wide(tested(&held, places), &held));
    }
    Brief {
        answer: sentence(&answer(points, &Places::of_loop(points))),
        tables,
    }
}

fn answer(points: &[LoopSummary], places: &Places) -> String {
    let curves = of_aim(points, Aim::Curve);
    let all = of_aim(points, Aim::Hold);
    let known = curves.iter().filter(|point| point.needed_ns.is_some());
    let best = known.min_by(|a, b| {
        a.needed_ns
            .unwrap_or(0.0)
            .total_cmp(&b.needed_ns.unwrap_or(0.0))
    });
    // What was tested for that latency, if anything was.
    let like = |point: &&LoopSummary| {
        best.is_none_or(|best| settings(&best.point) == settings(&point.point))
    };
    let tested: Vec<&LoopSummary> = all.iter().copied().filter(like).collect();
    let tested = if tested.is_empty() { all } else { tested };
    let mut parts = Vec::new();
    if let Some(best) = best {
        let lowest = TimeUnit::Milli.show(best.needed_ns.unwrap_or(0.0));
        let place = match curves.len() {
            1 => String::new(),
            _ => places
                .clone()
                .without_preload()
                .bracketed(&[best.point.index]),
        };
        let stalls = match tested.is_empty() {
            true => format!(", {} in {}", counted(&[best]), lasted(best)),
            false => String::new(),
        };
        parts.push(format!(
            "lowest latency without a stall {lowest} ms{place}{stalls}"
        ));
    }
    parts.extend(preloads(&tested, !curves.is_empty(), places));
    match parts.is_empty() {
        true => "no point was finished".into(),
        false => parts.join("; "),
    }
}

/// `10 s (95 %: fewer than 18.0 a minute)`: for how long a point ran, and how many stalls that does not exclude.
fn lasted(point: &LoopSummary) -> String {
    let minutes = point.elapsed_ns.max(1) as f64 / 60e9;
    let most = poisson_high(point.overruns + point.underruns) / minutes;
    let time = about_time(point.elapsed_ns as f64);
    format!("{time} (95 %: fewer than {most:.1} a minute)")
}

/// `1 stall`, `4,578 stalls`.
fn counted(points: &[&LoopSummary]) -> String {
    match points.iter().map(|p| p.overruns + p.underruns).sum() {
        1 => "1 stall".to_owned(),
        count => format!("{} stalls", grouped(count)),
    }
}

/// What became of the tested preloads; --find has searched where there are curves.
fn preloads(tested: &[&LoopSummary], searched: bool, places: &Places) -> Option<String> {
    let has_stalled = |point: &LoopSummary| point.overruns + point.underruns > 0;
    let stalled: Vec<&&LoopSummary> = tested.iter().filter(|point| has_stalled(point)).collect();
    // Longer than any of the same settings that stalled.
    let is_long = |point: &LoopSummary| {
        let mut like = stalled
            .iter()
            .filter(|of| settings(&of.point) == settings(&point.point));
        like.all(|of| of.point.preload_bytes < point.point.preload_bytes)
    };
    let held = tested
        .iter()
        .filter(|point| point.blocks > 0 && !has_stalled(point) && is_long(point));
    let shortest = held.min_by(|a, b| a.point.preload_ns().total_cmp(&b.point.preload_ns()));
    let ms = |point: &LoopSummary| TimeUnit::Milli.show(point.point.preload_ns());
    Some(match (tested, shortest) {
        (_, Some(point)) => {
            let place = places.bracketed(&[point.point.index]);
            format!(
                "a preload of {} ms{place} had no stall in {}",
                ms(point),
                lasted(point)
            )
        }
        (_, None) if stalled.is_empty() => return None,
        ([one], None) => {
            let hint = if searched { "" } else { "; try --find" };
            format!(
                "the preload of {} ms is too short ({}){hint}",
                ms(one),
                counted(tested)
            )
        }
        (all, None) if stalled.len() == all.len() => {
            format!("all {} tested preloads had stalls", all.len())
        }
        (all, None) => format!(
            "{} of {} tested preloads had stalls",
            stalled.len(),
            all.len()
        ),
    })
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
            "Lowest latency without a stall 1.250 ms, 0 stalls in 10 s (95 %: fewer than 18.0 a minute)."
        );
        assert_eq!(brief.tables(100).count(), 1);
    }

    #[test]
    fn the_shortest_latency_has_its_point_and_a_test_adds_its_table_and_its_verdict() {
        let fast = |mut summary: LoopSummary| {
            summary.point.rate_hz = 2_000_000;
            summary
        };
        let longer = |mut summary: LoopSummary| {
            summary.point.preload_bytes = 8_000;
            summary
        };
        let curves = [
            point(0, Aim::Curve, 2.5, 0),
            fast(point(1, Aim::Curve, 0.75, 0)),
        ];
        let stalled = fast(point(2, Aim::Hold, 0.75, 3));
        let lowest = "Lowest latency without a stall 0.750 ms (2 MS/s); ";
        let held = fast(longer(point(3, Aim::Hold, 0.75, 0)));
        let brief = of_loop(&[&curves[..], &[stalled.clone(), held]].concat());
        assert_eq!(
            brief.answer,
            format!(
                "{lowest}a preload of 2.000 ms (2 MS/s, preload 8,000 B) had no stall in 10 s (95 %: fewer than 18.0 a \
                 minute)."
            )
        );
        assert_eq!(brief.tables(100).count(), 2);
        // Of the same preload one test had a stall and one had none.
        let again = fast(point(3, Aim::Hold, 0.75, 0));
        let brief = of_loop(&[&curves[..], &[stalled, again]].concat());
        assert_eq!(
            brief.answer,
            "Lowest latency without a stall 0.750 ms (point 2, 2 MS/s); 1 of 2 tested preloads had stalls."
        );
    }

    #[test]
    fn a_preload_that_stalled_has_its_stalls_and_no_praise() {
        let brief = of_loop(&[point(0, Aim::Hold, 2.5, 4_578)]);
        assert_eq!(
            brief.answer,
            "The preload of 2.000 ms is too short (4,578 stalls); try --find."
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
