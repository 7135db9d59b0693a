//! The header, and programs in C against the installed library: compiled as a user would, run against a real responder.

#![allow(clippy::unwrap_used)]

mod builds;
mod header;
mod installed;
mod programs;
mod responder;
mod stored_run;
