//! One transfer of a stream as it was measured: a plain record of integers.

use crate::direction::Way;
use crate::names::names;
use crate::sample::Phase;
use serde::{Deserialize, Serialize};

/// How a transfer ended.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum TransferStatus {
    /// Completed. What its bytes were worth is counted a stream, not a transfer.
    #[default]
    Ok = 0,
    /// The endpoint had stalled; it was cleared.
    Stalled = 1,
    /// Cancelled at the end of the point, or because the link failed.
    Cancelled = 2,
    /// Failed for another reason.
    Failed = 3,
}

names!(TransferStatus: Ok "ok", Stalled "stalled", Cancelled "cancelled", Failed "failed");

/// One transfer. Times are nanoseconds of the host's monotonic clock since the start of the point.
/// In each way the rows stand in the order of completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Transfer {
    /// Number of the transfer within its point and way, from 0, in the order of submission.
    pub sequence: u64,
    /// When the application began to submit it.
    pub submit_ns: u64,
    /// When the application saw it completed.
    pub complete_ns: u64,
    /// When the USB stack took it (usbmon); 0 if that was not watched.
    pub urb_submit_ns: u64,
    /// When the host controller's driver gave it back (usbmon); 0 if that was not watched.
    pub urb_complete_ns: u64,
    /// Bytes that it carried.
    pub bytes: u32,
    /// Transfers pending just after this one was submitted, itself included.
    pub pending: u32,
    /// Which way.
    pub way: Way,
    /// How it ended.
    pub status: TransferStatus,
    /// `First`: the first of the point; `WarmUp`: within the start-up that is left out.
    pub phase: Phase,
}
