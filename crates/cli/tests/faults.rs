//! The fault matrix: every fault that a responder can make, on every kind of link. The counts are
//! exact, no exchange is missing from the rows, and nothing hangs.
//!
//! A responder counts the exchanges that it sees from 1, HELLO left out; a point numbers them from
//! 0. So `every=75` strikes the sequence number 74 of a first point, of which the measured ones are 1 to
//! COUNT. The timeout outlasts the seconds for which a busy machine may leave the kernel's worker of a
//! pseudo-terminal waiting, behind the disk's.

use crate::common;

use common::{Desk, Run};

/// Measured exchanges; with the first one, 101 in all.
const COUNT: u64 = 100;
const STRUCK: [u64; 1] = [74];
/// How many that are.
const LOST: u64 = STRUCK.len() as u64;

const EVERY_KIND: [&str; 4] = ["tcp", "udp", "unix", "pty"];
const STREAMS: [&str; 3] = ["tcp", "unix", "pty"];

/// Tests the kinds of links at the same time: a timeout that outlasts the stalls of a busy machine is long.
fn on_each(kinds: &[&str], test: impl Fn(&str) + Sync) {
    std::thread::scope(|scope| {
        for kind in kinds {
            scope.spawn(|| test(kind));
        }
    });
}

/// Measures over a link of this kind with a responder that makes these faults.
fn measure(kind: &str, faults: &str, flags: &str) -> Run {
    let desk = Desk::new();
    let address = match kind {
        "unix" => format!("unix://{}", desk.text("socket")),
        "pty" => "pty:".to_string(),
        _ => format!("{kind}://:0"),
    };
    let server = desk.serve(&format!("{address} {faults}"));
    let mut flags = format!("--count {COUNT} {flags}");
    for (flag, value) in [("--in", "100"), ("--timeout", "12s")] {
        if !flags.contains(flag) {
            flags.push_str(&format!(" {flag} {value}"));
        }
    }
    let run = desk.measure(&server.address, &flags);
    run.accounts_for_every_exchange();
    assert_eq!(run.counts().exchanges, COUNT, "{kind} {faults}");
    let further = run.counts().late + run.counts().duplicated;
    assert_eq!(
        run.rows.len() as u64,
        1 + COUNT + further,
        "{kind} {faults}"
    );
    run
}

/// Counts of everything that can go wrong, to compare at one go.
fn wrong(run: &Run) -> [u64; 5] {
    let counts = run.counts();
    [
        counts.lost,
        counts.late,
        counts.duplicated,
        counts.reordered,
        counts.corrupted,
    ]
}

/// What is counted if every fault has its effect on one exchange, on that which it strikes alone.
#[track_caller]
fn assert_struck(kind: &str, serve: &str, flags: &str, status: &str) -> Run {
    let run = measure(kind, serve, flags);
    let what = format!("{kind} {serve} {flags}");
    let is = |other: &str| u64::from(other == status) * LOST;
    let expected = ["lost", "late", "duplicated", "reordered", "corrupted"].map(is);
    assert_eq!(wrong(&run), expected, "{what}");
    assert_eq!(run.sequences_of(status), STRUCK, "{what}");
    let answered = COUNT - is("lost") - is("corrupted");
    assert_eq!(run.counts().answered, answered, "{what}");
    assert_eq!(run.point().rtt.as_ref().map(|rtt| rtt.n), Some(answered));
    run
}

#[test]
fn each_fault_strikes_its_own_exchange_and_no_other() {
    const ECHO: &str = "--protocol echo --out 100";
    const BYTE: &str = "--protocol echo --out 1 --in 1";
    for (fault, flags, kinds, status) in [
        ("--drop", "", &EVERY_KIND[..], "lost"),
        ("--drop", "--depth 8", &EVERY_KIND, "lost"),
        ("--drop", ECHO, &EVERY_KIND, "lost"),
        ("--drop", BYTE, &EVERY_KIND, "lost"),
        ("--corrupt", "", &EVERY_KIND, "corrupted"),
        ("--corrupt", "--depth 8", &EVERY_KIND, "corrupted"),
        ("--corrupt", ECHO, &EVERY_KIND, "corrupted"),
        // Answers of 32 B are a header and nothing else.
        ("--corrupt", "--in 32", &EVERY_KIND, "lost"),
        ("--duplicate", "", &EVERY_KIND, "duplicated"),
        ("--duplicate", "--depth 8", &EVERY_KIND, "duplicated"),
        ("--duplicate", ECHO, &EVERY_KIND, "duplicated"),
        ("--insert-byte", "", &STREAMS, "corrupted"),
        ("--insert-byte", "--depth 8", &STREAMS, "corrupted"),
        // The middle of a response below 64 B lies in its header of 32 B (docs/serve.md).
        ("--insert-byte", "--in 63", &EVERY_KIND, "lost"),
        ("--insert-byte", "--in 64", &EVERY_KIND, "corrupted"),
    ] {
        on_each(kinds, |kind| {
            let protocol = match flags.contains("echo") {
                true => "--protocol echo",
                false => "",
            };
            let serve = format!("{protocol} {fault} every=75");
            let run = assert_struck(kind, &serve, flags, status);
            // A timeout never counts as a fast answer: the row says how long was waited.
            for row in run.with_status("lost") {
                assert!(row.rtt_us >= 500_000.0, "{row:?}");
            }
            let stray = match (fault, flags) {
                ("--corrupt", "--in 32") => 32,
                // All of them, and the byte more.
                ("--insert-byte", "--in 63") => 64,
                // The byte pushed out at the end belongs to nothing.
                ("--insert-byte", "" | "--depth 8") => 1,
                _ => return,
            };
            assert_eq!(run.counts().stray_bytes, stray, "{kind} {fault} {flags}");
        });
    }
}

