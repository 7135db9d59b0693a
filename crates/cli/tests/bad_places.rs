//! What the system does not give: a run to read, a place to write, a port, a permission.

use crate::common;

use common::{Background, Desk, Ended};
use predicates::prelude::*;
use predicates::str::contains;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[test]
fn a_run_that_is_not_there_is_told_where_it_was_looked_for() {
    let desk = Desk::new();
    for command in ["show", "export --csv"] {
        let (command, flags) = command.split_once(' ').unwrap_or((command, ""));
        for (run, what) in [
            ("last", "no stored runs in "),
            ("2019", "`2019`"),
            ("/no/such/run", "`/no/such/run`"),
        ] {
            let runs = desk.runs().display().to_string();
            desk.wiregauge(&format!("{command} {run} {flags}"))
                .assert()
                .code(2)
                .stdout("")
                .stderr(contains(what).and(contains(runs)));
        }
    }
}

#[test]
fn a_foreign_directory_is_no_run() {
    let desk = Desk::new();
    let foreign = desk.path("foreign");
    std::fs::create_dir(&foreign).expect("a directory");
    std::fs::write(foreign.join("photo.jpg"), "not a run").expect("a file");
    let show = format!("show {}", foreign.display());
    let names_it = contains(foreign.display().to_string());
    desk.wiregauge(&show)
        .assert()
        .code(2)
        .stderr(contains("no run.json").and(names_it));
}

/// A stored run, and the path of its `run.json`.
fn stored_run(desk: &Desk) -> std::path::PathBuf {
    desk.measure("null://", "--count 20");
    desk.runs().join(&desk.stored()[0]).join("run.json")
}

#[test]
fn samples_that_are_gone_or_cut_short_do_not_hide_the_summary() {
    let desk = Desk::new();
    let file = stored_run(&desk);
    let samples = file.with_file_name("samples").join("point-0000.parquet");
    let whole = std::fs::read(&samples).expect("the samples");
    for bytes in [&whole[..whole.len() / 2], b"", b"PAR1"] {
        std::fs::write(&samples, bytes).expect("written");
        desk.wiregauge("show last").assert().success();
        desk.fails("export last --csv", 2, &["point-0000.parquet"]);
    }
    std::fs::remove_file(&samples).expect("removed");
    desk.fails("export last --csv", 2, &["point-0000.parquet"]);
}

#[test]
fn an_address_in_use_is_told_for_every_kind_of_server() {
    let desk = Desk::new();
    let socket = format!("unix://{}", desk.text("socket"));
    for address in ["tcp://:0", "udp://:0", socket.as_str()] {
        let first = desk.serve(address);
        desk.wiregauge(&format!("serve {}", first.address))
            .assert()
            .code(3)
            .stdout("")
            .stderr(contains(&first.address).and(contains("hint: ")));
        // The first one is none the worse for it.
        desk.measure(&first.address, "--count 3").is_clean();
    }
}

#[test]
fn the_socket_of_a_responder_that_was_killed_is_taken_over() {
    let desk = Desk::new();
    let address = format!("unix://{}", desk.text("socket"));
    let first = desk.serve(&address);
    first.process.signal(rustix::process::Signal::KILL);
    first.process.ended();
    assert!(desk.path("socket").exists());
    let second = desk.serve(&address);
    desk.measure(&second.address, "--count 3").is_clean();
}

#[test]
fn a_file_is_never_replaced_by_a_socket_or_a_pty() {
    let desk = Desk::new();
    std::fs::write(desk.path("precious"), "precious").expect("a file");
    for scheme in ["unix://", "pty:"] {
        desk.wiregauge(&format!("serve {scheme}{}", desk.text("precious")))
            .assert()
            .code(3)
            .stderr(contains("precious").and(contains("another responder").not()));
        let text = std::fs::read_to_string(desk.path("precious")).expect("the file");
        assert_eq!(text, "precious");
    }
}

#[test]
fn what_cannot_be_served_is_answered_with_what_can() {
    let desk = Desk::new();
    desk.fails("serve null://", 2, &["pty:", "null:// is only for clients"]);
    desk.fails("serve tcp://192.0.2.1:0", 3, &["192.0.2.1", "hint: "]);
}

#[test]
fn a_disk_that_is_full_from_the_start_leaves_nothing_behind() {
    let desk = Desk::new();
    let ended = desk.with_room_for(0, "exchange null:// --count 5 --no-calibration");
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains("File too large"), "{ended}");
    assert_eq!(desk.stored(), Vec::<String>::new());
}

