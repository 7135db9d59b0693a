//! What usbmon missed in a point.

use wiregauge_link::host::{Losses, UsbMon};
use wiregauge_record::Disturbance;

/// What it had missed when a point began.
pub struct UrbLosses(Losses);

impl UrbLosses {
    /// What it has missed so far.
    pub fn of(mon: &UsbMon) -> UrbLosses {
        UrbLosses(mon.losses())
    }

    /// What it has missed since then, and `forgotten` URBs that waited too long for their transfer.
    pub fn since(&self, mon: &UsbMon, forgotten: u64) -> Option<Disturbance> {
        let (now, before) = (mon.losses(), self.0);
        let dropped = now.dropped - before.dropped;
        let not_taken = now.not_taken - before.not_taken + forgotten;
        let clock_set = now.clock_set - before.clock_set;
        (dropped + not_taken + clock_set > 0).then_some(Disturbance::UrbEventsLost {
            overflowed: dropped + not_taken,
            clock_set,
        })
    }
}
