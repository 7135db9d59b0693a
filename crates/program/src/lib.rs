//! What the programs `wiregauge` and `wiregauge-serve` share: flags and their values, the file of a control loop, Ctrl-C,
//! exit codes and the texts of errors.

pub mod console;
pub mod failure;
pub mod files;
pub mod flags;
pub mod model;
mod platform;
pub mod style;
pub mod values;

pub use platform::{end_as_ctrl_c_does, ended_by};
