//! Samples into Parquet. Generic over where the bytes go, so that tests can let the disk fill up at
//! any byte, and with the size of a row group as a parameter, so that they can use small ones.

use crate::columns::{Kind, PointKind};
use crate::error::into_io;
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::watched::{Failed, Watched, first};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group. 131,072 samples of 104 bytes are 13 MiB of buffer: enough that a row group
/// compresses well, little enough for a small board.
pub(crate) const ROW_GROUP_ROWS: usize = 131_072;

/// A row group is also closed when the kept answers reach this many bytes.
const ROW_GROUP_DATA: usize = 64 << 20;

/// Values handed to a column at once: they stay in the first-level cache.
const CHUNK: usize = 1024;

/// A Parquet file of samples that is being written.
pub(crate) struct SampleFile<K: RunKind, W: Write + Send> {
    writer: SerializedFileWriter<Watched<W>>,
    layout: Layout,
    point: Option<K::Point>,
    row_group_rows: usize,
    samples: Vec<K::Row>,
    data: Vec<u8>,
    data_ends: Vec<usize>,
    names: Vec<Vec<ByteArray>>,
    rows: u64,
    failed: Failed,
}

impl<K: RunKind, W: Write + Send> SampleFile<K, W> {
    /// Begins a file. `metadata` are its key-value pairs.
    pub(crate) fn new(
        out: W,
        layout: Layout,
        metadata: &[(&str, String)],
        row_group_rows: usize,
    ) -> io::Result<SampleFile<K, W>> {
        let metadata = metadata
            .iter()
            .map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()))
            .collect();
        let schema = layout.schema::<K>().map_err(into_io)?;
        let properties = Arc::new(layout.properties::<K>(metadata));
        let failed = Failed::default();
        let out = Watched::new(out, &failed);
        let writer = SerializedFileWriter::new(out, schema, properties).map_err(into_io)?;
        // Shared by all rows that hold the name, so that a row costs no allocation.
        let names = layout
            .columns::<K>()
            .iter()
            .map(|column| match column.kind {
                Kind::Name { names, .. } => names.iter().map(|n| ByteArray::from(*n)).collect(),
                _ => Vec::new(),
            })
            .collect();
        Ok(SampleFile {
            writer,
            layout,
            point: None,
            row_group_rows,
            samples: Vec::with_capacity(row_group_rows),
            data: Vec::new(),
            data_ends: Vec::with_capacity(if layout.data { row_group_rows } else { 0 }),
            names,
            rows: 0,
            failed,
        })
    }

    /// Rows taken so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes one sample: a copy to memory, but for the one that completes a row group.
    pub(crate) fn push(&mut self, sample: &K::Row, data: &[u8]) -> io::Result<()> {
        if let Some(failure) = self.failed.get() {
            return Err(failure.error());
        }
        self.samples.push(*sample);
        if self.layout.data {
            self.data.extend_from_slice(data);
            self.data_ends.push(self.data.len());
        }
        self.rows += 1;
        if self.samples.len() >= self.row_group_rows || self.data.len() >= ROW_GROUP_DATA {
            self.flush()?;
        }
        Ok(())
    }

    /// The samples that follow belong to another point (only where the layout has its columns).
    pub(crate) fn set_point(&mut self, point: K::Point) -> io::Result<()> {
        self.flush()?;
        self.point = Some(point);
        Ok(())
    }

    /// Writes what is buffered and the footer, and gives the output back.
    pub(crate) fn close(mut self) -> io::Result<W> {
        self.flush()?;
        // This also writes the footer.
        match self.writer.into_inner() {
            Ok(watched) => Ok(watched.into_inner()),
            Err(error) => Err(first(&self.failed, into_io(error))),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(failure) = self.failed.get() {
            return Err(failure.error());
        }
        if self.samples.is_empty() {
            return Ok(());
        }
        let result = self.write_row_group();
        self.samples.clear();
        self.data_ends.clear();
        result.map_err(|error| first(&self.failed, into_io(error)))
    }

    fn write_row_group(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        if let (true, Some(point)) = (self.layout.point, &self.point) {
            for (_, kind) in K::POINT_COLUMNS {
                match kind {
                    PointKind::Number(get) => {
                        let value = get(point);
                        write_numbers::<Int32Type, _, _>(&mut group, &self.samples, |_| {
                            value.cast_signed()
                        })?;
                    }
                    PointKind::Wide(get) => {
                        let value = get(point);
                        write_numbers::<Int64Type, _, _>(&mut group, &self.samples, |_| {
                            value.cast_signed()
                        })?;
                    }
                    PointKind::Name(get) => {
                        let name = [ByteArray::from(get(point))];
                        write_names(&mut group, &self.samples, &name, |_| 0)?;
                    }
                    PointKind::Text(get) => {
                        let text = [ByteArray::from(get(point).as_str())];
                        write_names(&mut group, &self.samples, &text, |_| 0)?;
                    }
                }
            }
        }
        for (column, names) in self.layout.columns::<K>().iter().zip(&self.names) {
            match column.kind {
                Kind::Wide { get, .. } => {
                    write_numbers::<Int64Type, _, _>(&mut group, &self.samples, |s| {
                        get(s).cast_signed()
                    })?
                }
                Kind::Narrow { get, .. } => {
                    write_numbers::<Int32Type, _, _>(&mut group, &self.samples, |s| {
                        get(s).cast_signed()
                    })?
                }
                Kind::Real { get, .. } => {
                    write_numbers::<DoubleType, _, _>(&mut group, &self.samples, get)?
                }
                Kind::Name { get, .. } => write_names(&mut group, &self.samples, names, get)?,
            }
        }
        if self.layout.data {
            // The pages refer to the buffer, so it is given away and a new one of its size made.
            let size = self.data.len();
            let data = std::mem::replace(&mut self.data, Vec::with_capacity(size));
            write_data(&mut group, data, &self.data_ends)?;
        }
        group.close()?;
        Ok(())
    }
}

