//! One exchange as it was measured: a plain record of integers, so that keeping one costs the
//! measuring loop a store to memory and nothing else.

use crate::names::names;
use serde::{Deserialize, Serialize};

/// How an exchange ended.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Status {
    /// Every byte came back right, in time.
    #[default]
    Ok = 0,
    /// No whole answer within the timeout; `rtt_ns` is how long was waited.
    Lost = 1,
    /// A further row for an exchange already given up as lost: its answer came after all.
    Late = 2,
    /// A further row for an exchange already answered: the answer came again.
    Duplicated = 3,
    /// Right and in time, but after the answer to a later request.
    Reordered = 4,
    /// A whole answer came, but a byte of it (or of the request, says the device) was wrong.
    Corrupted = 5,
    /// A whole reply came in time, but not the expected one: `--expect` does not match, a Modbus exception.
    Unexpected = 6,
}

names!(Status: Ok "ok", Lost "lost", Late "late", Duplicated "duplicated", Reordered "reordered",
    Corrupted "corrupted", Unexpected "unexpected");

impl Status {
    /// True where `rtt_ns` is the time of a right answer that came in time.
    pub fn is_timed(self) -> bool {
        matches!(self, Status::Ok | Status::Reordered)
    }

    /// True for the one row that every exchange has; false for the further rows.
    pub fn is_first_row(self) -> bool {
        !matches!(self, Status::Late | Status::Duplicated)
    }
}

/// Which part of its point an exchange belongs to. Only `Measured` ones enter the statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Phase {
    /// The first exchange of the point; carries socket creation, ARP, enumeration, cold caches.
    First = 0,
    /// Asked for with `--warmup`.
    WarmUp = 1,
    /// Counted.
    #[default]
    Measured = 2,
}

names!(Phase: First "first", WarmUp "warm-up", Measured "measured");

/// One exchange. Times are nanoseconds of the host's monotonic clock since the start of the point;
/// 0 in a column that the run did not measure (device ticks without a device clock, connection and
/// access time with a link opened once, times of the kernel without its records).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Sample {
    /// Number of the request within its point, from 0.
    pub sequence: u64,
    /// When the schedule wanted it to start; equal to `start_ns` without a schedule.
    pub intended_ns: u64,
    /// Start of sending the request.
    pub start_ns: u64,
    /// Start of sending to the last byte of the response.
    pub rtt_ns: u64,
    /// Time to open the link (`--connect each`).
    pub connect_ns: u64,
    /// Start of sending to the first byte of the response (`--connect each`).
    pub access_ns: u64,
    /// Device clock when the request had arrived.
    pub device_rx_ticks: u64,
    /// Device clock when the response was handed over.
    pub device_tx_ticks: u64,
    /// Start of sending until the kernel handed the last byte of the request to the USB controller or the
    /// network card (`--usbmon`, `--timestamps kernel`).
    pub kernel_tx_ns: u64,
    /// Start of sending until the controller reported that this byte is with the device (`--usbmon`).
    pub kernel_tx_done_ns: u64,
    /// Start of sending until the last byte of the response was in the kernel (`--usbmon`, `--timestamps kernel`).
    pub kernel_rx_ns: u64,
    /// Bytes sent.
    pub bytes_out: u32,
    /// Bytes received.
    pub bytes_in: u32,
    /// Exchanges outstanding just after this one started, itself included.
    pub outstanding: u32,
    /// How it ended.
    pub status: Status,
    /// Which part of the point it belongs to.
    pub phase: Phase,
}

impl Sample {
    /// End of the exchange counted from when it should have started: what a caller who keeps a
    /// schedule experiences.
    pub fn from_intended_ns(&self) -> u64 {
        (self.start_ns + self.rtt_ns).saturating_sub(self.intended_ns)
    }

    /// How late the exchange began, opening the link included (`--connect each`).
    pub fn start_delay_ns(&self) -> u64 {
        let began_ns = self.start_ns.saturating_sub(self.connect_ns);
        began_ns.saturating_sub(self.intended_ns)
    }

    /// First to last byte of the response (`--connect each`).
    pub fn transfer_ns(&self) -> u64 {
        self.rtt_ns.saturating_sub(self.access_ns)
    }

    /// Ticks that the request stayed in the device; the tick counter may have wrapped once.
    pub fn device_ticks(&self, tick_bits: u32) -> u64 {
        let mask = if tick_bits >= 64 {
            u64::MAX
        } else {
            (1 << tick_bits) - 1
        };
        self.device_tx_ticks.wrapping_sub(self.device_rx_ticks) & mask
    }
}
