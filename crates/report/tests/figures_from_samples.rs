//! Figures made from samples: the same every time, small however long the run, and well-formed
//! whatever the names in the run.

use crate::common;

use common::*;
use std::fs;
use std::path::Path;
use wiregauge_record::*;
use wiregauge_report::figures::{self, Figure};
use wiregauge_report::tables::Tables;
use wiregauge_report::{Subject, load};
use wiregauge_run::AnyRun;

/// What a page can hold of one figure.
const MOST_BYTES: usize = 40_000;

const OF_EXCHANGES: [&str; 3] = ["rtt-series", "rtt-histogram", "rtt-percentiles"];
/// Names that would be markup.
const HOSTILE: [&str; 3] = [
    "<script>alert('x')</script>",
    "]]>&amp;\"\u{0}\u{1b}[31m",
    "\u{202e}%$\\",
];

const OF_STREAMS: [&str; 2] = ["gap-percentiles", "buffer-rate"];
const OF_LOOPS: [&str; 3] = ["stalls-latency", "service-series", "service-percentiles"];

fn subject(label: &str, run: &AnyRun) -> Subject {
    Subject::load(
        label.to_owned(),
        run.clone(),
        Tables::default(),
        None,
        &|_| {},
    )
}

/// The figures of these names, in this order, all of them there and sound.
fn drawn(subjects: &[Subject], names: &[&str]) -> Vec<Figure> {
    let all = figures::of(subjects);
    let found = names.iter().map(|name| {
        let figure = all.iter().find(|figure| figure.name == *name);
        let figure = figure.unwrap_or_else(|| panic!("there is no figure {name}"));
        assert_sound(figure);
        figure.clone()
    });
    found.collect()
}

/// Well-formed and small; `src/figures/tests` looks at what is drawn.
fn assert_sound(figure: &Figure) {
    let name = &figure.name;
    let document = roxmltree::Document::parse(&figure.svg);
    document.unwrap_or_else(|error| panic!("{name} is no XML: {error}"));
    assert!(
        figure.svg.len() < MOST_BYTES,
        "{name} has {} bytes",
        figure.svg.len()
    );
}

#[test]
fn the_same_run_gives_the_same_figures_to_the_byte() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(9), |point| {
        exchanges(5000, point.index.into())
    });
    let once = drawn(&[subject("a", &run)], &OF_EXCHANGES);
    let again = drawn(&[subject("a", &run)], &OF_EXCHANGES);
    assert_eq!(once, again);
    let points = (0..8)
        .map(|index| stream_point(index, Direction::Both))
        .collect();
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = stream_run(dir.path(), &stream_plan(points), |point| {
        transfers(point, 5000, 3)
    });
    let once = drawn(&[subject("a", &run)], &OF_STREAMS);
    assert_eq!(once, drawn(&[subject("a", &run)], &OF_STREAMS));
}

#[test]
fn a_hundred_points_and_several_runs_of_them_stay_small() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(100), |point| {
        // Nothing is quiet: every tenth exchange stands out, every fifth went wrong.
        exchanges(1000, point.index.into()).map(|sample| Sample {
            rtt_ns: match sample.sequence % 10 {
                3 => sample.rtt_ns * 100,
                _ => sample.rtt_ns,
            },
            status: Status::ALL
                [(sample.sequence % 25) as usize % 5 * usize::from(sample.sequence % 5 == 0)],
            ..sample
        })
    });
    let one = subject("one", &run);
    for figure in drawn(std::slice::from_ref(&one), &OF_EXCHANGES[..1]) {
        assert!(
            figure.caption.contains("of 32 points"),
            "{}",
            figure.caption
        );
    }
    let many: Vec<Subject> = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
        .iter()
        .map(|label| Subject {
            label: (*label).to_owned(),
            ..one.clone()
        })
        .collect();
    for runs in [1, 3, 12] {
        drawn(&many[..runs], &OF_EXCHANGES);
    }
}