/// Opens the group's next column, lets `$write` fill it through `$column`, and closes it.
macro_rules! with_column {
    ($group:expr, |$column:ident| $write:block) => {{
        let mut $column = $group.next_column()?.ok_or_else(|| {
            parquet::errors::ParquetError::General("more columns than the schema has".to_owned())
        })?;
        $write
        $column.close()
    }};
}

fn write_numbers<T: DataType, R, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, Watched<W>>,
    samples: &[R],
    get: impl Fn(&R) -> T::T,
) -> Result<()>
where
    T::T: Copy + Default,
{
    let mut values = [T::T::default(); CHUNK];
    with_column!(group, |column| {
        for chunk in samples.chunks(CHUNK) {
            for (value, sample) in values.iter_mut().zip(chunk) {
                *value = get(sample);
            }
            column
                .typed::<T>()
                .write_batch(&values[..chunk.len()], None, None)?;
        }
    })
}

fn write_names<R, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, Watched<W>>,
    samples: &[R],
    names: &[ByteArray],
    get: impl Fn(&R) -> u8,
) -> Result<()> {
    let mut values = Vec::with_capacity(CHUNK);
    with_column!(group, |column| {
        for chunk in samples.chunks(CHUNK) {
            values.clear();
            values.extend(
                chunk
                    .iter()
                    .map(|sample| names[usize::from(get(sample))].clone()),
            );
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, None, None)?;
        }
    })
}

