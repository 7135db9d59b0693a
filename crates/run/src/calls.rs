//! The calls that read and write runs, as others see them: each goes to what `files.rs` compiles once for the kind.

use crate::ending::Depth;
use crate::error::RunError;
use crate::export;
use crate::files::Files;
use crate::point_writer::PointWriter;
use crate::run::Run;
use crate::run_file::{State, Text};
use crate::run_writer::RunWriter;
use crate::sample_reader::{RowRead, SampleReader};
use std::io::Write;
use std::path::Path;
use wiregauge_record::Conditions;

impl<K: Files> Run<K> {
    /// Opens a run. One that is still being written, or whose writer was killed, gives all rows that are stored: the
    /// summary of the point in progress is computed from them. Fails where the run is of another kind.
    pub fn open(dir: &Path) -> Result<Run<K>, RunError> {
        K::handler().load(dir, Text::read(dir)?, Depth::Whole)
    }

    /// The rows of a point, by its position in `file.points`.
    pub fn samples(&self, point: usize) -> Result<SampleReader<K>, RunError> {
        K::handler().open_samples(self, point, (0..K::COLUMNS.len()).collect())
    }

    /// The rows of a point with these columns only, by the names that docs/run-format.md has for
    /// them: the other fields are left at their default and cost nothing, and so do the bytes of
    /// the answers.
    pub fn samples_of(&self, point: usize, columns: &[&str]) -> Result<SampleReader<K>, RunError> {
        K::handler().open_samples(self, point, self.places(columns)?)
    }
}

impl<K: Files> SampleReader<K> {
    /// The next rows, some thousands at once and without the bytes of the answers; `None` at the
    /// end. What [`Iterator::next`] gives one by one, at a fraction of the cost.
    pub fn next_rows(&mut self) -> Option<Result<&[K::Row], RunError>> {
        if self.is_taken()
            && let Err(error) = K::handler().make_ready(self)?
        {
            return Some(Err(error));
        }
        Some(Ok(self.take_rows()))
    }
}

impl<K: Files> Iterator for SampleReader<K> {
    type Item = RowRead<K>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_taken()
            && let Err(error) = K::handler().make_ready(self)?
        {
            return Some(Err(error));
        }
        Some(Ok(self.take_row()))
    }
}

impl<K: Files> RunWriter<K> {
    /// Makes the directory (and those above it) and stores what is to be measured. Fails where
    /// the directory exists and is not empty.
    pub fn create(
        dir: &Path,
        plan: &K::Plan,
        conditions: &Conditions,
    ) -> Result<RunWriter<K>, RunError> {
        K::handler().create(dir, plan, conditions)
    }

    /// Begins the samples of a point. Where the disk does not let it, [`PointWriter::tick`] says so: the rows are then
    /// counted.
    pub fn begin_point(&mut self, point: K::Point) -> Result<PointWriter<K>, RunError> {
        K::handler().begin_point(self, point)
    }

    /// Completes the samples of a point and adds it to `run.json`. It waits until the disk has
    /// both, so call it between points. After an error the rows that were stored are there, and the run can be finished.
    pub fn end_point(
        &mut self,
        writer: PointWriter<K>,
        summary: K::Summary,
    ) -> Result<(), RunError> {
        K::handler().end_point(self, writer, summary, &mut |_| ())
    }

    /// As [`end_point`](RunWriter::end_point), which takes a second for each million rows that are not Parquet yet.
    /// `left` hears how many segments are left.
    pub fn end_point_watched(
        &mut self,
        writer: PointWriter<K>,
        summary: K::Summary,
        left: &mut dyn FnMut(usize),
    ) -> Result<(), RunError> {
        K::handler().end_point(self, writer, summary, left)
    }

    /// Stores how the run ended. The rows of a point that was begun and never ended stay and are read as those of a
    /// point that was cut short.
    pub fn finish(&mut self, state: State) -> Result<(), RunError> {
        K::handler().finish(self, state)
    }
}

impl<K: Files> PointWriter<K> {
    /// Takes one row and the bytes of its answer. The bytes are stored where the plan says
    /// `keep_data`, and ignored elsewhere. After an error every further call fails alike, and its row is counted only.
    pub fn push(&mut self, row: &K::Row, data: &[u8]) -> Result<(), RunError> {
        K::handler().push(self, row, data)
    }

    /// Hands rows on whose time has come. To be called every 50 ms or so, whether rows come or not. Fails as
    /// [`push`](PointWriter::push) does.
    pub fn tick(&mut self) -> Result<(), RunError> {
        K::handler().tick(self)
    }

    /// Hands all rows on to the system, so that they outlive this program.
    pub fn flush(&mut self) -> Result<(), RunError> {
        K::handler().flush(self)
    }
}

/// Writes one CSV row for each sample of all finished points, and gives their number. Times are
/// microseconds with three decimals; `with_data` adds the bytes of each answer in hexadecimal and
/// fails where the run did not keep them.
pub fn write_csv<K: Files>(
    run: &Run<K>,
    out: &mut dyn Write,
    with_data: bool,
) -> Result<u64, RunError> {
    let mut csv = CsvWriter::new(run, out, with_data)?;
    let mut rows = 0;
    for at in 0..run.file.points.len() {
        rows += csv.point(run, at)?;
    }
    Ok(rows)
}

/// The same point by point, so that what is finished is there while the run goes on, and after a
/// crash.
pub struct CsvWriter<W: Write> {
    out: W,
    with_data: bool,
    text: Vec<u8>,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the heads of the columns.
    pub fn new<K: Files>(run: &Run<K>, out: W, with_data: bool) -> Result<CsvWriter<W>, RunError> {
        let mut csv = CsvWriter {
            out,
            with_data,
            text: export::csv_heads(run, with_data)?,
        };
        csv.flush()?;
        Ok(csv)
    }

    /// Writes the rows of a finished point, by its position in `run.file.points`, and gives their
    /// number. All of them have left this program when it returns.
    pub fn point<K: Files>(&mut self, run: &Run<K>, at: usize) -> Result<u64, RunError> {
        let rows =
            K::handler().write_csv(run, at, self.with_data, &mut self.text, &mut self.out)?;
        self.flush()?;
        Ok(rows)
    }

    fn flush(&mut self) -> Result<(), RunError> {
        export::flush_csv(&mut self.text, &mut self.out)
    }
}

/// Writes the samples of all finished points to one Parquet file, with columns in front that tell
/// the points apart, and gives the number of rows. The file appears under its name only when it is
/// whole.
pub fn write_parquet<K: Files>(run: &Run<K>, path: &Path) -> Result<u64, RunError> {
    K::handler().write_parquet(run, path)
}
