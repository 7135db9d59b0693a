//! Statistics of response times: tails, confidence under dependence, modes. Knows nothing but
//! numbers. `Series` takes them one by one; `docs/statistics.md` gives every formula and its source.

#![forbid(unsafe_code)]

mod backlog;
mod blocks;
mod clusters;
mod coarse;
mod compare;
mod cycles;
mod dependence;
mod directions;
mod distribution;
mod events;
mod exact;
mod exceedance_runs;
mod extrapolation;
mod interval;
mod level;
mod mean;
mod modes;
mod moments;
mod no_tail;
mod pareto;
mod quantization;
mod reading;
mod replay;
mod series;
mod streaming;
mod tail;
mod tested_fit;
mod types;

pub use backlog::{Backlog, Buffer};
pub use compare::{Difference, difference};
pub use cycles::{CycleRule, Cycles, Missed};
pub use directions::{Directions, Parts, Stamps};
pub use distribution::FEWEST_SHOWN;
pub use events::Events;
pub use exceedance_runs::{ExceedanceRuns, Exceeded, poisson_high};
pub use extrapolation::{Exceeding, FittedTail, Responses};
pub use interval::{samples_to_bound, share_of};
pub use level::Level;
pub use mean::mean_of;
pub use no_tail::NoTail;
pub use reading::Reading;
pub use replay::Replay;
pub use series::Series;
pub use types::{Confidence, Distribution, Estimate, Mode, Share};