#[test]
fn an_overtaken_answer_is_right_but_reordered() {
    on_each(&EVERY_KIND, |kind| {
        let run = measure(kind, "--reorder every=10", "--depth 8");
        let counts = run.counts();
        assert_eq!(counts.answered, COUNT, "{kind}: {counts:?}");
        // A host that is held up by 5 ms at the wrong moment sends nothing that could overtake.
        assert!(
            (1..=COUNT / 10).contains(&counts.reordered),
            "{kind}: {counts:?}"
        );
        let reordered = run.sequences_of("reordered");
        assert!(
            reordered.iter().all(|sequence| sequence % 10 == 9),
            "{kind}: {reordered:?}"
        );
    });
}

#[test]
fn a_byte_lost_in_a_stream_costs_one_exchange() {
    on_each(&STREAMS, |kind| {
        for depth in ["--depth 1", "--depth 8"] {
            let run = measure(kind, "--lose-byte every=75", depth);
            let counts = run.counts();
            assert_eq!(counts.answered, COUNT - LOST, "{kind} {depth}: {counts:?}");
            let missing: Vec<u64> = (1..=COUNT)
                .filter(|sequence| !run.sequences_of("ok").contains(sequence))
                .collect();
            assert_eq!(missing, STRUCK, "{kind} {depth}");
            assert_eq!(counts.duplicated + counts.reordered, 0, "{kind} {depth}");
        }
    });
}

#[test]
fn a_datagram_that_is_too_short_or_too_long_is_no_answer() {
    for faults in ["--lose-byte every=75", "--insert-byte every=75"] {
        let run = measure("udp", faults, "");
        let counts = run.counts();
        assert_eq!(counts.answered, COUNT - LOST, "{faults}: {counts:?}");
        assert_eq!(counts.lost + counts.corrupted, LOST, "{faults}: {counts:?}");
    }
}

#[test]
fn a_stall_is_slow_but_loses_nothing() {
    on_each(&EVERY_KIND, |kind| {
        let run = measure(kind, "--stall every=75:40ms", "--timeout 10s");
        assert_eq!(wrong(&run), [0; 5], "{kind}");
        let held_up: Vec<u64> = run
            .rows
            .iter()
            .filter(|row| row.rtt_us >= 40_000.0)
            .map(|row| row.sequence)
            .collect();
        assert!(
            STRUCK.iter().all(|sequence| held_up.contains(sequence)),
            "{kind}: {held_up:?}"
        );
    });
}

#[test]
fn a_stall_longer_than_the_timeout_makes_late_answers_not_lost_ones() {
    on_each(&EVERY_KIND, |kind| {
        let run = measure(kind, "--stall every=75:12500ms", "--timeout 5s");
        let counts = run.counts();
        assert_eq!(counts.lost, 0, "{kind}: {counts:?}");
        // The one that stalled, and those that were sent into the stall and given up in it.
        assert!((1..=4).contains(&counts.late), "{kind}: {counts:?}");
        assert_eq!(counts.answered, COUNT - counts.late, "{kind}: {counts:?}");
        let late = run.sequences_of("late");
        assert_eq!(late[0], 74, "{kind}: {late:?}");
        // Each has two rows: given up, and then answered after all, with the time that it took.
        assert_eq!(run.sequences_of("lost"), late, "{kind}");
        let row = run.with_status("late")[0];
        assert!(
            row.rtt_us >= 12_000_000.0 && row.bytes_received == 100,
            "{row:?}"
        );
    });
}

#[test]
fn a_late_last_answer_is_waited_for() {
    on_each(&EVERY_KIND, |kind| {
        let run = measure(kind, "--stall every=101:7500ms", "--timeout 5s");
        assert_eq!(wrong(&run), [0, 1, 0, 0, 0], "{kind}");
    });
}

#[test]
fn all_faults_at_once_still_leave_every_exchange_accounted_for() {
    on_each(&EVERY_KIND, |kind| {
        let faults = "--drop 2% --corrupt 2% --duplicate 2% --reorder 2% --seed 7";
        let streams = "--lose-byte 2% --insert-byte 2%";
        let faults = match kind {
            "udp" => faults.to_string(),
            _ => format!("{faults} {streams}"),
        };
        let run = measure(kind, &faults, "--depth 8 --in 300 --out 200");
        assert!(run.counts().answered > COUNT / 2, "{:?}", run.counts());
        assert!(run.counts().answered < COUNT, "{:?}", run.counts());
    });
}
