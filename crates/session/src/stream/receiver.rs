//! The receiving end: tells data from the answers that stand among it, counts and checks the data.

use super::{Answer, Orders};
use wiregauge_wire::{
    Header, Response, STREAM_FRAME, Status, StreamChecker, StreamCounts, StreamReport, Taken,
};

/// The largest datagram that is looked at for an answer.
const ANSWER_BYTES: usize = 512;

/// An answer that was received, and what it means for the stream.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// The answer.
    pub answer: Answer,
    /// The stream begins with it.
    pub begins: bool,
    /// Nothing comes after it.
    pub is_last: bool,
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
}

/// The receiving end of one point.
#[derive(Debug)]
pub struct StreamReceiver {
    checker: StreamChecker,
    check: bool,
    datagram: bool,
    /// Number of the order whose answer begins the stream.
    first: u32,
    /// Number of the order whose answer is the last thing that the device says.
    last: Option<u32>,
    /// Bytes of the stream that were counted, but not checked.
    unchecked: u64,
    /// An answer whose payload is not complete.
    frame: Option<Frame>,
}

#[derive(Debug)]
struct Frame {
    header: Response,
    payload: [u8; STREAM_FRAME],
    there: usize,
}

impl StreamReceiver {
    /// For a point with these orders, if there is a device to order.
    pub fn new(orders: Option<&Orders>, check: bool, datagram: bool) -> StreamReceiver {
        StreamReceiver {
            checker: StreamChecker::new(),
            check,
            datagram,
            first: orders.map_or(0, Orders::last_start),
            // Datagrams may overtake each other, so that some may come after the last answer.
            last: orders.and_then(Orders::last_end).filter(|_| !datagram),
            unchecked: 0,
            frame: None,
        }
    }

    /// Takes what was received; returns how much of it was data. Answers go to `heard`. `only_data`: the stream
    /// flows, and no answer but that of a datagram can be among it.
    #[inline]
    pub fn take(&mut self, bytes: &[u8], only_data: bool, heard: &mut impl FnMut(Heard)) -> usize {
        if self.datagram
            && bytes.len() <= ANSWER_BYTES
            && let Some((header, payload)) = whole_frame(bytes)
        {
            heard(self.heard(header, payload));
            return 0;
        }
        if !self.check && only_data {
            self.unchecked += bytes.len() as u64;
            return bytes.len();
        }
        self.sort(bytes, heard)
    }

    /// An answer whose header is cut in two is data at first; the check's own count knows better, so
    /// that only a row near the end may show a few bytes too many.
    fn sort(&mut self, mut bytes: &[u8], heard: &mut impl FnMut(Heard)) -> usize {
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
                    Taken::All => return data + bytes.len(),
                    Taken::Frame { header, used } => {
                        data += used.saturating_sub(Response::SIZE);
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
                heard(self.heard(frame.header, &frame.payload[..frame.there]));
            }
        }
        data
    }

    fn heard(&self, header: Response, payload: &[u8]) -> Heard {
        let report = StreamReport::decode(payload);
        Heard {
            answer: Answer { header, report },
            begins: header.sequence == self.first && header.status == Status::Ok,
            is_last: Some(header.sequence) == self.last,
        }
    }

    /// Ends the stream: what is still undecided fits nowhere.
    pub fn finish(mut self) -> Received {
        let tail = self.checker.tail();
        let counts = self.checker.finish();
        Received {
            bytes: self.unchecked + counts.received,
            counts: self.check.then_some(counts),
            tail,
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

    /// A START answered, 1000 bytes, END answered, in pieces of `piece` bytes.
    fn received_in_pieces(piece: usize, check: bool) -> (Received, Vec<Heard>) {
        let orders = Orders::new(Direction::In, 100, u32::MAX);
        let (start, end) = (orders.starts[0].sequence, orders.ends[0].sequence);
        let mut all = answer(start, None);
        let begin = all.len();
        all.resize(begin + 1000, 0);
        fill_stream(0, &mut all[begin..]);
        all.extend(answer(end, Some(1000)));
        let mut receiver = StreamReceiver::new(Some(&orders), check, false);
        let mut answers: Vec<Heard> = Vec::new();
        for bytes in all.chunks(piece) {
            receiver.take(bytes, false, &mut |heard| answers.push(heard));
        }
        (receiver.finish(), answers)
    }

    #[test]
    fn answers_are_found_among_data_however_it_is_cut() {
        for piece in [1, 2, 7, 31, 32, 33, 104, 1000, 2000] {
            let (received, answers) = received_in_pieces(piece, true);
            let counts = received.counts.unwrap();
            assert_eq!((received.bytes, counts.right()), (1000, 1000), "{piece}");
            let meanings: Vec<_> = answers.iter().map(|a| (a.begins, a.is_last)).collect();
            assert_eq!(meanings, [(true, false), (false, true)], "{piece}");
            assert_eq!(answers[1].answer.report.map(|r| r.bytes), Some(1000));
        }
    }

    #[test]
    fn bytes_that_are_only_counted_have_no_counts() {
        let mut receiver = StreamReceiver::new(None, false, false);
        let data = receiver.take(&[9; 100], true, &mut |_| panic!("no answer"));
        let received = receiver.finish();
        assert_eq!((data, received.bytes), (100, 100));
        assert_eq!(received.counts, None);
    }

    #[test]
    fn no_answer_of_a_datagram_stream_is_the_last_thing_that_comes() {
        let orders = Orders::new(Direction::In, 100, 5);
        let mut receiver = StreamReceiver::new(Some(&orders), true, true);
        let mut answers: Vec<Heard> = Vec::new();
        let end = answer(orders.ends[0].sequence, Some(0));
        let data = receiver.take(&end, true, &mut |heard| answers.push(heard));
        assert_eq!((data, answers.len(), answers[0].is_last), (0, 1, false));
    }

    #[test]
    fn a_refused_start_begins_nothing() {
        let orders = Orders::new(Direction::In, 100, 5);
        let mut receiver = StreamReceiver::new(Some(&orders), true, false);
        let mut bytes = answer(orders.last_start(), None);
        let mut header = Response::decode(&bytes).unwrap();
        header.status = Status::TooLarge;
        header.encode(bytes.as_mut_slice().try_into().unwrap());
        let mut begun = Vec::new();
        receiver.take(&bytes, false, &mut |heard| begun.push(heard.begins));
        assert_eq!(begun, [false]);
    }
}
