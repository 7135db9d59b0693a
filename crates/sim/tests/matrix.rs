//! The whole matrix, and random scenarios.

use wiregauge_sim::{Case, MATRIX, PROGRAM_MATRIX, many};

pub fn all_pass(report: &wiregauge_sim::Report) {
    let failed = report.failed.iter();
    let failed: Vec<String> = failed
        .map(|(case, fault)| {
            format!(
                "{}\n    at {} ns: {}",
                case.command(),
                fault.at_ns,
                fault.what
            )
        })
        .collect();
    assert!(failed.is_empty(), "repeat with\n{}", failed.join("\n"));
}

#[test]
fn every_scenario_of_the_matrix_is_reported_as_it_happened() {
    let report = many(0..MATRIX, Case::Matrix, |_| {});
    all_pass(&report);
    assert_eq!(report.cases, MATRIX);
    // The scenarios do something.
    assert!(report.rows > 10 * MATRIX, "{report:?}");
}

#[test]
fn every_program_of_the_matrix_is_served_as_the_device_answered() {
    let report = many(0..PROGRAM_MATRIX, Case::ProgramMatrix, |_| {});
    all_pass(&report);
    assert_eq!(report.cases, PROGRAM_MATRIX);
    assert!(report.rows > 10 * PROGRAM_MATRIX, "{report:?}");
}

#[test]
fn queries_of_every_kind_are_reported_as_they_happened() {
    let report = many(0..10_000, Case::Queries, |_| {});
    all_pass(&report);
    assert_eq!(report.cases, 10_000);
    assert!(report.rows > 10 * 10_000, "{report:?}");
}

#[test]
fn a_few_random_scenarios_are_reported_as_they_happened() {
    let report = many(0..1_000, Case::random, |_| {});
    all_pass(&report);
    assert_eq!(report.cases, 1_000);
}

#[test]
fn a_program_whose_link_damages_replies_is_judged_to_its_end() {
    let report = many(6251..6252, Case::Program, |_| {});
    all_pass(&report);
}
