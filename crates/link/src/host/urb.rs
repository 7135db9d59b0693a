//! What the USB stack saw of a transfer, and which transfer it belongs to. A URB is the kernel's own
//! record of one transfer; watching it from outside tells the application's part of the time from
//! that of the bus and the device.

use std::collections::VecDeque;
use wiregauge_record::{Transfer, TransferStatus, Way};

/// One URB. Times are nanoseconds of CLOCK_MONOTONIC, converted from microseconds of CLOCK_REALTIME
/// (usbmon knows no other clock); each may be wrong by half a microsecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UrbTimes {
    /// Endpoint address; bit 7 says IN.
    pub endpoint: u8,
    /// When the stack took it, before the host controller's driver did; 0 if that was before the watch began.
    pub submit_ns: u64,
    /// When the host controller's driver gave it back.
    pub complete_ns: u64,
    /// 0, or a negative error number of the kernel (-2: unlinked, -32: stalled).
    pub status: i32,
    /// Bytes that it carried.
    pub length: u32,
}

/// Where a link's device is on USB and what it talks to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsbPlace {
    /// Bus, as in /dev/usbmonN.
    pub bus: u16,
    /// Address on it.
    pub address: u8,
    /// Endpoint of IN transfers.
    pub in_endpoint: u8,
    /// Endpoint of OUT transfers.
    pub out_endpoint: u8,
    /// True if each transfer of the link is one URB; false for a tty, whose driver makes URBs of its own.
    pub transfers: bool,
    /// What each IN packet begins with besides the data.
    pub status: Option<PacketStatus>,
}

/// Bytes of an adapter's state at the beginning of each IN packet, which the driver takes off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketStatus {
    /// How many.
    pub bytes: u32,
    /// Bytes of a full packet, these included.
    pub packet_bytes: u32,
}

impl PacketStatus {
    /// The data among so many bytes of a URB.
    pub fn data_bytes(&self, length: u32) -> u32 {
        let packets = length.div_ceil(self.packet_bytes.max(1));
        length.saturating_sub(packets * self.bytes)
    }
}

/// Two readings of different clocks may be out of order by so much: the resolution of usbmon and
/// what the conversion of its clock is uncertain by.
const SLACK_NS: u64 = 2_000;

/// URBs that may wait for their transfer, in each way. A transfer is taken from the measuring thread
/// at the latest when its ring of as many is full.
const MAX_WAITING: usize = 1 << 20;

/// Gives each transfer the URB that carried it. usbfs makes one URB of each transfer, and an endpoint
/// works them off in the order of their submission; so the next URB of an endpoint that lies within
/// the transfer's own time is the one. What lies elsewhere (an order that begins a stream, a transfer
/// of somebody else) belongs to none.
///
/// Not for a tty: its driver has URBs of its own, which start and end when no system call does.
#[derive(Debug)]
pub struct UrbMatcher {
    endpoints: [u8; 2],
    waiting: [VecDeque<UrbTimes>; 2],
    zero_ns: u64,
    matched: u64,
    missing: u64,
    forgotten: u64,
}

impl UrbMatcher {
    /// For the endpoints of a link.
    pub fn new(place: UsbPlace) -> UrbMatcher {
        UrbMatcher {
            endpoints: [place.in_endpoint | 0x80, place.out_endpoint & 0x7f],
            waiting: [VecDeque::new(), VecDeque::new()],
            zero_ns: 0,
            matched: 0,
            missing: 0,
            forgotten: 0,
        }
    }

    /// A point begins. What waits is forgotten and the counts start anew.
    pub fn begin_point(&mut self) {
        self.waiting.iter_mut().for_each(VecDeque::clear);
        (self.matched, self.missing, self.forgotten) = (0, 0, 0);
    }

    /// The point's clock read zero when CLOCK_MONOTONIC read `zero_ns` ([`super::Clock::zero_ns`]).
    pub fn set_zero(&mut self, zero_ns: u64) {
        self.zero_ns = zero_ns;
    }

    /// Takes a URB, in the order of completion; those of other endpoints are ignored.
    pub fn push(&mut self, urb: UrbTimes) {
        let way = self.endpoints.iter().position(|&e| e == urb.endpoint);
        let Some(way) = way.filter(|_| urb.submit_ns > 0) else {
            return;
        };
        let waiting = &mut self.waiting[way];
        if waiting.len() == MAX_WAITING {
            waiting.pop_front();
            self.forgotten += 1;
        }
        waiting.push_back(urb);
    }

    /// Fills the URB times of a transfer; transfers of each way come in the order of completion, and
    /// after the URBs of their time. False, and times of 0, where there is none.
    pub fn take_for(&mut self, transfer: &mut Transfer) -> bool {
        // What was cancelled at the end of a point was not given back by then.
        if transfer.status == TransferStatus::Cancelled {
            return false;
        }
        let way = match transfer.way {
            Way::In => 0,
            Way::Out => 1,
        };
        let begin = match transfer.submit_ns {
            // It was pending before the point's clock began.
            0 => 0,
            submit_ns => (self.zero_ns + submit_ns).saturating_sub(SLACK_NS),
        };
        let end = self.zero_ns + transfer.complete_ns + SLACK_NS;
        let waiting = &mut self.waiting[way];
        while let Some(&urb) = waiting.front() {
            if urb.submit_ns > end || urb.complete_ns > end {
                break;
            }
            waiting.pop_front();
            let carried = transfer.status != TransferStatus::Ok || urb.length == transfer.bytes;
            if urb.submit_ns >= begin && carried {
                // A URB that seems to start before its transfer differs by the resolution only; 0
                // would say that it was not watched.
                let since = |at_ns: u64| at_ns.saturating_sub(self.zero_ns).max(1);
                transfer.urb_submit_ns = since(urb.submit_ns);
                transfer.urb_complete_ns = since(urb.complete_ns);
                self.matched += 1;
                return true;
            }
        }
        self.missing += 1;
        false
    }

