//! The checks of the host, on hosts that are made up: bad, good, absent, unreadable, garbage.

#![allow(clippy::unwrap_used)]

use crate::made_up;

use made_up::{Host, first_change, hold_evidence, hold_title, saw, usb};
use wiregauge_doctor::{Change, Finding, Level, Target};

const CPU: &str = "/sys/devices/system/cpu";
const METAL: &str = "flags\t\t: fpu sse2 constant_tsc\n";
const VIRTUAL: &str = "flags\t\t: fpu sse2 hypervisor\n";

fn only(host: &Host, check: &str) -> Finding {
    host.only(check, Target::None)
}

#[track_caller]
fn level(host: &Host, check: &str) -> Level {
    host.level(check, Target::None)
}

fn policies(host: &Host, governors: &[&str]) {
    for (number, governor) in governors.iter().enumerate() {
        let file = |name: &str| format!("{CPU}/cpufreq/policy{number}/{name}");
        let available = "performance powersave schedutil \n";
        host.file(&file("scaling_governor"), format!("{governor}\n"))
            .file(&file("scaling_available_governors"), available)
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
    let changed = found.changes.iter().map(|c| c.path.display().to_string());
    let governors = [0, 2].map(|n| format!("{CPU}/cpufreq/policy{n}/scaling_governor"));
    assert_eq!(changed.collect::<Vec<_>>(), governors);
    let command = format!("echo performance | sudo tee {CPU}/cpufreq/policy*/scaling_governor");
    assert_eq!(found.remedy, [command]);
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
    assert_eq!(level(&host, "governor"), Level::Hurts);
    let driver = format!("{CPU}/cpufreq/policy0/scaling_driver");
    host.file(&driver, "intel_pstate\n");
    assert_eq!(level(&host, "governor"), Level::Note);
}

#[test]
fn a_governor_that_cannot_be_had_is_not_changed_to() {
    let host = Host::new();
    policies(&host, &["schedutil"]);
    let available = format!("{CPU}/cpufreq/policy0/scaling_available_governors");
    host.file(&available, "schedutil\n");
    let found = only(&host, "governor");
    assert!(found.changes.is_empty());
    assert!(found.remedy[0].contains("--min"), "{found:#?}");
}

#[test]
fn a_missing_governor_matters_on_metal_only() {
    let host = Host::new();
    host.file("/proc/cpuinfo", METAL);
    assert_eq!(level(&host, "governor"), Level::Unknown);
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
    hold_evidence(&found, "cannot be read");
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
    let shallow = [("POLL", "0", "0"), ("C1", "2", "0")];
    let deep = [("C6", "133", "0"), ("C8", "200", "1")];
    idle(&host, 2, &[shallow, deep].concat());
    let found = only(&host, "idle-states");
    assert_eq!(found.level, Level::Hurts);
    hold_title(&found, "133 us");
    hold_evidence(&found, "C6: exit latency 133 us, used on 2 of 2");
    assert!(!saw(&found, "C8"), "{found:#?}");
    let first = Change {
        path: format!("{CPU}/cpu0/cpuidle/state2/disable").into(),
        from: "0".into(),
        to: "1".into(),
    };
    assert_eq!((found.changes.len(), &found.changes[0]), (2, &first));
    assert!(found.remedy[0].contains("/dev/cpu_dma_latency"));
    let command = format!("echo 1 | sudo tee {CPU}/cpu*/cpuidle/state2/disable");
    assert_eq!(found.remedy[1], command);
}

#[test]
fn an_idle_state_of_some_microseconds_is_a_note_and_shallow_ones_are_good() {
    let host = Host::new();
    idle(&host, 1, &[("C1", "2", "0"), ("C1E", "20", "0")]);
    assert_eq!(level(&host, "idle-states"), Level::Note);
    idle(&host, 1, &[("C1", "2", "0"), ("C1E", "20", "1")]);
    assert_eq!(level(&host, "idle-states"), Level::Good);
}

#[test]
fn idle_states_that_are_absent_or_garbage_are_unknown() {
    let host = Host::new();
    host.file("/proc/cpuinfo", METAL);
    assert_eq!(level(&host, "idle-states"), Level::Unknown);
    idle(&host, 1, &[("C6", "soon", "0"), ("C8", "-5", "0")]);
    assert_eq!(level(&host, "idle-states"), Level::Unknown);
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
    assert_eq!(level(&host, "real-time"), Level::Good);
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
    assert_eq!(level(&host, "real-time"), Level::Unknown);
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
    assert_eq!(level(&host, "throttling"), Level::Good);
    host.file("/proc/sys/kernel/sched_rt_runtime_us", "x\n");
    assert_eq!(level(&host, "throttling"), Level::Unknown);
}

#[test]
fn newer_kernels_keep_time_back_only_where_an_ordinary_thread_waits() {
    let host = real_time("6.12.3");
    let found = only(&host, "throttling");
    assert_eq!(found.level, Level::Note);
    assert!(found.remedy[0].contains("fair_server"));
    for cpu in ["cpu0", "cpu1"] {
        let runtime = format!("/sys/kernel/debug/sched/fair_server/{cpu}/runtime");
        host.file(&runtime, "0\n");
    }
    assert_eq!(level(&host, "throttling"), Level::Good);
    let host = real_time("garbage");
    assert_eq!(level(&host, "throttling"), Level::Unknown);
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
    hold_title(&found, "50 us");
    host.file("/proc/self/timerslack_ns", "1\n");
    assert_eq!(level(&host, "timer-slack"), Level::Good);
    host.file("/proc/self/timerslack_ns", "\n");
    assert_eq!(level(&host, "timer-slack"), Level::Unknown);
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
    assert_eq!(first_change(&found), ("16", "256"));
    assert!(host.look("usbfs-memory", usb("1-1")).is_empty());
    for enough in ["0\n", "1000\n"] {
        host.file(LIMIT, enough);
        assert_eq!(host.only("usbfs-memory", usb("2-1")).level, Level::Good);
    }
    host.file(LIMIT, "much\n");
    assert_eq!(level(&host, "usbfs-memory"), Level::Unknown);
}

fn stat((used, idle, steal): (u64, u64, u64)) -> String {
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

/// Both readings of the accounts of two processors: used, idle, stolen ticks.
fn accounts(host: &Host, before: (u64, u64, u64), after: (u64, u64, u64)) {
    twice(host, "/proc/stat", stat(before), stat(after));
}

/// Both readings of the ticks of a process.
fn processes(host: &Host, pid: u32, name: &str, before: u64, after: u64) {
    let [before, after] = [before, after].map(|ticks| process(pid, name, ticks));
    twice(host, &format!("/proc/{pid}/stat"), before, after);
}

#[test]
fn programs_that_use_the_processors_are_named() {
    let host = Host::new();
    accounts(&host, (1000, 1000, 0), (1045, 1015, 0));
    processes(&host, 17, "a) (b", 100, 130);
    processes(&host, 18, "sleepy", 100, 101);
    processes(&host, 19, "own", 0, 30);
    host.file("/proc/self/stat", process(19, "own", 0));
    host.file("/proc/20/stat", process(20, "gone", 5));
    let found = only(&host, "neighbours");
    assert_eq!(found.level, Level::Hurts);
    hold_title(&found, "75 %");
    hold_evidence(&found, "a) (b (process 17): 100 % of a CPU");
    assert!(!saw(&found, "sleepy") && !saw(&found, "own") && !saw(&found, "gone"));
    assert_eq!(found.remedy[0], "sudo renice -n 19 -p 17");
}

#[test]
fn a_quiet_host_is_good_and_pressure_alone_is_a_note() {
    let host = Host::new();
    accounts(&host, (1000, 1000, 0), (1002, 1058, 0));
    assert_eq!(level(&host, "neighbours"), Level::Good);
    let pressure = "some avg10=12.50 avg60=0.00 avg300=0.00 total=1\n";
    host.file("/proc/pressure/cpu", pressure);
    let found = only(&host, "neighbours");
    assert_eq!(found.level, Level::Note);
    hold_evidence(&found, "12.5 % of the last 10 s");
    host.file("/proc/pressure/cpu", "some avg10=high\n");
    assert_eq!(level(&host, "neighbours"), Level::Good);
}

#[test]
fn accounts_that_are_absent_or_garbage_or_stand_still_are_unknown() {
    for check in ["neighbours", "steal"] {
        assert_eq!(only(&Host::new(), check).level, Level::Unknown, "{check}");
        let host = Host::new();
        twice(&host, "/proc/stat", "cpu x y".into(), "cpu".into());
        assert_eq!(level(&host, check), Level::Unknown, "{check}");
    }
    let host = Host::new();
    accounts(&host, (5, 5, 0), (5, 5, 0));
    assert_eq!(level(&host, "neighbours"), Level::Unknown);
}

#[test]
fn stolen_time_hurts_and_a_virtual_machine_without_it_is_a_note() {
    let host = Host::new();
    accounts(&host, (1000, 100_000, 0), (1010, 100_040, 10));
    let found = only(&host, "steal");
    assert_eq!(found.level, Level::Hurts);
    hold_evidence(&found, "16.7 % stolen");
    accounts(&host, (1000, 100_000, 0), (1010, 100_040, 0));
    assert_eq!(level(&host, "steal"), Level::Good);
    host.file("/proc/cpuinfo", VIRTUAL);
    assert_eq!(level(&host, "steal"), Level::Note);
    // A single tick is an accident.
    accounts(&host, (1000, 100_000, 0), (1010, 100_039, 1));
    assert_eq!(level(&host, "steal"), Level::Note);
    // Much of it since the start, none just now.
    accounts(&host, (1000, 1000, 1000), (1010, 1040, 1000));
    assert_eq!(level(&host, "steal"), Level::Hurts);
}
