//! Whether this process was forked since. An open device belongs to the process that opened it: a child
//! that used the same descriptors would take the parent's replies. Asking for the process's number would
//! cost a system call each time; a counter that the fork itself raises costs a load.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The generation of this process: another one in a child than in its parent, from the first call on.
#[inline]
pub fn generation() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Begins to count, and tells the generation.
pub fn count_forks() -> u32 {
    static COUNTING: Once = Once::new();
    COUNTING.call_once(|| {
        // SAFETY: the handler adds to an atomic number, which may be done at any time; it lives as long
        // as the process. Without memory for it the children are not distinguished, no harm else.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    generation()
}
