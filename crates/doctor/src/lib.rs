//! What on a host, and on the way from it to a device, hurts a measurement: what was seen, what it
//! costs and who measured that, the command that mends it. Reads files beneath a root, so that every
//! check is tested on a tree that is made up. One file a check, in `checks/`.

#![forbid(unsafe_code)]

mod checks;
mod error;
mod examine;
mod finding;
mod host;
mod mend;
mod pattern;
mod route;
mod sight;
mod undo_file;
mod way;

pub use checks::{CHECKS, Check};
pub use error::MendError;
pub use examine::examine;
pub use finding::{Change, Cost, Finding, Level, alike};
pub use mend::{Ended, Step, Undone, fix, undo};
pub use sight::{Sight, Target};
pub use undo_file::undo_place;
