//! What must hold for every figure made from summaries: it is XML, every text is inside and apart
//! from the others, every measured value is there, and nothing is drawn that is not a number.

mod colours;
#[path = "../../tests/common/mod.rs"]
mod common;
mod meaning;
mod sound;
mod subjects;

use super::Figure;
use crate::Subject;
use common::{Random, plan, stream_plan};
use proptest::prelude::*;
use resvg::tiny_skia::Pixmap;
use roxmltree::Document;
use sound::*;
use subjects::*;
use wiregauge_record::*;

#[test]
fn every_point_of_an_exchange_run_is_in_its_figures() {
    let run = exchange("a", sweep(&[48, 1000, 3500, 8000], &[1, 2, 4]), likely);
    let figures = sound(&[run]);
    // A line and four markers in each of five statistics of three depths.
    assert_eq!(shapes(&figures["rtt-size-in"], "curve"), [5; 15]);
    assert_eq!(shapes(&figures["throughput-size-in"], "curve"), [5; 3]);
    // RTT and TRT at three depths of four sizes, and an ideal for each size.
    assert_eq!(shapes(&figures["rtt-trt-depth"], "curve"), [4; 8]);
    assert_eq!(shapes(&figures["rtt-trt-depth"], "ideal"), [1; 4]);
}

#[test]
fn every_axis_names_its_unit() {
    let mut plan = sweep(&[48, 1000, 8000], &[1, 2]);
    plan.connect = Connect::Each;
    let exchanges = exchange("a", plan, likely);
    let streams = stream("b", &[64, 4096], &[1, 4], |_, _| 5e6);
    let figures = sound(&[exchanges, streams]);
    let units: [(&str, &[&str]); 5] = [
        ("rtt-size-in", &["IN size (B, log)", "RTT (ms"]),
        (
            "throughput-size-in",
            &["IN size (B, log)", "IN throughput (MB/s"],
        ),
        ("rtt-trt-depth", &["Depth (log)", "Time (ms, log)"]),
        (
            "rate-transfer-queue",
            &["Transfer size (B, k = 1,024, log)", "Rate (MB/s)"],
        ),
        ("rate-time", &["Measured time (s)", "Rate (MB/s)"]),
    ];
    for (name, titles) in units {
        let texts = texts(&figures[name]);
        for title in titles {
            let there = texts.iter().any(|text| text.starts_with(title));
            assert!(there, "{name} lacks \"{title}\": {texts:?}");
        }
    }
}

#[test]
fn every_flow_has_a_marker_and_the_limit_is_named() {
    let run = stream(
        "a",
        &[64, 512, 4096, 16384, 65536],
        &[1, 4, 16],
        |point, way| {
            let one_way = 1e5 * f64::from(point.transfer_bytes).sqrt() * f64::from(point.queue);
            if way == Way::In {
                one_way
            } else {
                one_way * 0.7
            }
        },
    );
    let figures = sound(&[run]);
    let matrix = &figures["rate-transfer-queue"];
    // IN, OUT and each of both at once: of each queue a line and five markers.
    assert_eq!(shapes(matrix, "curve"), [6; 12]);
    let texts = texts(matrix);
    let limit = "limit 53.25 MB/s";
    assert!(texts.iter().any(|text| text == limit), "{texts:?}");
    assert_eq!(shapes(matrix, "limit"), [1; 4]);
    // Six curves in each direction: a line and three markers.
    assert_eq!(shapes(&figures["rate-time"], "curve"), [4; 12]);
    let caption = &figures["rate-time"].caption;
    assert!(caption.contains(" 6 of 30 points are shown"), "{caption}");
    // A limit far above is told and not drawn.
    let slow = sound(&[stream("a", &[64, 512], &[1], |_, _| 1000.0)]);
    let matrix = &slow["rate-transfer-queue"];
    assert!(shapes(matrix, "limit").is_empty());
    let caption = &matrix.caption;
    assert!(
        caption.contains("far above: the limit 53.25 MB/s"),
        "{caption}"
    );
}

#[test]
fn several_runs_share_a_figure_and_keep_their_names() {
    let subjects: Vec<Subject> = [
        "before",
        "after",
        "a name that is far too long <for> any & legend, but is there",
    ]
    .iter()
    .map(|label| exchange(label, sweep(&[48, 1000], &[1, 2]), likely))
    .collect();
    let figures = sound(&subjects);
    // Mean and max3 of three runs in two panels.
    assert_eq!(shapes(&figures["rtt-size-in"], "curve"), [3; 12]);
    assert_eq!(shapes(&figures["throughput-size-in"], "curve"), [3; 6]);
    let names = texts(&figures["rtt-size-in"]);
    for name in ["before: mean", "before: max3", "after: mean"] {
        assert!(names.iter().any(|text| text == name), "{names:?}");
    }
    let streams: Vec<Subject> = ["before", "after"]
        .iter()
        .map(|label| stream(label, &[64, 512, 4096], &[1, 4], |_, _| 1e6))
        .collect();
    // Two queues of two runs in four panels, at three sizes.
    assert_eq!(
        shapes(&sound(&streams)["rate-transfer-queue"], "curve"),
        [4; 16]
    );
}

