//! Both ends of a stream in virtual time, against a device that loses orders and answers, is late, silent, reset.

use super::*;
use std::cell::{Cell, RefCell};
use wiregauge_record::{Direction, Way};
use wiregauge_wire as wire;
use wiregauge_wire::{Kind, Request, Response, Status, StreamOrder, StreamReport, Verb};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
const TIMEOUT: u64 = S;
const LASTS: u64 = 50 * MS;
/// The device takes a transfer in this time.
const TAKES: u64 = MS;
const DELAY: u64 = 10_000;
/// Nothing that is tested lasts longer.
const NEVER: u64 = 200 * S;

const OTHER_FAILURE: StreamFailure = StreamFailure::NothingTaken { within_ns: 7 };

/// What the two ends share, and the device.
#[derive(Default)]
struct World {
    now: Cell<u64>,
    began: Cell<Option<u64>>,
    heard: Cell<u64>,
    failure: Cell<Option<StreamFailure>>,
    link_lost: Cell<bool>,
    stop_at: Option<u64>,
    /// Numbers of the orders, from 0, that are lost on their way, and of those whose answer is.
    lost_orders: Vec<usize>,
    lost_answers: Vec<usize>,
    /// How much later than usual END is answered.
    end_late: u64,
    /// The device neither takes nor answers anything from then on.
    silent_from: Option<u64>,
    /// It forgets its streams then.
    reset_at: Option<u64>,
    /// It sends a byte that belongs to nothing now and then.
    chatters: bool,
    refuses: Option<Status>,
    /// The system reports an error then.
    link_fails_at: Option<u64>,
    /// The other end fails then, but not the link.
    other_fails_at: Option<u64>,
    /// END was announced.
    ending: Cell<bool>,
    orders: RefCell<Vec<(u64, StreamOrder, u32)>>,
    in_flight: RefCell<Vec<(u64, Vec<u8>)>>,
    answers: RefCell<Vec<Answer>>,
    taken: RefCell<Vec<(u64, u64)>>,
}

impl Coordination for World {
    fn is_stopped(&self) -> bool {
        self.stop_at.is_some_and(|at| self.now.get() >= at)
    }
    fn is_failed(&self) -> bool {
        self.failure.get().is_some() || self.link_lost.get()
    }
    fn is_link_lost(&self) -> bool {
        self.link_lost.get()
    }
    fn began_ns(&self) -> Option<u64> {
        self.began.get()
    }
    fn heard_ns(&self) -> u64 {
        self.heard.get()
    }
}

impl World {
    fn is_silent(&self) -> bool {
        self.silent_from.is_some_and(|at| self.now.get() >= at)
    }

    fn order(&self, bytes: &[u8]) {
        let now = self.now.get();
        let header = Request::decode(bytes).unwrap();
        let order = StreamOrder::decode(&bytes[wire::REQUEST_HEADER..]).unwrap();
        let number = self.orders.borrow().len();
        self.orders.borrow_mut().push((now, order, header.sequence));
        if self.is_silent() || self.lost_orders.contains(&number) {
            return;
        }
        let taken = self.taken.borrow();
        let kept = taken.iter().filter(|(at, _)| {
            self.reset_at
                .is_none_or(|reset| now < reset || *at >= reset)
        });
        let report = StreamReport {
            bytes: kept.map(|(_, bytes)| bytes).sum(),
            ..StreamReport::default()
        };
        let (payload, delay) = match order.verb {
            Verb::Start => (Vec::new(), DELAY),
            Verb::End => (report.encode().to_vec(), DELAY + self.end_late),
        };
        let response = Response {
            kind: header.kind,
            sequence: header.sequence,
            in_payload: payload.len() as u32,
            status: self.refuses.unwrap_or(Status::Ok),
            flags: 0,
            rx_ticks: 0,
            tx_ticks: 0,
        };
        let mut bytes = vec![0; wire::RESPONSE_HEADER];
        response.encode(bytes.as_mut_slice().try_into().unwrap());
        bytes.extend(payload);
        if !self.lost_answers.contains(&number) {
            self.in_flight.borrow_mut().push((now + delay, bytes));
        }
    }

    /// Time passes, and what arrives until then is received; early if `wanted` is answered.
    fn pass(&self, receiver: &mut StreamReceiver, ns: u64, wanted: Option<u32>) -> Option<Answer> {
        let until = self.now.get() + ns;
        loop {
            let mut answers = self.answers.borrow_mut();
            let mut numbers = answers.iter().map(|answer| Some(answer.header.sequence));
            let found = wanted.and_then(|_| numbers.position(|number| number == wanted));
            if let Some(found) = found {
                return Some(answers.swap_remove(found));
            }
            drop(answers);
            let mut in_flight = self.in_flight.borrow_mut();
            let due = in_flight.iter().enumerate().min_by_key(|(_, (at, _))| *at);
            let arrives = due.filter(|(_, (at, _))| *at <= until);
            let Some(index) = arrives.map(|(index, _)| index) else {
                break;
            };
            let (at, bytes) = in_flight.swap_remove(index);
            self.now.set(at.max(self.now.get()));
            self.heard.set(self.now.get());
            receiver.take(&bytes, false, &mut |heard| {
                if heard.begins && self.began.get().is_none() {
                    self.began.set(Some(self.now.get()));
                }
                self.answers.borrow_mut().push(heard.answer);
            });
        }
        self.now.set(until);
        if self.chatters {
            self.heard.set(until);
        }
        None
    }

