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
fn a_lost_datagram_does_not_shift_the_replies_after_it() {
    let mut engine = engine(&Framing::Raw, true, TIMEOUT);
    send(&mut engine, 1, 0);
    assert_eq!(ended(&events(&mut engine, TIMEOUT)), [(0, Outcome::Lost)]);
    assert!(!engine.has_room(), "its reply may still come");
    let quiet = engine.wake_ns().expect("a time");
    assert_eq!(quiet, 2 * TIMEOUT);
    assert!(events(&mut engine, quiet).is_empty());
    send(&mut engine, 1, quiet);
    assert!(receive(&mut engine, b"1", quiet + MS).is_empty());
    let over = engine.wake_ns().expect("a time");
    assert_eq!(over, quiet + 21 * MS);
    let came = events(&mut engine, over);
    assert_eq!(times(&came), [(1, Outcome::Answered, quiet + MS)]);
}

/// Number, outcome and end of each exchange that ended.
fn times(events: &[Event]) -> Vec<(u64, Outcome, u64)> {
    let ended = events.iter().filter_map(|event| match event {
        Event::Ended(ended) => Some((ended.sequence, ended.outcome, ended.end_ns)),
        _ => None,
    });
    ended.collect()
}

#[test]
fn a_reply_that_comes_after_the_quiet_behind_a_loss_is_late_and_does_not_answer_the_next_request() {
    for datagram in [false, true] {
        let mut engine = engine(&Framing::Fixed { bytes: 1 }, datagram, TIMEOUT);
        send(&mut engine, 1, 0);
        events(&mut engine, TIMEOUT);
        events(&mut engine, 2 * TIMEOUT);
        send(&mut engine, 1, 2 * TIMEOUT);
        let late = 2 * TIMEOUT + 3 * MS;
        assert!(receive(&mut engine, b"0", late).is_empty());
        let came = receive(&mut engine, b"1", late + MS);
        let expected = [(0, Outcome::Late, late), (1, Outcome::Answered, late + MS)];
        assert_eq!(times(&came), expected);
        // The line is known again: the next one is answered at once.
        send(&mut engine, 1, late + 2 * MS);
        let came = receive(&mut engine, b"2", late + 3 * MS);
        assert_eq!(ended(&came), [(2, Outcome::Answered)]);
    }
}

#[test]
fn while_a_request_is_confirmed_no_other_is_sent() {
    let mut engine = engine(&Framing::Fixed { bytes: 1 }, false, TIMEOUT);
    send(&mut engine, 1, 0);
    events(&mut engine, TIMEOUT);
    events(&mut engine, 2 * TIMEOUT);
    send(&mut engine, 1, 2 * TIMEOUT);
    engine.stage(1, |codec, _, to| codec.frame(b"?", to));
    assert!(!engine.wants_to_send());
    receive(&mut engine, b"1", 2 * TIMEOUT + MS);
    assert!(!engine.wants_to_send());
    let came = events(&mut engine, 3 * TIMEOUT);
    assert_eq!(ended(&came), [(1, Outcome::Answered)]);
    assert!(engine.wants_to_send());
}

