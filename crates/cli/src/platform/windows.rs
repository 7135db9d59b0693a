//! Windows.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// CREATE_NEW_PROCESS_GROUP: Ctrl-C is not for it.
const NEW_GROUP: u32 = 0x0200;

/// The modelled board of the demo is on the network, for there are no pseudo-terminals.
pub const DEMO_BOARD: &str = "tcp://127.0.0.1:0";

/// Why `doctor` cannot look at this host; `None` where it can.
pub const NO_DOCTOR: Option<&str> = None;

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
