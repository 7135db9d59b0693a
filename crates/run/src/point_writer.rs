//! The rows of the point in progress, on their way to disk.

use crate::error::RunError;
use crate::exchange::Exchange;
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::run_file::{SCHEMA, rename_and_sync};
use crate::sample_file::SampleFile;
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Takes the rows of one point. It can be sent to the thread that drains the measuring loop;
/// [`RunWriter::end_point`](crate::RunWriter::end_point) takes it back.
///
/// A row costs a copy to memory; each 131,072nd (or, where the bytes of the answers are kept,
/// the one that fills 64 MiB) also costs encoding and writing the row group, tens of milliseconds.
/// The caller's queue must hold what is measured in that time.
pub struct PointWriter<K: RunKind = Exchange> {
    point: K::Point,
    part: PathBuf,
    path: PathBuf,
    file: SampleFile<K, File>,
}

impl<K: RunKind> PointWriter<K> {
    pub(crate) fn create(
        samples: &Path,
        point: K::Point,
        address: &str,
        layout: Layout,
        row_group_rows: usize,
    ) -> Result<PointWriter<K>, RunError> {
        let name = file_name(K::index(&point));
        let path = samples.join(&name);
        let part = samples.join(format!("{name}.part"));
        let out = File::create(&part).map_err(RunError::io("create", &part))?;
        let metadata = [
            ("wiregauge.schema", SCHEMA.to_string()),
            ("wiregauge.address", address.to_owned()),
            ("wiregauge.point", point_json(&point)),
        ];
        let file = SampleFile::new(out, layout, &metadata, row_group_rows)
            .map_err(RunError::io("begin", &part))?;
        Ok(PointWriter {
            point,
            part,
            path,
            file,
        })
    }

    /// The point that it takes the rows of.
    pub fn point(&self) -> K::Point {
        self.point
    }

    /// Rows taken so far.
    pub fn rows(&self) -> u64 {
        self.file.rows()
    }

    /// Takes one row and the bytes of its answer. The bytes are stored where the plan says
    /// `keep_data`, and ignored elsewhere. After an error every further call fails alike.
    pub fn push(&mut self, row: &K::Row, data: &[u8]) -> Result<(), RunError> {
        self.file
            .push(row, data)
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

/// A point of integers and names, which cannot fail to be JSON.
pub(crate) fn point_json(point: &impl Serialize) -> String {
    serde_json::to_string(point).expect("integers and names are always JSON")
}
