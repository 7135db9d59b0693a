//! Serial lines: the tty is put back as it was, whatever happens, and has one user at a time.

use crate::common;

use common::{Background, Desk, EchoTty};
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;

#[test]
fn a_tty_is_raw_while_it_is_measured_and_then_as_it_was() {
    let desk = Desk::new();
    let tty = EchoTty::new(false);
    let before = tty.settings();
    let run = desk.measure(&tty.address(), "--protocol echo --count 100 --out 1,64");
    run.is_clean();
    assert_eq!(tty.settings(), before);
    // And the comparison would notice: while it was used, it was set otherwise.
    assert_ne!(tty.settings_while_used(), Some(before));
}

#[test]
fn bytes_that_mean_something_to_a_terminal_pass_as_they_are() {
    let desk = Desk::new();
    let tty = EchoTty::new(false);
    // The pattern has every value: Ctrl-C, Ctrl-D, XON, XOFF, CR, LF, DEL.
    let run = desk.measure(&tty.address(), "--protocol echo --count 20 --out 1000");
    run.is_clean();
}

#[test]
fn a_baud_rate_is_set_reported_and_put_back() {
    let desk = Desk::new();
    let tty = EchoTty::new(false);
    let before = tty.settings();
    let run = desk.measure(&tty.address(), "--protocol echo --count 20 --baud 57600");
    run.is_clean();
    let settings = &run.file.conditions.link.settings;
    assert!(
        settings.contains(&("baud".into(), "57600".into())),
        "{settings:?}"
    );
    assert_eq!(tty.settings(), before);
}

#[test]
fn a_tty_is_put_back_after_ctrl_c() {
    let desk = Desk::new();
    let tty = EchoTty::new(false);
    let before = tty.settings();
    let flags = "--protocol echo --interval 1ms --count 1M --no-calibration";
    let command = format!("exchange {} {flags}", tty.address());
    let run = Background::start(&mut desk.command(&command));
    common::until("the tty is in use", || tty.settings_while_used().is_some());
    assert_ne!(tty.settings(), before);
    run.signal(Signal::INT);
    let ended = run.ended();
    assert_eq!(ended.code, Some(130), "{ended}");
    assert_eq!(tty.settings(), before);
}

#[test]
fn a_tty_is_put_back_when_its_device_is_silent() {
    let desk = Desk::new();
    let tty = EchoTty::new(true);
    let before = tty.settings();
    for protocol in ["echo", "wiregauge"] {
        let flags = format!("--protocol {protocol} --timeout 100ms --no-calibration");
        let exchange = format!("exchange {} {flags}", tty.address());
        desk.wiregauge(&exchange).assert().code(3);
        assert_eq!(tty.settings(), before);
    }
}

#[test]
fn a_tty_in_use_is_refused_and_its_user_goes_on_undisturbed() {
    let desk = Desk::new();
    let server = desk.serve(&format!("pty:{}", desk.text("board")));
    let exchange = format!("exchange {} --no-calibration", server.address);
    let mut command = desk.command(&format!("{exchange} --interval 1ms --count 1500 --json"));
    let user = Background::start(&mut command);
    common::until("the first run has the tty", || desk.measures());
    let holder = format!("in use by process {} (wiregauge)", user.pid());
    desk.wiregauge(&format!("{exchange} --count 1"))
        .assert()
        .code(3)
        .stderr(contains(&server.address).and(contains(holder)))
        .stderr(contains("hint: "));
    let ended = user.ended();
    assert_eq!(ended.code, Some(0), "{ended}");
}

#[test]
fn a_pty_serves_the_next_run_after_one_was_killed() {
    let desk = Desk::new();
    let server = desk.serve("pty:");
    let exchange = format!("exchange {} --no-calibration", server.address);
    let killed = Background::start(&mut desk.command(&format!("{exchange} --duration 60s")));
    common::until("the run has the tty", || desk.measures());
    killed.signal(Signal::KILL);
    killed.ended();
    common::until("the tty is free", || {
        let mut next = desk.wiregauge(&format!("{exchange} --count 1"));
        next.output().expect("it runs").status.success()
    });
    desk.measure(&server.address, "--count 50").is_clean();
}

#[test]
fn the_link_to_a_pty_is_gone_when_its_responder_is() {
    let desk = Desk::new();
    let link = desk.path("board");
    let server = desk.serve(&format!("pty:{}", link.display()));
    assert_eq!(server.address, format!("serial://{}", link.display()));
    assert!(link.is_symlink());
    server.process.signal(Signal::TERM);
    let ended = server.process.ended();
    assert_eq!(ended.code, Some(0), "{ended}");
    assert!(!link.is_symlink());
}

#[test]
fn a_symbolic_link_to_a_pty_is_a_serial_line_without_a_scheme() {
    let desk = Desk::new();
    let path = desk.path("board");
    let board = desk.serve(&format!("pty:{}", path.display()));
    assert!(path.is_symlink(), "{}", board.address);
    desk.measure(&path.display().to_string(), "--count 20")
        .is_clean();
}