#[test]
fn links_alone_and_together_are_kept_apart() {
    let figures = sound(&[exchange("a", on_links(&[48, 4800], &[1, 4]), likely)]);
    let titles = texts(&figures["rtt-size-in"]);
    for title in ["link 0 alone, depth 1", "link 1 together, depth 1"] {
        assert!(titles.iter().any(|text| text == title), "{titles:?}");
    }
    let caption = &figures["rtt-trt-depth"].caption;
    assert!(
        caption.contains("Link 0 is tcp://127.0.0.1:7700"),
        "{caption}"
    );
    assert!(
        figures["rtt-size-in"]
            .caption
            .contains("1 is tcp://10.0.0.6:7700")
    );
    let titles = texts(&figures["throughput-size-in"]);
    let title = "link 1 together";
    assert!(titles.iter().any(|text| text == title), "{titles:?}");
}

/// The largest x of each group of a class.
fn right_ends(figure: &Figure, class: &str) -> Vec<f64> {
    let document = Document::parse(&figure.svg).expect("figures are XML");
    let groups = document
        .descendants()
        .filter(|n| n.attribute("class") == Some(class));
    let end = |d: &str| {
        let pieces = d.split('M').flat_map(|piece| {
            // A place, then steps.
            let mut x = 0.0;
            let numbers = piece.split(|c: char| !(c.is_ascii_digit() || ".-".contains(c)));
            let numbers = numbers.filter_map(|number| number.parse::<f64>().ok());
            let steps: Vec<f64> = numbers.step_by(2).collect();
            steps.into_iter().map(move |step| {
                x += step;
                x
            })
        });
        pieces.fold(0.0, f64::max)
    };
    groups
        .map(|group| {
            let paths = group.descendants().filter_map(|node| node.attribute("d"));
            paths.map(end).fold(0.0, f64::max)
        })
        .collect()
}

#[test]
fn every_point_of_a_loop_has_its_curve_its_bound_and_its_floor() {
    let run = looped("a", &[1_000_000, 10_000_000], &[4096], &[], delays);
    let figure = &sound(&[run])["stalls-latency"];
    assert_eq!(shapes(figure, "bound"), [1; 2]);
    let curves = shapes(figure, "curve");
    assert_eq!(curves.len(), 2);
    assert!(curves.iter().all(|n| (4..=8).contains(n)), "{curves:?}");
    assert_eq!(shapes(figure, "limit"), [2]);
    let texts = texts(figure);
    for text in ["Latency (ms, log)", "Stalls per minute (log)", "1 MS/s"] {
        assert!(texts.iter().any(|t| t == text), "{text}: {texts:?}");
    }
    let floors = texts.iter().filter(|text| text.starts_with("floor "));
    assert_eq!(floors.count(), 2, "{texts:?}");
    // The floor is the longest delay of the loop itself.
    let caption = &figure.caption;
    let words = "one block plus the longest host delay";
    assert!(
        caption.contains(words) && !caption.contains("timer"),
        "{caption}"
    );
    // The bound goes on where no stall was seen.
    let (bounds, curves) = (right_ends(figure, "bound"), right_ends(figure, "curve"));
    assert!(
        bounds.iter().all(|x| (x - bounds[0]).abs() < 1.0),
        "{bounds:?}"
    );
    let highest = curves.iter().copied().fold(0.0, f64::max);
    assert!(highest + 10.0 < bounds[0], "{curves:?} and {bounds:?}");
    // Where nothing ever came late the bound is all that there is.
    let even = looped("b", &[1_000_000], &[4096], &[], |_| vec![10_000; 2000]);
    let figure = &sound(&[even])["stalls-latency"];
    assert_eq!(shapes(figure, "bound"), [1]);
    assert_eq!(shapes(figure, "curve"), [0]);
}

#[test]
fn loops_of_several_runs_are_laid_over_each_other() {
    let runs: Vec<Subject> = ["before", "after", "a name of <some> length & more of it"]
        .iter()
        .map(|label| looped(label, &[1_000_000, 10_000_000], &[4096, 16384], &[], delays))
        .collect();
    let figure = &sound(&runs)["stalls-latency"];
    assert_eq!(shapes(figure, "bound"), [1; 6], "two points of three runs");
    let names = [
        "before, 1 MS/s, notify 4,096 B",
        "after, 10 MS/s, notify 16,384 B",
    ];
    let texts = texts(figure);
    for name in names {
        assert!(texts.iter().any(|text| text == name), "{texts:?}");
    }
    let one_point: Vec<Subject> = ["before", "after"]
        .iter()
        .map(|label| looped(label, &[1_000_000], &[4096], &[], delays))
        .collect();
    let figure = &sound(&one_point)["stalls-latency"];
    assert_eq!(shapes(figure, "bound"), [1; 2]);
}

