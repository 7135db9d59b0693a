//! Devices that go away: the run fails with exit code 3, says so, and keeps what it measured.

use crate::common;

use common::{Background, Desk, Run, until};
use rustix::process::Signal;
use wiregauge_record::Ending;
use wiregauge_run::State;

/// Exchanges that the device answers before it is gone.
const ANSWERED: u64 = 50;

fn every_kind(desk: &Desk) -> [(&'static str, String); 4] {
    [
        ("tcp", "tcp://:0".into()),
        ("udp", "udp://:0".into()),
        ("unix", format!("unix://{}", desk.text("socket"))),
        ("pty", "pty:".into()),
    ]
}

/// It failed, says why and where, and the samples up to then are there.
fn is_kept(desk: &Desk, run: &Run, kind: &str) {
    run.accounts_for_every_exchange();
    assert!(
        matches!(run.file.state, State::Failed { .. }),
        "{kind}: {:?}",
        run.file.state
    );
    assert!(matches!(run.point().ending, Ending::LinkFailed { .. }));
    let shown = desk.output("show last");
    assert!(shown.starts_with("failed after "), "{kind}: {shown}");
    assert!(shown.contains(&run.file.plan.address), "{kind}: {shown}");
    let listed = desk.output("runs");
    assert!(listed.contains("failed"), "{kind}: {listed}");
    let exported = desk.output("export last --csv");
    assert_eq!(common::rows(&exported).len(), run.rows.len(), "{kind}");
}

#[test]
fn what_was_measured_before_a_device_disconnects_is_kept() {
    for depth in [1, 4] {
        for kind in 0..4 {
            let desk = Desk::new();
            let (kind, address) = &every_kind(&desk)[kind];
            let server = desk.serve(&format!("{address} --disconnect-after {ANSWERED}"));
            let flags = format!("--count 200 --timeout 1s --give-up 2 --depth {depth}");
            let (run, ended) = desk.try_measure(&server.address, &flags);
            assert_eq!(ended.code, Some(3), "{kind}: {ended}");
            assert!(ended.stderr.contains(&server.address), "{kind}: {ended}");
            assert!(ended.stderr.contains("hint: "), "{kind}: {ended}");
            // The first of them is kept apart. A link that breaks may take with it what was on its
            // way, which at depth 1 is nothing, but on a pty the last answer.
            let answered = run.counts().answered;
            let on_its_way = match (kind, depth) {
                (&"pty", _) => depth + 1,
                (_, 1) => 1,
                _ => depth,
            };
            assert!(answered < ANSWERED, "{kind}: {answered}");
            assert!(answered + on_its_way >= ANSWERED, "{kind}: {answered}");
            is_kept(&desk, &run, kind);
        }
    }
}

#[test]
fn points_finished_before_the_device_disconnects_stay_finished() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --disconnect-after 150");
    let flags = "--in 48,100,200 --count 99";
    let (run, ended) = desk.try_measure(&server.address, flags);
    assert_eq!(ended.code, Some(3), "{ended}");
    run.accounts_for_every_exchange();
    let endings = run.file.points.iter().map(|point| &point.ending);
    let complete = endings.filter(|ending| **ending == Ending::Complete);
    assert_eq!((complete.count(), run.file.points.len()), (1, 2));
    assert_eq!(run.file.points[0].counts.answered, 99);
}

#[test]
fn a_responder_that_is_killed_in_mid_run_ends_the_run_with_what_it_has() {
    for kind in 0..4 {
        let desk = Desk::new();
        let (kind, address) = &every_kind(&desk)[kind];
        let server = desk.serve(address);
        let flags = "--interval 1ms --count 1M --timeout 100ms --no-calibration";
        let mut command = desk.command(&format!("exchange {} {flags} --json", server.address));
        let run = Background::start(&mut command);
        until("the run has begun", || desk.measures());
        std::thread::sleep(std::time::Duration::from_secs(1));
        server.process.signal(Signal::KILL);
        let ended = run.ended();
        assert_eq!(ended.code, Some(3), "{kind}: {ended}");
        assert!(ended.stderr.contains("hint: "), "{kind}: {ended}");
        let csv = desk.path("rows.csv");
        let export = format!("export last --csv {}", csv.display());
        desk.wiregauge(&export).assert().success();
        let run = Run::read(&ended, &csv);
        assert!(run.counts().answered > 0, "{kind}");
        is_kept(&desk, &run, kind);
    }
}

#[test]
fn a_device_that_never_answers_leaves_no_empty_run_behind() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --disconnect-after 0");
    let exchange = format!(
        "exchange {} --timeout 50ms --no-calibration",
        server.address
    );
    desk.wiregauge(&exchange).assert().code(3);
    assert_eq!(desk.stored(), Vec::<String>::new());
}

#[test]
fn with_a_connection_for_each_exchange_a_refused_one_ends_the_run() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = "--connect each --interval 2ms --count 1M --timeout 100ms --no-calibration";
    let mut command = desk.command(&format!("exchange {} {flags} --json", server.address));
    let run = Background::start(&mut command);
    until("the run has begun", || desk.measures());
    std::thread::sleep(std::time::Duration::from_secs(1));
    server.process.signal(Signal::KILL);
    let ended = run.ended();
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains("refused"), "{ended}");
}
