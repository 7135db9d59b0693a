//! The checks of the host, on hosts that are made up: bad, good, absent, unreadable, garbage.

#![allow(clippy::unwrap_used)]

use crate::made_up;

use made_up::{Host, saw, usb};
use wiregauge_doctor::{Change, Finding, Level, Target};

const CPU: &str = "/sys/devices/system/cpu";
const METAL: &str = "flags\t\t: fpu sse2 constant_tsc\n";
const VIRTUAL: &str = "flags\t\t: fpu sse2 hypervisor\n";

fn only(host: &Host, check: &str) -> Finding {
    host.only(check, Target::None)
}

fn policies(host: &Host, governors: &[&str]) {
    for (number, governor) in governors.iter().enumerate() {
        let file = |name: &str| format!("{CPU}/cpufreq/policy{number}/{name}");
        host.file(&file("scaling_governor"), format!("{governor}\n"))
            .file(
                &file("scaling_available_governors"),
                "performance powersave schedutil \n",
            )
            .file(&file("scaling_driver"), "acpi-cpufreq\n")
            .file(&file("cpuinfo_min_freq"), "800000\n")
            .file(&file("cpuinfo_max_freq"), "4000000\n");
    }
}

#[test]
fn a_governor_that_clocks_down_hurts_and_can_be_changed_on_every_processor() {
    let host = Host::new();
    policies(&host, &["schedutil", "performance", "schedutil"]);
    let found = only(&host, "governor");
    assert_eq!(found.level, Level::Hurts);
    assert!(found.title.contains("schedutil"));
    let changed: Vec<String> = found
        .changes
        .iter()
        .map(|c| c.path.display().to_string())
        .collect();
    assert_eq!(
        changed,
        [0, 2].map(|n| format!("{CPU}/cpufreq/policy{n}/scaling_governor"))
    );
    assert_eq!(
        found.remedy,
        [format!(
            "echo performance | sudo tee {CPU}/cpufreq/policy*/scaling_governor"
        )]
    );
    assert!(found.cost.unwrap().text.contains("5.0 times"));
}

#[test]
fn a_governor_at_full_speed_is_good() {
    let host = Host::new();
    policies(&host, &["performance", "performance"]);
    let found = only(&host, "governor");
    assert_eq!((found.level, found.changes.len()), (Level::Good, 0));
}

#[test]
fn where_the_hardware_chooses_the_frequency_powersave_is_a_note_only() {
    let host = Host::new();
    policies(&host, &["powersave"]);
    assert_eq!(only(&host, "governor").level, Level::Hurts);
    host.file(
        &format!("{CPU}/cpufreq/policy0/scaling_driver"),
        "intel_pstate\n",
    );
    assert_eq!(only(&host, "governor").level, Level::Note);
}

#[test]
fn a_governor_that_cannot_be_had_is_not_changed_to() {
    let host = Host::new();
    policies(&host, &["schedutil"]);
    host.file(
        &format!("{CPU}/cpufreq/policy0/scaling_available_governors"),
        "schedutil\n",
    );
    let found = only(&host, "governor");
    assert!(found.changes.is_empty());
    assert!(found.remedy[0].contains("--min"), "{found:#?}");
}

#[test]
fn a_missing_governor_matters_on_metal_only() {
    let host = Host::new();
    host.file("/proc/cpuinfo", METAL);
    assert_eq!(only(&host, "governor").level, Level::Unknown);
    host.file("/proc/cpuinfo", VIRTUAL);
    assert!(host.look("governor", Target::None).is_empty());
}

#[test]
fn a_governor_that_is_garbage_or_unreadable_is_unknown() {
    let host = Host::new();
    policies(&host, &["\u{0}\u{fffd}%s"]);
    let found = only(&host, "governor");
    assert_eq!((found.level, found.changes.len()), (Level::Unknown, 0));
    let host = Host::new();
    // A directory where the file should be cannot be read by anybody.
    host.file(&format!("{CPU}/cpufreq/policy0/scaling_governor/x"), "");
    let found = only(&host, "governor");
    assert_eq!(found.level, Level::Unknown);
    assert!(saw(&found, "cannot be read"), "{found:#?}");
}

