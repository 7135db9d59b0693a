//! Which record of the kernel belongs to which exchange. Its records (a URB, a time stamp) cover bytes, not
//! messages: a tty's driver cuts and joins what is written, and one receive may hold several responses. So the bytes
//! of each direction are counted, from a moment at which nothing was outstanding.

use std::collections::VecDeque;
use wiregauge_record::{Sample, Status};

/// Two readings of different clocks may be out of order by so much: the resolution of usbmon (1 us) and the
/// uncertainty of the conversion between the clocks.
const SLACK_NS: u64 = 2_000;

/// Records that may wait for their exchange, of each direction.
const MAX_WAITING: usize = 1 << 20;

/// Bytes of one direction that the kernel passed on at once. CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// When they began to pass: submission of a URB. That of a response is not needed.
    pub begin_ns: u64,
    /// When they had passed.
    pub end_ns: u64,
    /// How many.
    pub bytes: u32,
}

/// Records of one direction that wait, and how much of the first one is taken.
#[derive(Debug, Default)]
struct Waiting {
    records: VecDeque<Passed>,
    taken: u32,
}

impl Waiting {
    fn push(&mut self, record: Passed) {
        if record.bytes == 0 {
            return;
        }
        if self.records.len() == MAX_WAITING {
            self.drop_first();
        }
        self.records.push_back(record);
    }

    fn drop_first(&mut self) {
        self.records.pop_front();
        self.taken = 0;
    }

    /// Drops the first records, as long as this holds of them.
    fn drop_while(&mut self, is_old: impl Fn(&Passed) -> bool) {
        while self.records.front().is_some_and(&is_old) {
            self.drop_first();
        }
        self.taken = 0;
    }

    /// Takes so many bytes: the record of the last one.
    fn take(&mut self, mut bytes: u32) -> Option<Passed> {
        loop {
            let first = *self.records.front()?;
            let rest = first.bytes - self.taken;
            if bytes < rest {
                self.taken += bytes;
                return Some(first);
            }
            bytes -= rest;
            self.drop_first();
            if bytes == 0 {
                return Some(first);
            }
        }
    }
}

/// Gives each exchange the times of the kernel.
#[derive(Debug, Default)]
pub struct StageMatcher {
    requests: Waiting,
    responses: Waiting,
    /// False after an exchange whose bytes are unknown, until nothing is outstanding again.
    in_step: bool,
    zero_ns: u64,
}

impl StageMatcher {
    /// A point begins; what waits belongs to none of its exchanges.
    pub fn begin_point(&mut self) {
        *self = StageMatcher::default();
    }

    /// The point's clock read zero when CLOCK_MONOTONIC read `zero_ns`.
    pub fn set_zero(&mut self, zero_ns: u64) {
        self.zero_ns = zero_ns;
    }

    /// Takes a record of bytes from the host to the device, in the order of their passing.
    pub fn push_request(&mut self, record: Passed) {
        self.requests.push(record);
    }

    /// Takes a record of bytes from the device.
    pub fn push_response(&mut self, record: Passed) {
        self.responses.push(record);
    }

