//! The answers of a run with several links.

use crate::common;
use crate::page::{page_of, subject};

use common::*;
use wiregauge_record::*;
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
fn each_of_a_few_links_has_its_own_answer_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let run = links(&dir.path().join("run"), &[20, 0, 30]);
    let page = page_of(&[subject("run", run)]);
    assert!(page.contains("<title>Exchange with tcp://127.0.0.1:7700 and 2 more</title>"));
    let found = answers(&page);
    let starts = [
        "Link 0 (tcp://127.0.0.1:7700): OUT 16 B, IN 48 B: ",
        "Link 1 (tcp://10.0.0.1:7700): 400 of 400 exchanges lost.",
        "Link 2 (tcp://10.0.0.2:7700): OUT 16 B, IN 48 B: ",
    ];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for (answer, start) in found.iter().zip(starts) {
        assert!(answer.starts_with(start), "{answer}");
    }
    assert!(
        found[0].contains("p99 20.") && found[0].ends_with("nothing lost."),
        "{found:?}"
    );
    assert!(
        found[2].contains("p99 30.") && found[2].ends_with("nothing lost."),
        "{found:?}"
    );
}

#[test]
fn of_many_links_the_answer_names_the_fastest_and_the_slowest() {
    let dir = tempfile::tempdir().unwrap();
    let run = links(&dir.path().join("run"), &[20, 0, 15, 40, 30]);
    let found = answers(&page_of(&[subject("run", run)]));
    assert_eq!(found.len(), 3, "{found:?}");
    let fastest = "Link 2 (tcp://10.0.0.2:7700), the fastest of 4 measured (median RTT 15.00 \u{b5}s): OUT 16 B, IN 48 B: ";
    assert!(found[0].starts_with(fastest), "{found:?}");
    let slowest = "Link 3 (tcp://10.0.0.3:7700), the slowest of 4 measured (median RTT 40.00 \u{b5}s): OUT 16 B, IN 48 B: ";
    assert!(found[1].starts_with(slowest), "{found:?}");
    assert_eq!(found[2], "All 5 links: 400 of 2,000 exchanges lost.");
}

#[test]
fn the_cycles_of_all_links_have_a_sentence_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let every = Schedule::EveryNs(25_000);
    let run = scheduled(&dir.path().join("run"), &[20, 30], every);
    let found = answers(&page_of(&[subject("run", run)]));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found[1].starts_with("Link 1 (tcp://10.0.0.1:7700): "),
        "{found:?}"
    );
    assert!(found[1].ends_with("nothing lost."), "{found:?}");
    let words = "cycles of 25 \u{b5}s missed their deadline, the end of the cycle (";
    assert!(found[2].contains(words), "{found:?}");
}

#[test]
fn a_link_that_a_failed_run_did_not_reach_is_said_not_to_be_measured() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = links(&dir.path().join("run"), &[20, 0, 30]);
    if let AnyRun::Exchange(run) = &mut run {
        run.file.points.retain(|point| point.point.link < 2);
        run.file.state = wiregauge_run::State::Failed {
            error: "no answer".into(),
        };
    }
    let found = answers(&page_of(&[subject("run", run)]));
    let last = found.last().expect("an answer");
    assert_eq!(last, "Link 2 (tcp://10.0.0.2:7700): not measured.");
}