/// Processors with these states: name, exit latency, disabled.
fn idle(host: &Host, processors: u32, states: &[(&str, &str, &str)]) {
    for processor in 0..processors {
        for (number, (name, latency, disable)) in states.iter().enumerate() {
            let dir = format!("{CPU}/cpu{processor}/cpuidle/state{number}");
            host.file(&format!("{dir}/name"), format!("{name}\n"))
                .file(&format!("{dir}/latency"), format!("{latency}\n"))
                .file(&format!("{dir}/disable"), format!("{disable}\n"));
        }
    }
}

#[test]
fn deep_idle_states_hurt_and_each_can_be_switched_off() {
    let host = Host::new();
    idle(
        &host,
        2,
        &[
            ("POLL", "0", "0"),
            ("C1", "2", "0"),
            ("C6", "133", "0"),
            ("C8", "200", "1"),
        ],
    );
    let found = only(&host, "idle-states");
    assert_eq!(found.level, Level::Hurts);
    assert!(found.title.contains("133 us"), "{found:#?}");
    assert!(
        saw(&found, "C6: exit latency 133 us, used on 2 of 2"),
        "{found:#?}"
    );
    assert!(!saw(&found, "C8"), "{found:#?}");
    let first = Change {
        path: format!("{CPU}/cpu0/cpuidle/state2/disable").into(),
        from: "0".into(),
        to: "1".into(),
    };
    assert_eq!((found.changes.len(), &found.changes[0]), (2, &first));
    assert!(found.remedy[0].contains("/dev/cpu_dma_latency"));
    assert_eq!(
        found.remedy[1],
        format!("echo 1 | sudo tee {CPU}/cpu*/cpuidle/state2/disable")
    );
}

#[test]
fn an_idle_state_of_some_microseconds_is_a_note_and_shallow_ones_are_good() {
    let host = Host::new();
    idle(&host, 1, &[("C1", "2", "0"), ("C1E", "20", "0")]);
    assert_eq!(only(&host, "idle-states").level, Level::Note);
    idle(&host, 1, &[("C1", "2", "0"), ("C1E", "20", "1")]);
    assert_eq!(only(&host, "idle-states").level, Level::Good);
}

#[test]
fn idle_states_that_are_absent_or_garbage_are_unknown() {
    let host = Host::new();
    host.file("/proc/cpuinfo", METAL);
    assert_eq!(only(&host, "idle-states").level, Level::Unknown);
    idle(&host, 1, &[("C6", "soon", "0"), ("C8", "-5", "0")]);
    assert_eq!(only(&host, "idle-states").level, Level::Unknown);
    let guest = Host::new();
    guest.file("/proc/cpuinfo", VIRTUAL);
    assert!(guest.look("idle-states", Target::None).is_empty());
}

fn limits(soft: &str) -> String {
    format!(
        "Limit                     Soft Limit           Hard Limit           Units\nMax realtime priority     {soft}                    {soft}\n"
    )
}

#[test]
fn real_time_priority_is_permitted_by_a_limit_or_by_a_capability() {
    let host = Host::new();
    host.file("/proc/self/limits", limits("0"))
        .file("/proc/self/status", "CapEff:\t0000000000000000\n");
    let found = only(&host, "real-time");
    assert_eq!(found.level, Level::Note);
    assert!(found.remedy[0].contains("cap_sys_nice"));
    host.file("/proc/self/status", "CapEff:\t0000000000800000\n");
    assert_eq!(only(&host, "real-time").level, Level::Good);
    host.file("/proc/self/status", "CapEff:\t0\n")
        .file("/proc/self/limits", limits("95"));
    let found = only(&host, "real-time");
    assert_eq!(found.level, Level::Good);
    assert!(found.title.contains("95"));
}

#[test]
fn a_permission_that_cannot_be_read_is_unknown() {
    assert_eq!(only(&Host::new(), "real-time").level, Level::Unknown);
    let host = Host::new();
    host.file("/proc/self/limits", limits("many"))
        .file("/proc/self/status", "CapEff:\tgarbage\n");
    assert_eq!(only(&host, "real-time").level, Level::Unknown);
}

/// A host that permits real-time priority, with this kernel.
fn real_time(release: &str) -> Host {
    let host = Host::new();
    host.file("/proc/self/limits", limits("95"))
        .file("/proc/sys/kernel/osrelease", format!("{release}\n"));
    host
}

