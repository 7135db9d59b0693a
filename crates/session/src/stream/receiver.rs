//! The receiving end: keeps transfers pending, tells data from the answers that stand among it, counts and checks the
//! data, and notices that nothing comes.

use super::payload::{Delay, Payload};
use super::{
    Answer, Heard, Orders, PatternChecker, PatternCounts, Pending, Row, Shared, StreamFailure,
};
use std::collections::VecDeque;
use wiregauge_record::TransferStatus;
use wiregauge_wire::{
    BusCounts, Header, Response, STREAM_FRAME, STREAM_REPORT, Status, StreamChecker, StreamCounts,
    StreamReport, Taken,
};

/// The largest datagram that is looked at for an answer.
const ANSWER_BYTES: usize = 512;

/// What a receiver is made for.
#[derive(Clone, Debug)]
pub struct ReceiverConfig {
    /// The orders; `None` where there is no device to order: then all that comes is data.
    pub orders: Option<Orders>,
    /// Data is expected; else only answers.
    pub takes_data: bool,
    /// Compare every byte with the pattern of wiregauge.
    pub check: bool,
    /// Of a stream without orders, compare every byte with this pattern.
    pub pattern: Option<PatternChecker>,
    /// Each transfer is one message.
    pub datagram: bool,
    /// Transfers kept pending.
    pub queue: usize,
    /// When nothing comes for this long, the link has failed.
    pub timeout_ns: u64,
}

/// What the driver is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverNext {
    /// Submit a transfer, then report [`StreamReceiver::submitted`].
    Submit,
    /// Wait for the oldest pending transfer. If it ended, report [`StreamReceiver::take`] and
    /// [`StreamReceiver::completed`]; if it did not, look at [`StreamReceiver::failure`].
    Complete,
    /// Nothing more is expected: [`StreamReceiver::given_up`], cancel, [`StreamReceiver::finish`].
    Done,
}

/// What was received of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    /// Bytes of it.
    pub bytes: u64,
    /// What became of them; `None` if they were only counted.
    pub counts: Option<StreamCounts>,
    /// The strays at the end of it, and how many of them are wrong if all stand in their place.
    pub tail: (u64, u64),
    /// What the check of another pattern found.
    pub pattern: Option<PatternCounts>,
}

/// The receiving end of one point.
#[derive(Debug)]
pub struct StreamReceiver {
    config: ReceiverConfig,
    checker: StreamChecker,
    pending: VecDeque<Pending>,
    /// Bytes of the stream that were counted, but not checked.
    unchecked: u64,
    /// An answer whose payload is not complete.
    frame: Option<Frame>,
    /// The last bytes of the payload, which may be the beginning of an answer.
    delay: Delay,
}

#[derive(Debug)]
struct Frame {
    header: Response,
    payload: [u8; STREAM_FRAME],
    there: usize,
}

impl StreamReceiver {
    /// Lays out all memory.
    pub fn new(config: ReceiverConfig) -> StreamReceiver {
        StreamReceiver {
            checker: StreamChecker::new(),
            pending: VecDeque::with_capacity(config.queue),
            unchecked: 0,
            frame: None,
            delay: Delay::default(),
            config,
        }
    }

    /// What to do.
    #[inline]
    pub fn next(&self, shared: &Shared<'_>) -> ReceiverNext {
        if shared.is_done() || shared.is_failed() {
            ReceiverNext::Done
        } else if self.pending.len() < self.config.queue {
            ReceiverNext::Submit
        } else {
            ReceiverNext::Complete
        }
    }

    /// A transfer was submitted.
    #[inline]
    pub fn submitted(&mut self, now_ns: u64) {
        self.pending.push_back(Pending {
            submit_ns: now_ns,
            pending: self.pending.len() as u32 + 1,
            bytes: 0,
        });
    }

    /// The oldest pending transfer ended at `now_ns`, and so many of its bytes were data; its row, if it has one.
    #[inline]
    pub fn completed(
        &mut self,
        now_ns: u64,
        data: usize,
        stalled: bool,
        shared: &Shared<'_>,
    ) -> Option<Row> {
        let over = self.pending.pop_front()?;
        shared.received(now_ns);
        let began_ns = shared.began_ns().filter(|_| self.config.takes_data)?;
        let status = match stalled {
            true => TransferStatus::Stalled,
            false => TransferStatus::Ok,
        };
        (data > 0 || stalled).then(|| over.row(began_ns, now_ns, data as u32, status))
    }

    /// The row of the oldest transfer that still pends when nothing more is expected: a queue of transfers that last
    /// long pended for much of the measured time.
    pub fn given_up(&mut self, now_ns: u64, shared: &Shared<'_>) -> Option<Row> {
        let over = self.pending.pop_front()?;
        let began_ns = shared.began_ns().filter(|_| self.config.takes_data)?;
        Some(over.row(began_ns, now_ns, 0, TransferStatus::Cancelled))
    }

