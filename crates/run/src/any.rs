//! A run of whatever kind: what is asked of a directory before anything is known of it.

use crate::closed_loop::Loop;
use crate::control::Control;
use crate::ending::{Depth, Life};
use crate::error::RunError;
use crate::exchange::Exchange;
use crate::files::Files;
use crate::kind::RunKind;
use crate::kinds::for_every_kind;
use crate::run::Run;
use crate::run_file::{State, Text};
use crate::stream::Stream;
use std::io::Write;
use std::path::Path;
use wiregauge_record::Conditions;

macro_rules! kinds {
    ($($kind:ident),+) => {
        /// A run on disk, of any kind that this version knows.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyRun {
            $(
                #[doc = concat!("A run of kind [`", stringify!($kind), "`].")]
                $kind(Run<$kind>),
            )+
        }

        impl AnyRun {
            /// Opens a run; see [`Run::open`].
            pub fn open(dir: &Path) -> Result<AnyRun, RunError> {
                AnyRun::load(dir, Depth::Whole)
            }

            /// Opens a run without the points that have no summary yet: quick, however many rows they have.
            pub fn open_brief(dir: &Path) -> Result<AnyRun, RunError> {
                AnyRun::load(dir, Depth::Brief)
            }

            fn load(dir: &Path, depth: Depth) -> Result<AnyRun, RunError> {
                let text = Text::read(dir)?;
                $(
                    if text.kind() == $kind::NAME {
                        return Run::load(dir, text, depth).map(AnyRun::$kind);
                    }
                )+
                Err(text.other_kind(None))
            }

            /// What can be asked of it without regard to its kind.
            pub fn stored(&self) -> &dyn Stored {
                match self {
                    $(AnyRun::$kind(run) => run,)+
                }
            }
        }
    };
}

for_every_kind!(kinds);

/// What every stored run can be asked.
pub trait Stored {
    /// Its directory.
    fn dir(&self) -> &Path;
    /// The last part of the directory's path.
    fn name(&self) -> String;
    /// What was measured, as `run.json` says it.
    fn kind(&self) -> &'static str;
    /// The address of the (first) link.
    fn address(&self) -> &str;
    /// Its links in words: `tcp://10.0.0.5:7700 and 2 more`.
    fn links(&self) -> String;
    /// How far it has come, as `run.json` says it.
    fn state(&self) -> &State;
    /// Whether its writer lives.
    fn life(&self) -> Life;
    /// The state in a word for a table: see [`Run::state_word`].
    fn state_word(&self) -> &'static str;
    /// How it ended, in a sentence: see [`Run::ending_line`].
    fn ending_line(&self) -> Option<String>;
    /// What it ran on.
    fn conditions(&self) -> &Conditions;
    /// Finished points.
    fn points(&self) -> usize;
    /// Measured rows of all finished points.
    fn measured(&self) -> u64;
    /// Stored rows of all points.
    fn stored_rows(&self) -> u64;
    /// What the rows are, in the plural.
    fn rows(&self) -> &'static str;
    /// The summary of a finished point, as it stands in `run.json`.
    fn point_json(&self, point: usize) -> Result<String, RunError>;
    /// Rows of the samples of a point.
    fn rows_of(&self, point: usize) -> Result<u64, RunError>;
    /// Hands over one column of the samples of a point, some thousands of values at once; a column of names is their
    /// positions in the list that docs/run-format.md gives, of real numbers their bits.
    fn column(
        &self,
        point: usize,
        name: &str,
        take: &mut dyn FnMut(&[u64]),
    ) -> Result<(), RunError>;
    /// See [`write_csv`](crate::write_csv).
    fn write_csv(&self, out: &mut dyn Write, with_data: bool) -> Result<u64, RunError>;
    /// See [`write_parquet`](crate::write_parquet).
    fn write_parquet(&self, path: &Path) -> Result<u64, RunError>;
    /// See [`write_json`](crate::write_json).
    fn write_json(&self, out: &mut dyn Write) -> Result<(), RunError>;
}

impl<K: Files> Stored for Run<K> {
    fn dir(&self) -> &Path {
        &self.dir
    }

    fn name(&self) -> String {
        Run::name(self)
    }

    fn kind(&self) -> &'static str {
        K::NAME
    }

    fn address(&self) -> &str {
        K::address(&self.file.plan)
    }

    fn links(&self) -> String {
        let first = K::address(&self.file.plan);
        match K::more_links(&self.file.plan) {
            0 => first.to_owned(),
            more => format!("{first} and {more} more"),
        }
    }

    fn state(&self) -> &State {
        &self.file.state
    }

    fn life(&self) -> Life {
        self.progress.life
    }

    fn state_word(&self) -> &'static str {
        Run::state_word(self)
    }

    fn ending_line(&self) -> Option<String> {
        Run::ending_line(self)
    }

    fn conditions(&self) -> &Conditions {
        &self.file.conditions
    }

    fn points(&self) -> usize {
        self.file.points.len()
    }

    fn measured(&self) -> u64 {
        self.file.measured()
    }

    fn stored_rows(&self) -> u64 {
        self.progress.rows
    }

    fn rows(&self) -> &'static str {
        K::ROWS
    }

    fn point_json(&self, point: usize) -> Result<String, RunError> {
        let summary = self.summary(point)?;
        serde_json::to_string(summary).map_err(|error| RunError::Output {
            format: "JSON",
            cause: error.into(),
        })
    }

    fn rows_of(&self, point: usize) -> Result<u64, RunError> {
        Ok(self.samples_of(point, &[])?.rows())
    }

    fn column(
        &self,
        point: usize,
        name: &str,
        take: &mut dyn FnMut(&[u64]),
    ) -> Result<(), RunError> {
        crate::column::column(self, point, name, take)
    }

    fn write_csv(&self, out: &mut dyn Write, with_data: bool) -> Result<u64, RunError> {
        crate::calls::write_csv(self, out, with_data)
    }

    fn write_parquet(&self, path: &Path) -> Result<u64, RunError> {
        crate::calls::write_parquet(self, path)
    }

    fn write_json(&self, out: &mut dyn Write) -> Result<(), RunError> {
        crate::export::write_json(self, out)
    }
}