#[test]
fn the_limit_on_real_time_threads_is_reported_in_milliseconds() {
    let host = real_time("6.1.0-18-amd64");
    host.file("/proc/sys/kernel/sched_rt_runtime_us", "950000\n")
        .file("/proc/sys/kernel/sched_rt_period_us", "1000000\n");
    let found = only(&host, "throttling");
    assert_eq!((found.level, found.changes.len()), (Level::Note, 0));
    assert!(found.cost.unwrap().text.contains("50 ms of every 1 s"));
    host.file("/proc/sys/kernel/sched_rt_runtime_us", "-1\n");
    assert_eq!(only(&host, "throttling").level, Level::Good);
    host.file("/proc/sys/kernel/sched_rt_runtime_us", "x\n");
    assert_eq!(only(&host, "throttling").level, Level::Unknown);
}

#[test]
fn newer_kernels_keep_time_back_only_where_an_ordinary_thread_waits() {
    let host = real_time("6.12.3");
    let found = only(&host, "throttling");
    assert_eq!(found.level, Level::Note);
    assert!(found.remedy[0].contains("fair_server"));
    for cpu in ["cpu0", "cpu1"] {
        host.file(
            &format!("/sys/kernel/debug/sched/fair_server/{cpu}/runtime"),
            "0\n",
        );
    }
    assert_eq!(only(&host, "throttling").level, Level::Good);
    assert_eq!(
        only(&real_time("garbage"), "throttling").level,
        Level::Unknown
    );
}

#[test]
fn who_may_not_have_real_time_priority_is_not_told_of_its_limit() {
    let host = real_time("6.1.0");
    host.file("/proc/self/limits", limits("0"));
    assert!(host.look("throttling", Target::None).is_empty());
}

#[test]
fn the_slack_of_timers_is_a_note_for_programs_that_sleep() {
    let host = Host::new();
    host.file("/proc/self/timerslack_ns", "50000\n");
    let found = only(&host, "timer-slack");
    assert_eq!(found.level, Level::Note);
    assert!(found.title.contains("50 us"), "{found:#?}");
    host.file("/proc/self/timerslack_ns", "1\n");
    assert_eq!(only(&host, "timer-slack").level, Level::Good);
    host.file("/proc/self/timerslack_ns", "\n");
    assert_eq!(only(&host, "timer-slack").level, Level::Unknown);
    assert!(Host::new().look("timer-slack", Target::None).is_empty());
}

const LIMIT: &str = "/sys/module/usbcore/parameters/usbfs_memory_mb";

#[test]
fn sixteen_megabytes_for_all_usb_programs_are_a_note_where_a_fast_device_is() {
    let host = Host::new();
    host.file(LIMIT, "16\n");
    assert!(host.look("usbfs-memory", Target::None).is_empty());
    host.usb("1-1", &[("speed", "12"), ("bDeviceClass", "02")]);
    host.usb("1-2", &[("speed", "480"), ("bDeviceClass", "09")]);
    assert!(host.look("usbfs-memory", Target::None).is_empty());
    host.usb("2-1", &[("speed", "5000"), ("bDeviceClass", "ff")]);
    let found = only(&host, "usbfs-memory");
    assert_eq!(found.level, Level::Note);
    assert_eq!(
        (&*found.changes[0].from, &*found.changes[0].to),
        ("16", "256")
    );
    assert!(host.look("usbfs-memory", usb("1-1")).is_empty());
    for enough in ["0\n", "1000\n"] {
        host.file(LIMIT, enough);
        assert_eq!(host.only("usbfs-memory", usb("2-1")).level, Level::Good);
    }
    host.file(LIMIT, "much\n");
    assert_eq!(only(&host, "usbfs-memory").level, Level::Unknown);
}

/// The accounts of two processors: used, idle, stolen ticks.
fn stat(used: u64, idle: u64, steal: u64) -> String {
    format!("cpu  {used} 0 0 {idle} 0 0 0 {steal} 0 0\ncpu0 0\ncpu1 0\nintr 0\n")
}

