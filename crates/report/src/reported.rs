//! What differs between the kinds of run here: everything that takes a run of any kind asks one of these functions.

use crate::load::{Loaded, closed_loop, exchange, points, signals, stream};
use crate::tables::{self, Tables};
use wiregauge_record::Counts;
use wiregauge_run::{
    AnyRun, Control, Exchange, Files, Loop, Run, RunFile, State, Stream, with_run,
};

/// A kind of run that has tables, and may have figures.
pub trait Reported: Files {
    /// Words and tables of a run; with the confidence interval of every percentile if asked to.
    fn tables(run: &Run<Self>, confidence: bool) -> Tables;

    /// The summaries of a run as CSV: a header, and a row for each point or each way of a point.
    fn csv(file: &RunFile<Self>) -> String;

    /// Reads the samples of all finished points for the figures, several points at once, in memory that does not grow
    /// with their length. `progress` gets the part done, 0 to 1, now and then and from any thread.
    ///
    /// A point whose samples cannot be read has nothing to draw and says why in `missing`; the others
    /// are not touched by that. A kind without figures reads nothing.
    fn load(_run: &Run<Self>, _progress: &(dyn Fn(f64) + Sync)) -> Loaded {
        Loaded::Nothing
    }

    /// True of a run that failed before anything was answered: its error says what there is to say.
    fn is_unanswered(_file: &RunFile<Self>) -> bool {
        false
    }
}

impl Reported for Exchange {
    fn tables(run: &Run<Exchange>, confidence: bool) -> Tables {
        tables::of_exchange_run(run, confidence)
    }

    fn csv(file: &RunFile<Exchange>) -> String {
        tables::csv::of_exchange(file)
    }

    fn load(run: &Run<Exchange>, progress: &(dyn Fn(f64) + Sync)) -> Loaded {
        Loaded::Exchange(points::each::<_, exchange::Gatherer>(run, progress))
    }

    fn is_unanswered(file: &RunFile<Exchange>) -> bool {
        let answered = |counts: &Counts| counts.answered + counts.corrupted > 0;
        matches!(file.state, State::Failed { .. })
            && !file.points.iter().any(|point| answered(&point.counts))
    }
}

impl Reported for Stream {
    fn tables(run: &Run<Stream>, _confidence: bool) -> Tables {
        tables::of_stream(&run.file)
    }

    fn csv(file: &RunFile<Stream>) -> String {
        tables::csv::of_stream(file)
    }

    fn load(run: &Run<Stream>, progress: &(dyn Fn(f64) + Sync)) -> Loaded {
        Loaded::Stream(points::each::<_, stream::Gatherer>(run, progress))
    }
}

impl Reported for Loop {
    fn tables(run: &Run<Loop>, _confidence: bool) -> Tables {
        tables::of_loop(&run.file)
    }

    fn csv(file: &RunFile<Loop>) -> String {
        tables::csv::of_loop(file)
    }

    fn load(run: &Run<Loop>, progress: &(dyn Fn(f64) + Sync)) -> Loaded {
        Loaded::Loop(points::each::<_, closed_loop::Gatherer>(run, progress))
    }
}

impl Reported for Control {
    fn tables(run: &Run<Control>, _confidence: bool) -> Tables {
        tables::of_control(&run.file)
    }

    fn csv(file: &RunFile<Control>) -> String {
        tables::csv::of_control(file)
    }

    fn load(run: &Run<Control>, progress: &(dyn Fn(f64) + Sync)) -> Loaded {
        Loaded::Control(points::each::<_, signals::Gatherer>(run, progress))
    }
}

/// Tells of a run; with the confidence interval of every percentile if asked to.
pub fn of(run: &AnyRun, confidence: bool) -> Tables {
    with_run!(run, run => of_kind(run, confidence))
}

/// The same of a run whose kind is known.
pub fn of_kind<K: Reported>(run: &Run<K>, confidence: bool) -> Tables {
    Tables {
        ending: run.ending_line(),
        ..K::tables(run, confidence)
    }
}

/// The summaries of a run as CSV: one row a point of an exchange run, one row a point and way of a
/// stream run; plain numbers in base units. docs/report.md lists the columns.
pub fn csv(run: &AnyRun) -> String {
    with_run!(run, run => Reported::csv(&run.file))
}
