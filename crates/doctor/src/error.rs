//! What can go wrong with the undo file. A setting that cannot be written is no error but a step that failed.

use crate::platform::STATE_VARIABLE;
use std::io;
use std::path::PathBuf;

/// The undo file cannot be used, so nothing is changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixError {
    /// It cannot be read.
    #[error("cannot read the undo file {}: {error}; nothing was changed. If it is not needed, remove it", path.display())]
    Read {
        /// Where it is.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It belongs to somebody else.
    #[error(
        "the undo file {} belongs to another user (number {owner}); nothing was changed. Run the command as that user",
        path.display()
    )]
    Foreign {
        /// Where it is.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// It cannot be written.
    #[error("cannot write the undo file {}: {error}; {STATE_VARIABLE} sets another directory for it", path.display())]
    Write {
        /// Where it should be.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}
