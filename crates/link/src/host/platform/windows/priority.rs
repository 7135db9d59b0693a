//! Priorities. Windows has no scale of 99: below real time there is one highest level, TIME_CRITICAL, and above it what
//! the Multimedia Class Scheduler (MMCSS) gives threads that play sound. REALTIME_PRIORITY_CLASS is left alone: it
//! would raise every thread of this process above those of the system.

use super::multimedia::{is_multimedia, join_multimedia, leave_multimedia};
use super::processors;
use super::thread::Opened;
use crate::error::LinkError;
use std::io;
use std::sync::{Mutex, PoisonError};
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    ABOVE_NORMAL_PRIORITY_CLASS, ALL_PROCESSOR_GROUPS, BELOW_NORMAL_PRIORITY_CLASS,
    GetActiveProcessorCount, GetCurrentProcess, GetCurrentThread, GetPriorityClass,
    GetThreadPriority, HIGH_PRIORITY_CLASS, IDLE_PRIORITY_CLASS, NORMAL_PRIORITY_CLASS,
    REALTIME_PRIORITY_CLASS, SetPriorityClass, SetThreadPriority, THREAD_PRIORITY_NORMAL,
    THREAD_PRIORITY_TIME_CRITICAL, THREAD_SET_INFORMATION,
};

/// Priorities from here on are those of MMCSS, which keeps a fifth of each processor's time for other threads.
const MULTIMEDIA: u8 = 50;

/// Priority and processors of a thread, and the class of its process.
pub struct ThreadSettings {
    priority: i32,
    multimedia: bool,
    processors: Option<GROUP_AFFINITY>,
}

/// How many threads have settings to put back, and the class of the process before the first of them.
static RAISED: Mutex<(usize, u32)> = Mutex::new((0, 0));

impl ThreadSettings {
    /// Those of the calling thread; its processors only if they are to be put back.
    pub fn of_caller(with_processors: bool) -> ThreadSettings {
        let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        if raised.0 == 0 {
            raised.1 = class();
        }
        raised.0 += 1;
        ThreadSettings {
            priority: thread_priority(),
            multimedia: is_multimedia(),
            processors: processors::affinity().filter(|_| with_processors),
        }
    }

    /// Gives them to the calling thread. Called once.
    pub fn restore(&self) {
        if !self.multimedia {
            leave_multimedia();
        }
        let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        raised.0 = raised.0.saturating_sub(1);
        // SAFETY: they take numbers, and constants that stand for the calling thread and this process.
        unsafe {
            SetThreadPriority(GetCurrentThread(), self.priority);
            if raised.0 == 0 && class() != raised.1 {
                SetPriorityClass(GetCurrentProcess(), raised.1);
            }
        }
        if let Some(affinity) = &self.processors {
            let _ = processors::set(affinity.Group, affinity.Mask);
        }
    }
}

/// Gives the calling thread the highest priority below real time, and from 50 on that of a thread that plays sound.
pub fn real_time(priority: u8) -> Result<(), LinkError> {
    let doing = || format!("cannot set real-time priority {priority} (--priority)");
    if !matches!(class(), HIGH_PRIORITY_CLASS | REALTIME_PRIORITY_CLASS) {
        // SAFETY: it takes a number, and a constant that stands for this process.
        let set = unsafe { SetPriorityClass(GetCurrentProcess(), HIGH_PRIORITY_CLASS) };
        if set == 0 {
            return Err(refused(doing() + ": HIGH_PRIORITY_CLASS"));
        }
    }
    // SAFETY: it takes a number, and a constant that stands for the calling thread.
    let set = unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL) };
    if set == 0 {
        return Err(refused(doing() + ": TIME_CRITICAL"));
    }
    if priority < MULTIMEDIA {
        leave_multimedia();
        return Ok(());
    }
    join_multimedia().map_err(|error| {
        LinkError::from_io(doing() + ": MMCSS, task Pro Audio", &error).hint(format!(
            "start the service `Multimedia Class Scheduler` (sc start MMCSS), or use --priority 1 to {}",
            MULTIMEDIA - 1
        ))
    })
}

fn refused(doing: String) -> LinkError {
    LinkError::from_io(doing, &io::Error::last_os_error()).hint(
        "this needs the right \"Increase scheduling priority\" (secpol.msc, Local Policies, User Rights \
         Assignment), or run as administrator",
    )
}

/// Takes its raised priority from a thread of this process. What MMCSS gave stays, which leaves others a fifth of the
/// processor.
pub fn ordinary(thread: i32) {
    set_priority(thread, THREAD_PRIORITY_NORMAL);
}

/// Gives a thread the priority of the calling one, if that is raised. False if there is one processor only: threads of
/// the same priority take turns there, and the caller must yield.
pub fn outrank_caller(thread: i32) -> bool {
    let own = thread_priority();
    if own != THREAD_PRIORITY_TIME_CRITICAL && !is_multimedia() {
        return true;
    }
    // SAFETY: it takes a number and returns one.
    let processors = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) };
    set_priority(thread, THREAD_PRIORITY_TIME_CRITICAL) && processors > 1
}

fn set_priority(thread: i32, priority: i32) -> bool {
    Opened::new(thread, THREAD_SET_INFORMATION).is_some_and(|opened| {
        // SAFETY: the handle is valid; the other is a number.
        unsafe { SetThreadPriority(opened.handle(), priority) != 0 }
    })
}

fn thread_priority() -> i32 {
    // SAFETY: it takes a constant that stands for the calling thread.
    unsafe { GetThreadPriority(GetCurrentThread()) }
}

fn class() -> u32 {
    // SAFETY: it takes a constant that stands for this process.
    unsafe { GetPriorityClass(GetCurrentProcess()) }
}

/// Priority of the calling thread and class of its process, in words.
pub fn policy() -> String {
    let thread = match thread_priority() {
        15 => "TIME_CRITICAL".to_string(),
        2 => "HIGHEST".into(),
        1 => "ABOVE_NORMAL".into(),
        0 => "NORMAL".into(),
        -1 => "BELOW_NORMAL".into(),
        -2 => "LOWEST".into(),
        -15 => "IDLE".into(),
        other => format!("priority {other}"),
    };
    let class = match class() {
        IDLE_PRIORITY_CLASS => "IDLE_PRIORITY_CLASS",
        BELOW_NORMAL_PRIORITY_CLASS => "BELOW_NORMAL_PRIORITY_CLASS",
        NORMAL_PRIORITY_CLASS => "NORMAL_PRIORITY_CLASS",
        ABOVE_NORMAL_PRIORITY_CLASS => "ABOVE_NORMAL_PRIORITY_CLASS",
        HIGH_PRIORITY_CLASS => "HIGH_PRIORITY_CLASS",
        REALTIME_PRIORITY_CLASS => "REALTIME_PRIORITY_CLASS",
        _ => "an unknown class",
    };
    match is_multimedia() {
        true => format!("{thread} in {class}, MMCSS Pro Audio"),
        false => format!("{thread} in {class}"),
    }
}
