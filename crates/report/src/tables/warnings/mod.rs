//! What keeps figures from being trusted, with the remedy in the flags that the user is using.

mod closed_loop;
mod codes;
mod common;
mod echo;
mod exchange;
pub(super) mod few_samples;
mod stream;
mod warning;

pub(super) use codes::Code;
pub use codes::{Explained, WARNINGS};
pub use few_samples::no_bound;
pub use warning::Warning;
pub(super) use warning::spread;

use super::flow_rows::Row;
use super::places::Places;
use crate::load::LateStarts;
use wiregauge_run::{Loop, RunFile, Stream};

/// Faults of which a user asks who is to blame.
const FAULTS: &[Code] = &[
    Code::Lost,
    Code::Behind,
    Code::Overruns,
    Code::LoopStalled,
    Code::PreloadTooShort,
];

/// What this host did that may have caused them.
const CAUSE: Code = Code::HostDelayed;

/// Prints what may have caused a fault beside it.
fn with_causes(mut found: Vec<Warning>) -> Vec<Warning> {
    let is_fault = |one: &Warning| FAULTS.iter().any(|code| code.explained().code == one.code);
    if found.iter().any(is_fault) {
        for one in &mut found {
            one.is_printed |= one.code == CAUSE.explained().code;
        }
    }
    found
}

/// What was reported at the start of a run.
pub(super) fn of_start(remarks: &[String]) -> impl Iterator<Item = Warning> {
    remarks
        .iter()
        .map(|remark| Warning::new(Code::Remark, remark.clone(), ""))
}

/// The warnings that an exchange run deserves.
pub(super) fn of_exchange(
    file: &RunFile,
    late_starts: &dyn Fn(usize) -> Option<LateStarts>,
) -> Vec<Warning> {
    let places = Places::of_run(&file.plan, &file.points);
    let name = |points: &[u32]| places.bracketed(points);
    with_causes(exchange::of_run(file, late_starts, &name))
}

/// The warnings that a stream run deserves.
pub(super) fn of_stream(file: &RunFile<Stream>, rows: &[Row<'_>], places: &Places) -> Vec<Warning> {
    with_causes(stream::of_run(file, rows, places))
}

/// The warnings that a loop run deserves.
pub(super) fn of_loop(file: &RunFile<Loop>) -> Vec<Warning> {
    let places = Places::of_loop(&file.points);
    with_causes(closed_loop::of_run(file, &places))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_did_is_printed_beside_a_fault() {
        let printed = |codes: &[Code]| -> Vec<&'static str> {
            let found = codes
                .iter()
                .map(|&code| Warning::new(code, "found".into(), "."));
            let found = with_causes(found.collect());
            let printed = found.iter().filter(|one| one.is_printed);
            printed.map(|one| one.code).collect()
        };
        assert!(printed(&[Code::FewSamples, Code::HostDelayed]).is_empty());
        assert_eq!(
            printed(&[Code::FewSamples, Code::Behind, Code::HostDelayed]),
            ["W06", "W07"]
        );
    }
}
