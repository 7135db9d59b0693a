//! Foreign framings in virtual time: after a lost or malformed reply, nothing later is taken for it.

use wiregauge_session::{Config, Ended, Engine, Event, Framing, LengthField, Outcome, Splitter};

const MS: u64 = 1_000_000;
const TIMEOUT: u64 = 50 * MS;

fn engine(framing: &Framing, datagram: bool, timeout_ns: u64) -> Engine<Splitter> {
    let config = Config {
        datagram,
        timeout_ns,
        batch: 1,
        span: 4,
        request_bytes: 16,
        answer_bytes: 16,
        staged: 4,
    };
    let codec = Splitter::new(framing, datagram, 1000).expect("a sound framing");
    Engine::new(config, codec)
}

/// Sends a request that asks for `awaited` bytes.
fn send(engine: &mut Engine<Splitter>, awaited: usize, now_ns: u64) {
    assert!(engine.has_room());
    engine.stage(awaited, |codec, _, to| codec.frame(b"?", to));
    while engine.wants_to_send() {
        let count = engine.outgoing().len();
        engine.sent(now_ns, count);
    }
}

/// Receives these bytes and returns all that happened up to then.
fn receive(engine: &mut Engine<Splitter>, bytes: &[u8], now_ns: u64) -> Vec<Event> {
    engine.space()[..bytes.len()].copy_from_slice(bytes);
    engine.received(now_ns, bytes.len());
    events(engine, now_ns)
}

fn events(engine: &mut Engine<Splitter>, now_ns: u64) -> Vec<Event> {
    std::iter::from_fn(|| engine.poll(now_ns)).collect()
}

/// Number and outcome of each exchange that ended.
fn ended(events: &[Event]) -> Vec<(u64, Outcome)> {
    let ended = events.iter().filter_map(|event| match event {
        Event::Ended(Ended {
            sequence, outcome, ..
        }) => Some((*sequence, *outcome)),
        _ => None,
    });
    ended.collect()
}

#[test]
fn a_message_that_answers_half_a_request_does_not_let_the_next_one_begin_within_the_message_after_it()
 {
    let mut engine = engine(&Framing::Fixed { bytes: 4 }, false, TIMEOUT);
    engine.set_batch(2);
    for _ in 0..2 {
        engine.stage(4, |_, _, to| to.extend_from_slice(b"????"));
    }
    assert_eq!(engine.outgoing().len(), 8, "both at once");
    engine.sent(0, 2);
    let came = receive(&mut engine, b"nononon", MS);
    assert_eq!(ended(&came), [(0, Outcome::Answered)]);
    assert_eq!(engine.outgoing().len(), 2, "no more than the rest");
    engine.sent(MS, 2);
    assert!(engine.begins());
    assert_eq!(engine.gap_ends_ns(), Some(MS + TIMEOUT));
    receive(&mut engine, b"o", 2 * MS);
    assert_eq!(engine.gap_ends_ns(), None);
    assert_eq!(engine.outgoing().len(), 4);
    engine.sent(2 * MS, 4);
    let came = receive(&mut engine, b"1111", 3 * MS);
    assert_eq!(ended(&came), [(1, Outcome::Answered)]);
}

#[test]
fn a_datagram_that_comes_at_rest_delays_nothing() {
    let mut engine = engine(&Framing::Raw, true, TIMEOUT);
    receive(&mut engine, b"late", MS);
    assert_eq!((engine.gap_ends_ns(), engine.stray_bytes()), (None, 4));
}

#[test]
fn a_line_on_which_more_came_than_was_missing_must_be_quiet() {
    let mut engine = engine(&Framing::Fixed { bytes: 4 }, false, TIMEOUT);
    send(&mut engine, 4, 0);
    events(&mut engine, TIMEOUT);
    let came = receive(&mut engine, b"0000no", TIMEOUT + MS);
    assert_eq!(ended(&came), [(0, Outcome::Late)]);
    assert!(engine.is_resyncing());
    let quiet = engine.wake_ns().expect("a time");
    assert_eq!(quiet, 2 * TIMEOUT + MS);
    events(&mut engine, quiet);
    assert!(engine.has_room());
}