    /// Numbers of the orders of a kind, in the order in which they were given.
    fn given(&self, verb: Verb) -> Vec<u32> {
        let orders = self.orders.borrow();
        let of_verb = orders.iter().filter(|(_, order, _)| order.verb == verb);
        of_verb.map(|(_, _, sequence)| *sequence).collect()
    }
}

fn config(direction: Direction, datagram: bool, sequence: u32) -> SenderConfig {
    SenderConfig {
        orders: Some(Orders::new(direction, 100, sequence)),
        sends_data: direction.ways().contains(&Way::Out),
        transfer_bytes: 100,
        queue: 4,
        datagram,
        timeout_ns: TIMEOUT,
        lasts_ns: LASTS,
    }
}

/// Runs a point to its end.
fn run(world: &World, config: SenderConfig) -> StreamSender {
    let mut receiver = StreamReceiver::new(config.orders.as_ref(), true, config.datagram);
    let queue = config.queue;
    let mut sender = StreamSender::new(config);
    let (mut pending, mut sent, mut ending) = (0, 0, false);
    loop {
        let now = world.now.get();
        assert!(now < NEVER, "it never ends");
        if world.link_fails_at.is_some_and(|at| now >= at) && !world.link_lost.replace(true) {
            sender.link_failed(now);
        }
        if world.other_fails_at.is_some_and(|at| now >= at) {
            world.failure.set(Some(OTHER_FAILURE));
        }
        match sender.next(now, world) {
            SenderNext::Data { position, bytes } => {
                assert_eq!(position, sent);
                assert!(!ending && pending < queue);
                sent += bytes as u64;
                pending += 1;
                sender.submitted(now);
            }
            SenderNext::Order(order) => {
                assert_eq!(ending, order.verb == Verb::End, "END is announced first");
                world.order(&order.encode());
                pending += 1;
                sender.submitted(now);
            }
            SenderNext::Complete { .. } if pending > 0 && !world.is_silent() => {
                world.pass(&mut receiver, TAKES, None);
                pending -= 1;
                if let Some(over) = sender.completed(world.now.get()) {
                    let bytes = u64::from(over.bytes);
                    world.taken.borrow_mut().push((world.now.get(), bytes));
                }
            }
            SenderNext::Complete { at_most_ns } | SenderNext::Sleep { at_most_ns } => {
                world.pass(&mut receiver, at_most_ns, None);
            }
            SenderNext::Await {
                sequence,
                at_most_ns,
            } => {
                assert_eq!(
                    pending, 0,
                    "the order went out before its answer is awaited"
                );
                if let Some(answer) = world.pass(&mut receiver, at_most_ns, Some(sequence)) {
                    sender.answered(answer);
                }
            }
            SenderNext::Begin => world.began.set(Some(now)),
            SenderNext::End => {
                ending = true;
                world.ending.set(true);
            }
            SenderNext::Cancel => {
                pending = 0;
                sender.cancelled(0);
            }
            SenderNext::Fail(failure) => {
                assert_eq!(world.failure.replace(Some(failure)), None, "one failure");
            }
            SenderNext::Done => return sender,
        }
    }
}

fn bytes_taken(world: &World) -> u64 {
    world.taken.borrow().iter().map(|(_, bytes)| bytes).sum()
}

#[track_caller]
fn assert_clean(world: &World, sender: &StreamSender) {
    assert_eq!(world.failure.get(), None);
    assert_eq!(sender.handed_over(), bytes_taken(world));
    let report = sender.reports()[Way::Out as usize].unwrap();
    assert_eq!(report.bytes, bytes_taken(world));
}

#[test]
fn a_stream_is_begun_and_ended_in_order_and_all_of_it_is_reported() {
    for sequence in [7, u32::MAX, u32::MAX - 1, u32::MAX - 2] {
        for datagram in [false, true] {
            let world = World::default();
            let sender = run(&world, config(Direction::Both, datagram, sequence));
            assert_clean(&world, &sender);
            let numbers = |from: u32| [from, from.wrapping_add(1)];
            assert_eq!(world.given(Verb::Start), numbers(sequence));
            assert_eq!(world.given(Verb::End), numbers(sequence.wrapping_add(2)));
            assert_eq!(bytes_taken(&world), 100 * (LASTS / TAKES + 3));
            assert!((LASTS..LASTS + TAKES).contains(&sender.lasted_ns()));
            assert!(sender.reports().iter().all(Option::is_some));
        }
    }
}

