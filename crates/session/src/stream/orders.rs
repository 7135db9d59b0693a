//! The orders that begin and end a stream, as bytes, and their answers.

use wiregauge_record::{Direction, Way};
use wiregauge_wire as wire;
use wiregauge_wire::{BusCounts, Kind, Request, Response, StreamOrder, StreamReport, Verb};

/// Bytes of an order on the wire.
pub const ORDER: usize = wire::REQUEST_HEADER + wire::STREAM_ORDER;

/// Orders of one point at most, and numbers that they take.
pub const ORDERS: usize = 4;

/// An answer to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its header.
    pub header: Response,
    /// What the device counted, where the order was END.
    pub report: Option<StreamReport>,
    /// What it counted on its modelled bus, where it was asked.
    pub bus: Option<BusCounts>,
}

/// An answer that was received, and what it means for the stream.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// The answer.
    pub answer: Answer,
    /// The stream begins with it.
    pub begins: bool,
    /// Nothing comes after it.
    pub is_last: bool,
    /// So many of the bytes stand behind it.
    pub behind: usize,
}

/// The last answer that came to each order of one point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answers {
    of: [Option<Answer>; ORDERS],
}

impl Answers {
    /// Keeps an answer instead of an earlier one to the same order.
    pub fn put(&mut self, answer: Answer) {
        let is_same = |kept: &Answer| kept.header.sequence == answer.header.sequence;
        let same = self
            .of
            .iter()
            .position(|kept| kept.as_ref().is_some_and(is_same));
        // Not the first free place: two answers to one order would take the place of another order's.
        let place = same.or_else(|| self.of.iter().position(Option::is_none));
        if let Some(at) = place {
            self.of[at] = Some(answer);
        }
    }

    /// Takes the answer to the order of this number.
    pub fn take(&mut self, sequence: u32) -> Option<Answer> {
        let is_it = |kept: &mut Answer| kept.header.sequence == sequence;
        self.of.iter_mut().find_map(|kept| kept.take_if(is_it))
    }
}

/// One order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Which stream.
    pub way: Way,
    /// Begin or end it.
    pub verb: Verb,
    /// Its number, which the answer repeats.
    pub sequence: u32,
    /// Bytes of one transfer.
    pub transfer_bytes: u32,
    /// The device is asked for what it counted on its modelled bus, too.
    pub asks_bus: bool,
}

impl Order {
    /// Its bytes.
    pub fn encode(&self) -> [u8; ORDER] {
        let report = match self.verb {
            Verb::Start => 0,
            Verb::End if self.asks_bus => wire::STREAM_REPORT + wire::BUS_COUNTS,
            Verb::End => wire::STREAM_REPORT,
        };
        let mut bytes = [0; ORDER];
        let (header, payload) = bytes.split_at_mut(wire::REQUEST_HEADER);
        Request {
            kind: kind_of(self.way),
            sequence: self.sequence,
            out_payload: wire::STREAM_ORDER as u32,
            in_bytes: (wire::RESPONSE_HEADER + report) as u32,
        }
        .encode(header.try_into().expect("split at the header's size"));
        let order = StreamOrder {
            verb: self.verb,
            transfer_bytes: self.transfer_bytes,
            stop_after: 0,
        };
        payload.copy_from_slice(&order.encode());
        bytes
    }

    pub(super) fn is_answered_by(&self, header: &Response) -> bool {
        header.sequence == self.sequence && header.kind == kind_of(self.way)
    }

    /// What it is called in messages.
    pub fn name(&self) -> &'static str {
        match (self.way, self.verb) {
            (Way::In, Verb::Start) => "SOURCE START",
            (Way::In, Verb::End) => "SOURCE END",
            (Way::Out, Verb::Start) => "SINK START",
            (Way::Out, Verb::End) => "SINK END",
        }
    }
}

fn kind_of(way: Way) -> Kind {
    match way {
        Way::In => Kind::Source,
        Way::Out => Kind::Sink,
    }
}

/// All orders of one point, in the order in which they are given.
#[derive(Clone, Debug)]
pub struct Orders {
    /// Those that begin it. The sink stands first, because a source flows from its answer on.
    pub starts: Vec<Order>,
    /// Those that end it. The source stands first, so that little is in the way of the next answer.
    pub ends: Vec<Order>,
}

