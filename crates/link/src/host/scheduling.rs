//! What a run asks of the host for its measuring thread: real-time priority, one processor, locked
//! memory. What the system refuses is an error that names the permission, never a silent no.

use crate::error::{LinkError, LinkErrorKind};
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;
use wiregauge_record::HostPlan;

/// Applies the plan to the calling thread. Order matters: the priority comes last, so that nothing
/// slow runs at it.
pub fn apply(plan: &HostPlan) -> Result<(), LinkError> {
    use_precise_timers();
    if plan.lock_memory {
        lock_memory()?;
    }
    if let Some(cpu) = plan.pin {
        pin(cpu)?;
    }
    if let Some(priority) = plan.priority {
        real_time(priority)?;
    }
    Ok(())
}

/// Lets timed sleeps of the calling thread end when they should: the kernel's default slack of
/// 50 us (prctl(2), PR_SET_TIMERSLACK) would be seen in every schedule.
pub fn use_precise_timers() {
    timer_slack(libc::PR_SET_TIMERSLACK, 1);
}

/// prctl passes on four numbers, and valgrind wants to see all of them.
fn timer_slack(what: libc::c_int, ns: libc::c_ulong) -> libc::c_int {
    const UNUSED: libc::c_ulong = 0;
    // SAFETY: asked about timer slack it takes at most one integer, and touches no memory of ours.
    unsafe { libc::prctl(what, ns, UNUSED, UNUSED, UNUSED) }
}

/// What the calling thread was before it was raised; it is that again when this is dropped.
pub struct Raised {
    policy: libc::c_int,
    parameter: libc::sched_param,
    processors: Option<CpuSet>,
    slack_ns: libc::c_int,
}

impl Raised {
    /// Gives the calling thread precise timers, and the processor and the priority that are asked for.
    pub fn begin(priority: Option<u8>, processor: Option<u32>) -> Result<Raised, LinkError> {
        let mut parameter = libc::sched_param { sched_priority: 0 };
        // SAFETY: all take 0 for the calling thread, or one integer; the pointer is valid for the call.
        let (policy, slack_ns) = unsafe {
            libc::sched_getparam(0, &mut parameter);
            (
                libc::sched_getscheduler(0),
                timer_slack(libc::PR_GET_TIMERSLACK, 0),
            )
        };
        let before = Raised {
            policy,
            parameter,
            processors: sched_getaffinity(None).ok().filter(|_| processor.is_some()),
            slack_ns,
        };
        use_precise_timers();
        // Dropped on the way out, `before` puts back what was done before an error.
        if let Some(processor) = processor {
            pin(processor)?;
        }
        if let Some(priority) = priority {
            real_time(priority)?;
        }
        Ok(before)
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        // SAFETY: the pointer is valid for the call; 0 is the calling thread; a slack is one integer.
        unsafe {
            libc::sched_setscheduler(0, self.policy, &self.parameter);
            let slack_ns = libc::c_ulong::try_from(self.slack_ns).unwrap_or(0);
            timer_slack(libc::PR_SET_TIMERSLACK, slack_ns);
        }
        if let Some(processors) = &self.processors {
            let _ = sched_setaffinity(None, processors);
        }
    }
}

/// Locks all memory of this process, and what it will have.
pub fn lock_memory() -> Result<(), LinkError> {
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).map_err(|error| {
        LinkError::from_io("cannot lock memory (--lock-memory)", &error.into()).hint(
            "this needs CAP_IPC_LOCK, or a larger `memlock` in /etc/security/limits.conf (see ulimit -l)",
        )
    })
}

fn pin(cpu: u32) -> Result<(), LinkError> {
    let refused = |said: String| {
        let allowed: Vec<String> = allowed().iter().map(u32::to_string).collect();
        let doing = format!("cannot pin the measuring thread to CPU {cpu} (--pin)");
        LinkError::new(LinkErrorKind::Usage, doing, said)
            .hint(format!("use --pin with one of: {}", allowed.join(", ")))
    };
    let mut set = CpuSet::new();
    let index = cpu as usize;
    if index >= CpuSet::MAX_CPU {
        return Err(refused("no such CPU".into()));
    }
    set.set(index);
    sched_setaffinity(None, &set).map_err(|error| match error {
        rustix::io::Errno::INVAL => refused("this process is not allowed to use that CPU".into()),
        other => refused(io::Error::from(other).to_string()),
    })
}

/// Processors that the calling thread may run on.
pub fn allowed() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else {
        return Vec::new();
    };
    (0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .map(|cpu| cpu as u32)
        .collect()
}

/// Keeps the calling thread off a processor, so that it is left to the measuring thread. Where
/// there is no other one, nothing changes.
pub fn keep_off(cpu: u32) {
    let others: Vec<u32> = allowed()
        .into_iter()
        .filter(|&other| other != cpu)
        .collect();
    if others.is_empty() {
        return;
    }
    let mut set = CpuSet::new();
    for other in others {
        set.set(other as usize);
    }
    let _ = sched_setaffinity(None, &set);
}

/// Gives the calling thread this SCHED_FIFO priority.
pub(super) fn real_time(priority: u8) -> Result<(), LinkError> {
    let parameter = libc::sched_param {
        sched_priority: priority.into(),
    };
    // SAFETY: the pointer is valid for the call; 0 means the calling thread.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter) };
    if result == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    Err(LinkError::from_io(
        format!("cannot set real-time priority {priority} (--priority, SCHED_FIFO)"),
        &error,
    )
    .hint(
        "this needs CAP_SYS_NICE (sudo setcap cap_sys_nice+ep $(which wiregauge)), or at least this `rtprio` \
         in /etc/security/limits.conf",
    ))
}

/// Gives the calling thread the SCHED_FIFO priority above this one, or at least this one. Returns
/// what the system granted. For a thread that stands in for hardware, which no program outranks.
pub fn outrank(priority: u8) -> Option<u8> {
    let above = priority.saturating_add(1).min(99);
    let granted = |&wanted: &u8| real_time(wanted).is_ok();
    [above, priority].into_iter().find(granted)
}

/// Takes its real-time priority from a thread of this process.
pub(super) fn ordinary(thread: i32) {
    let parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: the pointer is valid for the call; a thread that has ended is an error, no harm.
    unsafe { libc::sched_setscheduler(thread, libc::SCHED_OTHER, &parameter) };
}

/// Policy and priority of the calling thread, in words.
pub fn policy() -> String {
    let mut parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: both calls take 0 for the calling thread; the pointer is valid for the call.
    let policy = unsafe {
        libc::sched_getparam(0, &mut parameter);
        libc::sched_getscheduler(0)
    };
    match policy {
        libc::SCHED_FIFO => format!("SCHED_FIFO {}", parameter.sched_priority),
        libc::SCHED_RR => format!("SCHED_RR {}", parameter.sched_priority),
        libc::SCHED_BATCH => "SCHED_BATCH".into(),
        libc::SCHED_IDLE => "SCHED_IDLE".into(),
        _ => "SCHED_OTHER".into(),
    }
}
