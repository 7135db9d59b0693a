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

/// A kind whose runs can be read and written: each that there is. The calls are those of [`Run`], [`SampleReader`], [`RunWriter`]
/// and [`PointWriter`].
pub trait Files: RunKind {
    #[doc(hidden)]
    fn load(dir: &Path, text: Text, depth: Depth) -> Done<Run<Self>>;
    #[doc(hidden)]
    fn open_samples(run: &Run<Self>, point: usize, wanted: Vec<usize>) -> Done<SampleReader<Self>>;
    #[doc(hidden)]
    fn make_ready(reader: &mut SampleReader<Self>) -> Option<Done<()>>;
    #[doc(hidden)]
    fn write_csv(
        run: &Run<Self>,
        at: usize,
        with_data: bool,
        text: &mut Vec<u8>,
        out: &mut dyn Write,
    ) -> Done<u64>;
    #[doc(hidden)]
    fn write_parquet(run: &Run<Self>, path: &Path) -> Done<u64>;
    #[doc(hidden)]
    fn create(dir: &Path, plan: &Self::Plan, conditions: &Conditions) -> Done<RunWriter<Self>>;
    #[doc(hidden)]
    fn begin_point(writer: &mut RunWriter<Self>, point: Self::Point) -> Done<PointWriter<Self>>;
    #[doc(hidden)]
    fn end_point(
        writer: &mut RunWriter<Self>,
        point: PointWriter<Self>,
        summary: Self::Summary,
        left: &mut dyn FnMut(usize),
    ) -> Done<()>;
    #[doc(hidden)]
    fn finish(writer: &mut RunWriter<Self>, state: State) -> Done<()>;
    #[doc(hidden)]
    fn push(writer: &mut PointWriter<Self>, row: &Self::Row, data: &[u8]) -> Done<()>;
    #[doc(hidden)]
    fn tick(writer: &mut PointWriter<Self>) -> Done<()>;
    #[doc(hidden)]
    fn flush(writer: &mut PointWriter<Self>) -> Done<()>;
}

macro_rules! files {
    ($($kind:ident),+) => {$(
        impl Files for $crate::$kind {
            fn load(dir: &Path, text: Text, depth: Depth) -> Done<Run<Self>> {
                Run::load(dir, text, depth)
            }
            fn open_samples(
                run: &Run<Self>,
                point: usize,
                wanted: Vec<usize>,
            ) -> Done<SampleReader<Self>> {
                run.open_samples(point, wanted)
            }
            fn make_ready(reader: &mut SampleReader<Self>) -> Option<Done<()>> {
                reader.make_ready()
            }
            fn write_csv(
                run: &Run<Self>,
                at: usize,
                with_data: bool,
                text: &mut Vec<u8>,
                out: &mut dyn Write,
            ) -> Done<u64> {
                export::write_csv_rows(run, at, with_data, text, out)
            }
            fn write_parquet(run: &Run<Self>, path: &Path) -> Done<u64> {
                export::write_parquet(run, path)
            }
            fn create(
                dir: &Path,
                plan: &Self::Plan,
                conditions: &Conditions,
            ) -> Done<RunWriter<Self>> {
                RunWriter::with_limits(dir, plan, conditions, Limits::default())
            }
            fn begin_point(
                writer: &mut RunWriter<Self>,
                point: Self::Point,
            ) -> Done<PointWriter<Self>> {
                writer.open_point(point)
            }
            fn end_point(
                writer: &mut RunWriter<Self>,
                point: PointWriter<Self>,
                summary: Self::Summary,
                left: &mut dyn FnMut(usize),
            ) -> Done<()> {
                writer.close_point(point, summary, left)
            }
            fn finish(writer: &mut RunWriter<Self>, state: State) -> Done<()> {
                writer.end(state)
            }
            fn push(
                writer: &mut PointWriter<Self>,
                row: &Self::Row,
                data: &[u8],
            ) -> Done<()> {
                writer.take(row, data)
            }
            fn tick(writer: &mut PointWriter<Self>) -> Done<()> {
                writer.hand_on()
            }
            fn flush(writer: &mut PointWriter<Self>) -> Done<()> {
                writer.append_now()
            }
        }
    )+};
}

for_every_kind!(files);