#[test]
fn loops_at_the_extremes_are_drawn_inside_the_sheet() {
    let rates: Vec<u64> = (0..10).map(|n| 10_u64.pow(n)).collect();
    let many: Vec<Subject> = (0..9)
        .map(|n| looped(&format!("run {n}"), &rates, &[2, 65_536], &[65_536], delays))
        .collect();
    for runs in [1, 2, 9] {
        let figure = &sound(&many[..runs])["stalls-latency"];
        assert!(figure.caption.contains(" are shown"), "{}", figure.caption);
    }
    for services in [vec![0], vec![0, u64::MAX / 8], vec![1; 3], vec![]] {
        let run = looped("a", &rates, &[2, 1 << 30], &[1 << 34], |_| services.clone());
        sound(&[run]);
    }
}

#[test]
fn where_nothing_varies_there_is_nothing_to_draw() {
    assert_eq!(super::of(&[looped("a", &[], &[], &[], delays)]), []);
    let no_blocks = looped("a", &[1_000_000], &[4096], &[], |_| Vec::new());
    assert_eq!(super::of(&[no_blocks]), []);
    assert_eq!(super::of(&[]), []);
    let nothing = exchange("a", plan(0), likely);
    assert_eq!(super::of(&[nothing]), []);
    let no_answers = exchange("a", sweep(&[48, 1000], &[1, 2]), |_| Vec::new());
    assert_eq!(super::of(&[no_answers]), []);
    let one = sweep(&[48], &[1]);
    assert_eq!(super::of(&[exchange("a", one, likely)]), []);
    assert_eq!(super::of(&[stream("a", &[], &[], |_, _| 1.0)]), []);
    assert_eq!(
        sound(&[stream("a", &[64, 512], &[1], |_, _| f64::NAN)]).len(),
        1
    );
}

#[test]
fn extreme_values_are_drawn_inside_the_sheet() {
    let extremes: [&[u64]; 6] = [
        &[0],
        &[0, 0, 0],
        &[1, 100_000_000_000],
        &[1],
        &[100_000_000_000],
        &[u64::MAX / 8],
    ];
    let depths: Vec<u32> = (1..=16).collect();
    let sizes: Vec<u32> = (1..=100).map(|n| n * 37).collect();
    for rtts in extremes {
        let pick = |_: Point| rtts.to_vec();
        let mixed = |point: Point| vec![rtts[point.index as usize % rtts.len()]];
        for plan in [
            sweep(&[0, u32::MAX], &[1, u32::MAX]),
            sweep(&[48, 49], &depths),
            sweep(&sizes, &[1]),
            sweep(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], &depths),
        ] {
            let figures = sound(&[exchange("a", plan.clone(), pick)]);
            assert!(figures.contains_key("rtt-size-in"), "{rtts:?}");
            sound(&[exchange("a", plan, mixed)]);
        }
    }
    for rate in [0.0, 1e-9, 1.0, 1e18] {
        let sizes: Vec<u32> = (0..30).map(|n| 1 << n).collect();
        sound(&[stream("a", &sizes, &[1, 2, 3, 4, 5, 6, 7, 8, 9], |_, _| {
            rate
        })]);
    }
}

#[test]
fn figures_made_from_samples_keep_the_same_rules() {
    let dir = tempfile::tempdir().expect("a place for runs");
    let exchanges = common::exchange_run(&dir.path().join("a"), &plan(12), |point| {
        common::exchanges(3000, point.index.into())
    });
    let points = (0..6).map(|index| common::stream_point(index, Direction::Both));
    let streams = common::stream_run(&dir.path().join("b"), &stream_plan(points.collect()), |p| {
        common::transfers(p, 2000, p.index.into())
    });
    let figures = sound(&[subject("a", exchanges.clone()), subject("b", streams)]);
    for name in [
        "rtt-series",
        "rtt-histogram",
        "rtt-percentiles",
        "rtt-size-in",
        "buffer-rate",
    ] {
        assert!(figures.contains_key(name), "{:?}", figures.keys());
    }
    // What was written by the engine's writer and read back: 8 sizes would be 4, depths 4.
    let sizes = shapes(&figures["throughput-size-in"], "curve");
    assert_eq!(sizes, [4; 4]);
    sound(&[
        subject("before", exchanges.clone()),
        subject("after", exchanges),
    ]);
}

