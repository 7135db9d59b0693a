//! The run directory of wiregauge: written so that a crash, `kill -9` or a power cut loses at most the last second,
//! and read back whole. The format is documented in
//! docs/run-format.md; nothing here measures or computes statistics.

#![forbid(unsafe_code)]

mod any;
mod calls;
mod closed_loop;
mod column;
mod columns;
mod control;
mod conversion;
mod disk;
mod ending;
mod error;
mod exchange;
mod export;
mod files;
mod home;
mod journal;
mod journal_reader;
mod journal_writer;
mod kind;
mod kinds;
mod layout;
mod listing;
mod microseconds;
mod parquet_reader;
mod part;
mod place;
mod platform;
mod point_progress;
mod point_writer;
mod recompute;
mod rows;
mod run;
mod run_file;
mod run_writer;
mod sample_file;
mod sample_reader;
mod segment;
#[cfg(test)]
mod simulated_disk;
#[cfg(test)]
mod simulation;
mod storage;
mod stream;
// The tests' own module names this crate as a user does.
#[cfg(test)]
extern crate self as wiregauge_run;
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod testing;
mod time_check;
#[cfg(test)]
mod torn_tests;
mod unfinished;
mod watched;

pub use any::{AnyRun, Stored};
pub use calls::{CsvWriter, write_csv, write_parquet};
pub use closed_loop::Loop;
pub use columns::{Column, Kind as ColumnKind, PointColumn, PointKind};
pub use control::Control;
pub use ending::{Life, Progress};
pub use error::RunError;
pub use exchange::Exchange;
pub use export::write_json;
pub use files::{DefaultHandler, FileHandler, Files};
pub use home::{new_run_dir, runs_home};
pub use kind::{FromRows, RunKind};
pub use listing::{Listing, find, list};
pub use point_writer::PointWriter;
pub use recompute::recompute;
pub use rows::{Field, Record};
pub use run::Run;
pub use run_file::{RunFile, SCHEMA, State, StoredPoint};
pub use run_writer::RunWriter;
pub use sample_reader::SampleReader;
pub use stream::Stream;
