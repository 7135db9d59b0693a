//! Windows.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT,
    SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

/// CREATE_NEW_PROCESS_GROUP: Ctrl-C is not for it.
const NEW_GROUP: u32 = 0x0200;

/// The modelled board of the demo is on the network, for there are no pseudo-terminals.
pub const DEMO_BOARD: &str = "tcp://127.0.0.1:0";

/// Why `doctor` cannot look at this host; `None` where it can.
pub const NO_DOCTOR: Option<&str> = None;

/// Error of a device that failed: ERROR_IO_DEVICE.
pub const DEVICE_FAILED: i32 = 1117;

/// Who may change the settings of the system.
pub const ADMINISTRATOR: &str = "administrator";

/// Prefix of a command that only they may run: none, because the command prompt itself is started as administrator.
pub const AS_ADMINISTRATOR: &str = "";

/// Why there is no directory for state.
pub const NO_STATE_DIRECTORY: &str = "LOCALAPPDATA is not set to an absolute path";

/// Below the help of `doctor`.
pub const DOCTOR_EXAMPLES: &str = "\
Examples:
  wiregauge doctor                     # this host and all attached devices
  wiregauge doctor serial://COM3       # this host and the connection to one device
  wiregauge doctor --run last          # host and timing pattern of a stored run
  wiregauge doctor --fix --only power-plan,ftdi-latency
  wiregauge doctor --undo              # restores what --fix changed

No device is opened, and nothing is changed without --fix, which needs a command prompt that
was started as administrator. What each check reads, what the problem costs, and the source:
documentation, docs/doctor.md.";

/// This executable.
pub fn own_program() -> OsString {
    std::env::current_exe().map_or_else(|_| "wiregauge.exe".into(), Into::into)
}

/// Standard output once more, as a file.
pub fn own_stdout() -> io::Result<File> {
    io::stdout()
        .as_handle()
        .try_clone_to_owned()
        .map(File::from)
}

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

/// Keeps Ctrl-C from a program that is started.
pub fn without_ctrl_c(command: &mut Command) -> &mut Command {
    command.creation_flags(NEW_GROUP)
}

/// A temporary file whose permissions are those of any new file: they come from its folder.
pub fn as_any_new_file<'b>(
    builder: &'b mut tempfile::Builder<'static, 'static>,
) -> &'b mut tempfile::Builder<'static, 'static> {
    builder
}

/// The part of a `file:` address that names this absolute path: `/C:/Users/...`.
pub fn path_of_address(path: &Path) -> Vec<u8> {
    let text = path.to_string_lossy().replace('\\', "/");
    format!("/{}", text.trim_start_matches("//?/")).into_bytes()
}
