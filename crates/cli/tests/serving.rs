//! The responder towards many clients that come, stay, break off and leave; and how it begins and
//! ends itself.

use crate::common;

use common::{Background, Desk, Server, WIREGAUGE, request, until};
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use wiregauge_wire::Kind;

#[test]
fn without_a_host_only_this_host_is_served() {
    let desk = Desk::new();
    for scheme in ["tcp", "udp"] {
        let server = desk.serve(&format!("{scheme}://:0"));
        let begin = format!("{scheme}://127.0.0.1:");
        assert!(server.address.starts_with(&begin), "{}", server.address);
        let (_, stderr) = server.process.said();
        assert!(!stderr.contains("other hosts"), "{stderr}");
    }
}

#[test]
fn serving_other_hosts_is_said_aloud() {
    let desk = Desk::new();
    let mut server = desk.serve("tcp://0.0.0.0:0");
    server
        .process
        .until_said("that others can reach it", |_, stderr| {
            stderr.contains("other hosts can reach this").then_some(())
        });
}

#[test]
fn what_a_responder_proposes_measures_it() {
    let desk = Desk::new();
    let (socket, link) = (desk.text("its socket"), desk.text("its tty"));
    let all = &["wiregauge", "echo", "scpi", "modbus"][..];
    for (address, protocols) in [
        ("tcp://:0".to_owned(), all),
        ("udp://:0".to_owned(), &all[..2]),
        (format!("unix://{socket}"), all),
        ("pty:".to_owned(), all),
        (format!("pty:{link}"), &all[..1]),
    ] {
        for protocol in protocols {
            let serve = ["serve", &address, "--protocol", protocol];
            let mut server = Server::wiregauge(desk.command_of(WIREGAUGE, serve));
            let words = server.process.until_said("how to measure it", |_, stderr| {
                let (_, words) = stderr.split_once("measure it with: wiregauge ")?;
                let (words, _) = words.split_once("   (stop")?;
                Some(words.to_owned())
            });
            let flags = "--count 20 --no-calibration --no-store --quiet";
            let line = format!("exec {WIREGAUGE} {words} {flags}");
            let mut shell = desk.command_of("sh", ["-c", &line]);
            let measured = Background::start(&mut shell).ended();
            assert_eq!(measured.code, Some(0), "{line}: {measured}");
        }
    }
}

#[test]
fn many_clients_are_served_at_once() {
    let desk = Desk::new();
    for address in [
        "tcp://:0".into(),
        "udp://:0".into(),
        format!("unix://{}", desk.text("s")),
    ] {
        let server = desk.serve(&address);
        let flags = "--depth 4 --in 500 --count 300 --no-calibration --no-store --json";
        let exchange = format!("exchange {} {flags}", server.address);
        let clients: Vec<Background> = (0..8)
            .map(|_| Background::start(&mut desk.command(&exchange)))
            .collect();
        for client in clients {
            let ended = client.ended();
            assert_eq!(ended.code, Some(0), "{ended}");
            let run: wiregauge_run::RunFile = serde_json::from_str(&ended.stdout).expect("a run");
            assert!(
                run.points[0].counts.is_clean(),
                "{:?}",
                run.points[0].counts
            );
        }
    }
}

#[test]
fn a_client_too_many_is_turned_away_until_another_leaves() {
    let desk = Desk::new();
    let mut server = desk.serve("tcp://:0 --max-clients 2");
    let connect = || TcpStream::connect(server.host_port()).expect("connected");
    let clients = [connect(), connect()];
    let exchange = format!("exchange {} --count 3", server.address);
    let exchange = format!("{exchange} --no-calibration --no-store");
    // The two are there only once they were accepted.
    until("the third is turned away", || {
        let third = desk.wiregauge(&exchange).output().expect("it runs");
        third.status.code() == Some(3)
    });
    server
        .process
        .until_said("whom it turned away", |_, stderr| {
            let printed = stderr.contains("rejected:") && stderr.contains("--max-clients");
            printed.then_some(())
        });
    // A responder that closes the connection is running.
    for (command, flags) in [
        ("exchange", "--count 3 --no-calibration"),
        ("exchange", "--count 3 --no-calibration --protocol echo"),
        ("stream", "--duration 100ms"),
    ] {
        desk.wiregauge(&format!("{command} {} {flags} --no-store", server.address))
            .assert()
            .code(3)
            .stderr(
                contains("more clients than it serves at once")
                    .and(contains("responder running").not()),
            );
    }
    drop(clients);
    until("the third is served", || {
        let third = desk.wiregauge(&exchange).output().expect("it runs");
        third.status.code() == Some(0)
    });
}

