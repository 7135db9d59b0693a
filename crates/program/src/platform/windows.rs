//! Windows.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT,
    SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

/// Error of a device that failed: ERROR_IO_DEVICE.
pub const DEVICE_FAILED: i32 = 1117;

/// What Ctrl-C raises.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Which event did.
static FIRST: OnceLock<&str> = OnceLock::new();

/// Longer than the system leaves a program after these events, at most 20 s.
const LONG: Duration = Duration::from_secs(60);

/// Called by the system in a thread of its own. What is not handled here ends the program.
unsafe extern "system" fn on_event(event: u32) -> BOOL {
    let (name, ends_on_return) = match event {
        CTRL_C_EVENT => ("CTRL_C_EVENT", false),
        CTRL_BREAK_EVENT => ("CTRL_BREAK_EVENT", false),
        CTRL_CLOSE_EVENT => ("CTRL_CLOSE_EVENT", true),
        CTRL_LOGOFF_EVENT => ("CTRL_LOGOFF_EVENT", true),
        CTRL_SHUTDOWN_EVENT => ("CTRL_SHUTDOWN_EVENT", true),
        _ => return 0,
    };
    let is_first = |flag: &Arc<AtomicBool>| !flag.swap(true, Ordering::Relaxed);
    let is_handled = STOP.get().is_some_and(is_first);
    if is_handled {
        let _ = FIRST.set(name);
        if ends_on_return {
            // The system ends the program when this returns: not before the command has.
            std::thread::sleep(LONG);
        }
    }
    BOOL::from(is_handled)
}

/// Name of the event that raised the flag.
pub fn ended_by() -> Option<&'static str> {
    FIRST.get().copied()
}

/// Lets Ctrl-C, Ctrl-Break, the closing of the console, logging off and shutting down raise the flag; a second event ends
/// the program.
pub fn raise_on_ctrl_c(flag: &Arc<AtomicBool>) -> io::Result<()> {
    let _ = STOP.set(Arc::clone(flag));
    // SAFETY: the handler lives as long as the program, and only stores to an atomic.
    match unsafe { SetConsoleCtrlHandler(Some(on_event), 1) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Does to this process what Ctrl-C does: the first time it ends with what it has, the second time at once.
pub fn end_as_ctrl_c_does() {
    let is_first = |flag: &Arc<AtomicBool>| !flag.swap(true, Ordering::Relaxed);
    if !STOP.get().is_some_and(is_first) {
        // The exit code after Ctrl-C without a handler: STATUS_CONTROL_C_EXIT.
        std::process::exit(0xC000_013A_u32 as i32);
    }
}
