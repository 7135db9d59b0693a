//! The checks of the host by what a stored run kept of it, instead of by the host of now.

#![allow(clippy::unwrap_used)]

use crate::made_up;

use made_up::windows::Windows;
use made_up::{Host, hold_evidence, one, plan, point};
use wiregauge_doctor::{Finding, Level, Target};
use wiregauge_record::{
    Conditions, Direction, Disturbance, Ending, HostPlan, HostState, LinkOptions, PointSummary,
    ResourceUse, StreamPlan, StreamPoint, Summariser,
};
use wiregauge_run::{AnyRun, Files, Run, RunFile, State};

/// A computer with an ordinary thread on it, at rest.
fn quiet() -> HostState {
    HostState {
        name: "bench".into(),
        kernel: "Linux 6.1.0 #1 SMP".into(),
        processors: 4,
        policy: "SCHED_OTHER".into(),
        rt_runtime_us: Some(950_000),
        ..HostState::default()
    }
}

fn run<K: Files>(plan: K::Plan, host: HostState, points: Vec<K::Summary>) -> Run<K> {
    let conditions = Conditions {
        host,
        ..Conditions::default()
    };
    let file = RunFile {
        state: State::Complete,
        points,
        ..RunFile::new(&plan, &conditions)
    };
    Run::new("/runs/a-run".into(), file)
}

/// An exchange run with a point for each disturbance.
fn disturbed(host: HostState, disturbances: &[Disturbance]) -> AnyRun {
    let plan = plan("tcp://10.0.0.5:7700");
    let points = disturbances.iter().map(|one| {
        let summariser = Summariser::new(&plan, point(1, 1), None);
        PointSummary {
            disturbances: vec![one.clone()],
            ..summariser.finish(Ending::Complete, 1, None, ResourceUse::default())
        }
    });
    let points = points.collect();
    AnyRun::Exchange(run(plan, host, points))
}

fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> T {
    let host = serde_json::to_string(&HostPlan::default()).unwrap();
    let link = serde_json::to_string(&LinkOptions::default()).unwrap();
    let text = text.replace("HOST", &host).replace("LINK", &link);
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn only(check: &str, run: AnyRun) -> Finding {
    let found = one(Host::new().look_with(check, Target::None, Some(run)));
    // A run cannot be changed any more.
    assert!(found.changes.is_empty(), "{found:#?}");
    found
}

/// The level of a check for a run without disturbances.
#[track_caller]
fn level(check: &str, host: HostState) -> Level {
    only(check, disturbed(host, &[])).level
}

#[test]
fn the_governor_of_the_run_counts() {
    let with = |governor: &str| HostState {
        governor: Some(governor.into()),
        ..quiet()
    };
    let found = only("governor", disturbed(with("ondemand"), &[]));
    assert_eq!(found.level, Level::Hurts);
    hold_evidence(&found, "a-run: governor = ondemand");
    for (governor, level) in [("performance", Level::Good), ("powersave", Level::Note)] {
        let found = only("governor", disturbed(with(governor), &[]));
        assert_eq!(found.level, level, "{governor}");
    }
    let none = Host::new().look_with("governor", Target::None, Some(disturbed(quiet(), &[])));
    assert!(none.is_empty());
}

#[test]
fn a_run_without_priority_is_a_note_and_hurts_where_the_processor_was_taken_from_it() {
    assert_eq!(level("real-time", quiet()), Level::Note);
    let taken = Disturbance::Preempted {
        times: 40,
        waited_ns: 3_000_000,
    };
    let found = only("real-time", disturbed(quiet(), &[taken.clone(), taken]));
    assert_eq!(found.level, Level::Hurts);
    hold_evidence(
        &found,
        "preempted 80 times, for 6.000 ms in total, in 2 of its points",
    );
    let command = "wiregauge exchange tcp://10.0.0.5:7700 --priority 50  # try whether it helps";
    assert_eq!(found.remedy, [command]);
    let raised = HostState {
        policy: "SCHED_FIFO 50".into(),
        ..quiet()
    };
    assert_eq!(level("real-time", raised.clone()), Level::Good);
    assert_eq!(level("throttling", raised), Level::Note);
}

/// A preempted exchange run that was changed.
fn preempted(change: impl FnOnce(&mut RunFile)) -> AnyRun {
    let taken = Disturbance::Preempted {
        times: 40,
        waited_ns: 3_000_000,
    };
    match disturbed(quiet(), &[taken]) {
        AnyRun::Exchange(mut run) => {
            change(&mut run.file);
            AnyRun::Exchange(run)
        }
        _ => panic!("not an exchange run"),
    }
}

#[test]
fn the_proposed_command_does_not_store_where_the_run_is_stored() {
    let run = preempted(|file| {
        let typed = "wiregauge exchange tcp://10.0.0.5:7700 --store /tmp/run --depth 4";
        file.conditions.command = typed.split(' ').map(str::to_owned).collect();
    });
    let found = only("real-time", run);
    let command =
        "wiregauge exchange tcp://10.0.0.5:7700 --depth 4 --priority 50  # try whether it helps";
    assert_eq!(found.remedy, [command]);
}

#[test]
fn no_priority_is_proposed_where_the_device_is_a_program_on_this_host() {
    for address in ["tcp://127.0.0.1:7700", "null://", "serial:///dev/pts/3"] {
        let run = || preempted(|file| file.plan.address = address.to_owned());
        for check in ["real-time", "neighbours"] {
            let remedy = only(check, run()).remedy.join(" ");
            assert!(!remedy.contains("--priority"), "{address}: {remedy}");
        }
    }
}

#[test]
fn the_load_that_a_run_made_itself_is_no_other_program() {
    let loaded = || preempted(|file| file.plan.host.load.cpu = 4);
    for check in ["real-time", "neighbours"] {
        let title = only(check, loaded()).title;
        assert!(title.contains("the load of --host-load"), "{title}");
        assert!(!title.contains("other programs"), "{title}");
    }
}

#[test]
fn the_load_and_the_neighbours_of_the_run_count() {
    assert_eq!(level("neighbours", quiet()), Level::Good);
    let loaded = HostState {
        load: Some([3.5, 0.0, 0.0]),
        ..quiet()
    };
    let found = only("neighbours", disturbed(loaded, &[]));
    assert_eq!(found.level, Level::Note);
    hold_evidence(&found, "load 3.50");
    let shared = Disturbance::SharedProcessor { share: 0.3 };
    let found = only("neighbours", disturbed(quiet(), &[shared]));
    assert_eq!(found.level, Level::Hurts);
    hold_evidence(&found, "30 %");
}

#[test]
fn time_stolen_from_the_run_counts() {
    assert_eq!(level("steal", quiet()), Level::Good);
    let stolen = [0.02, 0.07].map(|share| Disturbance::Steal { share });
    let found = only("steal", disturbed(quiet(), &stolen));
    assert_eq!(found.level, Level::Hurts);
    hold_evidence(
        &found,
        "up to 7 % of the machine's time, in 2 of its points",
    );
}

#[test]
fn what_no_run_keeps_is_looked_at_only_on_the_computer_of_the_run() {
    let host = Host::new();
    let state = "/sys/devices/system/cpu/cpu0/cpuidle/state2";
    host.file(&format!("{state}/latency"), "133\n")
        .file(&format!("{state}/disable"), "0\n")
        .file("/proc/self/timerslack_ns", "50000\n")
        .file("/proc/sys/kernel/hostname", "another\n");
    let look =
        |host: &Host| host.look_with("idle-states", Target::None, Some(disturbed(quiet(), &[])));
    assert!(look(&host).is_empty());
    host.file("/proc/sys/kernel/hostname", "bench\n");
    assert_eq!(look(&host).len(), 1);
    // wiregauge sees to it itself.
    let slack = host.look_with("timer-slack", Target::None, Some(disturbed(quiet(), &[])));
    assert!(slack.is_empty());
}

#[test]
fn a_stream_that_wanted_much_of_usbs_memory_is_compared_with_the_limit() {
    let host = Host::new();
    host.file("/sys/module/usbcore/parameters/usbfs_memory_mb", "64\n")
        .file("/proc/sys/kernel/hostname", "bench\n");
    host.usb("2-1", &[("speed", "5000"), ("bDeviceClass", "ff")]);
    let look = |queue: u32| {
        let mut plan: StreamPlan = from_json(
            r#"{"address": "usb://2-1", "points": [], "duration_ns": 1, "settle_ns": 0, "check": true,
                "timeout_ns": 1, "rates_bytes_s": [], "loss": 0.0, "host": HOST, "link": LINK}"#,
        );
        plan.points.push(StreamPoint {
            index: 0,
            direction: Direction::Both,
            transfer_bytes: 1 << 20,
            queue,
            link: 0,
            together: false,
        });
        let run = AnyRun::Stream(run(plan, quiet(), Vec::new()));
        one(host.look_with("usbfs-memory", made_up::usb("2-1"), Some(run)))
    };
    assert_eq!(look(8).level, Level::Good);
    let found = look(24);
    assert_eq!(found.level, Level::Note);
    hold_evidence(&found, "48.0 MiB");
    assert_eq!(found.changes[0].to, "256");
}

/// A computer with Windows, as its runs keep it.
fn with_plan(plan: &str) -> HostState {
    HostState {
        name: "BENCH".into(),
        kernel: "Windows 10.0.19045".into(),
        governor: Some(plan.into()),
        ..quiet()
    }
}

#[test]
fn a_run_of_windows_is_judged_by_the_power_plan_that_it_kept_and_by_nothing_of_now() {
    let host = Windows::usual();
    for (plan, level) in [
        ("High performance", Level::Good),
        ("Balanced", Level::Note),
        ("Power saver", Level::Hurts),
        ("Ausbalanciert", Level::Unknown),
    ] {
        let run = || Some(disturbed(with_plan(plan), &[]));
        let found = host.look_with("power-plan", Target::None, run());
        assert_eq!((found.len(), found[0].level), (1, level), "{plan}");
        assert!(found[0].changes.is_empty());
        for check in ["core-parking", "timer-resolution", "antivirus", "indexing"] {
            assert!(host.look_with(check, Target::None, run()).is_empty());
        }
    }
}

#[test]
fn the_port_is_checked_for_a_run_of_this_computer_only() {
    let host = Windows::usual();
    let com = Target::Tty {
        path: "COM3".into(),
    };
    for (name, count) in [("BENCH", 1), ("OTHER", 0)] {
        let state = HostState {
            name: name.into(),
            ..with_plan("Balanced")
        };
        let run = Some(disturbed(state, &[]));
        let found = host.look_with("ftdi-latency", com.clone(), run);
        assert_eq!(found.len(), count, "{name}");
    }
}

#[test]
fn a_power_plan_is_no_governor_of_linux() {
    let host = Host::new();
    let run = Some(disturbed(with_plan("Balanced"), &[]));
    assert!(host.look_with("governor", Target::None, run).is_empty());
}