#[test]
fn any_one_order_or_answer_may_be_lost() {
    for datagram in [true, false] {
        for number in 0..4 {
            for of_answer in [false, true] {
                let lost = vec![number];
                let mut world = World {
                    // On a byte stream only a device that goes on sending is asked again.
                    chatters: !datagram,
                    ..World::default()
                };
                match of_answer {
                    true => world.lost_answers = lost,
                    false => world.lost_orders = lost,
                }
                let sender = run(&world, config(Direction::Both, datagram, 1));
                assert_clean(&world, &sender);
                let orders = world.orders.borrow();
                assert_eq!(orders.len(), 5, "one is repeated");
                let (first, again) = (orders[number], orders[number + 1]);
                assert_eq!(first.2, again.2, "with its own number");
                let waited = again.0 - first.0;
                match datagram {
                    true => assert!(waited < 2 * S / 10, "{waited}"),
                    false if number < 2 => assert!(waited > TIMEOUT, "{waited}"),
                    false => assert!(waited > 30 * S, "a backlog may be in the way: {waited}"),
                }
            }
        }
    }
}

#[test]
fn a_device_that_goes_on_sending_and_never_answers_is_asked_three_times() {
    let world = World {
        chatters: true,
        lost_answers: (0..100).collect(),
        ..World::default()
    };
    run(&world, config(Direction::In, false, 1));
    assert_eq!(world.given(Verb::Start), [1, 1, 1]);
    assert!(matches!(
        world.failure.get(),
        Some(StreamFailure::NoAnswer { order, .. }) if order.sequence == 1
    ));
    assert!(world.now.get() < 4 * TIMEOUT + S);
}

#[test]
fn a_device_that_says_nothing_to_start_has_failed_after_the_timeout() {
    for datagram in [false, true] {
        let world = World {
            silent_from: Some(0),
            ..World::default()
        };
        let sender = run(&world, config(Direction::Both, datagram, 1));
        let failure = world.failure.get().unwrap();
        let StreamFailure::NoAnswer { order, within_ns } = failure else {
            panic!("{failure:?}");
        };
        assert_eq!((order.way, within_ns), (Way::Out, TIMEOUT));
        assert!(world.now.get() <= TIMEOUT + 200 * MS);
        assert_eq!(sender.handed_over(), 0);
        assert_eq!(world.given(Verb::End), [0; 0]);
    }
}

#[test]
fn the_answer_to_end_may_be_late_by_the_backlog_of_a_byte_stream() {
    for (late, is_missed) in [(25 * S, false), (31 * S + 500 * MS, true)] {
        let world = World {
            end_late: late,
            ..World::default()
        };
        let sender = run(&world, config(Direction::Out, false, 1));
        assert_eq!(world.failure.get().is_some(), is_missed, "{late}");
        assert_eq!(sender.reports()[Way::Out as usize].is_none(), is_missed);
    }
    let world = World {
        end_late: TIMEOUT + 500 * MS,
        ..World::default()
    };
    run(&world, config(Direction::Out, true, 1));
    assert!(world.failure.get().is_some(), "datagrams have none");
}

#[test]
fn a_device_that_stops_taking_data_has_failed_and_is_still_told_to_end() {
    let world = World {
        silent_from: Some(20 * MS),
        ..World::default()
    };
    let sender = run(&world, config(Direction::Both, false, 1));
    // It is silent for less than the timeout when the time is over.
    let failure = world.failure.get();
    assert_eq!(
        failure,
        Some(StreamFailure::NothingTaken { within_ns: TIMEOUT })
    );
    assert_eq!(
        world.given(Verb::End),
        [3],
        "and not asked to take a second one"
    );
    assert!(world.now.get() < TIMEOUT + 2 * S);
    assert_eq!(sender.reports(), [None; 2]);
}

#[test]
fn a_device_that_stops_taking_data_is_noticed_while_the_stream_lasts() {
    let world = World {
        silent_from: Some(20 * MS),
        ..World::default()
    };
    let config = SenderConfig {
        lasts_ns: 100 * S,
        ..config(Direction::Out, false, 1)
    };
    run(&world, config);
    assert!(matches!(
        world.failure.get(),
        Some(StreamFailure::NothingTaken { .. })
    ));
    assert!(world.now.get() < TIMEOUT + 2 * S);
}

