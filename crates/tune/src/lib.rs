//! Finds the best setting of a link in few probes: a fitted model says where the optimum must be, the
//! next probe goes there, and what is found is confirmed by a fresh one. Knows no link: whoever
//! measures asks [`Search::next`] and answers with [`Search::tell`]. docs/tune.md says how it searches.

#![forbid(unsafe_code)]

mod advice;
mod difference;
mod gaussian;
mod knee;
mod longer;
mod observed;
mod pool;
mod posterior;
mod probe;
mod reasons;
mod record;
mod search;
mod space;
mod surrogate;
mod why;

pub use advice::{Advice, Choice, Compliance, SetAside, Verdict};
pub use longer::times_as_long;
pub use probe::{Bound, Effort, Measured, Probe, Purpose, Sense};
pub use search::Search;
pub use space::{Candidate, Space, SpaceError};
pub use why::Why;
pub use wiregauge_model::LinkModel;
