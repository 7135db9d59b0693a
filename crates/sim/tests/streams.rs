//! Streams: random ones, and what each fault must come to.

use wiregauge_sim::{Case, many};

#[test]
fn random_streams_are_reported_as_they_happened() {
    let report = many(100_000..130_000, Case::Stream, |_| {});
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
    assert!(report.rows > 30_000, "{report:?}");
}
