//! Gaps in the clock of a spinning loop, in virtual time: each is counted once, and an even loop has none.

use super::driver::LoopEnd;
use super::timed_link::{MS, STALL, Timed, US, plan};
use super::virtual_time;
use wiregauge_link::host::{ClockGaps, TestClock};
use wiregauge_record::{Connect, Wait};
use wiregauge_session::Echo;

/// What a read of the clock takes, and a receive.
const CALL: u64 = 100;

/// When a reply comes, and the next request goes.
const SERVICE: u64 = 500 * US;
const INTERVAL: u64 = 2 * MS;

fn gaps(interval_ns: Option<u64>, only_replies: bool, stalled_receive: Option<u64>) -> ClockGaps {
    let plan = plan(Connect::Once, Wait::Spin, interval_ns);
    let clock = TestClock::with_reads_of(CALL);
    let mut link = Timed::new(clock.clone(), |_| Some(SERVICE));
    link.receive_ns = CALL;
    link.only_replies = only_replies;
    link.stalled_receive = stalled_receive;
    let codec = Echo::new(0, 8, false);
    let (end, counters, rows) =
        virtual_time::measure((&mut link, false), &plan, (codec, 1, None), clock);
    assert!(matches!(end, LoopEnd::Complete));
    assert_eq!(rows.len(), 21);
    counters.gaps
}

#[test]
fn a_loop_that_spins_evenly_has_no_gaps_however_long_it_waits() {
    for interval_ns in [None, Some(INTERVAL)] {
        for only_replies in [false, true] {
            let found = gaps(interval_ns, only_replies, None);
            assert_eq!(
                (found.times, found.longest_ns),
                (0, 0),
                "{interval_ns:?}, {only_replies}"
            );
        }
    }
}

#[test]
fn a_stall_of_a_spinning_loop_is_one_gap() {
    // While a reply is awaited, and between two requests. The first receive of a turn is not timed.
    for stalled in [700, 4_000] {
        let found = gaps(Some(INTERVAL), false, Some(stalled));
        assert_eq!(found.times, 1, "receive {stalled}");
        let longest = STALL..STALL + 20 * US;
        assert!(longest.contains(&found.longest_ns), "{found:?}");
    }
}
