//! The samples of the point in progress, on their way to disk.

use crate::columns::Layout;
use crate::error::RunError;
use crate::run_file::{SCHEMA, rename_and_sync};
use crate::sample_file::SampleFile;
use std::fs::File;
use std::path::{Path, PathBuf};
use wiregauge_record::{Point, Sample};

/// Takes the samples of one point. It can be sent to the thread that drains the measuring loop;
/// [`RunWriter::end_point`](crate::RunWriter::end_point) takes it back.
///
/// A sample costs a copy to memory; each 131,072nd (or, where the bytes of the answers are kept,
/// the one that fills 64 MiB) also costs encoding and writing the row group, tens of milliseconds.
/// The caller's queue must hold what is measured in that time.
pub struct PointWriter {
    point: Point,
    part: PathBuf,
    path: PathBuf,
    file: SampleFile<File>,
}

impl PointWriter {
    pub(crate) fn create(
        samples: &Path,
        point: Point,
        address: &str,
        keep_data: bool,
        row_group_rows: usize,
    ) -> Result<PointWriter, RunError> {
        let path = samples.join(file_name(point.index));
        let part = samples.join(format!("{}.part", file_name(point.index)));
        let layout = Layout {
            point: false,
            data: keep_data,
        };
        let out = File::create(&part).map_err(RunError::io("create", &part))?;
        let metadata = [
            ("wiregauge.schema", SCHEMA.to_string()),
            ("wiregauge.address", address.to_owned()),
            ("wiregauge.point", point_json(point)),
        ];
        let file = SampleFile::new(out, layout, point, &metadata, row_group_rows)
            .map_err(RunError::io("begin", &part))?;
        Ok(PointWriter {
            point,
            part,
            path,
            file,
        })
    }

    /// The point that it takes the samples of.
    pub fn point(&self) -> Point {
        self.point
    }

    /// Samples taken so far.
    pub fn rows(&self) -> u64 {
        self.file.rows()
    }

    /// Takes one sample and the bytes of its answer. The bytes are stored where the plan says
    /// `keep_data`, and ignored elsewhere. After an error every further call fails alike.
    pub fn push(&mut self, sample: &Sample, data: &[u8]) -> Result<(), RunError> {
        self.file
            .push(sample, data)
            .map_err(RunError::io("write samples to", &self.part))
    }

    pub(crate) fn part(&self) -> &Path {
        &self.part
    }

    /// Completes the file, makes it last and gives it its name.
    pub(crate) fn close(self) -> Result<(), RunError> {
        self.file
            .close()
            .and_then(|out| out.sync_all())
            .map_err(RunError::io("write samples to", &self.part))?;
        rename_and_sync(&self.part, &self.path)
    }
}

/// Name of a point's sample file.
pub(crate) fn file_name(index: u32) -> String {
    format!("point-{index:04}.parquet")
}

/// A point of four integers, which cannot fail to be JSON.
pub(crate) fn point_json(point: Point) -> String {
    serde_json::to_string(&point).expect("four integers are always JSON")
}
