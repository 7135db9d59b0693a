//! A stored run to read back.

use std::path::{Path, PathBuf};
use wiregauge_record::Status;
use wiregauge_run::{Exchange, RunWriter, State};

#[path = "../../../run/tests/common/mod.rs"]
mod nouns;

/// Writes a run of two points with 5000 exchanges each, the eighteenth of which was lost.
pub fn stored_run(folder: &Path) -> PathBuf {
    let dir = folder.join("run");
    let mut writer =
        RunWriter::<Exchange>::create(&dir, &nouns::plan(false), &nouns::conditions()).unwrap();
    for index in 0..2 {
        let mut rows = writer.begin_point(nouns::point(index)).unwrap();
        for sequence in 0..5000 {
            let mut row = nouns::sample(sequence);
            if sequence == 17 {
                row.status = Status::Lost;
            }
            rows.push(&row, b"").unwrap();
        }
        let summary = nouns::summary(nouns::point(index), 5000);
        writer.end_point(rows, summary).unwrap();
    }
    writer.finish(State::Complete).unwrap();
    dir
}