fn write_data<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, Watched<W>>,
    data: Vec<u8>,
    ends: &[usize],
) -> Result<()> {
    let data = ByteArray::from(data);
    let mut values = Vec::with_capacity(CHUNK);
    let mut start = 0;
    with_column!(group, |column| {
        for chunk in ends.chunks(CHUNK) {
            values.clear();
            for &end in chunk {
                values.push(data.slice(start, end - start));
                start = end;
            }
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, None, None)?;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;
    use crate::part::Source;
    use crate::place::{Limits, Place};
    use crate::sample_reader::{Extent, SampleReader};
    use crate::testing::{any_sample, point, sample};
    use crate::{Exchange, PointWriter, RunError};
    use proptest::prelude::*;
    use wiregauge_record::Sample;

    type Row = (Sample, Vec<u8>);
    type ReadRow = (Sample, Option<Vec<u8>>);

    const LAYOUT: Layout = Layout {
        point: false,
        optional: true,
        data: true,
    };

    fn written_and_read(
        rows: &[Row],
        keep_data: bool,
        row_group_rows: usize,
    ) -> Result<Vec<ReadRow>, RunError> {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout {
            data: keep_data,
            ..LAYOUT
        };
        let samples = dir.path().join("samples");
        std::fs::create_dir(&samples).unwrap();
        let place = Place {
            storage: Arc::new(Disk::new()),
            samples,
            address: "null:".to_owned(),
            layout,
            limits: Limits {
                row_group_rows,
                ..Limits::default()
            },
        };
        let mut writer = PointWriter::<Exchange>::create(place, point(0));
        for (sample, data) in rows {
            writer.push(sample, data)?;
        }
        assert_eq!(writer.rows(), rows.len() as u64);
        writer.close(&mut |_| ())?;
        let all = (0..Exchange::COLUMNS.len()).collect();
        let source = Source::new(dir.path(), layout, point(0), all);
        let extent = Extent::Rows(rows.len() as u64);
        let reader = SampleReader::<Exchange>::open(source, extent)?;
        assert_eq!(reader.rows(), rows.len() as u64);
        reader.collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn samples_written_are_samples_read(
            rows in prop::collection::vec(
                (any_sample(), prop::collection::vec(any::<u8>(), 0..20)), 0..120),
            keep_data: bool,
            row_group_rows in 1..50_usize,
        ) {
            let read = written_and_read(&rows, keep_data, row_group_rows).unwrap();
            let expected: Vec<_> =
                rows.into_iter().map(|(sample, data)| (sample, keep_data.then_some(data))).collect();
            prop_assert_eq!(read, expected);
        }
    }

    #[test]
    fn a_row_group_larger_than_pages_and_batches_comes_back_whole() {
        let rows: Vec<Row> = (0..50_000)
            .map(|i| (sample(i), i.to_le_bytes().to_vec()))
            .collect();
        let read = written_and_read(&rows, true, 30_000).unwrap();
        assert!(
            read.iter().zip(&rows).all(|(read, row)| {
                read.0 == row.0 && read.1.as_deref() == Some(row.1.as_slice())
            })
        );
        assert_eq!(read.len(), rows.len());
    }

    /// A disk with only so many bytes left.
    struct Filling {
        left: usize,
    }

    impl Write for Filling {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.left);
            self.left -= taken;
            match taken {
                0 if !bytes.is_empty() => Err(io::Error::from(io::ErrorKind::StorageFull)),
                _ => Ok(taken),
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn write_100_rows(space: usize) -> io::Result<usize> {
        let mut file = SampleFile::<Exchange, _>::new(Filling { left: space }, LAYOUT, &[], 32)?;
        for i in 0..100 {
            if let Err(first) = file.push(&sample(i), &[0; 9]) {
                let again = file.push(&sample(i), &[]).expect_err("fails again");
                assert_eq!(again.kind(), first.kind());
                return Err(file.close().err().expect("cannot be closed"));
            }
        }
        file.close().map(|out| out.left)
    }

    #[test]
    fn a_disk_that_fills_up_at_any_byte_is_reported_as_such() {
        const PLENTY: usize = 1 << 20;
        let size = PLENTY - write_100_rows(PLENTY).unwrap();
        assert_eq!(write_100_rows(size).unwrap(), 0);
        for space in (0..size).step_by(61) {
            let error = write_100_rows(space).expect_err("not enough space");
            assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{space} B left");
        }
    }

    #[test]
    fn a_row_group_is_closed_when_the_answers_kept_grow_large() {
        let mut file =
            SampleFile::<Exchange, _>::new(io::sink(), LAYOUT, &[], ROW_GROUP_ROWS).unwrap();
        let answer = vec![7; ROW_GROUP_DATA / 4];
        for i in 0..4 {
            assert_eq!(file.writer.flushed_row_groups().len(), 0);
            file.push(&sample(i), &answer).unwrap();
        }
        assert_eq!(file.writer.flushed_row_groups().len(), 1);
        assert!(file.data.is_empty() && file.samples.is_empty());
    }
}
