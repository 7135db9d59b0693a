//! Rows out of a journal, as far as its frames are whole. The file is not trusted, and it may grow while it is read.

use crate::error::RunError;
use crate::journal::{Decoder, FILE_START, FRAME_START, FrameStart, Head, LONGEST_HEAD, MAGIC};
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::part::{BATCH, Batch, Part, Source};
use parquet::data_type::ByteArray;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// A journal that is being read.
pub(crate) struct JournalReader<K: RunKind, R = File> {
    path: PathBuf,
    file: BufReader<R>,
    /// Bytes that the file had when it was opened and that were not read yet.
    left: u64,
    head: Head<K>,
    checksum: u32,
    layout: Layout,
    /// For each column whether it is read.
    wanted: Vec<bool>,
    with_data: bool,
    decoder: Decoder,
    frame: Vec<u8>,
    /// Where in the frame the next row is.
    at: usize,
    rows_left_in_frame: u32,
    /// Number of the first row of the next frame.
    next_row: u64,
}

impl<K: RunKind> JournalReader<K> {
    /// Opens a journal; `None` if it has no whole head: it was cut when it had just been created, and has no rows.
    pub(crate) fn open(
        file: File,
        path: &Path,
        layout: Layout,
    ) -> Result<Option<JournalReader<K>>, RunError> {
        let bad = bad_at(path);
        let metadata = file.metadata().map_err(|cause| bad(cause.to_string()))?;
        if !metadata.is_file() {
            return Err(bad("it is not a file".to_owned()));
        }
        JournalReader::read(file, metadata.len(), path, layout)
    }
}

fn bad_at(path: &Path) -> impl Fn(String) -> RunError {
    |problem| RunError::BadSamples {
        path: path.to_owned(),
        problem,
    }
}

impl<K: RunKind, R: Read> JournalReader<K, R> {
    /// Reads a journal of so many bytes; `None` if it has no whole head.
    pub(crate) fn read(
        file: R,
        length: u64,
        path: &Path,
        layout: Layout,
    ) -> Result<Option<JournalReader<K, R>>, RunError> {
        let bad = bad_at(path);
        let mut reader = JournalBytes {
            file: BufReader::new(file),
            left: length,
        };
        let head = reader.head().map_err(|cause| bad(cause.to_string()))?;
        let Some((text, checksum)) = head else {
            return Ok(None);
        };
        let head = Head::<K>::decode(&text, checksum, layout).map_err(bad)?;
        Ok(Some(JournalReader {
            path: path.to_owned(),
            file: reader.file,
            left: reader.left,
            next_row: head.first_row,
            head,
            checksum,
            layout,
            wanted: vec![true; layout.columns::<K>().len()],
            with_data: layout.data,
            decoder: Decoder::new::<K>(layout),
            frame: Vec::new(),
            at: 0,
            rows_left_in_frame: 0,
        }))
    }

    /// Reads these columns only, after a check that it holds this segment of the point.
    pub(crate) fn of_segment(
        mut self,
        source: &Source<K>,
        segment: u32,
    ) -> Result<JournalReader<K, R>, RunError> {
        if self.head.point != source.point || self.head.segment != segment {
            let problem = format!("it is segment {} of another point", self.head.segment);
            return Err(self.bad(problem));
        }
        for (at, wanted) in self.wanted.iter_mut().enumerate() {
            *wanted = source.wanted.contains(&at);
        }
        self.with_data = source.with_data;
        Ok(self)
    }

    /// The point whose rows it holds.
    pub(crate) fn point(&self) -> K::Point {
        self.head.point
    }

    /// Number of the row behind the last one of the point that it holds.
    pub(crate) fn end(mut self) -> Result<u64, RunError> {
        while self.next_frame()? {}
        Ok(self.next_row)
    }

    fn bad(&self, problem: String) -> RunError {
        bad_at(&self.path)(problem)
    }

    /// Reads the next frame; false where no whole one follows.
    fn next_frame(&mut self) -> Result<bool, RunError> {
        let read = self.read_frame();
        read.map_err(|cause| self.bad(cause.to_string()))
    }

    fn read_frame(&mut self) -> io::Result<bool> {
        self.rows_left_in_frame = 0;
        let mut start = [0; FRAME_START];
        let Some(left) = self.left.checked_sub(FRAME_START as u64) else {
            return Ok(false);
        };
        self.file.read_exact(&mut start)?;
        let start = FrameStart::decode(&start);
        let length = u64::from(start.length);
        // A row has at least a byte.
        if length > left || start.rows > start.length || start.first_row != self.next_row {
            self.left = 0;
            return Ok(false);
        }
        self.frame.clear();
        Read::by_ref(&mut self.file)
            .take(length)
            .read_to_end(&mut self.frame)?;
        let end = start.first_row.checked_add(u64::from(start.rows));
        let Some(end) = end.filter(|_| start.rows > 0 && start.fits(self.checksum, &self.frame))
        else {
            self.left = 0;
            return Ok(false);
        };
        self.left = left - length;
        self.at = 0;
        self.rows_left_in_frame = start.rows;
        self.next_row = end;
        self.decoder.restart();
        Ok(true)
    }

    fn decode(&mut self, batch: &mut Batch<K>, rows: usize) -> Result<(), String> {
        let mut bytes = &self.frame[self.at..];
        for _ in 0..rows {
            let mut row = K::Row::default();
            let data = self
                .decoder
                .next::<K>(self.layout, &self.wanted, &mut row, &mut bytes)?;
            batch.rows.push(row);
            if self.with_data {
                batch.data.push(ByteArray::from(data.to_vec()));
            }
        }
        self.at = self.frame.len() - bytes.len();
        Ok(())
    }
}

impl<K: RunKind, R: Read + Send> Part<K> for JournalReader<K, R> {
    fn first_row(&self) -> u64 {
        self.head.first_row
    }

    fn fill(&mut self, batch: &mut Batch<K>) -> Result<bool, RunError> {
        if self.rows_left_in_frame == 0 && !self.next_frame()? {
            return Ok(false);
        }
        let rows = (self.rows_left_in_frame as usize).min(BATCH);
        self.rows_left_in_frame -= rows as u32;
        batch.rows.clear();
        batch.data.clear();
        self.decode(batch, rows)
            .map(|()| true)
            .map_err(|problem| self.bad(problem))
    }
}

/// The bytes of a journal.
struct JournalBytes<R> {
    file: BufReader<R>,
    left: u64,
}

impl<R: Read> JournalBytes<R> {
    /// The head and its checksum; `None` if the file ends before.
    fn head(&mut self) -> io::Result<Option<(Vec<u8>, u32)>> {
        let mut start = [0; FILE_START];
        let Some(left) = self.left.checked_sub(FILE_START as u64) else {
            return Ok(None);
        };
        self.file.read_exact(&mut start)?;
        let [.., a, b, c, d, e, f, g, h] = start;
        let length = u32::from_le_bytes([a, b, c, d]);
        let checksum = u32::from_le_bytes([e, f, g, h]);
        let (fits, is_short) = (
            start.starts_with(MAGIC),
            u64::from(length) > left || length as usize > LONGEST_HEAD,
        );
        if !fits || is_short {
            return Ok(None);
        }
        let mut text = vec![0; length as usize];
        self.file.read_exact(&mut text)?;
        self.left = left - u64::from(length);
        Ok(Some((text, checksum)))
    }
}
