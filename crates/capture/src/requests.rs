//! Which side an IN endpoint waits for while the device answers NAK: the device, or a host that has not requested anything.
//! docs/explain.md states the rule.

use crate::spread::{Pending, Spread};

/// The NAK time of an endpoint, by the side that it belongs to. Of an endpoint without requests all is the device's.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// Since the last data of either direction; what comes next decides.
    pending: Pending,
    device: Spread,
    unrequested: Spread,
    /// From data IN to the data OUT that follows.
    pauses: Spread,
    /// A request was completed and no data IN followed yet.
    owed: bool,
    /// Data OUT came since the last data IN.
    requested: bool,
    answered_ns: Option<u64>,
    answers: u64,
    /// Before the first request.
    outside_ns: f64,
}

/// After a NAK, hosts ask again within a frame. A longer wait counts as NAK only up to this, or up to four times the median.
const ASKED_AGAIN_NS: u64 = 1_000_000;

/// True if a response came for each transfer, or for a few that were pending together.
pub(crate) fn are_most(responses: u64, transfers: u64) -> bool {
    4 * responses >= transfers
}

impl Requests {
    /// From a token that was answered NAK to the next token.
    pub(crate) fn nak(&mut self, ns: u64) {
        self.pending.add(ns);
    }

    /// Data OUT of the device at this time; `complete` if a transfer ends with it.
    pub(crate) fn data_out(&mut self, begin_ns: u64, complete: bool) {
        if self.owed {
            self.device.take(&mut self.pending);
        } else if self.has_data() {
            self.unrequested.take(&mut self.pending);
        } else {
            self.outside_ns += self.pending.take_sum_ns();
        }
        if let Some(answered) = self.answered_ns.take() {
            self.pauses.add(begin_ns.saturating_sub(answered));
        }
        self.owed |= complete;
        self.requested = true;
    }

    /// Data IN of this endpoint that ended at this time.
    pub(crate) fn data_in(&mut self, end_ns: u64) {
        self.device.take(&mut self.pending);
        self.owed = false;
        self.answers += u64::from(std::mem::take(&mut self.requested));
        self.answered_ns = Some(end_ns);
    }

    fn has_data(&self) -> bool {
        self.requested || self.answered_ns.is_some()
    }

    /// How often data IN followed data OUT.
    pub(crate) fn answers(&self) -> u64 {
        self.answers
    }

    /// From data IN to the data OUT that follows.
    pub(crate) fn pauses(&self) -> &Spread {
        &self.pauses
    }

    /// The NAK times of the device, those without a request, and what is left of longer pauses. `transfers` are those IN.
    pub(crate) fn finish(&self, transfers: u64) -> NakTimes {
        let (mut device, unrequested) = (self.device.clone(), &self.unrequested);
        let mut pending = self.pending.clone();
        let mut outside_ns = self.outside_ns;
        // After the last response, if most transfers IN were responses.
        let after = self.answers > 1 && !self.requested && are_most(self.answers, transfers);
        match after {
            true => outside_ns += pending.take_sum_ns(),
            false => device.take(&mut pending),
        }
        let mut all = device.clone();
        all.merge(unrequested);
        let median = all.times().map_or(0, |times| times.p50_ns);
        let cap = ASKED_AGAIN_NS.max(median.saturating_mul(4));
        // Long times are rounded, by a part in a thousand.
        let capped = |spread: &Spread| spread.capped_sum_ns(cap).min(spread.sum_ns());
        let (device_ns, unrequested_ns) = (capped(&device), capped(unrequested));
        NakTimes {
            device_ns,
            unrequested_ns,
            outside_ns,
            rest_ns: device.sum_ns() - device_ns + unrequested.sum_ns() - unrequested_ns,
        }
    }
}

/// Time after NAKs, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NakTimes {
    /// The device had something to do.
    pub(crate) device_ns: f64,
    /// Nothing was requested.
    pub(crate) unrequested_ns: f64,
    /// Before the first request, and after the last response.
    pub(crate) outside_ns: f64,
    /// The host sent no token for long.
    pub(crate) rest_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(steps: impl FnOnce(&mut Requests)) -> (f64, f64) {
        let mut requests = Requests::default();
        steps(&mut requests);
        let times = requests.finish(requests.answers());
        (times.device_ns, times.unrequested_ns)
    }

    #[test]
    fn naks_are_the_devices_from_a_whole_request_to_the_end_of_its_response() {
        let times = of(|requests| {
            requests.nak(1);
            requests.data_out(0, false);
            requests.nak(10);
            requests.data_out(0, true);
            requests.nak(100);
            requests.data_in(0);
            requests.nak(1_000);
            requests.data_in(0);
            requests.nak(10_000);
            requests.data_out(0, true);
        });
        assert_eq!(times, (1_100.0, 10_010.0));
    }

    #[test]
    fn naks_before_the_first_request_and_after_the_last_response_are_outside() {
        let mut requests = Requests::default();
        requests.nak(1);
        for _ in 0..2 {
            requests.data_out(0, true);
            requests.nak(10);
            requests.data_in(0);
            requests.nak(100);
        }
        let times = requests.finish(2);
        let found = (times.device_ns, times.unrequested_ns, times.outside_ns);
        assert_eq!(found, (20.0, 100.0, 101.0));
    }

    #[test]
    fn naks_of_a_stream_are_the_devices() {
        let times = of(|requests| {
            requests.data_out(0, true);
            for _ in 0..50 {
                requests.nak(100);
                requests.data_in(0);
            }
            requests.nak(100);
        });
        assert_eq!(times, (5_100.0, 0.0));
    }

    #[test]
    fn naks_between_two_requests_of_which_one_is_not_answered_are_the_devices() {
        let times = of(|requests| {
            requests.data_out(0, true);
            requests.nak(100);
            requests.data_out(0, true);
            requests.nak(10);
            requests.data_in(0);
        });
        assert_eq!(times, (110.0, 0.0));
    }
}
