//! Rows into a journal.

use crate::journal::{Encoder, FRAME_START, FrameStart, Head};
use crate::kind::RunKind;
use crate::layout::Layout;
use crate::place::WriteError;
use crate::storage::{Output, Storage, StoredFile};
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A frame is full with so many rows,
const FRAME_ROWS: u32 = 4096;

/// or so many bytes.
const FRAME_BYTES: usize = 256 << 10;

/// A journal that is being written.
pub(crate) struct JournalWriter<K: RunKind> {
    file: Arc<dyn StoredFile>,
    path: PathBuf,
    layout: Layout,
    /// Checksum of the head.
    head: u32,
    encoder: Encoder,
    /// The next frame, with room for its beginning.
    frame: Vec<u8>,
    waiting: u32,
    /// Rows of the point that are in the files before,
    first_row: u64,
    /// and with those of this one.
    stored: u64,
    /// Bytes of whole frames.
    length: u64,
    /// A torn frame stands at the end: readers would not see what follows it.
    is_torn: bool,
    kind: PhantomData<fn(K)>,
}

impl<K: RunKind> JournalWriter<K> {
    pub(crate) fn create(
        storage: &dyn Storage,
        path: PathBuf,
        head: &Head<K>,
        layout: Layout,
    ) -> Result<JournalWriter<K>, WriteError> {
        let begun = storage.create(&path).and_then(|file| {
            let (bytes, checksum) = head.encode()?;
            Output(Arc::clone(&file)).write_all(&bytes)?;
            Ok((file, bytes.len() as u64, checksum))
        });
        match begun {
            Ok((file, length, checksum)) => Ok(JournalWriter {
                file,
                path,
                layout,
                head: checksum,
                encoder: Encoder::new::<K>(layout),
                frame: vec![0; FRAME_START],
                waiting: 0,
                first_row: head.first_row,
                stored: head.first_row,
                length,
                is_torn: false,
                kind: PhantomData,
            }),
            Err(cause) => {
                let _ = storage.remove(&path);
                Err(WriteError::at(&path)(cause))
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file, to be synchronised by another thread.
    pub(crate) fn file(&self) -> Arc<dyn StoredFile> {
        Arc::clone(&self.file)
    }

    /// Rows of the point that are in the files before.
    pub(crate) fn first_row(&self) -> u64 {
        self.first_row
    }

    /// Rows of the point that are in files.
    pub(crate) fn stored(&self) -> u64 {
        self.stored
    }

    /// Rows that wait in memory.
    pub(crate) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Bytes in the file.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// True if the rows that wait fill a frame.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting >= FRAME_ROWS || self.frame.len() >= FRAME_BYTES
    }

    /// Takes a row to memory.
    pub(crate) fn push(&mut self, row: &K::Row, data: &[u8]) {
        self.encoder
            .push::<K>(self.layout, row, data, &mut self.frame);
        self.waiting += 1;
    }

    /// Writes the rows that wait. Where that fails they go on waiting, and the file is cut back to its last whole frame;
    /// where that fails too, it takes no more.
    pub(crate) fn append(&mut self) -> Result<(), WriteError> {
        if self.waiting == 0 {
            return Ok(());
        }
        if self.is_torn {
            let cause = io::Error::other("a torn frame could not be cut off");
            return Err(WriteError::at(&self.path)(cause));
        }
        let start = FrameStart::new(
            self.head,
            self.waiting,
            self.stored,
            &self.frame[FRAME_START..],
        );
        self.frame[..FRAME_START].copy_from_slice(&start.encode());
        if let Err(cause) = Output(self.file()).write_all(&self.frame) {
            self.is_torn = self.file.truncate(self.length).is_err();
            return Err(WriteError::at(&self.path)(cause));
        }
        self.length += self.frame.len() as u64;
        self.stored += u64::from(self.waiting);
        self.waiting = 0;
        self.frame.truncate(FRAME_START);
        self.frame.shrink_to(2 * FRAME_BYTES);
        self.encoder.restart();
        Ok(())
    }
}
