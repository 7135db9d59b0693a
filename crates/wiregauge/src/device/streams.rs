//! Streams into and out of the caller's memory.

use super::Device;
use crate::error::LinkError;

impl Device {
    /// Fills `into` with what the device sends, in transfers of so many bytes, `queue` of them pending
    /// (USB only). With the wiregauge protocol the device is told to begin and to end, and what it sends is
    /// its own (a responder's pattern); otherwise bytes are taken as they come. Returns how many came.
    pub fn read_stream(
        &mut self,
        _into: &mut [u8],
        _transfer_bytes: usize,
        _queue: usize,
    ) -> Result<usize, (usize, LinkError)> {
        todo!()
    }

    /// Sends all of `from` likewise. Returns how many were taken.
    pub fn write_stream(
        &mut self,
        _from: &[u8],
        _transfer_bytes: usize,
        _queue: usize,
    ) -> Result<usize, (usize, LinkError)> {
        todo!()
    }
}
