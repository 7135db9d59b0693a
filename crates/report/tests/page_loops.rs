//! The page of loop runs.

use crate::common;
use crate::page::{page_of, subject};

use common::*;
use std::path::Path;
use wiregauge_record::*;
use wiregauge_run::AnyRun;

/// A loop and two preloads.
pub fn with_preloads(dir: &Path) -> AnyRun {
    // The plan has the first; the others were found.
    let tested = |index, bytes| LoopPoint {
        index,
        ..loop_point(0, Some(bytes))
    };
    let points = vec![loop_point(0, None), tested(1, 2_048), tested(2, 65_536)];
    loop_run(dir, &loop_plan(points), |point| blocks(point, 5_000, 1))
}

#[test]
fn loops_without_points_tests_or_floor_make_a_page_and_several_are_not_compared() {
    let dir = tempfile::tempdir().unwrap();
    let empty = loop_run(&dir.path().join("empty"), &loop_plan(Vec::new()), |point| {
        blocks(point, 0, 1)
    });
    let page = page_of(&[subject("empty", empty)]);
    assert!(page.contains("<title>Closed loop with virtual:</title>"));
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
