//! Programs in C against the installed library: compiled as a user would, run against a real responder.

mod builds;
mod installed;
mod programs;
mod responder;
mod stored_run;
