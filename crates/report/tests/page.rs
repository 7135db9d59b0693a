//! The page: what stands on it, in which order, and that nothing of a run can become markup. That it
//! works in a browser, `tests/browser` looks at.

use crate::common;

use base64::{Engine, prelude::BASE64_STANDARD};
use common::*;
use sha2::{Digest, Sha256};
use wiregauge_record::*;
use wiregauge_report::tables::{ComparisonTables, Table};
use wiregauge_report::{Subject, figures, page, tables};
use wiregauge_run::{AnyRun, Exchange, RunWriter, State};

pub fn subject(label: &str, run: AnyRun) -> Subject {
    let tables = tables::of(&run, true);
    Subject::load(label.to_owned(), run, tables, None, &|_| {})
}

pub fn page_of(subjects: &[Subject]) -> String {
    page::html(subjects, &figures::of(subjects), &[])
}

/// A run of so many points with the exchanges of `common`.
pub fn exchange(dir: &std::path::Path, points: u32, n: u64) -> AnyRun {
    exchange_run(dir, &plan(points), |point| {
        exchanges(n, u64::from(point.index) + 1)
    })
}

/// A run whose point at depth d starts an exchange every 20 us / d, each of 20 us.
fn steady(dir: &std::path::Path) -> AnyRun {
    exchange_run(dir, &plan(4), |point| paced(point.depth, 20_000, 500, 0))
}

/// The text between two marks.
pub fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let begun = text
        .split_once(from)
        .unwrap_or_else(|| panic!("no {from}"))
        .1;
    begun
        .split_once(to)
        .unwrap_or_else(|| panic!("no {to} behind {from}"))
        .0
}

#[test]
fn the_summary_comes_first_then_figures_tables_and_conditions() {
    let dir = tempfile::tempdir().unwrap();
    let subjects = [subject("run", exchange(&dir.path().join("run"), 4, 500))];
    let drawn = figures::of(&subjects);
    let mut figures = Table::new("What differs", &["point"]);
    figures.row(vec!["none".into()]);
    let comparison = ComparisonTables {
        important: figures.clone(),
        heading: vec!["before <b>: one".into(), "after: other".into()],
        answer: vec!["No difference shown in 1 figure.".into()],
        changed: None,
        figures,
        caveat: Some("One run per side".into()),
        ..ComparisonTables::default()
    };
    let page = page::html(&subjects, &drawn, &[comparison]);
    let places: Vec<usize> = ["summary", "comparison", "figures", "tables", "conditions"]
        .iter()
        .map(|id| page.find(&format!("<section id=\"{id}\">")).expect(id))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(page.matches("<svg").count(), drawn.len());
    assert!(page.contains("<caption>What differs</caption>"));
    assert!(page.contains("<h3>before &lt;b&gt;: one; after: other</h3>"));
    let verdict = page.find("No difference shown in 1 figure.").unwrap();
    let caveat = page.find("One run per side").unwrap();
    let table = page.find("<caption>What differs</caption>").unwrap();
    assert!(verdict < caveat && caveat < table);
    let alone = page::html(&subjects, &drawn, &[]);
    assert!(!alone.contains("id=\"comparison\""));
    let tables = subjects[0].tables.tables.len();
    assert!(page.matches("<table").count() > tables);
}

#[test]
fn the_answer_is_the_first_sentence_and_true_of_the_samples() {
    let dir = tempfile::tempdir().unwrap();
    let page = page_of(&[subject("run", steady(&dir.path().join("run")))]);
    let answer = between(&page, "<p class=\"answer\">", "</p>");
    // 500 exchanges in 499 times 5 us and the last RTT, against 500 times 20 us.
    assert_eq!(
        answer.replace('\u{a0}', " "),
        "Depth 4 is the fastest: 198,807 per s, 3.98 times as many as at depth 1."
    );
    let heading = page.find("<h1>").unwrap();
    let contents = page.find("class=\"contents\"").unwrap();
    let summary = page.find("<section id=\"summary\">").unwrap();
    let answer = page.find("class=\"answer\"").unwrap();
    assert!(heading < answer && answer < contents && contents < summary);
}

