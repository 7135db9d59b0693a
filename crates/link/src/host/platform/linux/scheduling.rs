//! Priority, processors and timers of a thread, and locked memory (sched(7), mlockall(2)).

use crate::error::{LinkError, LinkErrorKind};
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// The calling thread's number.
pub fn thread_number() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
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

/// Policy, priority, processors and timer slack of a thread.
pub struct ThreadSettings {
    policy: libc::c_int,
    parameter: libc::sched_param,
    processors: Option<CpuSet>,
    slack_ns: libc::c_int,
}

impl ThreadSettings {
    /// Those of the calling thread; its processors only if they are to be put back.
    pub fn of_caller(with_processors: bool) -> ThreadSettings {
        let mut parameter = libc::sched_param { sched_priority: 0 };
        // SAFETY: all take 0 for the calling thread, or one integer; the pointer is valid for the call.
        let (policy, slack_ns) = unsafe {
            libc::sched_getparam(0, &mut parameter);
            (
                libc::sched_getscheduler(0),
                timer_slack(libc::PR_GET_TIMERSLACK, 0),
            )
        };
        ThreadSettings {
            policy,
            parameter,
            processors: sched_getaffinity(None).ok().filter(|_| with_processors),
            slack_ns,
        }
    }

    /// Gives them to the calling thread.
    pub fn restore(&self) {
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

/// Lets the calling thread run on one processor only.
pub fn pin(cpu: u32) -> Result<(), LinkError> {
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

/// Lets the calling thread run on these processors only. What the system refuses is left.
pub fn set_allowed(cpus: &[u32]) {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu as usize);
    }
    let _ = sched_setaffinity(None, &set);
}

/// Gives the calling thread this SCHED_FIFO priority.
pub fn real_time(priority: u8) -> Result<(), LinkError> {
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

/// Takes its real-time priority from a thread of this process.
pub fn ordinary(thread: i32) {
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
