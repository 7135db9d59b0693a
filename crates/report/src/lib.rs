//! What people look at, made from stored runs: tables and warnings in words, figures, and the page
//! that holds them all. Opens no device, measures nothing; docs/report.md describes what it makes.
//!
//! Data flows one way: a run becomes tables and texts ([`tables`]) and a few numbers ([`load`]); figures are
//! drawn from these, and the page is made of all three.

#![forbid(unsafe_code)]

// The tests' own module names this crate as a user does.
#[cfg(test)]
extern crate self as wiregauge_report;

mod control_report;
pub mod figures;
mod labels;
pub mod load;
pub mod page;
mod reported;
mod signs;
pub mod tables;

pub use control_report::{ControlDrawn, ControlReport};
pub use labels::labels;
pub use reported::Reported;

use load::Loaded;
use std::sync::Arc;
use tables::Tables;
use wiregauge_run::{AnyRun, Control, Exchange, Loop, Run, Stored, Stream, with_run};

/// A run, ready to be drawn.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What tells it from the other runs of the same report: short, unique.
    pub label: String,
    /// The run, of any kind.
    pub run: Arc<dyn Stored>,
    /// Its words and tables.
    pub tables: Tables,
    /// Its samples, thinned.
    pub loaded: Loaded,
    /// How many of its cycles missed their deadline: those of its schedule, or those asked for.
    pub deadlines: Option<load::Deadlines>,
    /// The answer of the search whose choice this run confirmed, if any.
    pub tuned: Option<String>,
    /// What its delays mean for a control loop, if one was given.
    pub control: Option<ControlReport>,
}

impl Subject {
    /// The run and its points, if it is one of exchanges.
    pub(crate) fn exchange_run(&self) -> Option<(&Run<Exchange>, &[load::ExchangePoint])> {
        match &self.loaded {
            Loaded::Exchange(loaded) => Some((self.run.as_kind()?, loaded.as_slice())),
            _ => None,
        }
    }

    /// The run and its points, if it is one of streams.
    pub(crate) fn stream_run(&self) -> Option<(&Run<Stream>, &[load::StreamPoint])> {
        match &self.loaded {
            Loaded::Stream(loaded) => Some((self.run.as_kind()?, loaded.as_slice())),
            _ => None,
        }
    }

    /// The run and its points, if it is one of a digitizer and a generator.
    pub(crate) fn loop_run(&self) -> Option<(&Run<Loop>, &[load::LoopPoint])> {
        match &self.loaded {
            Loaded::Loop(loaded) => Some((self.run.as_kind()?, loaded.as_slice())),
            _ => None,
        }
    }

    /// The run and its points, if it is one of a control loop.
    pub(crate) fn control_run(&self) -> Option<(&Run<Control>, &[load::ControlSignals])> {
        match &self.loaded {
            Loaded::Control(loaded) => Some((self.run.as_kind()?, loaded.as_slice())),
            _ => None,
        }
    }

    /// Reads the samples of a run whose tables exist already; see [`Reported::load`]. Points whose samples
    /// cannot be read are in `loaded.missing()`. `cycles`: `None` are those of the run's schedule.
    pub fn load(
        label: String,
        run: AnyRun,
        tables: Tables,
        cycles: Option<load::ControlLoop>,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Subject {
        with_run!(run, run => Subject::load_kind(label, run, tables, cycles, progress))
    }

    /// The same for a run whose kind is known.
    pub fn load_kind<K: Reported>(
        label: String,
        run: Run<K>,
        tables: Tables,
        cycles: Option<load::ControlLoop>,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Subject {
        let loaded = K::load(&run, progress);
        let run: Arc<dyn Stored> = Arc::new(run);
        let cycles = cycles.or_else(|| load::cycles_of_schedule(&*run));
        let deadlines = cycles.and_then(|cycles| load::deadlines_of_all(&*run, cycles));
        let tuned = load::answer_of_search(run.dir());
        Subject {
            deadlines,
            tuned,
            label,
            run,
            tables,
            loaded,
            control: None,
        }
    }
}
