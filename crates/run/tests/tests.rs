//! All integration tests of this crate in one program, which links once.

mod common;
mod cut_short;
mod damage;
mod exports;
#[cfg(target_os = "linux")]
mod full_disk;
mod life_of_a_run;
mod loops;
mod many_runs;
#[cfg(target_os = "linux")]
mod memory;
mod one_column;
mod streams;
