//! URB times beside a stream: usbmon is watched and its URBs are put to their transfers by the
//! caller's thread as it takes the rows away, so that the measuring threads know nothing of it.

use crate::urb_losses::UrbLosses;
use wiregauge_link::host::{Clock, UrbMatcher, UsbMon, UsbPlace};
use wiregauge_record::{Disturbance, Transfer};

/// Name of the setting that tells of usbmon in the conditions of a run.
const SETTING: &str = "usbmon";

/// The URBs of one link.
pub struct Urbs {
    mon: UsbMon,
    matcher: UrbMatcher,
    /// CLOCK_MONOTONIC: everything that completed before has been taken from usbmon.
    taken_to_ns: u64,
    zero_ns: u64,
    before: UrbLosses,
}

impl Urbs {
    /// Begins to watch the link's device; where that is not possible, says why and what would make it
    /// so.
    pub fn watch(place: Option<UsbPlace>) -> Result<Urbs, String> {
        let Some(place) = place.filter(|place| place.transfers) else {
            return Err(
                "no URB times: they require a usb:// link, where each transfer is one URB".into(),
            );
        };
        let mon = UsbMon::start(place.bus, place.address)
            .map_err(|error| format!("no URB times: {error}"))?;
        let before = UrbLosses::of(&mon);
        Ok(Urbs {
            mon,
            matcher: UrbMatcher::new(place),
            taken_to_ns: 0,
            zero_ns: 0,
            before,
        })
    }

    /// What to keep of it in the conditions of a run.
    pub fn setting(watched: &Result<Urbs, String>) -> (String, String) {
        let said = match watched {
            Ok(urbs) => urbs.mon.describe().to_string(),
            Err(why) => why.replace('\n', " "),
        };
        (SETTING.into(), said)
    }

    /// A point begins.
    pub fn begin_point(&mut self) {
        self.look();
        self.matcher.begin_point();
        self.zero_ns = 0;
        self.before = UrbLosses::of(&self.mon);
    }

    /// Takes what usbmon has, so that its own memory does not fill up.
    pub fn look(&mut self) {
        let matcher = &mut self.matcher;
        self.mon.take(|urb| matcher.push(urb));
    }

    /// The transfer with the times of its URB, if that was seen. `zero_ns` is what CLOCK_MONOTONIC read
    /// when the clock of the rows read zero. Waits some milliseconds where usbmon may lag behind.
    pub fn fill(&mut self, transfer: &Transfer, zero_ns: u64) -> Transfer {
        if self.zero_ns != zero_ns {
            self.zero_ns = zero_ns;
            self.matcher.set_zero(zero_ns);
        }
        if zero_ns + transfer.complete_ns >= self.taken_to_ns {
            let now_ns = Clock::start().zero_ns();
            let matcher = &mut self.matcher;
            self.mon.catch_up(|urb| matcher.push(urb));
            self.taken_to_ns = now_ns;
        }
        let mut filled = *transfer;
        self.matcher.take_for(&mut filled);
        filled
    }

    /// What was missed in the point that ends.
    pub fn end_point(&mut self) -> Option<Disturbance> {
        self.before.since(&self.mon, self.matcher.forgotten())
    }
}