#[test]
fn a_hundred_stream_points_stay_small() {
    let points = (0..100).map(|index| {
        let direction = [Direction::In, Direction::Out, Direction::Both][index as usize % 3];
        stream_point(index, direction)
    });
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = stream_run(dir.path(), &stream_plan(points.collect()), |point| {
        transfers(point, 1000, point.index.into())
    });
    let one = subject("one", &run);
    drawn(std::slice::from_ref(&one), &OF_STREAMS);
    drawn(
        &[
            one.clone(),
            Subject {
                label: "two".to_owned(),
                ..one
            },
        ],
        &OF_STREAMS,
    );
}

#[test]
fn a_buffer_of_few_transfers_is_drawn_at_the_rates_asked_for() {
    let points = [Direction::In, Direction::Out, Direction::Out];
    let points = points.into_iter().enumerate().map(|(at, direction)| {
        let transfer_bytes = if at == 2 { 4096 } else { 512 };
        StreamPoint {
            transfer_bytes,
            ..stream_point(at as u32, direction)
        }
    });
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = stream_run(dir.path(), &stream_plan(points.collect()), |point| {
        let n = if point.transfer_bytes == 512 {
            5000
        } else {
            60
        };
        transfers(point, n, 3)
    });
    let figure = &drawn(&[subject("a", &run)], &["buffer-rate"])[0];
    let few = ">transfers of 4,096 B<";
    assert!(figure.svg.contains(few), "{}", figure.svg);
    let caption = &figure.caption;
    let words = "Of 100 transfers or fewer, only the rates of --rate are shown.";
    assert!(caption.contains(words), "{caption}");
    // Neither sustains it.
    let words = "Faster than the axis: --rate 20 MB/s.";
    assert!(caption.contains(words), "{caption}");
}

/// The figures of a run of four points after their samples were damaged.
fn names_of_damaged(dir: &Path, run: &AnyRun) -> Vec<String> {
    for point in 0..4 {
        let path = dir.join(format!("samples/point-{point:04}.parquet"));
        fs::write(path, "no Parquet").expect("it can be written");
    }
    let damaged = subject("damaged", run);
    assert_eq!(damaged.loaded.missing().len(), 4);
    let drawn = figures::of(&[damaged]).into_iter();
    drawn.map(|figure| figure.name).collect()
}

#[test]
fn few_samples_and_damaged_ones_are_no_reason_to_fail() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(4), |point| {
        exchanges(point.index.into(), 1)
    });
    drawn(&[subject("up to three samples", &run)], &OF_EXCHANGES);
    let names = names_of_damaged(dir.path(), &run);
    assert!(
        names
            .iter()
            .all(|name| !OF_EXCHANGES.contains(&name.as_str())),
        "{names:?}"
    );
}

#[test]
fn the_longest_exchange_is_where_it_belongs_in_the_series() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = exchange_run(dir.path(), &plan(1), |_| {
        exchanges(50_000, 1).map(|sample| Sample {
            rtt_ns: if sample.sequence == 25_000 {
                90_000_000
            } else {
                sample.rtt_ns
            },
            ..sample
        })
    });
    let subject = subject("one", &run);
    let load::Loaded::Exchange(points) = &subject.loaded else {
        panic!("exchanges")
    };
    assert!(
        points[0]
            .series
            .longest
            .iter()
            .any(|spot| spot.value_ns == 90_000_000)
    );
    let figure = drawn(std::slice::from_ref(&subject), &OF_EXCHANGES[..1]).remove(0);
    let document = roxmltree::Document::parse(&figure.svg).expect("it is XML");
    let outliers = document
        .descendants()
        .find(|n| n.attribute("class") == Some("outliers"));
    let dots = outliers.expect("outliers are a group").children();
    let dots: String = dots.filter_map(|node| node.attribute("d")).collect();
    assert_eq!(
        dots.matches('M').count(),
        points[0].series.longest.len().min(100)
    );
}

