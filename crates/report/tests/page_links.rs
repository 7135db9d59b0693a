//! The answers of a run with several links.

use crate::common;
use crate::page::{page_of, subject};

use common::*;
use wiregauge_record::*;
use wiregauge_report::tables;
use wiregauge_run::AnyRun;

/// A run over links of these RTTs, each measured alone at two depths.
fn links(dir: &std::path::Path, rtts_us: &[u64]) -> AnyRun {
    scheduled(dir, rtts_us, Schedule::AsFastAsPossible)
}

fn scheduled(dir: &std::path::Path, rtts_us: &[u64], schedule: Schedule) -> AnyRun {
    let mut plan = plan(2 * rtts_us.len() as u32);
    plan.more_links = (1..rtts_us.len())
        .map(|link| format!("tcp://10.0.0.{link}:7700"))
        .collect();
    plan.schedule = schedule;
    for point in &mut plan.points {
        (point.link, point.depth) = (point.index / 2, 1 + point.index % 2);
        point.in_bytes = 48;
    }
    exchange_run(dir, &plan, |point| {
        let rtt_ns = rtts_us[point.link as usize] * 1000;
        let trt_ns = rtt_ns / u64::from(point.depth);
        (0..=200).map(move |sequence| Sample {
            intended_ns: sequence * trt_ns,
            start_ns: sequence * trt_ns,
            rtt_ns,
            status: if rtt_ns == 0 {
                Status::Lost
            } else {
                Status::Ok
            },
            ..common::exchange(sequence)
        })
    })
}

fn answers(page: &str) -> Vec<String> {
    let all = page.split("<p class=\"answer\">").skip(1);
    let text = |rest: &str| {
        rest.split("</p>")
            .next()
            .unwrap_or_default()
            .replace('\u{a0}', " ")
    };
    all.map(text).collect()
}

#[test]
fn of_several_links_the_answer_names_the_fastest() {
    let dir = tempfile::tempdir().unwrap();
    let run = links(&dir.path().join("run"), &[20, 0, 15, 40, 30]);
    let page = page_of(&[subject("run", run)]);
    assert!(page.contains("<title>Exchange with tcp://127.0.0.1:7700 and 4 more</title>"));
    let found = answers(&page);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("Fastest at link 2 alone, depth 2: 132,"),
        "{found:?}"
    );
    assert!(found[0].ends_with("; 400 of 2,000 lost."), "{found:?}");
}

#[test]
fn the_heading_names_the_device_of_each_link() {
    let dir = tempfile::tempdir().unwrap();
    let device = |name: &str| {
        Some(Responder {
            name: name.into(),
            ..Responder::default()
        })
    };
    let conditions = Conditions {
        responder: device("near"),
        more_links: vec![LinkConditions {
            responder: device("far"),
            ..LinkConditions::default()
        }],
        ..Conditions::default()
    };
    let mut plan = plan(2);
    plan.more_links = vec!["tcp://10.0.0.1:7700".into()];
    plan.points[1].link = 1;
    let dir = dir.path().join("run");
    let run = exchange_run_with(&dir, &plan, &conditions, |_| exchanges(50, 1));
    let heading = &tables::of(&run, false).heading[0];
    assert!(
        heading.starts_with(
            "tcp://127.0.0.1:7700 (wiregauge protocol, near), link 1: tcp://10.0.0.1:7700 (far), OUT"
        ),
        "{heading}"
    );
}

#[test]
fn the_cycles_of_all_links_are_counted_together() {
    let dir = tempfile::tempdir().unwrap();
    let every = Schedule::EveryNs(25_000);
    let run = scheduled(&dir.path().join("run"), &[20, 30], every);
    let found = answers(&page_of(&[subject("run", run)]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("Starts keep 40 kHz at all points; "),
        "{found:?}"
    );
    assert!(found[0].contains("; responses: "), "{found:?}");
    let words = "cycles of 25 \u{b5}s missed their deadline, the end of the cycle (";
    assert!(found[0].contains(words), "{found:?}");
}
