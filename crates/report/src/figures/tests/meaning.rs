//! What a figure shows is what its axis, its limits and its caption name.

use super::common::{exchange_run, on_ticks, one_by_one};
use super::*;
use wiregauge_run::AnyRun;

const MS: u64 = 1_000_000;

/// A limit of this rate, of USB.
fn usb(bytes_s: f64) -> BusLimit {
    BusLimit {
        bytes_s,
        shared: true,
        source: "USB full-speed bulk, USB 2.0 table 5-9".to_owned(),
        used: 0.2,
    }
}

/// Two links, alone and together, at two sizes, with these limits.
fn limited_links(known: &[Option<BusLimit>; 2]) -> Subject {
    let plan = on_links(&[48, 4800], &[1]);
    let points = plan.points.iter().map(|point| PointSummary {
        limit: known[point.link as usize].clone(),
        ..summarised(&plan, *point, likely(*point))
    });
    let points = points.collect();
    subject("a", AnyRun::Exchange(stored(plan, points)))
}

#[test]
fn a_limit_is_drawn_in_the_panels_of_its_link_only() {
    let figure = &sound(&[limited_links(&[Some(usb(1_216_000.0)), None])])["throughput-size-in"];
    let texts = texts(figure);
    for text in [
        "link 0 alone",
        "link 0 together",
        "limit 1.216 MB/s of link 0",
    ] {
        assert!(texts.iter().any(|t| t == text), "{texts:?}");
    }
    assert_eq!(shapes(figure, "curve").len(), 4);
    assert_eq!(shapes(figure, "limit"), [1; 2]);
    let caption = &figure.caption;
    let words = "The limit 1.216 MB/s of link 0: USB";
    assert!(caption.contains(words), "{caption}");
    // The same limit for all links is one line in each panel.
    let same = [Some(usb(1_216_000.0)), Some(usb(1_216_000.0))];
    let figure = &sound(&[limited_links(&same)])["throughput-size-in"];
    assert_eq!(shapes(figure, "limit"), [1; 4]);
    assert!(figure.caption.contains(" The limit 1.216 MB/s: USB"));
}

#[test]
fn a_limit_of_one_of_several_runs_is_named_after_it() {
    let of = |label: &str, limit: Option<BusLimit>| {
        let plan = sweep(&[48, 4800], &[1]);
        let points = plan.points.iter().map(|point| PointSummary {
            limit: limit.clone(),
            ..summarised(&plan, *point, likely(*point))
        });
        let points = points.collect();
        subject(label, AnyRun::Exchange(stored(plan, points)))
    };
    let runs = [of("usb", Some(usb(1_216_000.0))), of("tcp", None)];
    let figure = &sound(&runs)["throughput-size-in"];
    let texts = texts(figure);
    let name = "limit 1.216 MB/s of usb";
    assert!(texts.iter().any(|text| text == name), "{texts:?}");
    assert!(figure.caption.contains("The limit 1.216 MB/s of usb: USB"));
}

#[test]
fn each_link_of_several_runs_has_its_limit_drawn_and_named() {
    let of = |label: &str, rates: [f64; 2]| Subject {
        label: label.to_owned(),
        ..limited_links(&rates.map(|rate| Some(usb(rate))))
    };
    let (fast, slow) = (1_216_000.0, 600_000.0);
    // Each link has a panel, alone and together; in the second case both limits are in each.
    for (after, panels, names) in [
        ([fast, slow], 2, ["link 0", "link 1"]),
        ([slow, fast], 4, ["link 1", "link 0"]),
    ] {
        let figure = sound(&[of("before", [fast, slow]), of("after", after)])
            .remove("throughput-size-in")
            .expect("it is drawn");
        let before = [("1.216 MB/s", "link 0"), ("600.0 kB/s", "link 1")];
        for ((rate, before), after) in before.into_iter().zip(names) {
            let named = format!("limit {rate} ");
            let is_it = |text: &&String| text.starts_with(&named);
            let count = texts(&figure).iter().filter(is_it).count();
            assert_eq!(count, panels, "{rate}: {:?}", texts(&figure));
            let words = format!("The limit {rate} of before {before} and after {after}: USB");
            assert!(figure.caption.contains(&words), "{}", figure.caption);
        }
        assert_eq!(shapes(&figure, "limit"), vec![1; 2 * panels]);
    }
}

/// A run whose exchanges start at their ticks, 1 in 20 of them late.
fn scheduled(dir: &std::path::Path, below_ns: Vec<u64>) -> Subject {
    let mut plan = sweep(&[48], &[1, 2]);
    plan.schedule = Schedule::EveryNs(MS);
    plan.below_ns = below_ns;
    let mut random = Random(7);
    let rtts: Vec<u64> = (0..2000)
        .map(|n| match n % 20 {
            0 => 3 * MS,
            _ => 300_000 + random.bits(16),
        })
        .collect();
    let run = exchange_run(dir, &plan, |_| on_ticks(MS, &rtts).into_iter());
    subject("a", run)
}

