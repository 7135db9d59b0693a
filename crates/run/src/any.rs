//! A run of whatever kind: what is asked of a directory before anything is known of it.

use crate::ending::{Depth, Life, Progress};
use crate::error::RunError;
use crate::files::Files;
use crate::kind::RunKind;
use crate::kinds::for_every_kind;
use crate::rows::{self, Record};
use crate::run::Run;
use crate::run_file::{State, Text};
use std::any::Any;
use std::fmt::Debug;
use std::io::Write;
use std::path::Path;
use wiregauge_record::{Conditions, Disturbance};

/// Evaluates an expression with a run of whatever kind it is: `with_run!(&any, run => run.name())`.
#[macro_export]
macro_rules! with_run {
    (@of $($kind:ident)+; $any:expr, $run:ident => $body:expr) => {
        match $any {
            $($crate::AnyRun::$kind($run) => $body,)+
        }
    };
    ($any:expr, $run:ident => $body:expr) => {
        $crate::with_every_kind!($any, $run => $body)
    };
}

macro_rules! kinds {
    ($($kind:ident),+) => {
        /// A run on disk, of any kind that this version knows.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyRun {
            $(
                #[doc = concat!("A run of kind [`", stringify!($kind), "`](crate::", stringify!($kind), ").")]
                $kind(Run<$crate::$kind>),
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
                    if text.kind() == <$crate::$kind as RunKind>::NAME {
                        return Run::load(dir, text, depth).map(AnyRun::$kind);
                    }
                )+
                Err(text.other_kind(None))
            }
        }

        $(
            impl From<Run<$crate::$kind>> for AnyRun {
                fn from(run: Run<$crate::$kind>) -> AnyRun {
                    AnyRun::$kind(run)
                }
            }
        )+
    };
}

for_every_kind!(kinds);

impl AnyRun {
    /// What can be asked of it without regard to its kind.
    pub fn stored(&self) -> &dyn Stored {
        with_run!(self, run => run)
    }

    /// The same of several runs.
    pub fn all_stored(runs: &[AnyRun]) -> Vec<&dyn Stored> {
        runs.iter().map(AnyRun::stored).collect()
    }

    /// The run, if it is of this kind.
    pub fn as_kind<K: RunKind>(&self) -> Option<&Run<K>> {
        self.stored().as_kind()
    }
}

impl dyn Stored + '_ {
    /// The run, if it is of this kind.
    pub fn as_kind<K: RunKind>(&self) -> Option<&Run<K>> {
        self.as_any().downcast_ref()
    }
}

/// What every stored run can be asked.
pub trait Stored: Debug + Send + Sync {
    /// The run itself.
    fn as_any(&self) -> &dyn Any;
    /// Its directory.
    fn dir(&self) -> &Path;
    /// The last part of the directory's path.
    fn name(&self) -> String;
    /// What was measured, as `run.json` says it.
    fn kind(&self) -> &'static str;
    /// What was measured, in words that begin a title.
    fn title(&self) -> &'static str;
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
    /// Points of the plan, and how many of them were measured to their end.
    fn planned(&self) -> (usize, usize);
    /// What disturbed the finished points.
    fn disturbances(&self) -> Vec<&Disturbance>;
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
    /// How its rows lie in memory.
    fn record(&self) -> Record;
    /// The rows of a point, or of all points, as records one after the other.
    fn records(&self, point: Option<usize>) -> Result<Vec<u8>, RunError>;
    /// See [`write_csv`](crate::write_csv).
    fn write_csv(&self, out: &mut dyn Write, with_data: bool) -> Result<u64, RunError>;
    /// See [`write_parquet`](crate::write_parquet).
    fn write_parquet(&self, path: &Path) -> Result<u64, RunError>;
    /// See [`write_json`](crate::write_json).
    fn write_json(&self, out: &mut dyn Write) -> Result<(), RunError>;
}

impl<K: Files> Stored for Run<K> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn dir(&self) -> &Path {
        &self.dir
    }

    fn name(&self) -> String {
        Run::name(self)
    }

    fn kind(&self) -> &'static str {
        K::NAME
    }

    fn title(&self) -> &'static str {
        K::TITLE
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

    fn planned(&self) -> (usize, usize) {
        let finished = Progress::of_file(&self.file).finished;
        (K::planned(&self.file.plan), finished)
    }

    fn disturbances(&self) -> Vec<&Disturbance> {
        self.file.points.iter().flat_map(K::disturbances).collect()
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

    fn record(&self) -> Record {
        Record::new::<K>()
    }

    fn records(&self, point: Option<usize>) -> Result<Vec<u8>, RunError> {
        rows::records(self, point)
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
