//! Two runs of the same thing must seldom differ, and a shift must be found. The tables of
//! docs/compare.md are made here: `WIREGAUGE_WRITE_TABLES=1 cargo test -p wiregauge-stats --release
//! --test tests compare -- --ignored` writes them anew.

use crate::common;

use common::shapes::Shape;
use common::{Random, bootstrap, taken};
use std::sync::atomic::{AtomicUsize, Ordering};
use wiregauge_stats::{Confidence, Difference, Estimate, Events, Reading, Series, difference};

/// Mean and four percentiles of each run.
const FIGURES: usize = 5;

fn series(shape: Shape, seed: u64, n: usize, scale: f64) -> Series {
    taken(&shape.series(seed, n, scale))
}

fn read(series: &Series) -> Reading<'_> {
    series.read().expect("samples")
}

fn figures(run: &Reading, sure: Confidence) -> [Estimate; FIGURES] {
    [
        run.mean(sure),
        run.percentile(0.5, sure),
        run.percentile(0.9, sure),
        run.percentile(0.99, sure),
        run.percentile(0.999, sure),
    ]
}

fn differences(before: &Reading, after: &Reading, sure: Confidence) -> [Difference; FIGURES] {
    let (before, after) = (figures(before, sure), figures(after, sure));
    std::array::from_fn(|i| difference(&[before[i]], &[after[i]], sure).expect("a run a side"))
}

fn family(figures: usize) -> Confidence {
    Confidence::NINETY_FIVE.shared_by(figures)
}

fn differs(found: &Difference) -> bool {
    let relative = found.relative.expect("no figure is 0");
    relative.low.is_some_and(|low| low > 0.0) || relative.high.is_some_and(|high| high < 0.0)
}

fn is_told(found: &Difference) -> bool {
    found.absolute.low.is_some() && found.absolute.high.is_some()
}

/// What many comparisons amount to, in how many of them.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    seeds: u32,
    /// Two runs of the same: at least one of five figures differs, held together at 95 %.
    alarms: u32,
    /// The same, with 200 times as many figures in the family.
    alarms_of_many: u32,
    /// Two runs of the same: the 95 % interval of mean, p50 and p99 alone holds "no difference".
    held: [u32; 3],
    /// 5 % more: mean, p50 and p99 are found to be slower, five figures held together.
    found: [u32; 3],
    /// Nothing can be told of p99 and of p99.9, five figures held together.
    silent: [u32; 2],
}

fn simulate(shape: Shape, n: usize, seeds: u32) -> Found {
    let mut found = Found {
        seeds,
        ..Found::default()
    };
    for seed in 0..u64::from(seeds) {
        let before = series(shape, 2 * seed, n, 1.0);
        let after = series(shape, 2 * seed + 1, n, 1.0);
        let slower = series(shape, 2 * seed + 1, n, 1.05);
        let [before, after, slower] = [&before, &after, &slower].map(read);
        let together = differences(&before, &after, family(FIGURES));
        found.alarms += u32::from(together.iter().any(differs));
        let many = differences(&before, &after, family(200 * FIGURES));
        found.alarms_of_many += u32::from(many.iter().any(differs));
        let alone = differences(&before, &after, Confidence::NINETY_FIVE);
        let shifted = differences(&before, &slower, family(FIGURES));
        for (at, figure) in [0, 1, 3].into_iter().enumerate() {
            found.held[at] += u32::from(!differs(&alone[figure]));
            let low = shifted[figure].relative.and_then(|relative| relative.low);
            found.found[at] += u32::from(low.is_some_and(|low| low > 0.0));
        }
        for (at, figure) in [3, 4].into_iter().enumerate() {
            found.silent[at] += u32::from(!is_told(&together[figure]));
        }
    }
    found
}

#[test]
fn two_runs_of_the_same_seldom_differ() {
    for shape in Shape::ALL {
        // What is slower than a run is not known to it; see docs/compare.md.
        if shape == Shape::Drift || shape == Shape::Autoregression(0.99) {
            continue;
        }
        let found = simulate(shape, 2000, 40);
        assert!(found.alarms <= 6, "{}: {found:?}", shape.name());
        assert!(found.alarms_of_many <= 2, "{}: {found:?}", shape.name());
    }
}

#[test]
fn a_shift_of_five_percent_is_found_in_ten_thousand_samples() {
    let found = simulate(Shape::Autoregression(0.0), 10_000, 20);
    assert!(found.found[0] >= 18 && found.found[1] >= 18, "{found:?}");
    for phi in [0.0, 0.9] {
        let found = simulate(Shape::Quiet(phi), 10_000, 20);
        let [mean, p50, _] = found.found;
        assert!(mean >= 18 && p50 >= 18, "{phi}: {found:?}");
    }
    let found = simulate(Shape::Quiet(0.0), 10_000, 20);
    assert!(found.found[2] >= 18, "{found:?}");
}

