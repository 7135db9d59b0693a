//! What measured delays do to a control loop. Numbers in, numbers out: no I/O, no clock.
//!
//! A [`Loop`] is a plant, a controller and a period. Delays of its commands become a [`Schedule`], and each of its
//! periods a linear map; all statements follow from products of those maps. docs/control.md has the formulas and their
//! sources.

#![forbid(unsafe_code)]

mod any_order;
mod assess;
mod attack;
mod buffer;
mod chain;
mod constant;
mod controller;
mod cycles;
mod delay_margin;
mod delays;
mod error;
mod flow;
mod jitter_margin;
mod joint_radius;
mod krylov;
mod long_run;
mod mean_cost;
mod metric;
mod misses;
mod model;
mod modes;
mod on_trace;
mod pattern;
mod pid;
mod plant;
mod powers;
mod register;
mod sampled;
mod schedule;
mod step;
mod system;
mod trace;
mod trace_cost;
mod transfer;

pub use any_order::{AnyOrder, Verdict, any_order};
pub use assess::{Assessment, Stated, TICKS, assess};
pub use attack::{Cycle, DelayRange, worst_cycle};
pub use buffer::{Buffer, best_buffer};
pub use chain::{BurstChain, DelayChain, DelayState, Edge, fit_bursts};
pub use constant::{ConstantDelay, constant_delay, without_delay};
pub use controller::Controller;
pub use cycles::{
    CycleAction, CycleEnd, CycleExchange, CyclePlan, CycleRow, LoopRun, MOST_SIGNALS, WrongReply,
};
pub use delay_margin::{DelayMargin, delay_margin};
pub use delays::Delays;
pub use error::ControlError;
pub use flow::{Flow, spectral_radius};
pub use jitter_margin::{JitterMargin, jitter_margin};
pub use joint_radius::{JointRadius, JointSearch, joint_radius};
pub use long_run::{Bursts, LONG_RUN_TICKS, LongRun, NoLongRun, Stationary, long_run, stationary};
pub use mean_cost::MeanCost;
pub use misses::{BreakingPattern, Misses, NotCovered, misses, misses_radius};
pub use model::{Cost, Loop, Noise};
pub use on_trace::{OnTrace, StepFigures, Steps, on_trace, step_target};
pub use pattern::{Flows, Layout, Pattern, PeriodMap, Source, period_map};
pub use pid::Pid;
pub use plant::{Plant, PlantModel};
pub use register::cycle_growth;
pub use sampled::{CycleTimes, mean_cost, sampled_costs, sampled_step, times_of_delays};
pub use schedule::{OnMiss, Order, Rules, Schedule, schedule};
pub use step::{Step, StepPlan, step};
pub use system::{Matrix, StateSpace};
pub use trace::{Maps, NoiseRun};
pub use trace_cost::Interval;
pub use transfer::TransferFunction;