#[test]
fn a_histogram_of_rtts_has_their_limits_and_peaks() {
    let dir = tempfile::tempdir().expect("a place for runs");
    // With a schedule, limits count from the intended start: they have no place among RTTs.
    let figures = sound(&[scheduled(&dir.path().join("a"), vec![MS])]);
    let paced = &figures["rtt-histogram"];
    assert!(texts(paced).iter().any(|text| text.starts_with("RTT (")));
    assert!(shapes(paced, "limit").is_empty());
    assert!(!paced.caption.contains("--below"), "{}", paced.caption);
    assert!(!shapes(paced, "modes").is_empty());
    assert!(paced.caption.contains("Diamonds: peaks"));
    let run = exchange_run(&dir.path().join("b"), &plan(1), |_| {
        common::exchanges(2000, 3)
    });
    let free = sound(&[subject("b", run)]).remove("rtt-histogram");
    let free = free.expect("it is drawn");
    assert_eq!(shapes(&free, "limit").len(), 1);
    assert!(free.caption.contains("--below"), "{}", free.caption);
}

#[test]
fn an_ideal_is_drawn_only_where_it_is_possible() {
    let mut plan = sweep(&[48], &[1, 2, 4]);
    let fast = exchange("a", plan.clone(), likely);
    let again = exchange("b", plan.clone(), likely);
    plan.schedule = Schedule::EveryNs(MS);
    let paced = exchange("c", plan, likely);
    let ideal = |subjects: &[Subject]| {
        let figure = sound(subjects)
            .remove("rtt-trt-depth")
            .expect("it is drawn");
        (shapes(&figure, "ideal").len(), figure.caption)
    };
    let (drawn, caption) = ideal(&[fast]);
    assert!(
        drawn == 1 && caption.contains("above the ideal"),
        "{caption}"
    );
    let (drawn, caption) = ideal(&[paced]);
    assert!(drawn == 0 && !caption.contains("ideal"), "{caption}");
    assert!(caption.contains("schedule"), "{caption}");
    let both = [exchange("a", sweep(&[48], &[1, 2, 4]), likely), again];
    let (drawn, caption) = ideal(&both);
    assert!(
        drawn == 0 && !caption.contains("above the ideal"),
        "{caption}"
    );
}

#[test]
fn runs_of_different_lengths_are_compared_by_shares() {
    let dir = tempfile::tempdir().expect("a place for runs");
    let run = |name: &str, n: u64| {
        let run = exchange_run(&dir.path().join(name), &plan(1), |_| {
            common::exchanges(n, 3)
        });
        subject(name, run)
    };
    let two = sound(&[run("a", 200), run("b", 4000)]);
    let figure = &two["rtt-histogram"];
    let texts_of_two = texts(figure);
    let axis = "Exchanges (%, log)";
    assert!(
        texts_of_two.iter().any(|text| text == axis),
        "{texts_of_two:?}"
    );
    assert!(
        figure
            .caption
            .starts_with("Percentage of each run's exchanges")
    );
    let one = sound(&[run("c", 4000)]);
    let texts_of_one = texts(&one["rtt-histogram"]);
    assert!(texts_of_one.iter().any(|text| text == "Exchanges (log)"));
}

#[test]
fn an_axis_of_counts_has_whole_numbers_each_once() {
    let dir = tempfile::tempdir().expect("a place for runs");
    // One or two in a bar; times have three digits.
    let rtt = |n: i32| (130_000.0 * 1.09_f64.powi(n)) as u64;
    let rtts: Vec<(u64, Status)> = (0..20).map(|n| (rtt(n), Status::Ok)).collect();
    let run = exchange_run(&dir.path().join("a"), &plan(1), |_| {
        one_by_one(&rtts).into_iter()
    });
    let figures = sound(&[subject("a", run)]);
    let counts: Vec<String> = texts(&figures["rtt-histogram"])
        .into_iter()
        .filter(|text| text.len() < 3 && text.parse::<u32>().is_ok())
        .collect();
    assert!(counts.contains(&"1".to_owned()), "{counts:?}");
    let mut once = counts.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), counts.len(), "{counts:?}");
}

#[test]
fn a_trt_of_0_leaves_the_axis_logarithmic() {
    let mut plan = sweep(&[48, 1000], &[4]);
    plan.batch = None;
    let figures = sound(&[exchange("a", plan, |_| {
        // Requests sent in one call: every second TRT is 0, some are a thousand times the usual one.
        (0..400)
            .map(|n| match n % 100 {
                50 => 240 * MS,
                n => u64::from(n % 2 == 0) * 100_000,
            })
            .collect()
    })]);
    let figure = &figures["trt-size-in"];
    let texts = texts(figure);
    assert!(
        texts
            .iter()
            .any(|text| text == "TRT (log)" || text == "TRT (ms, log)"),
        "{texts:?}"
    );
    assert!(figure.caption.contains("TRT of 0"), "{}", figure.caption);
}

#[test]
fn titles_of_panels_are_whole_and_sizes_are_named_where_there_is_room() {
    let plan = on_links(&[48, 100, 200, 400, 800, 1600, 3200, 6400], &[1]);
    // Labels of the vertical axis are as wide as can be.
    let figure = &sound(&[exchange("a", plan, |point| {
        likely(point).into_iter().map(|rtt| rtt * 100).collect()
    })])["rtt-size-in"];
    let texts = texts(figure);
    assert!(texts.iter().all(|text| !text.contains('…')), "{texts:?}");
    let named = |size: &str| texts.iter().any(|text| text == size);
    assert!(named("6,400") && named("1,600"), "{texts:?}");
}