/// Points of a loop run, every second one with a preload under test.
fn loop_points(n: u32) -> Vec<LoopPoint> {
    let tested = |index: u32| (index % 2 == 1).then_some(8_192 + 1_024 * u64::from(index));
    let point = |index| LoopPoint {
        index,
        ..loop_point(index / 2, tested(index))
    };
    (0..n).map(point).collect()
}

#[test]
fn loops_are_drawn_small_and_the_same_every_time_whatever_their_names() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let run = loop_run(dir.path(), &loop_plan(loop_points(40)), |point| {
        blocks(point, 2000, point.index.into())
    });
    let subjects: Vec<Subject> = HOSTILE.iter().map(|label| subject(label, &run)).collect();
    for runs in [1, 2, 3] {
        let once = drawn(&subjects[..runs], &OF_LOOPS);
        assert_eq!(once, drawn(&subjects[..runs], &OF_LOOPS));
        for figure in once {
            assert!(!figure.svg.contains("<script"), "{}", figure.name);
            // Of eight cells under several preloads each.
            assert!(figure.caption.contains("are shown"), "{}", figure.caption);
        }
    }
}

#[test]
fn underruns_are_marked_and_counted_where_they_happened() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let plan = loop_plan(vec![loop_point(0, Some(2_048))]);
    let run = loop_run(dir.path(), &plan, |point| blocks(point, 3000, 1));
    let subject = subject("one", &run);
    let load::Loaded::Loop(points) = &subject.loaded else {
        panic!("a loop run")
    };
    let [(status, n)] = points[0].series.bad_in_all[..] else {
        panic!("{:?}", points[0].series.bad_in_all)
    };
    assert_eq!(status, "underrun");
    let figures = figures::of(std::slice::from_ref(&subject));
    let names: Vec<&str> = figures.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, OF_LOOPS[1..], "a preload under test has no curve");
    figures.iter().for_each(assert_sound);
    let legend = format!("underrun ({n})");
    assert!(figures[0].svg.contains(&legend), "{legend}");
}

#[test]
fn loops_without_blocks_or_with_damaged_ones_are_no_reason_to_fail() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let plan = loop_plan(loop_points(4));
    let run = loop_run(dir.path(), &plan, |point| {
        blocks(point, 20 + u64::from(point.index), 1)
    });
    drawn(&[subject("up to three blocks", &run)], &OF_LOOPS);
    let names = names_of_damaged(dir.path(), &run);
    assert_eq!(names, OF_LOOPS[..1], "the summaries are whole");
}

#[test]
fn requests_that_one_call_sent_have_a_trt_of_0_and_a_linear_axis() {
    let dir = tempfile::tempdir().unwrap();
    let pairs = |together_ns: u64| {
        (0..400_u64).map(move |sequence| Sample {
            start_ns: sequence / 2 * 1_000_000 + sequence % 2 * together_ns,
            rtt_ns: 900_000,
            outstanding: 2,
            ..exchange(sequence + 1)
        })
    };
    for (name, together_ns, is_zero) in [("pairs", 0, true), ("apart", 5_000, false)] {
        let run = exchange_run(&dir.path().join(name), &of_depth(2), |_| pairs(together_ns));
        let [series, histogram] =
            &drawn(&[subject("run", &run)], &["trt-series", "trt-histogram"])[..]
        else {
            panic!("two figures");
        };
        assert_eq!(series.svg.contains("TRT (ms)"), is_zero, "{name}");
        assert_eq!(
            histogram.caption.contains("The bar at 0:"),
            is_zero,
            "{name}"
        );
        // A label of its own, and the axis is not stretched to nanoseconds.
        assert_eq!(histogram.svg.contains(">0</text>"), is_zero, "{name}");
        assert!(!histogram.svg.contains(" ns</text>"), "{name}");
    }
}