    /// Whether nothing came for too long.
    pub fn failure(&self, now_ns: u64, shared: &Shared<'_>) -> Option<StreamFailure> {
        let began_ns = shared.began_ns().filter(|_| self.config.takes_data)?;
        let since_ns = shared.heard_ns().max(began_ns);
        let within_ns = self.config.timeout_ns;
        let too_long = now_ns.saturating_sub(since_ns) > within_ns;
        (too_long && !shared.is_ending() && !shared.is_stopped())
            .then_some(StreamFailure::NothingCame { within_ns })
    }

    /// Takes what was received; returns how much of it was data. Answers go to `heard`.
    #[inline]
    pub fn take(
        &mut self,
        bytes: &[u8],
        shared: &Shared<'_>,
        heard: &mut impl FnMut(Heard),
    ) -> usize {
        self.take_to(bytes, shared, heard, &mut ())
    }

    /// As [`StreamReceiver::take`]; the data itself goes to `payload`, a few bytes later where an answer may stand
    /// in it. [`StreamReceiver::flush`] passes on the last ones.
    #[inline]
    pub fn take_to(
        &mut self,
        bytes: &[u8],
        shared: &Shared<'_>,
        heard: &mut impl FnMut(Heard),
        payload: &mut impl Payload,
    ) -> usize {
        let ordered = self.config.orders.is_some();
        if self.config.datagram
            && ordered
            && bytes.len() <= ANSWER_BYTES
            && let Some((header, own)) = whole_frame(bytes)
        {
            self.hear(header, own, 0, heard);
            return 0;
        }
        if let Some(pattern) = &mut self.config.pattern {
            pattern.take(bytes);
        }
        // While the stream flows no answer is among it.
        let flows = shared.began_ns().is_some() && !shared.is_ending();
        if !self.config.check && (flows || !ordered) {
            self.unchecked += bytes.len() as u64;
            self.delay.flush(payload);
            payload.take(bytes);
            return bytes.len();
        }
        self.sort(bytes, heard, payload)
    }

    /// Passes on the last bytes of the payload: nothing more comes.
    pub fn flush(&mut self, payload: &mut impl Payload) {
        self.delay.flush(payload);
    }

    /// An answer whose header is cut in two is data at first; the check's own count knows better, so
    /// that only a row near the end may show a few bytes too many.
    fn sort(
        &mut self,
        mut bytes: &[u8],
        heard: &mut impl FnMut(Heard),
        payload: &mut impl Payload,
    ) -> usize {
        let mut data = 0;
        while !bytes.is_empty() {
            if let Some(frame) = &mut self.frame {
                let wanted = frame.header.payload_len() - frame.there;
                let (own, rest) = bytes.split_at(wanted.min(bytes.len()));
                frame.payload[frame.there..frame.there + own.len()].copy_from_slice(own);
                frame.there += own.len();
                bytes = rest;
            } else {
                match self.checker.take::<Response>(bytes) {
                    Taken::All => {
                        self.delay.put(bytes, payload);
                        return data + bytes.len();
                    }
                    Taken::Frame { header, used } => {
                        let own = used.saturating_sub(Response::SIZE);
                        self.delay.put(&bytes[..own], payload);
                        self.delay.retract(Response::SIZE.saturating_sub(used));
                        data += own;
                        bytes = &bytes[used..];
                        self.frame = Some(Frame {
                            header,
                            payload: [0; STREAM_FRAME],
                            there: 0,
                        });
                    }
                }
            }
            let whole = |frame: &mut Frame| frame.there == frame.header.payload_len();
            if let Some(frame) = self.frame.take_if(whole) {
                let own = &frame.payload[..frame.there];
                self.hear(frame.header, own, bytes.len(), heard);
            }
        }
        data
    }

    fn hear(&self, header: Response, payload: &[u8], behind: usize, heard: &mut impl FnMut(Heard)) {
        let Some(orders) = &self.config.orders else {
            return;
        };
        let Some(order) = orders.answered_by(&header) else {
            return;
        };
        heard(Heard {
            answer: Answer {
                header,
                report: StreamReport::decode(payload),
                bus: payload
                    .get(STREAM_REPORT..)
                    .filter(|_| order.asks_bus)
                    .and_then(BusCounts::decode),
            },
            begins: orders.starts.last() == Some(order) && header.status == Status::Ok,
            // Datagrams may overtake each other, so that some may come after the last answer.
            is_last: orders.ends.last() == Some(order) && !self.config.datagram,
            behind,
        });
    }

    /// Ends the stream: what is still undecided fits nowhere.
    pub fn finish(mut self) -> Received {
        let tail = self.checker.tail();
        let counts = self.checker.finish();
        Received {
            bytes: self.unchecked + counts.received,
            counts: self.config.check.then_some(counts),
            tail,
            pattern: self.config.pattern.as_ref().map(PatternChecker::counts),
        }
    }
}