#[test]
fn a_picture_has_the_size_that_was_asked_for_and_something_in_it() {
    let subjects = [
        exchange("a", sweep(&[48, 1000], &[1, 2]), likely),
        stream("b", &[64, 512], &[1, 4], |_, _| 1e6),
    ];
    for (name, figure) in sound(&subjects) {
        let small = Pixmap::decode_png(&figure.png(1.0).unwrap()).expect("it is a PNG");
        let large = Pixmap::decode_png(&figure.png(2.0).unwrap()).expect("it is a PNG");
        assert_eq!(small.width(), super::look::WIDTH);
        assert_eq!(
            (large.width(), large.height()),
            (2 * small.width(), 2 * small.height())
        );
        let mut colours: Vec<&[u8]> = large.data().chunks(4).collect();
        let paper = colours
            .iter()
            .filter(|colour| **colour == [u8::MAX; 4])
            .count();
        let share = paper as f64 / colours.len() as f64;
        assert!(
            (0.3..0.99).contains(&share),
            "{name}: {share} of it is paper"
        );
        colours.sort_unstable();
        colours.dedup();
        assert!(colours.len() > 50, "{name} has {} colours", colours.len());
    }
    let figure = letters("odd");
    for odd in [0.0, -1.0, f32::NAN, 1e9] {
        let picture = Pixmap::decode_png(&figure.png(odd).unwrap()).expect("it is a PNG");
        assert!(
            picture.width() >= 1 && picture.width() <= 8192,
            "scale {odd}"
        );
    }
}

fn letters(text: &str) -> Figure {
    Figure {
        name: "letters".to_owned(),
        title: "letters".to_owned(),
        caption: "letters".to_owned(),
        svg: format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\" height=\"30\" \
             font-family=\"sans-serif\"><text x=\"5\" y=\"20\">{text}</text></svg>"
        ),
    }
}

#[test]
fn letters_are_drawn_without_any_font_of_the_system() {
    let picture = |text| letters(text).png(1.0).unwrap();
    assert_ne!(picture("123 us"), picture(""));
    assert_ne!(picture("123 us"), picture("123 ms"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_run_gives_sound_figures(
        points in prop::collection::vec(
            ((0..5_u32, 0..5_u32), (1..6_u32, 0..3_u32, any::<bool>()), 0..6_usize, 0..40_u32),
            0..30,
        ),
        labels in prop::collection::vec("\\PC{0,60}", 1..4),
        (each, connect, flows) in (any::<bool>(), any::<bool>(), any::<bool>()),
        rate in prop_oneof![Just(0.0), 1.0..1e10_f64],
    ) {
        let mut plan = plan(0);
        plan.connect = if connect { Connect::Each } else { Connect::Once };
        plan.more_links = vec!["b".to_owned(), "c".to_owned()];
        if each {
            plan.schedule = Schedule::EveryNs(1_000_000);
        }
        let mut samples = Vec::new();
        for (index, ((out, back), (depth, link, together), n, bits)) in points.into_iter().enumerate() {
            plan.points.push(Point {
                index: index as u32,
                out_bytes: 7 * 11_u32.pow(out),
                in_bytes: 3 * 13_u32.pow(back),
                depth,
                link,
                together,
            });
            let mut random = Random(index as u64 + 1);
            samples.push((0..n).map(|_| random.bits(bits.max(1))).collect::<Vec<u64>>());
        }
        let mut subjects: Vec<Subject> = labels
            .iter()
            .map(|label| exchange(label, plan.clone(), |p| samples[p.index as usize].clone()))
            .collect();
        if flows {
            let sizes: Vec<u32> = plan.points.iter().map(|point| point.out_bytes).take(6).collect();
            subjects.push(stream("flows", &sizes, &[1, 3], |point, _| rate / f64::from(point.queue)));
        }
        sound(&subjects);
    }

    #[test]
    fn any_loop_gives_sound_figures(
        rates in prop::collection::vec(1..10_u64, 0..5),
        sizes in prop::collection::vec(1..20_u32, 0..4),
        preloads in prop::collection::vec(1..30_u32, 0..3),
        labels in prop::collection::vec("\\PC{0,60}", 1..8),
        (n, bits) in (0..200_u64, 1..50_u32),
    ) {
        let rates: Vec<u64> = rates.into_iter().map(|power| 10_u64.pow(power as u32)).collect();
        let sizes: Vec<u32> = sizes.into_iter().map(|power| 1 << power).collect();
        let preloads: Vec<u64> = preloads.into_iter().map(|power| 1 << power).collect();
        let services = |point: LoopPoint| {
            let mut random = Random(u64::from(point.index) + 1);
            (0..n).map(|_| random.bits(bits)).collect::<Vec<u64>>()
        };
        let subjects: Vec<Subject> = labels
            .iter()
            .map(|label| looped(label, &rates, &sizes, &preloads, services))
            .collect();
        sound(&subjects);
    }
}