    /// Transfers of this point that got their URB.
    pub fn matched(&self) -> u64 {
        self.matched
    }

    /// Transfers of this point without one.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// URBs that were forgotten because too many waited.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZERO: u64 = 5_000_000_000;

    fn urb(endpoint: u8, submit_us: u64, complete_us: u64, length: u32) -> UrbTimes {
        UrbTimes {
            endpoint,
            submit_ns: ZERO + submit_us * 1_000,
            complete_ns: ZERO + complete_us * 1_000,
            status: 0,
            length,
        }
    }

    fn transfer(way: Way, submit_us: u64, complete_us: u64, bytes: u32) -> Transfer {
        Transfer {
            submit_ns: submit_us * 1_000,
            complete_ns: complete_us * 1_000,
            bytes,
            way,
            ..Transfer::default()
        }
    }

    fn matcher(urbs: &[UrbTimes]) -> UrbMatcher {
        let mut matcher = UrbMatcher::new(UsbPlace {
            bus: 1,
            address: 5,
            in_endpoint: 0x81,
            out_endpoint: 0x02,
            transfers: true,
            status: None,
        });
        matcher.begin_point();
        matcher.set_zero(ZERO);
        urbs.iter().for_each(|&urb| matcher.push(urb));
        matcher
    }

    #[test]
    fn queued_transfers_get_their_urbs_in_order() {
        let mut matcher = matcher(&[
            urb(0x81, 12, 100, 512),
            urb(0x81, 22, 150, 512),
            urb(0x81, 32, 200, 512),
        ]);
        for (submit, complete) in [(10, 110), (20, 160), (30, 210)] {
            let mut transfer = transfer(Way::In, submit, complete, 512);
            assert!(matcher.take_for(&mut transfer));
            assert_eq!(transfer.urb_submit_ns, (submit + 2) * 1_000);
            assert_eq!(transfer.urb_complete_ns, (complete - 10) * 1_000);
        }
        assert_eq!((matcher.matched(), matcher.missing()), (3, 0));
    }

    #[test]
    fn the_ways_do_not_mix_and_other_endpoints_belong_to_none() {
        let mut matcher = matcher(&[
            urb(0x83, 11, 90, 512),
            urb(0x02, 12, 100, 512),
            urb(0x81, 13, 101, 512),
        ]);
        let mut out = transfer(Way::Out, 10, 110, 512);
        let mut in_ = transfer(Way::In, 10, 110, 512);
        assert!(matcher.take_for(&mut in_) && matcher.take_for(&mut out));
        assert_eq!(in_.urb_submit_ns, 13_000);
        assert_eq!(out.urb_submit_ns, 12_000);
    }

    #[test]
    fn an_order_before_the_first_transfer_belongs_to_none() {
        let mut matcher = matcher(&[urb(0x02, 1, 4, 32), urb(0x02, 12, 100, 512)]);
        let mut out = transfer(Way::Out, 10, 110, 512);
        assert!(matcher.take_for(&mut out));
        assert_eq!(out.urb_submit_ns, 12_000);
    }

    #[test]
    fn a_lost_urb_leaves_its_own_transfer_without_times_and_no_other() {
        let mut matcher = matcher(&[urb(0x81, 12, 20, 64), urb(0x81, 52, 60, 64)]);
        let found: Vec<bool> = [(10, 22), (30, 42), (50, 62)]
            .map(|(submit, complete)| {
                let mut transfer = transfer(Way::In, submit, complete, 64);
                let found = matcher.take_for(&mut transfer);
                assert_eq!(found, transfer.urb_submit_ns > 0);
                found
            })
            .to_vec();
        assert_eq!(found, [true, false, true]);
        assert_eq!((matcher.matched(), matcher.missing()), (2, 1));
    }

    #[test]
    fn a_urb_that_carried_another_number_of_bytes_is_not_taken() {
        let mut matcher = matcher(&[urb(0x81, 12, 20, 32), urb(0x81, 13, 21, 64)]);
        let mut taken = transfer(Way::In, 10, 22, 64);
        assert!(matcher.take_for(&mut taken));
        assert_eq!(taken.urb_submit_ns, 13_000);
    }

    #[test]
    fn a_transfer_that_was_pending_before_the_point_began_has_its_urb() {
        let mut early = urb(0x81, 0, 20, 64);
        early.submit_ns -= 50_000;
        let mut matcher = matcher(&[early]);
        let mut pending = transfer(Way::In, 0, 22, 64);
        assert!(matcher.take_for(&mut pending));
        assert_eq!(pending.urb_complete_ns, 20_000);
    }

    #[test]
    fn each_packet_of_an_ftdi_adapter_carries_two_bytes_less() {
        let status = PacketStatus {
            bytes: 2,
            packet_bytes: 64,
        };
        let data = [0, 2, 3, 64, 66, 67, 128].map(|length| status.data_bytes(length));
        assert_eq!(data, [0, 0, 1, 62, 62, 63, 124]);
    }

    #[test]
    fn a_point_does_not_see_the_urbs_of_the_one_before() {
        let mut matcher = matcher(&[urb(0x81, 12, 20, 64)]);
        matcher.begin_point();
        assert!(!matcher.take_for(&mut transfer(Way::In, 10, 22, 64)));
    }
}