/// What to do about a file that cannot be made.
const PLACE: &str = "\n  hint: check that the directory exists and that you have permission";

#[test]
fn a_csv_file_that_cannot_be_written_is_told_before_or_after_but_never_passed_over() {
    let desk = Desk::new();
    let exchange = "exchange null:// --count 5 --no-calibration --csv";
    desk.wiregauge(&format!("{exchange} {}/no/such/dir.csv", desk.text("")))
        .assert()
        .failure()
        .stderr(contains("dir.csv").and(contains(PLACE)));
    assert_eq!(desk.stored(), Vec::<String>::new());
    desk.fails(&format!("{exchange} /dev/full"), 3, &["No space left"]);
    // The run itself is there all the same.
    desk.wiregauge("export last --csv /dev/full")
        .assert()
        .code(3)
        .stderr(contains("No space left"));
    desk.wiregauge("show last").assert().success();
}

#[test]
fn standard_output_is_refused_where_tables_go_to_it() {
    let desk = Desk::new();
    for command in ["exchange null:// --csv -", "export last --parquet -"] {
        desk.fails(command, 2, &["standard output is not possible here"]);
    }
    assert!(!desk.path("-").exists());
    assert_eq!(desk.stored(), Vec::<String>::new());
}

#[test]
fn a_processor_that_does_not_exist_is_answered_with_those_that_do() {
    let desk = Desk::new();
    for cpu in ["1000", "100000"] {
        desk.fails(
            &format!("exchange null:// --count 5 --pin {cpu}"),
            2,
            &[cpu, "hint: use --pin with one of"],
        );
    }
}

/// Runs the program as a user without any right.
fn as_nobody(desk: &Desk, arguments: &str) -> Ended {
    Background::start(&mut desk.command_as_nobody(arguments)).ended()
}

#[test]
fn a_priority_that_is_refused_names_the_permission() {
    let desk = Desk::new();
    let ended = as_nobody(&desk, "exchange null:// --count 5 --priority 50 --no-store");
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains("CAP_SYS_NICE"), "{ended}");
    assert!(ended.stderr.contains("hint: "), "{ended}");
}

#[test]
fn a_tty_without_permission_names_the_group_to_join() {
    let desk = Desk::new();
    let tty = common::EchoTty::new(false);
    let path = tty.address().replace("serial://", "");
    let closed = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&path, closed).expect("permissions");
    let ended = as_nobody(&desk, &format!("exchange serial://{path} --no-store"));
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains(&path), "{ended}");
    assert!(ended.stderr.contains("dialout"), "{ended}");
}

#[test]
fn a_place_that_may_not_be_written_to_is_named() {
    let desk = Desk::new();
    let closed = desk.path("closed");
    std::fs::create_dir(&closed).expect("a directory");
    let mode = std::fs::Permissions::from_mode(0o555);
    std::fs::set_permissions(&closed, mode).expect("permissions");
    let store = format!(
        "exchange null:// --count 5 --store {}/run",
        closed.display()
    );
    let ended = as_nobody(&desk, &store);
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains("closed"), "{ended}");
    assert!(ended.stderr.contains("ermission denied"), "{ended}");
}

#[test]
fn a_low_port_names_the_permission_where_the_system_keeps_them() {
    let first = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    if first.is_ok_and(|first| first.trim() == "0") {
        eprintln!("not tested: this system gives every port to everyone");
        return;
    }
    let desk = Desk::new();
    let ended = as_nobody(&desk, "serve tcp://127.0.0.1:1");
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains("CAP_NET_BIND_SERVICE"), "{ended}");
}

#[test]
fn locked_memory_that_is_refused_names_the_permission() {
    let desk = Desk::new();
    let nobody = Path::new("/proc/self/limits");
    let limits = std::fs::read_to_string(nobody).unwrap_or_default();
    let unlimited = limits
        .lines()
        .any(|line| line.starts_with("Max locked memory") && line.contains("unlimited"));
    if unlimited {
        eprintln!("not tested: this system lets everyone lock all memory");
        return;
    }
    let ended = as_nobody(&desk, "exchange null:// --count 5 --lock-memory --no-store");
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains("CAP_IPC_LOCK"), "{ended}");
}

#[test]
fn a_run_home_that_is_a_file_is_reported() {
    let desk = Desk::new();
    std::fs::write(desk.runs(), "a file").expect("a file");
    desk.fails("runs", 2, &["runs"]);
    desk.fails("exchange null:// --count 5 --no-calibration", 3, &["runs"]);
    assert!(desk.runs().is_file());
}
