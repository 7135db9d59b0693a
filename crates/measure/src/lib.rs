//! Threads that measure over links: exchanges, streams, several links at once.
//!
//! Data goes one way: a plan (`wiregauge_record::Plan`) opens a link, [`exchange`] or [`mod@stream`] measures over it
//! and hands samples to a sink, which summarises and stores them.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use wiregauge_measure::exchange::{self, Taker};
//! use wiregauge_measure::sink::RunError;
//! use wiregauge_record::Plan;
//!
//! /// Measures, and returns whether the run came to its end.
//! fn measure(plan: &Plan, sink: &mut Taker<'_>) -> Result<bool, RunError> {
//!     exchange::check(plan)?;
//!     exchange::run(plan, &AtomicBool::new(false), sink)
//! }
//! ```

pub mod exchange;
pub mod hand_over;
pub mod hello;
pub mod multi_link;
pub mod probe;
pub mod ring;
pub mod runner;
pub mod sink;
pub mod slices;
pub mod stream;
mod urb_losses;