#[test]
fn a_client_that_breaks_off_in_the_middle_of_a_frame_harms_nobody() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    for _ in 0..100 {
        let mut client = TcpStream::connect(server.host_port()).expect("connected");
        client
            .write_all(&request(Kind::Exchange, 1, 500, 48)[..250])
            .expect("sent");
        client.shutdown(Shutdown::Write).expect("broken off");
        // The responder has seen it leave.
        let rest = client.read_to_end(&mut Vec::new()).expect("closed");
        assert_eq!(rest, 0);
    }
    // More than --max-clients have come and gone.
    desk.measure(&server.address, "--count 10").is_clean();
}

#[test]
fn half_a_frame_left_on_a_tty_does_not_spoil_the_next_run() {
    let desk = Desk::new();
    let server = desk.serve("pty:");
    let path = server.address.replace("serial://", "");
    let mut tty = std::fs::File::options()
        .write(true)
        .open(path)
        .expect("the tty");
    tty.write_all(&request(Kind::Exchange, 1, 500, 48)[..250])
        .expect("sent");
    drop(tty);
    desk.measure(&server.address, "--count 10").is_clean();
}

#[test]
fn a_responder_ends_when_it_is_asked_to_and_cleans_up() {
    let desk = Desk::new();
    for address in [
        "tcp://:0".into(),
        "udp://:0".into(),
        "pty:".into(),
        format!("unix://{}", desk.text("socket")),
    ] {
        // The last one is that of a terminal that is closed.
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            let server = desk.serve(&address);
            desk.measure(&server.address, "--count 3").is_clean();
            server.process.signal(signal);
            let ended = server.process.ended();
            assert_eq!(ended.code, Some(0), "{address}: {ended}");
            assert!(!desk.path("socket").exists());
        }
    }
}

#[test]
fn a_pty_ends_when_its_device_disconnects_itself() {
    let desk = Desk::new();
    let link = desk.path("board");
    let server = desk.serve(&format!("pty:{} --disconnect-after 20", link.display()));
    let (run, ended) = desk.try_measure(&server.address, "--count 100 --timeout 100ms");
    assert_eq!(ended.code, Some(3), "{ended}");
    run.accounts_for_every_exchange();
    assert_eq!(server.process.ended().code, Some(0));
    assert!(!link.is_symlink());
}

#[test]
fn the_same_seed_makes_the_same_faults() {
    let desk = Desk::new();
    let lost = |seed: u32| {
        let server = desk.serve(&format!("tcp://:0 --corrupt 5% --seed {seed}"));
        let run = desk.measure(&server.address, "--count 200");
        run.sequences_of("corrupted")
    };
    let first = lost(3);
    assert!(!first.is_empty());
    assert_eq!(lost(3), first);
    assert_ne!(lost(4), first);
}

#[test]
fn a_profile_that_cannot_be_served_there_is_refused_with_what_can() {
    let desk = Desk::new();
    desk.output("serve --profile list");
    desk.refuses(
        "serve",
        2,
        "
        --profile eg20t                            => --profile requires an address
        udp://:0 --profile eg20t                   => --profile requires pty:, tcp://
        pty: --profile none                        => --profile list describes
        pty: --hub                                 => add --bus full-speed
        pty: --bus high-speed --hub                => --hub requires full speed
        pty: --profile eg20t --devices 2           => --devices requires `wiregauge serve usb-virtual`
        pty: --profile eg20t --bus full-speed      => cannot be used
        ",
    );
}