#[test]
fn the_same_run_twice_does_not_differ_in_any_bit() {
    let run = series(Shape::Bursts, 1, 5000, 1.0);
    for found in differences(&read(&run), &read(&run), Confidence::NINETY_FIVE) {
        assert_eq!(found.absolute.value, 0.0);
        assert!(!differs(&found));
    }
}

#[test]
fn the_streaming_form_comes_to_the_same_verdicts() {
    for (scale, expected) in [(1.0, false), (1.05, true)] {
        let values = |seed: u64, scale| Shape::Quiet(0.5).series(seed, 60_000, scale);
        let streamed = |values: Vec<u64>| {
            let mut series = Series::with_exact_limit(4096);
            values.into_iter().for_each(|value| series.push(value));
            series
        };
        let (before, after) = (streamed(values(1, 1.0)), streamed(values(2, scale)));
        let found = differences(&read(&before), &read(&after), family(FIGURES));
        // p99.9 of 60,000 may go either way.
        for found in &found[..4] {
            assert_eq!(differs(found), expected, "{scale}: {found:?}");
        }
    }
}

/// Each side has so many runs of 10,000, and the level of each run is off by 2 % (SD). How often any
/// of five figures differs, and how often 10 % more of the p50 is found.
fn between_runs(runs: u64, seeds: u32) -> (u32, u32) {
    let sure = family(FIGURES);
    let (mut alarms, mut found) = (0, 0);
    for seed in 0..u64::from(seeds) {
        let mut level = Random::new(seed ^ 0x5EED);
        let mut side = |first: u64, scale: f64| -> Vec<[Estimate; FIGURES]> {
            (0..runs)
                .map(|run| {
                    let scale = scale * (0.02 * level.normal()).exp();
                    let run = series(Shape::Quiet(0.5), 100 * seed + first + run, 10_000, scale);
                    figures(&read(&run), sure)
                })
                .collect()
        };
        let (before, same, slower) = (side(0, 1.0), side(20, 1.0), side(40, 1.1));
        let of = |after: &[[Estimate; FIGURES]], figure: usize| {
            let each = |side: &[[Estimate; FIGURES]]| -> Vec<Estimate> {
                side.iter().map(|run| run[figure]).collect()
            };
            difference(&each(&before), &each(after), sure).expect("runs on both sides")
        };
        alarms += u32::from((0..FIGURES).any(|figure| differs(&of(&same, figure))));
        found += u32::from(of(&slower, 1).absolute.low.is_some_and(|low| low > 0.0));
    }
    (alarms, found)
}

#[test]
fn several_runs_a_side_know_how_runs_scatter() {
    let (alarms, found) = between_runs(4, 25);
    assert!(alarms <= 5 && found >= 20, "{alarms} alarms, {found} found");
}

/// Exchanges of which a stall, that begins with this probability, loses so many in a row.
fn losses(seed: u64, n: usize, stall: f64, lost: std::ops::Range<u64>) -> Events {
    let mut random = Random::new(seed);
    let mut events = Events::with_exact_limit(1 << 16);
    let mut left = 0;
    for _ in 0..n {
        if left == 0 && random.uniform() < stall {
            let more = random.uniform() * (lost.end - lost.start) as f64;
            left = lost.start + more as u64;
        }
        events.push(left > 0);
        left = u64::saturating_sub(left, 1);
    }
    events
}

fn losses_differ(before: &Events, after: &Events) -> bool {
    let sure = Confidence::NINETY_FIVE;
    let events = [before, after].map(|events| events.per_event().unwrap_or(1.0));
    let share = |of: &Events| of.share(events[0].max(events[1]), sure).expect("samples");
    let found = difference(&[share(before)], &[share(after)], sure).expect("a run a side");
    let (low, high) = (found.absolute.low, found.absolute.high);
    low.is_some_and(|low| low > 0.0) || high.is_some_and(|high| high < 0.0)
}

