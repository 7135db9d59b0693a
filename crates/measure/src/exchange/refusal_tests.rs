//! Datagrams that are refused (ICMP), in virtual time: before the first answer nobody is there, and the point ends at
//! once; after it an exchange is lost.

use super::driver::LoopEnd;
use super::timed_link::{MS, TIMEOUT, Timed, US, plan};
use super::virtual_time;
use std::ops::Range;
use wiregauge_link::LinkErrorKind;
use wiregauge_link::host::TestClock;
use wiregauge_record::{Connect, Sample, Status, Wait};
use wiregauge_session::Echo;

const WAITS: [Wait; 3] = [Wait::Block, Wait::Poll, Wait::Spin];

/// The end, the rows and how long it took, where these requests are refused.
fn measure(wait: Wait, datagram: bool, refused: Range<u64>) -> (LoopEnd, Vec<Sample>, u64) {
    let plan = plan(Connect::Once, wait, Some(MS));
    let clock = TestClock::default();
    let mut link = Timed::new(clock.clone(), |_| Some(100 * US));
    link.refused = refused;
    let codec = Echo::new(0, 8, datagram);
    let context = (codec, 1, None);
    let (end, _, rows) =
        virtual_time::measure((&mut link, datagram), &plan, context, clock.clone());
    (end, rows, clock.advance(0))
}

fn assert_failed(end: &LoopEnd) {
    let LoopEnd::Failed(error) = end else {
        panic!("the link failed");
    };
    assert_eq!(error.kind(), LinkErrorKind::Unreachable, "{error}");
}

#[test]
fn a_datagram_that_is_refused_before_the_first_answer_ends_the_point_at_once() {
    for wait in WAITS {
        let (end, rows, took_ns) = measure(wait, true, 0..1);
        assert_failed(&end);
        assert_eq!(rows.len(), 1, "{wait:?}");
        assert!(took_ns < TIMEOUT, "{wait:?}: {took_ns} ns");
    }
}

#[test]
fn a_datagram_that_is_refused_later_is_a_lost_exchange() {
    for wait in WAITS {
        let (end, rows, _) = measure(wait, true, 5..7);
        assert!(matches!(end, LoopEnd::Complete), "{wait:?}");
        let lost = rows.iter().filter(|row| row.status == Status::Lost);
        let lost: Vec<u64> = lost.map(|row| row.sequence).collect();
        assert_eq!((rows.len(), lost), (21, vec![5, 6]), "{wait:?}");
    }
}

#[test]
fn a_stream_that_is_refused_has_failed() {
    for wait in WAITS {
        let (end, _, _) = measure(wait, false, 5..6);
        assert_failed(&end);
    }
}
