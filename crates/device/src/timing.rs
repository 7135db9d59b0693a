//! When an exchange happened.

use wiregauge_session::Ended;

/// When one exchange happened. Times are nanoseconds of the host's monotonic clock since the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Timing {
    /// Start of sending the request.
    pub start_ns: u64,
    /// Start of sending to the last byte of the reply.
    pub rtt_ns: u64,
    /// Device clock when the request had arrived, in ticks; 0 where the device has no clock.
    pub device_rx_ticks: u64,
    /// Device clock when the reply was handed over, in ticks.
    pub device_tx_ticks: u64,
}

impl Timing {
    /// Of an exchange that ended.
    #[inline]
    pub(crate) fn of(ended: &Ended) -> Timing {
        Timing {
            start_ns: ended.start_ns,
            // What `read` takes may have come before.
            rtt_ns: ended.end_ns.saturating_sub(ended.start_ns),
            device_rx_ticks: ended.rx_ticks,
            device_tx_ticks: ended.tx_ticks,
        }
    }
}
