//! Settings that `--fix` changes and `--undo` restores, whatever the system keeps them in.

use std::io;
use std::path::Path;

/// The settings of a host. A path that names none of those that may be changed is refused.
pub trait Settings {
    /// What the undo file notes of this start of the computer, if the next start restores all settings; empty where
    /// they outlive it.
    fn start(&self) -> String;

    /// The present value. `NotFound` if there is no such setting.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// Writes a value to a setting that exists.
    fn write(&self, path: &Path, value: &str) -> io::Result<()>;
}