#[test]
fn the_cycles_of_all_links_are_counted_together() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(2);
    plan.schedule = Schedule::EveryNs(25_000);
    plan.more_links = vec!["tcp://10.0.0.1:7700".to_owned()];
    (plan.points[1].link, plan.points[1].depth) = (1, 1);
    let run = exchange_run(&dir.path().join("run"), &plan, |point| {
        paced(1, 20_000 + 10_000 * u64::from(point.link), 200, 0)
    });
    let page = page_of(&[subject("run", run)]);
    assert!(page.contains("<title>Exchange with tcp://127.0.0.1:7700 and 1 more</title>"));
    let answer = between(&page, "<p class=\"answer\">", "</p>").replace('\u{a0}', " ");
    assert!(
        answer.starts_with("Starts keep 40 kHz at all points"),
        "{answer}"
    );
    let cycles = between(&page, "<section id=\"deadline\">", "</section>");
    let missed = "cycles of 25 \u{b5}s missed their deadline, the end of the cycle (";
    assert!(cycles.replace('\u{a0}', " ").contains(missed), "{cycles}");
}

#[test]
fn the_page_begins_with_the_answer_of_the_search_that_the_run_confirmed() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("run");
    let run = steady(&place);
    let tune = "{\"answer\":\"no setting meets all constraints; the closest one: depth 4: p99 20.00 us.\"}";
    std::fs::write(place.join("tune.json"), tune).unwrap();
    let page = page_of(&[subject("run", run)]);
    let answer = between(&page, "<p class=\"answer\">", "</p>").replace('\u{a0}', " ");
    let of_search =
        "No setting meets all constraints; the closest one: depth 4: p99 20.00 µs. Depth 4 is";
    assert!(answer.starts_with(of_search), "{answer}");
}

#[test]
fn the_summary_has_the_table_that_the_terminal_prints() {
    let dir = tempfile::tempdir().unwrap();
    let subject = subject("run", steady(&dir.path().join("run")));
    let brief = subject.tables.brief.clone().expect("an answer");
    let table = brief.tables(usize::MAX).next().expect("a table");
    let page = page_of(&[subject]);
    let summary = between(&page, "<section id=\"summary\">", "</section>");
    assert!(summary.contains(&table.html()), "{summary}");
    assert!(summary.contains("<td>20.00"), "the RTT: {summary}");
    assert_eq!(summary.matches("<table").count(), 1, "{summary}");
}

#[test]
fn what_limits_stands_below_the_table_for_all_points_of_which_it_is_true() {
    let dir = tempfile::tempdir().unwrap();
    let page = page_of(&[subject("run", exchange(&dir.path().join("run"), 2, 2000))]);
    let said = between(&page, "<ul class=\"said\">", "</ul>");
    assert!(said.contains("Bottleneck at"), "{said}");
}

#[test]
fn a_response_of_any_size_is_not_called_one_of_0_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(4);
    plan.protocol = Protocol::Lines;
    for point in &mut plan.points {
        point.in_bytes = 0;
    }
    let run = exchange_run(&dir.path().join("run"), &plan, |_| exchanges(500, 1));
    let page = page_of(&[subject("run", run)]);
    assert!(page.contains("Shown: OUT 16 B, IN any size."));
    assert!(!page.contains("IN 0 B"));
}

#[test]
fn nothing_of_a_run_becomes_markup() {
    let hostile =
        "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> ]]> \" ' &amp; µ";
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(2);
    plan.address = format!("tcp://{hostile}");
    let mut conditions = Conditions {
        command: vec![hostile.into()],
        version: hostile.into(),
        started: hostile.into(),
        responder: Some(Responder {
            name: hostile.into(),
            ..Responder::default()
        }),
        ..Conditions::default()
    };
    conditions.host.name = hostile.into();
    conditions.host.kernel = hostile.into();
    conditions.link.settings = vec![(hostile.into(), hostile.into())];
    let place = dir.path().join("run");
    let mut run = RunWriter::<Exchange>::create(&place, &plan, &conditions).unwrap();
    for &point in &plan.points {
        let mut writer = run.begin_point(point).unwrap();
        let mut summary = Summariser::new(&plan, point, None);
        for sample in exchanges(50, 1) {
            writer.push(&sample, &[]).unwrap();
            summary.push(&sample);
        }
        let ending = Ending::LinkFailed {
            error: hostile.into(),
        };
        let summary = summary.finish(ending, 0, None, ResourceUse::default());
        run.end_point(writer, summary).unwrap();
    }
    let state = State::Failed {
        error: hostile.into(),
    };
    run.finish(state).unwrap();
    let open = || AnyRun::open(&place).unwrap();
    let page = page_of(&[subject(hostile, open()), subject("other", open())]);
    // The scripts are the page's own, and all that is hostile was escaped.
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<img"));
    assert!(!page.contains("]]> \" '"));
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt; ]]&gt; &quot; &#39; &amp;amp; µ"));
    let own = if page::is_interactive() { 3 } else { 1 };
    assert_eq!(page.matches("</script>").count(), own);
}

