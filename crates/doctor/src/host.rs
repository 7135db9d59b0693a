//! What several checks ask of the host: is it virtual, what its processors did, what a thread may do.

use crate::HostContext;

/// True where the processor tells of a hypervisor (x86; others have no such flag).
pub fn is_virtual(context: &HostContext) -> bool {
    let cpuinfo = context.read("/proc/cpuinfo").unwrap_or_default();
    cpuinfo.lines().any(|line| {
        line.split_once(':').is_some_and(|(name, value)| {
            name.trim() == "flags" && value.split_whitespace().any(|flag| flag == "hypervisor")
        })
    })
}

/// The accounts of all processors together, in ticks (proc(5), /proc/stat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// All of them.
    pub all: u64,
    /// Doing nothing, or waiting for a disk.
    pub idle: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
    /// Processors that are online.
    pub processors: u64,
}

impl Ticks {
    /// Reads the text of /proc/stat; `None` if it is none.
    pub fn parse(stat: &str) -> Option<Ticks> {
        let mut lines = stat.lines().map(str::split_whitespace);
        let mut first = lines.next()?;
        if first.next()? != "cpu" {
            return None;
        }
        // user nice system idle iowait irq softirq steal; guest times are within user and nice.
        let fields: Vec<u64> = first
            .take(8)
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        let at = |field: usize| fields.get(field).copied().unwrap_or(0);
        let of_one = |name: &str| {
            name.strip_prefix("cpu")
                .is_some_and(|n| n.parse::<u32>().is_ok())
        };
        Some(Ticks {
            all: fields
                .iter()
                .try_fold(0_u64, |all, &n| all.checked_add(n))?,
            idle: at(3).saturating_add(at(4)),
            steal: at(7),
            processors: lines
                .filter_map(|mut line| line.next())
                .filter(|name| of_one(name))
                .count() as u64,
        })
    }

    /// What passed since an earlier reading.
    pub fn since(self, before: Ticks) -> Ticks {
        Ticks {
            all: self.all.saturating_sub(before.all),
            idle: self.idle.saturating_sub(before.idle),
            steal: self.steal.saturating_sub(before.steal),
            processors: self.processors.max(1),
        }
    }

    /// A number of ticks as a part of all, 0 to 1.
    pub fn part(self, ticks: u64) -> f64 {
        match self.all {
            0 => 0.0,
            all => (ticks as f64 / all as f64).min(1.0),
        }
    }
}

/// CAP_SYS_NICE, include/uapi/linux/capability.h.
const SYS_NICE: u32 = 23;

/// The highest real-time priority that this process may take; 0 is none. `None` where the system does
/// not say so.
pub fn real_time_priority(context: &HostContext) -> Option<u32> {
    let status = context.read("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let capabilities = lines.find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = capabilities.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    if capabilities.is_some_and(|bits| bits >> SYS_NICE & 1 == 1) {
        return Some(99);
    }
    let limits = context.read("/proc/self/limits")?;
    let mut lines = limits.lines();
    let limit = lines.find_map(|line| line.strip_prefix("Max realtime priority"))?;
    match limit.split_whitespace().next()? {
        "unlimited" => Some(99),
        soft => Some(soft.parse::<u32>().ok()?.min(99)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accounts_of_the_processors_are_read_and_subtracted() {
        let before = Ticks::parse("cpu  10 0 10 70 10 0 0 0 5 5\ncpu0 1\ncpu1 1\nintr 5").unwrap();
        assert_eq!((before.all, before.idle, before.processors), (100, 80, 2));
        let after = Ticks::parse("cpu  20 0 20 100 10 0 0 50\ncpu0 1\ncpu1 1").unwrap();
        let passed = after.since(before);
        assert_eq!((passed.all, passed.idle, passed.steal), (100, 30, 50));
        assert!((passed.part(passed.steal) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_account_is_none() {
        for text in [
            "",
            "cpu",
            "cpu a b c",
            "intr 1 2 3",
            "cpu 99999999999999999999",
        ] {
            let ticks = Ticks::parse(text);
            assert!(ticks.is_none_or(|ticks| ticks.part(1) == 0.0), "{text}");
        }
    }
}