#[test]
fn a_link_that_failed_is_given_no_order() {
    for direction in [Direction::In, Direction::Out] {
        for fails in (0..LASTS).step_by(300_000) {
            let world = World {
                link_fails_at: Some(fails),
                ..World::default()
            };
            run(&world, config(direction, false, 1));
            assert_eq!(world.given(Verb::End), [0; 0], "{fails}");
            assert!(world.now.get() < fails + 200 * MS);
            let flowed = fails > 5 * MS;
            assert!(
                world.ending.get() || !flowed,
                "the receiver is to know: {fails}"
            );
        }
    }
}

#[test]
fn when_the_other_end_fails_the_device_is_told_to_end_and_nobody_waits() {
    for direction in [Direction::In, Direction::Both] {
        let world = World {
            other_fails_at: Some(20 * MS),
            lost_answers: vec![2, 3],
            ..World::default()
        };
        run(&world, config(direction, true, 1));
        assert_eq!(world.failure.get(), Some(OTHER_FAILURE));
        assert_eq!(world.given(Verb::End).len(), direction.ways().len());
        assert!(world.now.get() < 20 * MS + 200 * MS);
    }
}

#[test]
fn a_stop_at_any_time_ends_the_point_soon_and_leaves_no_stream() {
    for direction in [Direction::In, Direction::Out, Direction::Both] {
        for datagram in [false, true] {
            for stop in (0..LASTS + 20 * MS).step_by(300_000) {
                let world = World {
                    stop_at: Some(stop),
                    ..World::default()
                };
                run(&world, config(direction, datagram, 1));
                assert_eq!(world.failure.get(), None, "{stop}");
                assert!(world.now.get() < stop + 200 * MS, "{stop}");
                if world.began.get().is_some() {
                    let ends = world.given(Verb::End).len();
                    assert_eq!(ends, direction.ways().len(), "{stop}");
                }
            }
        }
    }
}

#[test]
fn a_stop_does_not_wait_long_for_a_device_that_is_silent() {
    for silent in [0, 5 * MS, 20 * MS] {
        let stop = silent + 10 * MS;
        let world = World {
            stop_at: Some(stop),
            silent_from: Some(silent),
            ..World::default()
        };
        run(&world, config(Direction::Both, false, 1));
        assert_eq!(world.failure.get(), None, "{silent}");
        assert!(world.now.get() < stop + 4 * S, "{}", world.now.get());
    }
}

#[test]
fn what_a_reset_device_forgot_is_missing_in_its_report() {
    let world = World {
        reset_at: Some(20 * MS),
        ..World::default()
    };
    let sender = run(&world, config(Direction::Out, false, 1));
    let report = sender.reports()[Way::Out as usize].unwrap();
    assert_eq!(world.failure.get(), None);
    assert!(report.bytes > 0 && report.bytes < sender.handed_over());
}

#[test]
fn a_source_on_datagrams_is_kept_alive_with_its_own_start() {
    for (datagram, starts) in [(true, 5), (false, 1)] {
        let world = World::default();
        let sender = run(
            &world,
            SenderConfig {
                lasts_ns: 9 * S,
                ..config(Direction::In, datagram, 42)
            },
        );
        assert_eq!(world.given(Verb::Start), vec![42; starts]);
        assert_eq!(sender.handed_over(), 0, "orders are no data");
    }
}

#[test]
fn a_refused_start_is_reported_and_nothing_flows() {
    let world = World {
        refuses: Some(Status::TooLarge),
        ..World::default()
    };
    let sender = run(&world, config(Direction::Out, false, 1));
    let refused = world.failure.get().unwrap();
    assert!(matches!(
        refused,
        StreamFailure::Refused {
            status: Status::TooLarge,
            ..
        }
    ));
    assert_eq!((sender.handed_over(), world.given(Verb::End).len()), (0, 0));
}

#[test]
fn without_a_device_data_flows_and_no_order_is_given() {
    let world = World::default();
    let sender = run(
        &world,
        SenderConfig {
            orders: None,
            ..config(Direction::Out, false, 1)
        },
    );
    assert!(world.orders.borrow().is_empty());
    assert_eq!(sender.handed_over(), 100 * (LASTS / TAKES + 3));
    assert_eq!(world.failure.get(), None);
}

#[test]
fn an_answer_of_the_other_stream_does_not_begin_this_one() {
    let orders = Orders::new(Direction::Both, 100, 1);
    let mut receiver = StreamReceiver::new(Some(&orders), true, false);
    let response = Response {
        kind: Kind::Sink,
        sequence: orders.starts[0].sequence,
        in_payload: 0,
        status: Status::Ok,
        flags: 0,
        rx_ticks: 0,
        tx_ticks: 0,
    };
    let mut bytes = vec![0; wire::RESPONSE_HEADER];
    response.encode(bytes.as_mut_slice().try_into().unwrap());
    let mut begins = Vec::new();
    receiver.take(&bytes, false, &mut |heard| begins.push(heard.begins));
    assert_eq!(begins, [false]);
}