#[test]
fn every_script_is_one_that_the_policy_names() {
    let dir = tempfile::tempdir().unwrap();
    let page = page_of(&[subject("run", exchange(&dir.path().join("run"), 2, 500))]);
    let policy = between(
        &page,
        "http-equiv=\"Content-Security-Policy\" content=\"",
        "\"",
    );
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    let mut scripts = 0;
    for script in page.split("<script>").skip(1) {
        let text = script.split_once("</script>").unwrap().0;
        let hash = format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
        assert!(policy.contains(&hash), "{hash} is not in {policy}");
        scripts += 1;
    }
    assert_eq!(scripts, if page::is_interactive() { 2 } else { 1 });
    assert_eq!(policy.matches("'sha256-").count(), scripts);
}

#[test]
fn the_page_names_nothing_to_fetch() {
    let dir = tempfile::tempdir().unwrap();
    let page = page_of(&[subject("run", exchange(&dir.path().join("run"), 2, 500))]);
    for way in [
        "src=\"",
        "href=\"http",
        "url(",
        "@import",
        "<link",
        "<iframe",
        "<object",
    ] {
        assert!(!page.contains(way), "{way}");
    }
}

#[test]
fn a_run_without_points_and_a_failed_one_make_a_page_that_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let make = |name: &str, state: Option<State>| {
        let place = dir.path().join(name);
        let mut run =
            RunWriter::<Exchange>::create(&place, &plan(3), &Conditions::default()).unwrap();
        match state {
            Some(state) => run.finish(state).unwrap(),
            None => drop(run),
        };
        page_of(&[subject(name, AnyRun::open(&place).unwrap())])
    };
    let failed = State::Failed {
        error: "connecting to the device: refused".into(),
    };
    let page = make("failed", Some(failed));
    assert!(
        page.contains(
            "Failed after 0 exchanges, 0 of 3 points complete: connecting to the device: refused."
        ),
        "{page}"
    );
    let page = make("interrupted", Some(State::Interrupted));
    assert!(page.contains("Interrupted after 0 exchanges, 0 of 3 points complete."));
    let page = make("running", None);
    assert!(page.contains("Was killed (SIGKILL, a crash or a power cut)"));
    assert!(page_of(&[]).contains("This report has no runs."));
}

#[test]
fn the_conditions_of_several_runs_stand_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    let slow = exchange_run(&dir.path().join("slow"), &plan(2), |point| {
        exchanges(2000, u64::from(point.index) + 9).map(|sample| Sample {
            rtt_ns: sample.rtt_ns + 30_000,
            ..sample
        })
    });
    let fast = subject("fast", exchange(&dir.path().join("fast"), 4, 2000));
    let page = page_of(&[fast.clone(), subject("slow", slow)]);
    let side = between(&page, "Conditions that differ</caption>", "</table>");
    assert!(side.contains("<th scope=\"col\">slow</th>"), "{side}");
    assert!(page.contains("<title>2 runs: fast, slow</title>"));
    let stream = stream_plan(vec![stream_point(0, Direction::In)]);
    let stream = stream_run(&dir.path().join("stream"), &stream, |point| {
        transfers(point, 500, 1)
    });
    let mixed = page_of(&[fast, subject("stream", stream)]);
    assert!(mixed.contains("These runs are not compared"));
}

#[test]
fn a_page_of_a_hundred_points_can_be_mailed() {
    let dir = tempfile::tempdir().unwrap();
    let page = page_of(&[subject("run", exchange(&dir.path().join("run"), 100, 500))]);
    assert!(page.len() < 1_000_000, "{} B", page.len());
    if page::is_interactive() {
        assert!(
            page.contains("time slices per point"),
            "what was thinned is said"
        );
    }
}
