//! The host as it was found, read once before a run.

use super::scheduling;
use std::fs;
use wiregauge_record::HostState;

/// Reads the state of the host and of the calling thread, which is to be the measuring one.
pub fn host_state(memory_locked: bool) -> HostState {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let affinity = scheduling::allowed();
    HostState {
        name: line("/proc/sys/kernel/hostname").unwrap_or_default(),
        kernel: kernel(),
        cpu: cpu_field(&cpuinfo, "model name")
            .or_else(|| cpu_field(&cpuinfo, "Model"))
            .unwrap_or_else(|| std::env::consts::ARCH.to_string()),
        processors: processors(),
        clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .unwrap_or_default(),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        load: Some(load_average()),
        hypervisor: cpu_field(&cpuinfo, "flags")
            .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor")),
        policy: scheduling::policy(),
        affinity,
        memory_locked,
        rt_runtime_us: line("/proc/sys/kernel/sched_rt_runtime_us").and_then(|s| s.parse().ok()),
    }
}

/// Processors that are online, whether or not this thread may use them.
pub fn processors() -> u32 {
    // SAFETY: sysconf takes a number and touches no memory of ours.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(online).unwrap_or(1).max(1)
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_string())
        .filter(|s| !s.is_empty())
}

fn kernel() -> String {
    let uname = rustix::system::uname();
    [uname.sysname(), uname.release(), uname.version()]
        .map(|part| part.to_string_lossy().into_owned())
        .join(" ")
}

fn cpu_field(cpuinfo: &str, name: &str) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (field, value) = line.split_once(':')?;
        (field.trim() == name).then(|| value.trim().to_string())
    })
}

fn load_average() -> [f64; 3] {
    let mut load = [0.0; 3];
    if let Some(text) = line("/proc/loadavg") {
        for (to, from) in load.iter_mut().zip(text.split_whitespace()) {
            *to = from.parse().unwrap_or(0.0);
        }
    }
    load
}
