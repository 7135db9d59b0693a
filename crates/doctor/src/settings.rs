//! Settings that `--fix` changes and `--undo` restores, on any system.

use std::io;
use std::path::Path;

/// The settings of a host. A path of anything else than a setting that may be changed is refused.
pub trait Settings {
    /// The id of this start of the computer, for the undo file, if the next start restores all settings; empty if they
    /// persist.
    fn start(&self) -> String;

    /// The present value. `NotFound` if there is no such setting.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// Writes a value to a setting that exists.
    fn write(&self, path: &Path, value: &str) -> io::Result<()>;
}
