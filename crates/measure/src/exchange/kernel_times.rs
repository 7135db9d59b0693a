//! The kernel's records beside the samples: URBs of usbmon, or time stamps of a socket. They are put to their
//! exchanges by the caller's thread as it takes the samples, so that the measuring loop knows nothing of it.

use super::stage_matcher::{Passed, StageMatcher};
use crate::urb_losses::UrbLosses;
use wiregauge_link::Stamps;
use wiregauge_link::host::{Clock, UrbTimes, UsbMon, UsbPlace};
use wiregauge_record::{Disturbance, Sample};

/// Where the records come from.
enum Source {
    Usbmon(UsbMon, UsbPlace, UrbLosses),
    Stamps(Stamps),
}

/// The records of one link.
pub struct KernelTimes {
    source: Source,
    matcher: StageMatcher,
    /// CLOCK_MONOTONIC: all records of before have been taken.
    taken_to_ns: u64,
}

impl KernelTimes {
    /// Watches the URBs of the link's device; where that is not possible, says why and what would make it so.
    pub fn of_usb(place: Option<UsbPlace>) -> Result<KernelTimes, String> {
        let place = place.ok_or(
            "no URB times: --usbmon requires a usb:// link with bulk or interrupt endpoints, or a serial port on USB",
        )?;
        let mon = UsbMon::start(place.bus, place.address)
            .map_err(|error| format!("no URB times: {error}"))?;
        let losses = UrbLosses::of(&mon);
        Ok(KernelTimes::new(Source::Usbmon(mon, place, losses)))
    }

    /// Takes the time stamps of a socket.
    pub fn of_socket(stamps: Stamps) -> KernelTimes {
        KernelTimes::new(Source::Stamps(stamps))
    }

    fn new(source: Source) -> KernelTimes {
        KernelTimes {
            source,
            matcher: StageMatcher::default(),
            taken_to_ns: 0,
        }
    }

    /// What to keep of it in the conditions of a run.
    pub fn setting(&self) -> (String, String) {
        match &self.source {
            Source::Usbmon(mon, ..) => ("usbmon".into(), mon.describe().into()),
            Source::Stamps(_) => ("timestamps".into(), "kernel, software".into()),
        }
    }

    /// A point begins.
    pub fn begin_point(&mut self) {
        self.look();
        if let Source::Usbmon(mon, _, losses) = &mut self.source {
            *losses = UrbLosses::of(mon);
        }
        self.matcher.begin_point();
    }

    /// Takes what is there, so that no buffer fills up.
    pub fn look(&mut self) {
        let matcher = &mut self.matcher;
        match &mut self.source {
            Source::Usbmon(mon, place, _) => mon.take(|urb| push_urb(matcher, place, &urb)),
            Source::Stamps(stamps) => stamps.take(|received, at_ns, bytes| {
                push_stamp(matcher, received, at_ns, bytes);
            }),
        }
    }

    /// The sample with the times of the kernel, if its records are there. `zero_ns` is what CLOCK_MONOTONIC read
    /// when the clock of the samples read zero. Waits some milliseconds where usbmon may lag behind.
    pub fn fill(&mut self, sample: &Sample, zero_ns: u64) -> Sample {
        self.matcher.set_zero(zero_ns);
        if zero_ns + sample.start_ns + sample.rtt_ns >= self.taken_to_ns {
            self.taken_to_ns = Clock::start().zero_ns();
            let matcher = &mut self.matcher;
            if let Source::Usbmon(mon, place, _) = &mut self.source {
                mon.catch_up(|urb| push_urb(matcher, place, &urb));
            }
            self.look();
        }
        let mut filled = *sample;
        self.matcher.fill(&mut filled);
        filled
    }

    /// What was missed in the point that ends.
    pub fn end_point(&mut self) -> Option<Disturbance> {
        match &self.source {
            Source::Usbmon(mon, _, losses) => losses.since(mon, 0),
            Source::Stamps(_) => None,
        }
    }
}

fn push_urb(matcher: &mut StageMatcher, place: &UsbPlace, urb: &UrbTimes) {
    // What was unlinked or failed carried no data.
    let record = |bytes| Passed {
        begin_ns: urb.submit_ns,
        // A controller may be as fast as the resolution of usbmon.
        end_ns: urb.complete_ns.max(urb.submit_ns + 1),
        bytes,
    };
    if urb.status != 0 {
    } else if urb.endpoint == place.in_endpoint | 0x80 {
        let data = place
            .status
            .map_or(urb.length, |status| status.data_bytes(urb.length));
        matcher.push_response(record(data));
    } else if urb.endpoint == place.out_endpoint & 0x7f && urb.submit_ns > 0 {
        matcher.push_request(record(urb.length));
    }
}

fn push_stamp(matcher: &mut StageMatcher, received: bool, at_ns: u64, bytes: u32) {
    let record = Passed {
        begin_ns: at_ns,
        end_ns: at_ns,
        bytes,
    };
    match received {
        true => matcher.push_response(record),
        false => matcher.push_request(record),
    }
}
