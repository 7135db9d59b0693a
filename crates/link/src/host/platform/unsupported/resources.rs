//! What every system accounts of a thread: its processor time. There is no figure for preemptions, for the time that a
//! thread waited for its processor, nor for what a hypervisor took; they are zero here and disturb nothing.

use super::super::thread_cpu_ns;
use crate::host::Helper;

/// The accounts of the machine, of which there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine {
    /// Time that the hypervisor took: unknown.
    pub steal_ns: u64,
    /// Time that the processors worked: unknown.
    pub busy_ns: u64,
}

impl Machine {
    /// Nothing.
    pub fn read(_pinned: Option<u32>) -> Machine {
        Machine::default()
    }

    /// Part of the time since then that the hypervisor took: unknown.
    pub fn steal_share_since(&self, _before: &Machine, _elapsed_ns: u64) -> f64 {
        0.0
    }
}

/// The accounts of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Thread {
    /// Processor time.
    pub cpu_ns: u64,
    /// Times that it began to wait: unknown.
    pub voluntary: u64,
    /// Times that another one was given its processor: unknown.
    pub involuntary: u64,
    /// Page faults without I/O: unknown.
    pub faults: u64,
    /// Time that it was ready but waited for a processor: unknown.
    pub run_delay_ns: u64,
}

impl Thread {
    /// Those of the calling thread.
    pub fn read() -> Thread {
        Thread {
            cpu_ns: thread_cpu_ns(),
            ..Thread::default()
        }
    }

    /// Together with another one.
    pub fn and(self, other: Option<Helper>) -> Thread {
        let other = other.map_or(0, |helper| helper.cpu_ns());
        Thread {
            cpu_ns: self.cpu_ns + other,
            ..self
        }
    }

    /// What it costs to read them, so that it is not charged to what is watched: nothing. Windows accounts in ticks,
    /// so two readings would show nothing, or a whole tick.
    pub fn cost_ns() -> u64 {
        0
    }
}

/// The unit of the accounts of the machine, of which there are none.
pub fn tick_ns() -> u64 {
    15_625_000
}
