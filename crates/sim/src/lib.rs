//! The proof of the exchange engine ([`wiregauge_session`]): it is driven through links and devices in virtual time, with
//! every fault that a link or a device can have, and an oracle that knows the truth says what it must report.
//!
//! A scenario is its seed. Nothing here sleeps, has a thread or asks a clock, so that a failure repeats:
//!
//! ```
//! use wiregauge_sim::{Cell, Protocols, Scenario, run};
//!
//! let cell = Cell { out_bytes: 64, in_bytes: 64, depth: 2 };
//! let mut scenario = Scenario::plain(1, Protocols::Echo, cell);
//! scenario.faults.cut_down = 1_000;
//! let outcome = run(&scenario, false).unwrap();
//! assert!(outcome.rows >= 21);
//! ```
//!
//! `scenario` is what happens, `world` makes it happen, `driver` runs the engine in it, `oracle` predicts what
//! it does, and `judge` holds the rows to what the world knows. `stream` is all
//! of that for streams, `program` for programs with an open device, `script` for exchanges that depend on replies.

mod case;
mod driver;
mod judge;
mod many;
mod matrix;
mod oracle;
mod program;
mod queries;
mod random;
mod scenario;
mod script;
mod shrink;
mod stream;
mod world;

pub use case::Case;
pub use driver::{Outcome, run, run_with};
pub use many::{Report, first_fault, many};
pub use matrix::{MATRIX, matrix};
pub use oracle::Fault;
pub use program::{Calls, PROGRAM_MATRIX, Program};
pub use random::Random;
pub use scenario::{Cell, Devices, Faults, MS, Protocols, Scenario, Shape, US};
pub use script::{Script, Step, run_script};
pub use stream::{StreamByte, StreamDevice, StreamFaults, Streaming};
pub use world::{Byte, Device, Given, Message, Tag};
