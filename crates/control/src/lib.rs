//! What measured delays do to a control loop. Numbers in, numbers out: no I/O, no clock.
//!
//! A [`Loop`] is a plant, a controller and a period. Delays of its commands become a [`Schedule`], and each of its
//! periods a linear map; all statements follow from products of those maps. docs/control.md has the formulas and their
//! sources.

#![forbid(unsafe_code)]

mod assess;
mod buffer;
mod constant;
mod delays;
mod error;
mod flow;
mod model;
mod on_trace;
mod pattern;
mod pid;
mod plant;
mod powers;
mod schedule;
mod step;
mod system;
mod trace;
mod transfer;

pub use assess::{Assessment, TICKS, assess};
pub use buffer::{Buffer, best_buffer};
pub use constant::{ConstantDelay, constant_delay};
pub use delays::Delays;
pub use error::ControlError;
pub use flow::{Flow, spectral_radius};
pub use model::{Cost, Loop, Noise};
pub use on_trace::{Interval, OnTrace, StepFigures, Steps, on_trace};
pub use pattern::{Flows, Layout, Pattern, PeriodMap, Source, period_map};
pub use pid::Pid;
pub use plant::{Plant, PlantModel};
pub use schedule::{OnMiss, Order, Rules, Schedule, schedule};
pub use step::{Step, StepPlan, step};
pub use system::{Matrix, StateSpace};
pub use trace::{Maps, NoiseRun};
pub use transfer::TransferFunction;