#[test]
fn a_message_that_nobody_asked_for_answers_nothing_even_if_its_end_comes_after_the_next_request() {
    let mut engine = engine(&Framing::Fixed { bytes: 4 }, false, TIMEOUT);
    assert!(engine.needs_drain());
    receive(&mut engine, b"no", MS);
    engine.received(MS, 0);
    engine.drained();
    assert!(!engine.needs_drain());
    let quiet = engine.gap_ends_ns();
    assert_eq!(quiet, Some(MS + TIMEOUT), "its rest may come");
    receive(&mut engine, b"ne", 2 * MS);
    assert_eq!((engine.gap_ends_ns(), engine.stray_bytes()), (None, 4));
    send(&mut engine, 4, 3 * MS);
    let came = receive(&mut engine, b"0000", 4 * MS);
    assert_eq!(ended(&came), [(0, Outcome::Answered)]);
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
fn what_comes_at_rest_without_a_known_end_delays_the_next_request_until_the_line_is_quiet() {
    let mut engine = engine(&Framing::Raw, false, TIMEOUT);
    // Of a reply that came too late to be expected.
    receive(&mut engine, b"la", MS);
    engine.received(MS, 0);
    engine.drained();
    assert_eq!(engine.gap_ends_ns(), Some(MS + TIMEOUT));
    receive(&mut engine, b"te", 2 * MS);
    let quiet = 2 * MS + TIMEOUT;
    assert_eq!(engine.gap_ends_ns(), Some(quiet));
    send(&mut engine, 4, quiet);
    assert_eq!(engine.stray_bytes(), 4);
    let came = receive(&mut engine, b"0000", quiet + MS);
    assert_eq!(ended(&came), [(0, Outcome::Answered)]);
    assert_eq!(engine.gap_ends_ns(), None);
}

#[test]
fn a_datagram_that_comes_at_rest_delays_nothing() {
    let mut engine = engine(&Framing::Raw, true, TIMEOUT);
    receive(&mut engine, b"late", MS);
    assert_eq!((engine.gap_ends_ns(), engine.stray_bytes()), (None, 4));
}

#[test]
fn the_rest_of_a_late_request_may_still_be_answered() {
    let mut engine = engine(&Framing::Fixed { bytes: 4 }, false, TIMEOUT);
    engine.stage(4, |_, _, to| to.extend_from_slice(b"????"));
    engine.sent(0, 1);
    assert_eq!(ended(&events(&mut engine, TIMEOUT)), [(0, Outcome::Lost)]);
    // The system takes the rest long after.
    let late = 10 * TIMEOUT;
    engine.sent(late, 3);
    events(&mut engine, late);
    assert_eq!(engine.wake_ns(), Some(late + TIMEOUT));
    let came = receive(&mut engine, b"0000", late + MS);
    assert_eq!(ended(&came), [(0, Outcome::Late)]);
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
fn a_reply_that_is_read_late_in_two_pieces_is_not_lost() {
    let mut engine = engine(&Framing::Fixed { bytes: 2 }, false, TIMEOUT);
    engine.set_reads_late(true);
    send(&mut engine, 2, 0);
    assert_eq!(receive(&mut engine, b"a", 2 * TIMEOUT), []);
    let events = receive(&mut engine, b"b", 2 * TIMEOUT);
    assert_eq!(ended(&events), [(0, Outcome::Answered)]);
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
fn a_line_that_nobody_read_for_long_is_not_one_that_is_never_quiet() {
    let mut engine = engine(&Framing::Fixed { bytes: 2 }, false, TIMEOUT);
    engine.set_reads_late(true);
    send(&mut engine, 2, 0);
    let lost = receive(&mut engine, b"", TIMEOUT);
    assert_eq!(ended(&lost), [(0, Outcome::Lost)]);
    // Half of the missing reply stood in the system's buffer for a minute.
    assert_eq!(receive(&mut engine, b"a", 1_000 * TIMEOUT), []);
    let late = receive(&mut engine, b"b", 1_000 * TIMEOUT);
    assert_eq!(ended(&late), [(0, Outcome::Late)]);
    assert!(engine.has_room());
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

/// Receives so many bytes of this value, 64 KiB at a time; returns the bytes after which they counted as too many.
fn flood(engine: &mut Engine<Splitter>, value: u8, bytes: usize) -> Option<usize> {
    let mut came = 0;
    while came < bytes {
        let piece = (bytes - came).min(1 << 16);
        came += piece;
        if receive(engine, &vec![value; piece], 1).contains(&Event::NeverQuiet) {
            return Some(came);
        }
    }
    None
}

#[test]
fn malformed_bytes_without_end_are_unsolicited_data() {
    let end = b"\n".to_vec();
    let mut engine = engine(&Framing::Terminator { end }, false, TIMEOUT);
    send(&mut engine, 1, 0);
    let limit = (4 << 20) + 16 * 16 * 4;
    assert_eq!(flood(&mut engine, b'x', limit), None);
    assert_eq!(flood(&mut engine, b'x', 1), Some(1));
}