impl Orders {
    /// The orders for a point, numbered from `sequence`.
    pub fn new(direction: Direction, transfer_bytes: u32, sequence: u32) -> Orders {
        let order = |way: &Way, verb, number: u32| Order {
            way: *way,
            verb,
            sequence: sequence.wrapping_add(number),
            transfer_bytes,
            asks_bus: false,
        };
        let ways = direction.ways();
        let starts = ways.iter().rev().zip(0..);
        let ends = ways.iter().zip(2..);
        Orders {
            starts: starts.map(|(way, n)| order(way, Verb::Start, n)).collect(),
            ends: ends.map(|(way, n)| order(way, Verb::End, n)).collect(),
        }
    }

    /// Asks the device for what it counted on its modelled bus if `asks` is true: only one that offers it
    /// ([`wire::abilities::BUS_COUNTS`]) may be asked.
    pub fn asking_bus(mut self, asks: bool) -> Orders {
        for end in &mut self.ends {
            end.asks_bus = asks;
        }
        self
    }

    /// The one that is answered so.
    pub(super) fn answered_by(&self, header: &Response) -> Option<&Order> {
        let mut all = self.starts.iter().chain(&self.ends);
        all.find(|order| order.is_answered_by(header))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sink_begins_before_the_source_and_ends_after_it() {
        let orders = Orders::new(Direction::Both, 64, u32::MAX);
        let ways = |orders: &[Order]| orders.iter().map(|o| o.way).collect::<Vec<_>>();
        assert_eq!(ways(&orders.starts), [Way::Out, Way::In]);
        assert_eq!(ways(&orders.ends), [Way::In, Way::Out]);
        let mut numbers: Vec<u32> = orders
            .starts
            .iter()
            .chain(&orders.ends)
            .map(|o| o.sequence)
            .collect();
        numbers.dedup();
        assert_eq!(numbers.len(), ORDERS);
    }

    #[test]
    fn of_each_order_the_last_answer_is_kept() {
        let answer = |sequence, bytes| Answer {
            header: Response {
                kind: Kind::Source,
                sequence,
                in_payload: 0,
                status: wire::Status::Ok,
                flags: 0,
                rx_ticks: 0,
                tx_ticks: 0,
            },
            report: Some(StreamReport {
                bytes,
                ..StreamReport::default()
            }),
            bus: None,
        };
        let mut answers = Answers::default();
        // A source on datagrams is kept alive by its START, which is answered every time.
        for bytes in 0..100 {
            answers.put(answer(1, bytes));
        }
        answers.put(answer(3, 7));
        assert_eq!(answers.take(3), Some(answer(3, 7)));
        assert_eq!(answers.take(3), None);
        assert_eq!(answers.take(1), Some(answer(1, 99)));
        // Also where the answer to an earlier order was taken meanwhile.
        for sequence in [1, 2, 3] {
            answers.put(answer(sequence, 0));
        }
        answers.take(1);
        answers.put(answer(3, 1));
        answers.put(answer(4, 5));
        assert_eq!(answers.take(3), Some(answer(3, 1)));
        assert_eq!(answers.take(4), Some(answer(4, 5)));
        assert_eq!(answers.take(3), None);
    }

    #[test]
    fn an_order_is_a_request_that_asks_for_the_size_of_its_answer() {
        let orders = Orders::new(Direction::In, 4096, 7);
        let bytes = orders.ends[0].encode();
        let header = Request::decode(&bytes).unwrap();
        assert_eq!((header.kind, header.in_bytes), (Kind::Source, 104));
        let order = StreamOrder::decode(&bytes[wire::REQUEST_HEADER..]).unwrap();
        assert_eq!((order.verb, order.transfer_bytes), (Verb::End, 4096));
        let asking = orders.asking_bus(true);
        let in_bytes = |order: &Order| Request::decode(&order.encode()).unwrap().in_bytes;
        assert_eq!(in_bytes(&asking.ends[0]), 160);
        assert_eq!(in_bytes(&asking.starts[0]), 32);
    }
}