fn process(pid: u32, name: &str, ticks: u64) -> String {
    format!("{pid} ({name}) R 1 1 1 0 -1 4194304 100 0 0 0 {ticks} 0 0 0 20 0 1 0 100\n")
}

/// Both readings of a file.
fn twice(host: &Host, path: &str, before: String, after: String) {
    host.file(path, before)
        .file(&format!("{path}.later"), after);
}

#[test]
fn programs_that_use_the_processors_are_named() {
    let host = Host::new();
    twice(
        &host,
        "/proc/stat",
        stat(1000, 1000, 0),
        stat(1045, 1015, 0),
    );
    twice(
        &host,
        "/proc/17/stat",
        process(17, "a) (b", 100),
        process(17, "a) (b", 130),
    );
    twice(
        &host,
        "/proc/18/stat",
        process(18, "sleepy", 100),
        process(18, "sleepy", 101),
    );
    twice(
        &host,
        "/proc/19/stat",
        process(19, "own", 0),
        process(19, "own", 30),
    );
    host.file("/proc/self/stat", process(19, "own", 0));
    host.file("/proc/20/stat", process(20, "gone", 5));
    let found = only(&host, "neighbours");
    assert_eq!(found.level, Level::Hurts);
    assert!(found.title.contains("75 %"), "{found:#?}");
    assert!(
        saw(&found, "a) (b (process 17): 100 % of a CPU"),
        "{found:#?}"
    );
    assert!(!saw(&found, "sleepy") && !saw(&found, "own") && !saw(&found, "gone"));
    assert_eq!(found.remedy[0], "sudo renice -n 19 -p 17");
}

#[test]
fn a_quiet_host_is_good_and_pressure_alone_is_a_note() {
    let host = Host::new();
    twice(
        &host,
        "/proc/stat",
        stat(1000, 1000, 0),
        stat(1002, 1058, 0),
    );
    assert_eq!(only(&host, "neighbours").level, Level::Good);
    host.file(
        "/proc/pressure/cpu",
        "some avg10=12.50 avg60=0.00 avg300=0.00 total=1\n",
    );
    let found = only(&host, "neighbours");
    assert_eq!(found.level, Level::Note);
    assert!(saw(&found, "12.5 % of the last 10 s"), "{found:#?}");
    host.file("/proc/pressure/cpu", "some avg10=high\n");
    assert_eq!(only(&host, "neighbours").level, Level::Good);
}

#[test]
fn accounts_that_are_absent_or_garbage_or_stand_still_are_unknown() {
    for check in ["neighbours", "steal"] {
        assert_eq!(only(&Host::new(), check).level, Level::Unknown, "{check}");
        let host = Host::new();
        twice(&host, "/proc/stat", "cpu x y".into(), "cpu".into());
        assert_eq!(only(&host, check).level, Level::Unknown, "{check}");
    }
    let host = Host::new();
    twice(&host, "/proc/stat", stat(5, 5, 0), stat(5, 5, 0));
    assert_eq!(only(&host, "neighbours").level, Level::Unknown);
}

#[test]
fn stolen_time_hurts_and_a_virtual_machine_without_it_is_a_note() {
    let host = Host::new();
    twice(
        &host,
        "/proc/stat",
        stat(1000, 100_000, 0),
        stat(1010, 100_040, 10),
    );
    let found = only(&host, "steal");
    assert_eq!(found.level, Level::Hurts);
    assert!(saw(&found, "16.7 % stolen"), "{found:#?}");
    twice(
        &host,
        "/proc/stat",
        stat(1000, 100_000, 0),
        stat(1010, 100_040, 0),
    );
    assert_eq!(only(&host, "steal").level, Level::Good);
    host.file("/proc/cpuinfo", VIRTUAL);
    assert_eq!(only(&host, "steal").level, Level::Note);
    // A single tick is an accident.
    twice(
        &host,
        "/proc/stat",
        stat(1000, 100_000, 0),
        stat(1010, 100_039, 1),
    );
    assert_eq!(only(&host, "steal").level, Level::Note);
    // Much of it since the start, none just now.
    twice(
        &host,
        "/proc/stat",
        stat(1000, 1000, 1000),
        stat(1010, 1040, 1000),
    );
    assert_eq!(only(&host, "steal").level, Level::Hurts);
}
