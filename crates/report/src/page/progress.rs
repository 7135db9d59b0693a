//! How many points of a plan a run measured to their end.

use crate::Subject;
use wiregauge_record::{Ending, LoopPlan, LoopSummary};
use wiregauge_run::State;

/// Points measured to their end, and points of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    /// To their end.
    pub(super) done: usize,
    /// Of the plan.
    pub(super) planned: usize,
}

impl Progress {
    /// Of a run that did not come to its end; `None` if it did.
    pub(super) fn of(subject: &Subject) -> Option<Progress> {
        let whole = |ending: &Ending| *ending == Ending::Complete;
        let (done, planned) = if let Some((run, _)) = subject.exchange_run() {
            let done = run.file.points.iter().filter(|p| whole(&p.ending));
            (done.count(), run.file.plan.points.len())
        } else if let Some((run, _)) = subject.stream_run() {
            let done = run.file.points.iter().filter(|p| whole(&p.ending));
            (done.count(), run.file.plan.points.len())
        } else {
            let (run, _) = subject.loop_run()?;
            let done = of_plan(&run.file.plan, &run.file.points).filter(|p| whole(&p.ending));
            (done.count(), run.file.plan.points.len())
        };
        let is_whole = *subject.run.stored().state() == State::Complete;
        (!is_whole).then_some(Progress { done, planned })
    }

    /// What the first sentence of the page begins with.
    pub(super) fn words(self) -> String {
        match self.done == self.planned {
            true => "the run did not end properly".into(),
            false => format!("{} of {} points finished", self.done, self.planned),
        }
    }
}

/// Preloads under test are points of the run, but not of the plan.
fn of_plan<'a>(
    plan: &'a LoopPlan,
    points: &'a [LoopSummary],
) -> impl Iterator<Item = &'a LoopSummary> {
    let planned = |point: &&LoopSummary| plan.points.contains(&point.point);
    points.iter().filter(planned)
}
