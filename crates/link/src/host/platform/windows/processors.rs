//! Processors of a thread. Windows has them in groups of up to 64; here those of group 1 go on at 64.

use crate::error::{LinkError, LinkErrorKind};
use std::io;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetActiveProcessorCount, GetCurrentThread, GetThreadGroupAffinity, SetThreadGroupAffinity,
};

const GROUP: u32 = usize::BITS;

/// Lets the calling thread run on one processor only.
pub fn pin(cpu: u32) -> Result<(), LinkError> {
    let refused = |said: String| {
        let allowed: Vec<String> = allowed().iter().map(u32::to_string).collect();
        let doing = format!("cannot pin the measuring thread to CPU {cpu} (--pin)");
        LinkError::new(LinkErrorKind::Usage, doing, said)
            .hint(format!("use --pin with one of: {}", allowed.join(", ")))
    };
    let Ok(group) = u16::try_from(cpu / GROUP) else {
        return Err(refused("no such CPU".into()));
    };
    // SAFETY: it takes a number; a group that is not there has none.
    if cpu % GROUP >= unsafe { GetActiveProcessorCount(group) } {
        return Err(refused("no such CPU".into()));
    }
    set(group, 1 << (cpu % GROUP)).map_err(|error| refused(error.to_string()))
}

/// Processors that the calling thread may run on.
pub fn allowed() -> Vec<u32> {
    affinity().map_or(Vec::new(), |affinity| {
        (0..GROUP)
            .filter(|&bit| affinity.Mask >> bit & 1 == 1)
            .map(|bit| u32::from(affinity.Group) * GROUP + bit)
            .collect()
    })
}

/// Lets the calling thread run on these processors only, those of one group. What the system refuses is left.
pub fn set_allowed(cpus: &[u32]) {
    let Some(group) = cpus.first().map(|cpu| cpu / GROUP) else {
        return;
    };
    let mask = cpus
        .iter()
        .filter(|&cpu| cpu / GROUP == group)
        .fold(0, |mask, cpu| mask | 1 << (cpu % GROUP));
    let _ = set(group as u16, mask);
}

/// False: Windows does not say on which processors another thread may run.
pub fn shares_callers_only_processor(_thread: i32) -> bool {
    false
}

/// Group and processors of the calling thread.
pub fn affinity() -> Option<GROUP_AFFINITY> {
    let mut affinity = GROUP_AFFINITY::default();
    // SAFETY: the pointer is valid for the call; the handle is a constant for the calling thread.
    let read = unsafe { GetThreadGroupAffinity(GetCurrentThread(), &mut affinity) };
    (read != 0).then_some(affinity)
}

/// Gives the calling thread processors of one group.
pub fn set(group: u16, mask: usize) -> io::Result<()> {
    let affinity = GROUP_AFFINITY {
        Mask: mask,
        Group: group,
        Reserved: [0; 3],
    };
    // SAFETY: the pointer is valid for the call, and nobody wants to know what was before.
    let set =
        unsafe { SetThreadGroupAffinity(GetCurrentThread(), &affinity, std::ptr::null_mut()) };
    match set {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
