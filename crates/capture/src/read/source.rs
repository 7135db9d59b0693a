//! A file that is read once from its begin to its end, with the number of bytes so far.

use super::ReadError;
use std::io::{self, BufRead, BufReader, Read};

/// A file that is read once.
pub(super) struct Source<R> {
    inner: BufReader<R>,
    offset: u64,
}

impl<R: Read> Source<R> {
    pub(super) fn new(inner: R) -> Source<R> {
        Source {
            inner: BufReader::with_capacity(256 * 1024, inner),
            offset: 0,
        }
    }

    /// Bytes that were taken.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next bytes of the file, at least `wanted` unless it ends before, which are not taken.
    pub(super) fn peek(&mut self, wanted: usize) -> Result<Vec<u8>, ReadError> {
        // A pipe delivers in small parts; a file has them at once.
        let offset = self.offset;
        let buffer = self
            .inner
            .fill_buf()
            .map_err(|error| ReadError::Io { offset, error })?;
        Ok(buffer[..buffer.len().min(wanted)].to_vec())
    }

    /// Fills `bytes`. False if the file ends before.
    pub(super) fn fill(&mut self, bytes: &mut [u8]) -> Result<bool, ReadError> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.inner.read(&mut bytes[filled..]) {
                Ok(0) => {
                    self.offset += filled as u64;
                    return Ok(false);
                }
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(ReadError::Io {
                        offset: self.offset + filled as u64,
                        error,
                    });
                }
            }
        }
        self.offset += filled as u64;
        Ok(true)
    }

    /// True if nothing is left.
    pub(super) fn is_at_end(&mut self) -> Result<bool, ReadError> {
        let offset = self.offset;
        match self.inner.fill_buf() {
            Ok(buffer) => Ok(buffer.is_empty()),
            Err(error) => Err(ReadError::Io { offset, error }),
        }
    }

    /// The rest as a file of its own.
    pub(super) fn into_inner(self) -> BufReader<R> {
        self.inner
    }
}
