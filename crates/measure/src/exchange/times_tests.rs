//! The measuring loop in virtual time: over a link whose calls take known times, each row must have the start, the end
//! and the status that the link saw.

use super::driver::LoopEnd;
use super::timed_link::{MS, OPEN, RECEIVE, TIMEOUT, Timed, US, plan};
use super::virtual_time;
use wiregauge_link::host::TestClock;
use wiregauge_record::{Connect, Sample, Status, Wait};
use wiregauge_session::{Echo, Generator, Lines};

/// What was measured: the rows, when each request was handed over, and when each reply had been received.
struct Measured {
    rows: Vec<Sample>,
    sent: Vec<u64>,
    received: Vec<u64>,
}

fn measure<C: Generator>(
    codec: C,
    wait: Wait,
    interval_ns: Option<u64>,
    service: impl FnMut(u64) -> Option<u64> + Send,
) -> Measured {
    measure_over(Connect::Once, codec, wait, interval_ns, service)
}

fn measure_over<C: Generator>(
    connect: Connect,
    codec: C,
    wait: Wait,
    interval_ns: Option<u64>,
    service: impl FnMut(u64) -> Option<u64> + Send,
) -> Measured {
    let plan = plan(connect, wait, interval_ns);
    let clock = TestClock::default();
    let mut link = Timed::new(clock.clone(), service);
    let (end, _, rows) = virtual_time::measure((&mut link, false), &plan, (codec, 1, None), clock);
    assert!(matches!(end, LoopEnd::Complete));
    Measured {
        rows,
        sent: link.sent,
        received: link.received,
    }
}

const WAITS: [Wait; 3] = [Wait::Block, Wait::Poll, Wait::Spin];

#[test]
fn an_rtt_is_from_just_before_the_send_to_just_after_the_receive() {
    for wait in WAITS {
        for interval_ns in [None, Some(MS)] {
            let codec = Echo::new(0, 8, false);
            let measured = measure(codec, wait, interval_ns, |n| Some(100 * US + 7 * n));
            assert_eq!(measured.rows.len(), 21);
            for (n, row) in measured.rows.iter().enumerate() {
                assert_eq!((row.sequence, row.status), (n as u64, Status::Ok));
                assert_eq!(row.start_ns, measured.sent[n], "{wait:?}, row {n}");
                let end_ns = row.start_ns + row.rtt_ns;
                assert_eq!(end_ns, measured.received[n], "{wait:?}, row {n}");
            }
        }
    }
}

#[test]
fn an_exchange_is_lost_when_its_timeout_is_over_and_not_before() {
    for wait in WAITS {
        let codec = Echo::new(0, 8, false);
        let answers = |n| (n != 5).then_some(100 * US);
        let measured = measure(codec, wait, Some(100 * MS), answers);
        let lost = &measured.rows[5];
        assert_eq!((lost.sequence, lost.status), (5, Status::Lost));
        assert_eq!(lost.start_ns, measured.sent[5]);
        let late = lost.rtt_ns - TIMEOUT;
        // A spinning loop reads the clock after some receives only.
        let receives = if wait == Wait::Spin { 100 } else { 5 };
        assert!(late <= receives * RECEIVE, "{wait:?}: {late} ns late");
        let others = measured.rows.iter().filter(|row| row.sequence != 5);
        assert!(others.clone().count() == 20 && others.clone().all(|row| row.status == Status::Ok));
    }
}

/// The device of the issue: 10 ms for each request, and 150 ms for every tenth.
#[test]
fn a_reply_that_comes_while_nothing_is_outstanding_answers_no_later_request() {
    for wait in WAITS {
        let codec = Lines::new(0, 8, 8, false);
        let service = |n| Some(if n % 10 == 9 { 150 * MS } else { 10 * MS });
        let measured = measure(codec, wait, Some(200 * MS), service);
        let of = |wanted: Status| {
            let rows = measured.rows.iter().filter(move |row| row.status == wanted);
            rows.map(|row| row.sequence).collect::<Vec<_>>()
        };
        assert_eq!(
            (of(Status::Lost), of(Status::Late)),
            (vec![9, 19], vec![9, 19])
        );
        for row in measured.rows.iter().filter(|row| row.status == Status::Ok) {
            let end_ns = row.start_ns + row.rtt_ns;
            assert_eq!(row.start_ns, measured.sent[row.sequence as usize]);
            assert_eq!(end_ns, measured.received[row.sequence as usize], "{wait:?}");
        }
    }
}

#[test]
fn a_late_reply_has_the_time_at_which_it_came_although_nothing_was_outstanding() {
    for wait in WAITS {
        let codec = Echo::new(0, 8, false);
        let service = |n| Some(if n == 5 { 60 * MS } else { MS });
        let measured = measure(codec, wait, Some(1_000 * MS), service);
        let late = measured.rows.iter().find(|row| row.status == Status::Late);
        let late = late.expect("a late row");
        assert_eq!((late.sequence, late.start_ns), (5, measured.sent[5]));
        assert_eq!(
            late.start_ns + late.rtt_ns,
            measured.received[5],
            "{wait:?}"
        );
        assert!(late.rtt_ns < 61 * MS);
    }
}

#[test]
fn the_time_to_connect_is_that_of_opening_the_link() {
    for wait in [Wait::Block, Wait::Poll] {
        let codec = Echo::new(0, 8, false);
        let measured = measure_over(Connect::Each, codec, wait, None, |_| Some(100 * US));
        assert_eq!(measured.rows.len(), 21);
        for (n, row) in measured.rows.iter().enumerate() {
            assert_eq!((row.status, row.connect_ns), (Status::Ok, OPEN), "row {n}");
            assert_eq!(row.start_ns, measured.sent[n]);
        }
    }
}
