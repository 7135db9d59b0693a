//! What went wrong once, in virtual time: each of these was seen in the engine before this one.

mod common;

use std::collections::VecDeque;
use wiregauge_record::{Connect, Limit, Plan, Point, Sample, Schedule, Status};
use wiregauge_session::{Echo, End, Generator, Lines, Measurement, Next};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

/// The time that a device needs for an answer.
const RTT: u64 = 100_000;

fn plan(connect: Connect, schedule: Schedule, count: u64, timeout_ns: u64) -> Plan {
    Plan {
        connect,
        schedule,
        limit: Limit::Count(count),
        ..common::plan(timeout_ns)
    }
}

fn point(out_bytes: u32, in_bytes: u32) -> Point {
    common::point(out_bytes, in_bytes, 1)
}

/// A point of 64 B each way.
fn echoes(plan: &Plan) -> Measurement<Echo> {
    Measurement::new(plan, point(64, 64), false, 1, Echo::new(0, 64, false))
}

/// The other end: given what was sent and when, the answers and when they arrive. `None`: it takes nothing now.
type Peer<'a> = &'a mut dyn FnMut(&[u8], u64) -> Option<Vec<(u64, Vec<u8>)>>;

/// Runs a point to its end in virtual time.
fn run<C: Generator>(session: &mut Measurement<C>, peer: Peer<'_>) -> Vec<Sample> {
    let (mut now, mut samples) = (0, Vec::new());
    let mut arriving: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
    for _ in 0..1_000_000 {
        match session.next(now) {
            Next::Done => {
                while let Some(row) = session.poll(now) {
                    samples.push(row.sample);
                }
                return samples;
            }
            Next::Connect => session.connected(now, now),
            Next::Disconnect => arriving.clear(),
            Next::Sleep { until_ns } => now = until_ns,
            Next::Send => {
                let bytes = session.outgoing().to_vec();
                match peer(&bytes, now) {
                    None => session.sent(now, 0),
                    Some(answers) => {
                        session.sent(now, bytes.len());
                        arriving.extend(answers);
                    }
                }
            }
            next @ (Next::Receive { .. } | Next::Rest { .. } | Next::Drain) => {
                let (until_ns, or_writable) = match next {
                    Next::Receive {
                        until_ns,
                        or_writable,
                        ..
                    } => (until_ns, or_writable),
                    Next::Rest { until_ns } => (until_ns, false),
                    _ => (now, false),
                };
                let retry = if or_writable { now + MS } else { u64::MAX };
                let count = match arriving.front() {
                    Some((at, _)) if *at <= until_ns.min(retry) => {
                        let (at, bytes) = arriving.pop_front().expect("it was just seen");
                        now = now.max(at);
                        session.space()[..bytes.len()].copy_from_slice(&bytes);
                        bytes.len()
                    }
                    _ => {
                        now = until_ns.min(retry);
                        0
                    }
                };
                session.received(now, count);
                while let Some(row) = session.poll(now) {
                    samples.push(row.sample);
                }
            }
        }
    }
    panic!("the session never ends");
}

fn count(samples: &[Sample], status: Status) -> usize {
    samples.iter().filter(|s| s.status == status).count()
}

#[test]
fn a_straggler_of_an_earlier_point_neither_answers_nor_damages_an_echo_over_udp() {
    for stale_bytes in [48, 64] {
        let plan = plan(Connect::Once, Schedule::AsFastAsPossible, 9, 200 * MS);
        let mut earlier = vec![0; stale_bytes];
        Echo::new(100, stale_bytes as u32, true).request(3, &mut earlier);
        let codec = Echo::new(70_000, 64, true);
        let mut session = Measurement::new(&plan, point(64, 64), true, 1, codec);
        let samples = run(&mut session, &mut |bytes, now| {
            let stale = (now + RTT / 2, earlier.clone());
            Some(vec![stale, (now + RTT, bytes.to_vec())])
        });
        let intact = samples.iter().filter(|s| s.rtt_ns == RTT);
        assert_eq!((count(&samples, Status::Ok), intact.count()), (10, 10));
        assert_eq!(samples.len(), 10);
        assert_eq!(session.stray_bytes(), 10 * stale_bytes as u64);
    }
}

#[test]
fn a_doubled_last_answer_is_counted_within_five_milliseconds() {
    for (again_after, doubled) in [(4 * MS, 1), (6 * MS, 0)] {
        let plan = plan(Connect::Once, Schedule::AsFastAsPossible, 9, SECOND);
        let mut session = echoes(&plan);
        let mut number = 0;
        let samples = run(&mut session, &mut |bytes, now| {
            number += 1;
            let answer = (now + RTT, bytes.to_vec());
            let again = (number == 10).then(|| (now + RTT + again_after, bytes.to_vec()));
            Some(std::iter::once(answer).chain(again).collect())
        });
        assert_eq!(session.end(), Some(&End::Complete));
        assert_eq!(count(&samples, Status::Ok), 10);
        assert_eq!(count(&samples, Status::Duplicated), doubled);
    }
}

#[test]
fn one_send_that_takes_nothing_after_a_long_pause_is_no_failure() {
    // Three timeouts lie between two exchanges.
    let plan = plan(Connect::Once, Schedule::EveryNs(3 * SECOND), 9, SECOND);
    let mut session = echoes(&plan);
    let mut calls = 0;
    let samples = run(&mut session, &mut |bytes, now| {
        calls += 1;
        (calls % 2 == 0).then(|| vec![(now + RTT, bytes.to_vec())])
    });
    assert_eq!(session.end(), Some(&End::Complete));
    assert_eq!(count(&samples, Status::Ok), 10);
}

#[test]
fn a_greeting_before_the_request_is_not_the_first_byte_of_the_answer() {
    let plan = plan(Connect::Each, Schedule::AsFastAsPossible, 9, 200 * MS);
    let codec = Lines::new(0, 8, 8, false);
    let mut session = Measurement::new(&plan, point(8, 8), false, 1, codec);
    assert_eq!(session.next(0), Next::Connect);
    session.connected(0, 10);
    assert_eq!(session.next(10), Next::Drain);
    receive(&mut session, b"hello\n", 20);
    assert!(session.poll(20).is_none());
    assert_eq!(session.next(20), Next::Drain);
    session.drained();
    assert_eq!(session.next(20), Next::Send);
    session.sent(100, 8);
    receive(&mut session, b"0000", 150);
    assert!(session.poll(150).is_none());
    receive(&mut session, b"000\n", 300);
    let row = session.poll(300).expect("the answer is whole").sample;
    let seen = (row.status, row.rtt_ns, row.access_ns);
    assert_eq!(seen, (Status::Ok, 200, 50));
    assert_eq!(session.stray_bytes(), 6);
}

fn receive<C: Generator>(session: &mut Measurement<C>, bytes: &[u8], now: u64) {
    session.space()[..bytes.len()].copy_from_slice(bytes);
    session.received(now, bytes.len());
}