#[test]
fn a_stall_more_is_no_difference_of_losses() {
    // Stalls that lose one, some, many in a row; most runs have none, one or a few of them.
    for lost in [1..2, 2..8, 20..40] {
        let runs: Vec<Events> = (0..20)
            .map(|seed| losses(seed, 3000, 0.0005, lost.clone()))
            .collect();
        let pairs = (0..runs.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let alarms = pairs.filter(|&(a, b)| losses_differ(&runs[a], &runs[b]));
        let alarms = alarms.count();
        assert!(alarms <= 9, "{lost:?}: {alarms} of 190");
    }
}

#[test]
fn ten_times_as_many_stalls_are_a_difference() {
    for lost in [1..2, 2..8] {
        let found = (0..20).filter(|&seed| {
            let (few, many) = (0.001, 0.01);
            let before = losses(2 * seed, 10_000, few, lost.clone());
            losses_differ(&before, &losses(2 * seed + 1, 10_000, many, lost.clone()))
        });
        assert!(found.count() >= 18, "{lost:?}");
    }
}

fn percent(count: u32, of: u32) -> String {
    let percent = 100.0 * f64::from(count) / f64::from(of);
    match count {
        0 => "0 %".into(),
        _ if percent < 10.0 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

/// Runs every job, on as many processors as there are; results in order.
fn in_parallel<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(at) else { return done };
                done.push((at, work(job)));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let ended = workers
            .into_iter()
            .map(|worker| worker.join().expect("no panic"));
        ended.flatten().collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Holds a table of docs/compare.md to what was found, or writes it.
fn hold(name: &str, table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compare.md");
    let mut text = std::fs::read_to_string(path).expect("docs/compare.md");
    let begin = format!("<!-- table {name} -->\n");
    let from = text
        .find(&begin)
        .unwrap_or_else(|| panic!("no table {name}"))
        + begin.len();
    let to = from + text[from..].find("<!-- end -->").expect("its end");
    if std::env::var_os("WIREGAUGE_WRITE_TABLES").is_some() {
        text.replace_range(from..to, table);
        std::fs::write(path, text).expect("docs/compare.md is written");
    } else {
        assert_eq!(&text[from..to], table, "{name}");
    }
}

#[test]
#[ignore = "a minute; run in release"]
fn table_of_false_alarms() {
    let sizes = [(300, 400), (1_000, 400), (10_000, 150), (100_000, 40)];
    let jobs: Vec<(usize, u32, Shape)> = sizes
        .into_iter()
        .flat_map(|(n, seeds)| Shape::ALL.map(|shape| (n, seeds, shape)))
        .collect();
    let found = in_parallel(&jobs, |&(n, seeds, shape)| simulate(shape, n, seeds));
    let mut table = String::from(
        "| n | series | false alarms | of 1,000 figures | 95 % holds: mean | p50 | p99 | 5 % found: \
         mean | p50 | p99 | silent: p99 | p99.9 |\n\
         | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for ((n, _, shape), found) in jobs.iter().zip(found) {
        let all = [found.alarms, found.alarms_of_many];
        let cells = all
            .iter()
            .chain(&found.held)
            .chain(&found.found)
            .chain(&found.silent);
        let cells: Vec<String> = cells.map(|&count| percent(count, found.seeds)).collect();
        table += &format!("| {n} | {} | {} |\n", shape.name(), cells.join(" | "));
    }
    hold("false alarms", &table);
}

#[test]
#[ignore = "a minute; run in release"]
fn table_of_runs() {
    let jobs = [1, 2, 3, 5, 8];
    let seeds = 100;
    let found = in_parallel(&jobs, |&runs| between_runs(runs, seeds));
    let mut table =
        String::from("| runs a side | false alarms | 10 % found: p50 |\n| ---: | ---: | ---: |\n");
    for (runs, (alarms, found)) in jobs.iter().zip(found) {
        table += &format!(
            "| {runs} | {} | {} |\n",
            percent(alarms, seeds),
            percent(found, seeds)
        );
    }
    hold("runs", &table);
}

#[test]
#[ignore = "a minute; run in release"]
fn table_of_methods() {
    let (n, seeds) = (1_000, 100);
    let found = in_parallel(&Shape::ALL, |shape| {
        let (mut ours, mut bootstrapped) = (0, 0);
        for seed in 0..u64::from(seeds) {
            let before = shape.series(2 * seed, n, 1.0);
            let after = shape.series(2 * seed + 1, n, 1.0);
            let runs = [&before, &after].map(|values| taken(values));
            let together = differences(&read(&runs[0]), &read(&runs[1]), family(FIGURES));
            ours += u32::from(together.iter().any(differs));
            bootstrapped += u32::from(bootstrap::differs(&before, &after, seed));
        }
        (ours, bootstrapped)
    });
    let mut table = String::from("| series | MOVER | block bootstrap |\n| --- | ---: | ---: |\n");
    for (shape, (ours, bootstrapped)) in Shape::ALL.iter().zip(found) {
        let (ours, bootstrapped) = (percent(ours, seeds), percent(bootstrapped, seeds));
        table += &format!("| {} | {ours} | {bootstrapped} |\n", shape.name());
    }
    hold("methods", &table);
}
