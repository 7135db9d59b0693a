//! What on a host, and on the way from it to a device, hurts a measurement: what was seen, what it
//! costs and who measured that, the command that mends it. Reads files beneath a root, so that every
//! check is tested on a tree that is made up. One file a check, in `checks/`.

#![forbid(unsafe_code)]

mod checks;
mod connection;
mod context;
mod error;
mod examine;
mod finding;
mod fix;
mod host;
mod pattern;
mod platform;
mod route;
mod topology;
mod undo_file;

pub use checks::{CHECKS, Check};
pub use connection::connection;
pub use context::{HostContext, Target};
pub use error::FixError;
pub use examine::examine;
pub use finding::{Change, Cost, Finding, Level, alike};
pub use fix::{Ended, Step, Undone, fix, undo};
pub use undo_file::undo_place;