#[test]
fn a_line_on_which_all_missing_replies_came_is_used_at_once() {
    let mut engine = engine(&Framing::Fixed { bytes: 4 }, false, TIMEOUT);
    send(&mut engine, 4, 0);
    send(&mut engine, 4, 0);
    let lost = events(&mut engine, TIMEOUT);
    assert_eq!(ended(&lost), [(0, Outcome::Lost), (1, Outcome::Lost)]);
    receive(&mut engine, b"00001", TIMEOUT + MS);
    assert!(!engine.has_room());
    receive(&mut engine, b"111", TIMEOUT + 2 * MS);
    assert!(engine.has_room());
}

#[test]
fn a_malformed_datagram_is_one_of_the_missing_replies() {
    let mut engine = engine(&Framing::Fixed { bytes: 4 }, true, TIMEOUT);
    send(&mut engine, 4, 0);
    send(&mut engine, 4, 0);
    events(&mut engine, TIMEOUT);
    let came = receive(&mut engine, b"000", TIMEOUT + MS);
    assert!(matches!(came[..], [Event::Malformed(..)]), "{came:?}");
    assert!(!engine.has_room(), "one is still missing");
    let came = receive(&mut engine, b"1111", TIMEOUT + 2 * MS);
    assert_eq!(ended(&came), [(1, Outcome::Late)]);
    assert!(engine.has_room());
}

#[test]
fn after_malformed_bytes_a_long_timeout_is_not_waited_for() {
    let second = 1000 * MS;
    let prefix = Framing::LengthPrefix(LengthField {
        bytes: 4,
        big_endian: true,
        counts_itself: false,
    });
    let mut engine = engine(&prefix, false, 20 * second);
    send(&mut engine, 0, 0);
    let came = receive(&mut engine, b"\xff\xff\xff\xffrest", MS);
    let [Event::Malformed(_, place)] = &came[..] else {
        panic!("{came:?}");
    };
    assert_eq!(engine.received_at(place.clone()), b"\xff\xff\xff\xffrest");
    engine.abandon(MS);
    assert_eq!(engine.wake_ns(), Some(201 * MS));
}

#[test]
fn bytes_between_exchanges_can_be_taken_by_a_stream() {
    let mut engine = engine(&Framing::Raw, false, TIMEOUT);
    send(&mut engine, 2, 0);
    engine.space()[..7].copy_from_slice(b"okabcde");
    engine.received(MS, 7);
    assert!(matches!(engine.poll(MS), Some(Event::Ended(_))));
    assert!(engine.has_unpolled());
    let mut into = [0; 3];
    assert_eq!((engine.take_received(&mut into), &into), (3, b"abc"));
    assert_eq!(engine.take_received(&mut into), 2);
    assert_eq!(&into[..2], b"de");
    assert!(!engine.has_unpolled());
}

#[test]
fn a_program_that_reads_late_loses_what_is_not_there() {
    let mut engine = engine(&Framing::Fixed { bytes: 2 }, false, TIMEOUT);
    engine.set_reads_late(true);
    send(&mut engine, 2, 0);
    assert_eq!(receive(&mut engine, b"a", TIMEOUT), []);
    let events = receive(&mut engine, b"", TIMEOUT);
    assert_eq!(ended(&events), [(0, Outcome::Lost)]);
}

#[test]
fn bytes_that_a_stream_took_are_no_unsolicited_data() {
    let mut engine = engine(&Framing::Raw, false, TIMEOUT);
    let mut into = [0; 1 << 16];
    for _ in 0..100 {
        assert_eq!(receive(&mut engine, &[], 0), []);
        engine.space()[..1 << 16].fill(0);
        engine.received(0, 1 << 16);
        assert_eq!(engine.take_received(&mut into), 1 << 16);
    }
    assert_eq!(events(&mut engine, 0), []);
}
