//! What Linux and macOS share.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The modelled board of the demo is a serial line.
pub const DEMO_BOARD: &str = "pty:";

/// Who may change the settings of the system.
pub const ADMINISTRATOR: &str = "root";

/// Prefix of a command that only they may run.
pub const AS_ADMINISTRATOR: &str = "sudo ";

/// Why there is no directory for state.
pub const NO_STATE_DIRECTORY: &str = "neither XDG_STATE_HOME nor HOME is set to an absolute path";

/// Below the help of `doctor`.
pub const DOCTOR_EXAMPLES: &str = "\
Examples:
  wiregauge doctor                        # this host and all attached devices
  wiregauge doctor serial:///dev/ttyACM0  # this host and the connection to one device
  wiregauge doctor --run last             # host and timing pattern of a stored run
  sudo wiregauge doctor --fix --only governor,idle-states
  sudo wiregauge doctor --undo            # restores what --fix changed
  wiregauge doctor --json | jq -r '.findings[] | select(.level == \"problem\") | .remedy[]'

No device is opened, and nothing is changed without --fix. What each check reads, what the
problem costs, and the source: documentation, docs/doctor.md. Late: how long after the
intended time a thread started.";

/// Standard output once more, as a file.
pub fn own_stdout() -> io::Result<File> {
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

/// Keeps Ctrl-C from a program that is started.
pub fn without_ctrl_c(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// A temporary file whose permissions are those of any new file: what the umask leaves of them.
pub fn as_any_new_file<'b>(
    builder: &'b mut tempfile::Builder<'static, 'static>,
) -> &'b mut tempfile::Builder<'static, 'static> {
    builder.permissions(std::fs::Permissions::from_mode(0o666))
}

/// The part of a `file:` address that names this absolute path.
pub fn path_of_address(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}
