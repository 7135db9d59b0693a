//! The first sentence of a page: the answer that the terminal prints.

use crate::Subject;
use crate::tables::{ComparisonTables, sentence};
use wiregauge_run::{State, Stored};

/// One sentence for each run, with its label if there are several; for compared runs, what differs.
pub(super) fn of(subjects: &[Subject], comparisons: &[ComparisonTables]) -> Vec<String> {
    if let [only] = comparisons
        && let Some(answer) = only.answer.first()
    {
        let which = match subjects {
            [before, after] => format!("{} against {}: ", after.label, before.label),
            _ => String::new(),
        };
        return vec![which + answer];
    }
    let several = subjects.len() > 1;
    let of_run = |subject: &Subject| {
        let words = run(subject)?;
        let chosen = subject.tuned.as_deref();
        let chosen = chosen.map_or_else(String::new, |text| format!("{} ", sentence(text)));
        Some(match several {
            true => format!("{}: {chosen}{words}", subject.label),
            false => format!("{chosen}{words}"),
        })
    };
    subjects.iter().filter_map(of_run).collect()
}

/// How far the run came, what its delays do to a control loop, and the answer of the terminal.
fn run(subject: &Subject) -> Option<String> {
    let answer = &subject.tables.brief.as_ref()?.answer;
    let of_loop = subject.control.as_ref();
    let of_loop = of_loop.and_then(|report| report.tables.brief.as_ref());
    let of_loop = of_loop.map_or_else(String::new, |brief| format!("{} ", brief.answer));
    let progress = progress(&*subject.run);
    Some(format!("{progress}{of_loop}{}", sentence(answer)))
}

/// How much of the plan was measured by a run that did not come to its end.
fn progress(run: &dyn Stored) -> String {
    match (run.state(), run.planned()) {
        (State::Complete, _) => String::new(),
        (_, (planned, done)) if done == planned => "the run did not end properly. ".into(),
        (_, (planned, done)) => format!("{done} of {planned} points finished. "),
    }
}
