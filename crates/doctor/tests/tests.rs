//! All integration tests of this crate in one program, which links once.

mod connections;
mod fixing;
mod host;
mod host_of_a_run;
mod made_up;
mod network;
mod patterns;
mod ttys;
mod usb;
mod windows;
mod windows_fixing;
