//! Threads by the number of their Mach port; never run on macOS.

/// The calling thread's number.
pub fn thread_number() -> i32 {
    // SAFETY: both take and return values; the thread is the calling one.
    unsafe { libc::pthread_mach_thread_np(libc::pthread_self()) as i32 }
}

/// The thread of this process with this number.
pub fn by_number(thread: i32) -> Option<libc::pthread_t> {
    // SAFETY: it takes a number and looks it up; 0 is none.
    let thread = unsafe { libc::pthread_from_mach_thread_np(thread as libc::mach_port_t) };
    (thread != 0).then_some(thread)
}

/// Processor time in nanoseconds that a thread of this process has used; 0 if it has ended.
pub fn thread_cpu_ns_of(thread: i32) -> u64 {
    // SAFETY: it holds numbers only, for which all bytes zero are valid.
    let mut info: libc::thread_basic_info = unsafe { std::mem::zeroed() };
    let mut words = (size_of_val(&info) / size_of::<libc::integer_t>()) as u32;
    // SAFETY: the buffer has the length that is passed, in words; a thread that has ended is an error.
    let failed = unsafe {
        libc::thread_info(
            thread as libc::mach_port_t,
            libc::THREAD_BASIC_INFO as u32,
            (&raw mut info).cast(),
            &mut words,
        )
    };
    let ns = |time: libc::time_value_t| {
        time.seconds as u64 * 1_000_000_000 + time.microseconds as u64 * 1_000
    };
    match failed {
        0 => ns(info.user_time) + ns(info.system_time),
        _ => 0,
    }
}
