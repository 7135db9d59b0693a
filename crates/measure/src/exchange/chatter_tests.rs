//! A device that is inside of a message that nobody asked for, in virtual time: no request is sent into it, wherever this
//! thread does not run for a while.

use super::driver::LoopEnd;
use super::timed_link::{MS, TIMEOUT, Timed, plan};
use super::virtual_time;
use wiregauge_link::LinkErrorKind;
use wiregauge_link::host::TestClock;
use wiregauge_record::{Connect, Wait};
use wiregauge_session::Lines;

#[test]
fn a_pause_of_this_thread_is_no_silence_of_the_device() {
    for wait in [Wait::Block, Wait::Poll, Wait::Spin] {
        for read in 0..50 {
            let clock = TestClock::pausing_at(read, TIMEOUT);
            let plan = plan(Connect::Once, wait, Some(MS));
            let mut link = Timed::new(clock.clone(), |_| None);
            link.chatter = b"blah";
            clock.advance(5 * MS);
            let codec = Lines::new(0, 8, 8, false);
            let (end, _, _) =
                virtual_time::measure((&mut link, false), &plan, (codec, 1, None), clock);
            let LoopEnd::Failed(error) = end else {
                panic!("{wait:?}, read {read}: it did not fail");
            };
            assert_eq!(error.kind(), LinkErrorKind::Protocol, "{error}");
            assert!(link.sent.is_empty(), "{wait:?}, read {read}");
        }
    }
}
