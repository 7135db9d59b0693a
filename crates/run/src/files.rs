//! What handles the files of a kind, compiled once: code that is generic over the kind would be compiled again in each crate
//! that calls it, and be as slow there as that crate is.

use crate::ending::Depth;
use crate::error::RunError;
use crate::export;
use crate::kind::RunKind;
use crate::kinds::for_every_kind;
use crate::place::Limits;
use crate::point_writer::PointWriter;
use crate::run::Run;
use crate::run_file::{State, Text};
use crate::run_writer::RunWriter;
use crate::sample_reader::SampleReader;
use std::io::Write;
use std::path::Path;
use wiregauge_record::Conditions;

type Done<T> = Result<T, RunError>;

/// A kind whose runs can be read and written. The calls are those of [`Run`], [`SampleReader`], [`RunWriter`]
/// and [`PointWriter`].
pub trait Files: RunKind {
    /// What handles its files: `&DefaultHandler`, in a function that is not inlined, or the code would be compiled in each
    /// crate that calls it.
    fn handler() -> &'static dyn FileHandler<Self>;
}

/// What handles the files of a kind.
#[doc(hidden)]
pub trait FileHandler<K: RunKind> {
    fn load(&self, dir: &Path, text: Text, depth: Depth) -> Done<Run<K>>;
    fn open_samples(&self, run: &Run<K>, at: usize, wanted: Vec<usize>) -> Done<SampleReader<K>>;
    fn make_ready(&self, reader: &mut SampleReader<K>) -> Option<Done<()>>;
    fn write_csv(
        &self,
        run: &Run<K>,
        at: usize,
        with_data: bool,
        text: &mut Vec<u8>,
        out: &mut dyn Write,
    ) -> Done<u64>;
    fn write_parquet(&self, run: &Run<K>, path: &Path) -> Done<u64>;
    fn create(&self, dir: &Path, plan: &K::Plan, conditions: &Conditions) -> Done<RunWriter<K>>;
    fn begin_point(&self, writer: &mut RunWriter<K>, point: K::Point) -> Done<PointWriter<K>>;
    fn end_point(
        &self,
        writer: &mut RunWriter<K>,
        point: PointWriter<K>,
        summary: K::Summary,
        left: &mut dyn FnMut(usize),
    ) -> Done<()>;
    fn finish(&self, writer: &mut RunWriter<K>, state: State) -> Done<()>;
    fn push(&self, writer: &mut PointWriter<K>, row: &K::Row, data: &[u8]) -> Done<()>;
    fn tick(&self, writer: &mut PointWriter<K>) -> Done<()>;
    fn flush(&self, writer: &mut PointWriter<K>) -> Done<()>;
}

/// Handles the files of any kind.
#[doc(hidden)]
pub struct DefaultHandler;

impl<K: RunKind> FileHandler<K> for DefaultHandler {
    fn load(&self, dir: &Path, text: Text, depth: Depth) -> Done<Run<K>> {
        Run::load(dir, text, depth)
    }

    fn open_samples(&self, run: &Run<K>, at: usize, wanted: Vec<usize>) -> Done<SampleReader<K>> {
        run.open_samples(at, wanted)
    }

    fn make_ready(&self, reader: &mut SampleReader<K>) -> Option<Done<()>> {
        reader.make_ready()
    }

    fn write_csv(
        &self,
        run: &Run<K>,
        at: usize,
        with_data: bool,
        text: &mut Vec<u8>,
        out: &mut dyn Write,
    ) -> Done<u64> {
        export::write_csv_rows(run, at, with_data, text, out)
    }

    fn write_parquet(&self, run: &Run<K>, path: &Path) -> Done<u64> {
        export::write_parquet(run, path)
    }

    fn create(&self, dir: &Path, plan: &K::Plan, conditions: &Conditions) -> Done<RunWriter<K>> {
        RunWriter::with_limits(dir, plan, conditions, Limits::default())
    }

    fn begin_point(&self, writer: &mut RunWriter<K>, point: K::Point) -> Done<PointWriter<K>> {
        writer.open_point(point)
    }

    fn end_point(
        &self,
        writer: &mut RunWriter<K>,
        point: PointWriter<K>,
        summary: K::Summary,
        left: &mut dyn FnMut(usize),
    ) -> Done<()> {
        writer.close_point(point, summary, left)
    }

    fn finish(&self, writer: &mut RunWriter<K>, state: State) -> Done<()> {
        writer.end(state)
    }

    fn push(&self, writer: &mut PointWriter<K>, row: &K::Row, data: &[u8]) -> Done<()> {
        writer.take(row, data)
    }

    fn tick(&self, writer: &mut PointWriter<K>) -> Done<()> {
        writer.hand_on()
    }

    fn flush(&self, writer: &mut PointWriter<K>) -> Done<()> {
        writer.append_now()
    }
}

macro_rules! files {
    ($($kind:ident),+) => {$(
        impl Files for $crate::$kind {
            #[inline(never)]
            fn handler() -> &'static dyn FileHandler<Self> {
                &DefaultHandler
            }
        }
    )+};
}

for_every_kind!(files);