/// A datagram that is one frame and nothing else.
fn whole_frame(bytes: &[u8]) -> Option<(Response, &[u8])> {
    let header = Response::decode(bytes).ok()?;
    let payload = &bytes[Response::SIZE..];
    (payload.len() == header.payload_len()).then_some((header, payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use wiregauge_record::Direction;
    use wiregauge_wire::{Kind, RESPONSE_HEADER, fill_stream};

    fn answer(sequence: u32, report: Option<u64>) -> Vec<u8> {
        let payload = report.map_or(Vec::new(), |bytes| {
            let report = StreamReport {
                bytes,
                ..StreamReport::default()
            };
            report.encode().to_vec()
        });
        let header = Response {
            kind: Kind::Source,
            sequence,
            in_payload: payload.len() as u32,
            status: Status::Ok,
            flags: 0,
            rx_ticks: 0,
            tx_ticks: 0,
        };
        let mut bytes = vec![0; RESPONSE_HEADER];
        header.encode(bytes.as_mut_slice().try_into().unwrap());
        bytes.extend(payload);
        bytes
    }

    fn config(orders: Option<&Orders>, datagram: bool) -> ReceiverConfig {
        ReceiverConfig {
            check: orders.is_some(),
            orders: orders.cloned(),
            takes_data: true,
            pattern: None,
            datagram,
            queue: 1,
            timeout_ns: 1,
        }
    }

    impl Payload for Vec<u8> {
        fn take(&mut self, bytes: &[u8]) {
            self.extend_from_slice(bytes);
        }
    }

    /// A START answered, 1000 bytes, END answered, in pieces of `piece` bytes: what was counted, heard, and the
    /// payload.
    fn received_in_pieces(piece: usize) -> (Received, Vec<Heard>, Vec<u8>) {
        let orders = Orders::new(Direction::In, 100, u32::MAX);
        let (start, end) = (orders.starts[0].sequence, orders.ends[0].sequence);
        let mut all = answer(start, None);
        let begin = all.len();
        all.resize(begin + 1000, 0);
        fill_stream(0, &mut all[begin..]);
        all.extend(answer(end, Some(1000)));
        let mut receiver = StreamReceiver::new(config(Some(&orders), false));
        let stop = AtomicBool::new(false);
        let shared = Shared::new(&stop);
        let mut answers: Vec<Heard> = Vec::new();
        let mut payload = Vec::new();
        for bytes in all.chunks(piece) {
            let mut heard = |heard| answers.push(heard);
            receiver.take_to(bytes, &shared, &mut heard, &mut payload);
        }
        receiver.flush(&mut payload);
        (receiver.finish(), answers, payload)
    }

    #[test]
    fn answers_are_found_among_data_however_it_is_cut() {
        for piece in [1, 2, 7, 31, 32, 33, 104, 1000, 2000] {
            let (received, answers, payload) = received_in_pieces(piece);
            let mut sent = vec![0; 1000];
            fill_stream(0, &mut sent);
            assert_eq!(payload, sent, "the payload in pieces of {piece}");
            let counts = received.counts.unwrap();
            assert_eq!((received.bytes, counts.right()), (1000, 1000), "{piece}");
            let meanings: Vec<_> = answers.iter().map(|a| (a.begins, a.is_last)).collect();
            assert_eq!(meanings, [(true, false), (false, true)], "{piece}");
            assert_eq!(answers[1].answer.report.map(|r| r.bytes), Some(1000));
        }
    }

    #[test]
    fn without_orders_everything_is_data() {
        for datagram in [false, true] {
            let mut receiver = StreamReceiver::new(config(None, datagram));
            let stop = AtomicBool::new(false);
            let looks_like_one = answer(1, None);
            let shared = Shared::new(&stop);
            let data = receiver.take(&looks_like_one, &shared, &mut |_| panic!("no answer"));
            let received = receiver.finish();
            assert_eq!((data, received.bytes), (32, 32));
            assert_eq!(received.counts, None);
        }
    }

    /// What an answer means for a stream whose orders have the numbers from 5 on.
    fn meaning(of: &[u8], direction: Direction, datagram: bool) -> Option<(bool, bool)> {
        let orders = Orders::new(direction, 100, 5);
        let mut receiver = StreamReceiver::new(config(Some(&orders), datagram));
        let stop = AtomicBool::new(false);
        let mut meaning = None;
        let data = receiver.take(of, &Shared::new(&stop), &mut |heard| {
            meaning = Some((heard.begins, heard.is_last));
        });
        assert_eq!(data, 0);
        meaning
    }

    #[test]
    fn no_answer_of_a_datagram_stream_is_the_last_thing_that_comes() {
        let end = answer(7, Some(0));
        assert_eq!(meaning(&end, Direction::In, true), Some((false, false)));
        assert_eq!(meaning(&end, Direction::In, false), Some((false, true)));
    }

    #[test]
    fn a_refused_start_begins_nothing() {
        let mut bytes = answer(5, None);
        let mut header = Response::decode(&bytes).unwrap();
        header.status = Status::TooLarge;
        header.encode(bytes.as_mut_slice().try_into().unwrap());
        assert_eq!(meaning(&bytes, Direction::In, false), Some((false, false)));
    }

    #[test]
    fn an_answer_of_the_other_stream_does_not_begin_this_one_and_a_foreign_one_is_not_heard() {
        let of_source = |sequence| meaning(&answer(sequence, None), Direction::Both, false);
        // Number 5 is of the sink.
        assert_eq!(of_source(5), None);
        assert_eq!(of_source(6), Some((true, false)));
        assert_eq!(of_source(4), None);
    }
}
