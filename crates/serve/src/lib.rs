//! The responder as a command: `wiregauge serve`, and the program `wiregauge-serve` for boards, which has nothing else.

mod args;
mod command;
mod plant;
mod profiles;
mod values;

pub use args::{ServeArgs, examples};
pub use command::run;