    /// Fills the times of the kernel, if its records of this exchange are there. The samples come in the order in
    /// which they ended, after the records of their time.
    pub fn fill(&mut self, sample: &mut Sample) {
        let start_ns = self.zero_ns + sample.start_ns;
        let end_ns = start_ns + sample.rtt_ns + SLACK_NS;
        if sample.outstanding == 1 && sample.status.is_first_row() {
            // A request may be reported as sent after its response; a receive begins long before its bytes come.
            let from_ns = start_ns.saturating_sub(SLACK_NS);
            self.requests.drop_while(|one| one.begin_ns < from_ns);
            self.responses.drop_while(|one| one.end_ns < from_ns);
            self.in_step = true;
        }
        if !self.in_step || sample.status != Status::Ok {
            self.in_step = false;
            return;
        }
        let request = self.requests.take(sample.bytes_out);
        let response = self.responses.take(sample.bytes_in);
        let (Some(request), Some(response)) = (request, response) else {
            self.in_step = false;
            return;
        };
        let in_order = request.begin_ns <= response.end_ns;
        let within = request.begin_ns + SLACK_NS >= start_ns && response.end_ns <= end_ns;
        if !in_order || !within {
            self.in_step = false;
            return;
        }
        // What seems to lie outside of the exchange differs by the resolution only. 0 says that it is not known.
        let since = |at_ns: u64| {
            at_ns
                .saturating_sub(start_ns)
                .clamp(1, sample.rtt_ns.max(1))
        };
        sample.kernel_tx_ns = since(request.begin_ns);
        sample.kernel_rx_ns = since(response.end_ns);
        if request.end_ns > request.begin_ns {
            sample.kernel_tx_done_ns = since(request.end_ns).min(sample.kernel_rx_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZERO: u64 = 5_000_000_000;

    /// Microseconds of the point.
    fn passed(begin_us: u64, end_us: u64, bytes: u32) -> Passed {
        Passed {
            begin_ns: ZERO + begin_us * 1_000,
            end_ns: ZERO + end_us * 1_000,
            bytes,
        }
    }

    fn exchange(start_us: u64, rtt_us: u64, outstanding: u32) -> Sample {
        Sample {
            start_ns: start_us * 1_000,
            rtt_ns: rtt_us * 1_000,
            bytes_out: 16,
            bytes_in: 48,
            outstanding,
            ..Sample::default()
        }
    }

    fn matcher(requests: &[Passed], responses: &[Passed]) -> StageMatcher {
        let mut matcher = StageMatcher::default();
        matcher.set_zero(ZERO);
        requests.iter().for_each(|&one| matcher.push_request(one));
        responses.iter().for_each(|&one| matcher.push_response(one));
        matcher
    }

    /// Microseconds since the start: request handed over, with the device, response in the kernel.
    fn filled(matcher: &mut StageMatcher, mut sample: Sample) -> [u64; 3] {
        matcher.fill(&mut sample);
        [
            sample.kernel_tx_ns,
            sample.kernel_tx_done_ns,
            sample.kernel_rx_ns,
        ]
        .map(|ns| ns / 1_000)
    }

    #[test]
    fn an_exchange_has_the_times_of_the_records_of_its_last_bytes() {
        // The driver cut the request in two and the response in three.
        let mut matcher = matcher(
            &[passed(105, 120, 10), passed(106, 140, 6)],
            &[passed(0, 200, 20), passed(0, 220, 20), passed(0, 240, 8)],
        );
        assert_eq!(filled(&mut matcher, exchange(100, 150, 1)), [6, 40, 140]);
    }

    #[test]
    fn exchanges_that_were_sent_together_share_a_record() {
        let mut matcher = matcher(
            &[passed(105, 120, 32)],
            &[passed(0, 200, 48), passed(0, 230, 48)],
        );
        assert_eq!(filled(&mut matcher, exchange(100, 110, 1)), [5, 20, 100]);
        assert_eq!(filled(&mut matcher, exchange(101, 140, 2)), [4, 19, 129]);
    }

    #[test]
    fn bytes_before_an_exchange_that_is_alone_belong_to_none() {
        let mut matcher = matcher(
            &[passed(20, 30, 16), passed(105, 120, 16)],
            &[passed(0, 60, 7), passed(0, 200, 48)],
        );
        assert_eq!(filled(&mut matcher, exchange(100, 110, 1)), [5, 20, 100]);
    }

    #[test]
    fn after_a_loss_the_times_are_unknown_until_nothing_is_outstanding() {
        let mut matcher = matcher(
            &[
                passed(105, 120, 16),
                passed(125, 130, 16),
                passed(505, 510, 16),
            ],
            &[passed(0, 200, 48), passed(0, 560, 48)],
        );
        let lost = Sample {
            status: Status::Lost,
            bytes_in: 0,
            ..exchange(100, 100, 1)
        };
        assert_eq!(filled(&mut matcher, lost), [0, 0, 0]);
        assert_eq!(filled(&mut matcher, exchange(124, 80, 2)), [0, 0, 0]);
        assert_eq!(filled(&mut matcher, exchange(500, 70, 1)), [5, 10, 60]);
    }

    #[test]
    fn a_record_that_lies_outside_of_the_exchange_is_not_its_own() {
        let mut late = matcher(&[passed(105, 120, 16)], &[passed(0, 300, 48)]);
        assert_eq!(filled(&mut late, exchange(100, 110, 1)), [0, 0, 0]);
        let mut missing = matcher(&[passed(105, 120, 16)], &[]);
        assert_eq!(filled(&mut missing, exchange(100, 110, 1)), [0, 0, 0]);
    }

    #[test]
    fn a_time_stamp_has_no_duration() {
        let mut matcher = matcher(&[passed(105, 105, 16)], &[passed(200, 200, 48)]);
        assert_eq!(filled(&mut matcher, exchange(100, 110, 1)), [5, 0, 100]);
    }

    #[test]
    fn a_record_earlier_by_the_resolution_of_usbmon_is_within_the_exchange() {
        let mut matcher = matcher(&[passed(99, 120, 16)], &[passed(0, 211, 48)]);
        let mut sample = exchange(100, 110, 1);
        matcher.fill(&mut sample);
        assert_eq!((sample.kernel_tx_ns, sample.kernel_rx_ns), (1, 110_000));
    }
}
