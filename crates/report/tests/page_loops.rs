//! The page of loop runs, and their CSV.

use crate::common;
use crate::page::{between, page_of, subject};

use common::*;
use wiregauge_record::*;
use wiregauge_report::tables;
use wiregauge_run::AnyRun;

#[test]
fn a_loop_tells_latency_floor_tested_preload_and_that_it_was_verified() {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![
        loop_point(0, None),
        LoopPoint {
            index: 1,
            ..loop_point(0, Some(2_048))
        },
        LoopPoint {
            index: 2,
            ..loop_point(0, Some(65_536))
        },
    ];
    // The plan has the first; the others were found.
    let run = loop_run(&dir.path().join("run"), &loop_plan(points), |point| {
        blocks(point, 5000, 1)
    });
    let AnyRun::Loop(stored) = &run else {
        panic!("a loop run")
    };
    let summary = stored.file.points[0].clone();
    let told = subject("run", run);
    let brief = told.tables.brief.clone().expect("an answer");
    let table = brief.tables(usize::MAX).next().expect("a table");
    let page = page_of(&[told]);
    assert!(page.contains("<title>Closed loop with virtual:</title>"));
    let summary_section = between(&page, "<section id=\"summary\">", "</section>");
    assert!(summary_section.contains(&table.html()), "{summary_section}");
    let answer = between(&page, "<p class=\"answer\">", "</p>").replace('\u{a0}', " ");
    let ratio = summary.needed_ns.unwrap() / summary.floor_ns.unwrap();
    assert!(
        summary_section.contains(&format!("{ratio:.2}")),
        "{summary_section}"
    );
    assert!(answer.contains("; a preload of 32.77 ms ("), "{answer}");
    for figure in ["stalls-latency", "service-series", "service-percentiles"] {
        assert!(page.contains(figure), "{figure}");
    }
}

#[test]
fn loops_without_points_tests_or_floor_make_a_page_and_several_are_not_compared() {
    let dir = tempfile::tempdir().unwrap();
    let empty = loop_run(&dir.path().join("empty"), &loop_plan(Vec::new()), |point| {
        blocks(point, 0, 1)
    });
    let page = page_of(&[subject("empty", empty)]);
    assert!(page.contains("There are no results to summarise."));
    let points = vec![loop_point(0, None), loop_point(1, None)];
    let run = |name: &str, n: u64| {
        let run = loop_run(
            &dir.path().join(name),
            &loop_plan(points.clone()),
            |point| blocks(point, n, n),
        );
        let AnyRun::Loop(mut run) = run else {
            panic!("a loop run")
        };
        for point in &mut run.file.points {
            (point.floor_ns, point.timer, point.verified) = (None, None, None);
        }
        subject(name, AnyRun::Loop(run))
    };
    let page = page_of(&[run("before", 3000), run("after", 2000)]);
    assert!(page.contains("These runs are not compared"), "{page}");
    assert!(page.contains("was not checked"), "{page}");
    assert!(!page.contains("NaN"));
}

#[test]
fn the_csv_of_a_loop_has_a_row_a_point_and_a_unit_in_every_name() {
    let dir = tempfile::tempdir().expect("a place for a run");
    let points = vec![loop_point(0, None), loop_point(1, Some(65_536))];
    let run = loop_run(dir.path(), &loop_plan(points), |point| {
        blocks(point, 3000, 1)
    });
    let text = tables::csv(&run);
    let mut csv = csv::Reader::from_reader(text.as_bytes());
    let names = csv.headers().expect("there is a header").clone();
    let rows: Vec<_> = csv.records().map(|row| row.expect("it is CSV")).collect();
    assert_eq!(rows.len(), 2);
    let cell = |row: usize, name: &str| {
        let at = names.iter().position(|other| other == name);
        rows[row][at.unwrap_or_else(|| panic!("no {name} in {names:?}"))].to_owned()
    };
    assert_eq!(
        (cell(0, "aim"), cell(1, "aim")),
        ("curve".into(), "hold".into())
    );
    assert_eq!(cell(1, "preload_bytes"), "65536");
    assert_eq!(cell(0, "blocks"), "2980");
    let AnyRun::Loop(run) = &run else {
        panic!("a loop run")
    };
    let first = &run.file.points[0];
    let needed = first.needed_ns.expect("there are blocks");
    assert_eq!(cell(0, "needed_ns").parse::<f64>(), Ok(needed));
    let bound = first.curve.last().expect("a curve").per_minute_high;
    assert_eq!(cell(0, "stalls_high_per_minute").parse::<f64>(), Ok(bound));
    assert_eq!(cell(0, "verified_method"), "sequence");
    assert!(
        cell(0, "service_p99_ns")
            .parse::<f64>()
            .is_ok_and(|ns| ns > 20_000.0)
    );
}
