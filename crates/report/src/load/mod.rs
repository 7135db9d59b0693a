//! The samples of a run, read once and thinned to what a figure can show. Nothing that a reader
//! would look for is thinned away: the extremes of every slice of time, the longest samples and the
//! bad ones stay, everything is counted, and what was left out is said.

mod bad;
pub(crate) mod closed_loop;
mod control;
mod cycle_answers;
mod cycle_delays;
mod deadline;
pub(crate) mod exchange;
mod late_starts;
mod longest;
mod pieces;
pub(crate) mod points;
mod room;
pub(crate) mod signals;
mod slices;
pub(crate) mod stream;
mod tuned;
mod types;

pub use control::{ControlPoint, Controls, ControlsError, controls};
pub use cycle_answers::Taken;
pub use cycle_delays::{CycleDelays, cycle_delays};
pub(crate) use deadline::late_responses;
pub use deadline::{
    Beyond, ControlLoop, DeadlinePoint, Deadlines, cycles_of_schedule, deadlines, deadlines_of_all,
};
pub(crate) use late_starts::{LateStarts, late_starts};
pub(crate) use room::Room;
pub(crate) use tuned::answer_of_search;
pub use tuned::{Confirmed, Limit, Objective, Tuned, TunedRow};
pub(crate) use types::Values;
pub use types::{
    Bad, Buffer, ControlSignals, ExchangePoint, Flow, Loaded, LoopPoint, Series, Signal, Slice,
    Spot, StreamPoint,
};
