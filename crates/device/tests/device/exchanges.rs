//! Exchanges, batches and the pipeline with a responder that speaks the wiregauge protocol.

use crate::parts::{
    MAX_WAIT, Responder, assert_echo, assert_fails, batch, options, payload, waiting,
};
use std::time::{Duration, Instant};
use wiregauge_device::{Device, Framing, Replies, Requests, Timing};
use wiregauge_link::LinkErrorKind;
use wiregauge_record::{Protocol, Wait};
use wiregauge_responder::{FaultRate, Faults};

const LINKS: [&str; 4] = ["tcp", "udp", "unix", "pty"];

/// A batch of `count` requests of `bytes` each; the replies must be their echo.
fn echo_many(device: &mut Device, count: usize, bytes: usize, reply: usize, depth: u32) {
    let requests: Vec<u8> = (0..count).flat_map(|n| payload(n, bytes)).collect();
    let came = batch(device, &requests, (bytes, reply), depth);
    came.done.unwrap();
    for n in 0..count {
        assert_eq!(came.lengths[n], reply);
        let sent = payload(n, bytes);
        let row = &came.rows[n * reply..(n + 1) * reply];
        let is_echo = row.iter().zip(sent.iter().cycle()).all(|(a, b)| a == b);
        assert!(is_echo, "row {n}");
        let timings = &came.timings;
        assert!(timings[n].rtt_ns > 0, "{n}");
        assert!(n == 0 || timings[n].start_ns >= timings[n - 1].start_ns);
    }
}

#[test]
fn a_message_comes_back_repeated_or_cut_on_every_kind_of_link() {
    for link in LINKS {
        let responder = Responder::plain(link);
        let mut device = responder.device();
        let name = &device.about().responder.as_ref().unwrap().name;
        assert_eq!(name, "device test");
        let mut last = 0;
        for (request, reply, expected) in [
            (&b"ping"[..], None, &b"ping"[..]),
            (b"ping", Some(2), b"pi"),
            (b"ping", Some(10), b"pingpingpi"),
            (b"", None, b""),
            (b"", Some(3), b"\0\0\0"),
            (b"x", Some(0), b""),
        ] {
            let came = device.exchange(request, reply).unwrap();
            assert_eq!(came.payload, expected, "{link}");
            assert!(came.timing.start_ns >= last && came.timing.rtt_ns > 0);
            assert!(came.timing.device_tx_ticks >= came.timing.device_rx_ticks);
            assert!(came.timing.device_rx_ticks > 0);
            last = came.timing.start_ns;
        }
        assert_echo(&mut device, &payload(1, 30_000));
    }
}

#[test]
fn a_batch_comes_back_in_its_rows_at_any_depth() {
    for link in LINKS {
        let responder = Responder::plain(link);
        let mut device = responder.device();
        for depth in [1, 2, 7, 64, 1000] {
            echo_many(&mut device, 200, 33, 20, depth);
        }
        echo_many(&mut device, 1, 1, 5000, 8);
        assert_echo(&mut device, b"and after");
    }
}

#[test]
fn full_buffers_in_both_directions_do_not_lock_each_other() {
    for link in ["tcp", "unix", "pty"] {
        let responder = Responder::plain(link);
        let mut device = responder.device();
        // More than both buffers hold, at least twice the depth.
        let count = if link == "pty" { 70 } else { 140 };
        echo_many(&mut device, count, 64 << 10, 64 << 10, 64);
    }
}

#[test]
fn replies_that_overtake_each_other_are_given_in_the_order_of_the_requests() {
    let responder = Responder::faulty("udp", |faults| {
        faults.reorder = Some(FaultRate::Every(3));
        faults.duplicate = Some(FaultRate::Every(5));
    });
    let mut device = responder.device();
    echo_many(&mut device, 300, 12, 12, 8);
    for n in 0..40_u32 {
        device.submit(&n.to_le_bytes(), None).unwrap();
    }
    assert_eq!(device.outstanding(), 40);
    for n in 0..40_u32 {
        assert_eq!(device.next_reply().unwrap().payload, n.to_le_bytes());
    }
    assert_eq!(device.outstanding(), 0);
}

#[test]
fn submitted_requests_are_answered_in_order_whatever_their_size() {
    for link in LINKS {
        let responder = Responder::plain(link);
        let mut device = responder.device();
        for round in 0..3 {
            let sizes: Vec<usize> = (0..120).map(|n| (n * 37 + round) % 4000).collect();
            for (n, size) in sizes.iter().enumerate() {
                device.submit(&payload(n, *size), Some(*size)).unwrap();
                // Taken now and then, so that the window moves.
                if n % 3 == 2 && link == "udp" {
                    let oldest = n + 1 - device.outstanding();
                    let reply = device.next_reply().unwrap();
                    assert_eq!(reply.payload, payload(oldest, sizes[oldest]));
                }
            }
            while device.outstanding() > 0 {
                let oldest = sizes.len() - device.outstanding();
                let reply = device.next_reply().unwrap();
                assert_eq!(reply.payload, payload(oldest, sizes[oldest]), "{link}");
            }
        }
        assert_fails(device.next_reply(), LinkErrorKind::Usage, "");
    }
}

#[test]
fn while_requests_are_outstanding_nothing_else_is_begun() {
    let responder = Responder::plain("unix");
    let mut device = responder.device();
    device.submit(b"one", None).unwrap();
    let words = "receive their replies first";
    assert_fails(device.exchange(b"two", None), LinkErrorKind::Usage, words);
    assert_eq!(device.next_reply().unwrap().payload, b"one");
    assert_echo(&mut device, b"two");
}

#[test]
fn damage_on_the_way_is_an_error_and_costs_no_other_exchange() {
    const OFTEN: Option<FaultRate> = Some(FaultRate::Every(4));
    let faults: [fn(&mut Faults); 5] = [
        |faults| faults.corrupt = OFTEN,
        |faults| faults.lose_byte = OFTEN,
        |faults| faults.insert_byte = OFTEN,
        |faults| faults.drop = OFTEN,
        |faults| faults.duplicate = OFTEN,
    ];
    std::thread::scope(|scope| {
        for (which, set) in faults.into_iter().enumerate() {
            for link in LINKS {
                scope.spawn(move || damaged(link, set, which));
            }
        }
    });
}

fn damaged(link: &str, set: fn(&mut Faults), which: usize) {
    let responder = Responder::faulty(link, set);
    let mut device = responder.device_with(&options(None, MAX_WAIT));
    device.set_timeout(Duration::from_millis(600)).unwrap();
    for n in 1..=12 {
        let sent = payload(n, 200);
        // The last one, a second answer, is no damage.
        let struck = n % 4 == 0 && which < 4;
        match device.exchange(&sent, None) {
            Ok(reply) => {
                assert_eq!(reply.payload, sent);
                assert!(!struck, "{link}: fault {which} at {n} was not seen");
            }
            Err(error) => {
                assert!(struck, "{link}: fault {which} at {n}: {error}");
                let kinds = [LinkErrorKind::Timeout, LinkErrorKind::Protocol];
                assert!(kinds.contains(&error.kind()), "{error}");
            }
        }
    }
}

#[test]
fn a_batch_tells_how_far_it_came() {
    let often = Some(FaultRate::Every(10));
    let responder = Responder::faulty("tcp", |faults| faults.corrupt = often);
    let mut device = responder.device();
    let came = batch(&mut device, &[7; 120], (4, 4), 4);
    let (answered, error) = came.done.unwrap_err();
    let seen = (answered, error.kind());
    assert_eq!(seen, (9, LinkErrorKind::Protocol), "{error}");
    assert_eq!(came.rows[..36], [7; 36]);
    // Those that were under way answer nothing of what follows.
    for n in 11..19 {
        match device.exchange(&[n], None) {
            Ok(reply) => assert_eq!(reply.payload, [n]),
            Err(error) => assert_eq!(error.kind(), LinkErrorKind::Protocol, "{error}"),
        }
    }
}

#[test]
fn a_timeout_is_held_however_it_is_waited_for() {
    let all = Some(FaultRate::Every(1));
    for link in LINKS {
        let responder = Responder::faulty(link, |faults| faults.drop = all);
        for wait in [Wait::Block, Wait::Poll, Wait::Spin] {
            for timeout in [3, 60, 150] {
                let timeout = Duration::from_millis(timeout);
                let mut device = responder.device_with(&waiting(wait));
                device.set_timeout(timeout).unwrap();
                let begun = Instant::now();
                let done = device.exchange(b"anyone?", None);
                assert!(begun.elapsed() >= timeout);
                assert!(begun.elapsed() < timeout + MAX_WAIT);
                assert_fails(done, LinkErrorKind::Timeout, "no reply within");
            }
        }
    }
}

#[test]
fn a_waiting_call_ends_when_it_is_interrupted_and_the_device_can_be_used_on() {
    for wait in [Wait::Block, Wait::Spin] {
        let responder = Responder::slow("tcp", 700_000_000);
        let mut device = responder.device_with(&waiting(wait));
        let mut asked = 0;
        device.set_interrupt(Some(Box::new(move || {
            asked += 1;
            asked == 2
        })));
        let begun = Instant::now();
        let done = device.exchange(b"slow", None);
        let elapsed = begun.elapsed();
        assert_fails(done, LinkErrorKind::Interrupted, "");
        assert!(elapsed < Duration::from_millis(600), "{elapsed:?}");
        assert_echo(&mut device, b"again");
    }
}

#[test]
fn a_batch_whose_every_wait_is_short_can_be_interrupted() {
    const COUNT: usize = 1_000_000;
    let responder = Responder::plain("unix");
    let mut device = responder.device();
    device.set_interrupt(Some(Box::new(|| true)));
    let came = batch(&mut device, &vec![0; 4 * COUNT], (4, 4), 1);
    let (answered, error) = came.done.unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Interrupted);
    assert!(answered > 0 && answered < COUNT, "{answered}");
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_sent() {
    let responder = Responder::plain("tcp");
    let mut device = responder.device();
    let (most_out, most_in) = (device.about().largest_request, device.about().largest_reply);
    assert_eq!((most_out, most_in), ((1 << 20) - 18, (1 << 20) - 34));
    let words = "exceeds the maximum of the device";
    for (request, reply) in [(vec![0; most_out + 1], None), (vec![], Some(most_in + 1))] {
        assert_fails(
            device.exchange(&request, reply),
            LinkErrorKind::Usage,
            words,
        );
    }
    let reply = device.exchange(&vec![9; most_out], Some(most_in));
    assert_eq!(reply.unwrap().payload.len(), most_in);
    device.close();
    device.close();
    assert_fails(device.exchange(b"x", None), LinkErrorKind::Closed, "");
    assert_fails(device.submit(b"x", None), LinkErrorKind::Closed, "");
    assert_fails(device.next_reply(), LinkErrorKind::Closed, "");
}

#[test]
fn a_batch_whose_parts_do_not_fit_together_is_refused() {
    let responder = Responder::plain("unix");
    let mut device = responder.device();
    let mut refuse = |ends: &[usize], rows: usize, lengths: usize, timings: usize, depth: u32| {
        let (mut rows, mut lengths) = (vec![0; rows], vec![0; lengths]);
        let mut timings = vec![Timing::default(); timings];
        let replies = Replies {
            bytes: &mut rows,
            row_bytes: 4,
            lengths: &mut lengths,
            timings: &mut timings,
        };
        let requests = Requests {
            bytes: &[0; 8],
            ends,
        };
        let done = device.exchange_many(requests, replies, depth);
        done.is_err_and(|(answered, error)| answered == 0 && error.kind() == LinkErrorKind::Usage)
    };
    assert!(!refuse(&[4, 8], 8, 2, 2, 1));
    assert!(!refuse(&[], 0, 0, 0, 1));
    assert!(refuse(&[4, 8], 8, 2, 2, 0), "depth 0");
    assert!(refuse(&[8, 4], 8, 2, 2, 1), "descending");
    assert!(refuse(&[4, 9], 8, 2, 2, 1), "beyond the bytes");
    assert!(refuse(&[4, 8], 7, 2, 2, 1), "too few rows");
    assert!(refuse(&[4, 8], 8, 1, 2, 1), "too few lengths");
    assert!(refuse(&[4, 8], 8, 2, 1, 1), "too few times");
}

#[test]
fn a_device_that_is_gone_is_an_error_and_not_a_silence() {
    for link in ["tcp", "unix"] {
        let responder = Responder::faulty(link, |faults| faults.disconnect_after = Some(3));
        let mut device = responder.device();
        for n in 0..3 {
            device.exchange(&[n], None).unwrap();
        }
        for _ in 0..2 {
            let done = device.exchange(b"gone?", None);
            assert_fails(done, LinkErrorKind::Disconnected, "");
        }
    }
}

#[test]
fn a_child_of_a_fork_is_told_that_the_device_is_its_parents() {
    let responder = Responder::plain("unix");
    let mut device = responder.device();
    device.exchange(b"before", None).unwrap();
    // SAFETY: the child calls nothing but the device and _exit; the error that it makes allocates, which
    // glibc's allocator allows in the child of a threaded process.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = match device.exchange(b"child", None) {
            Err(error) if error.kind() == LinkErrorKind::Closed => 7,
            _ => 8,
        };
        drop(device);
        // SAFETY: it ends the child at once.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: the pointer is valid for the call.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 7);
    assert_echo(&mut device, b"parent");
}

#[test]
fn nothing_to_talk_to_is_told_when_it_is_opened() {
    let endless = Some(Framing::Terminator { end: vec![] });
    let echo = Responder::speaking("tcp", Protocol::Echo);
    for (address, framing, kind, words) in [
        ("tcp://127.0.0.1:1", None, LinkErrorKind::Unreachable, ""),
        ("udp://127.0.0.1:1", None, LinkErrorKind::Unreachable, ""),
        ("null://", None, LinkErrorKind::Usage, ""),
        ("ftp://x", None, LinkErrorKind::Usage, ""),
        ("null://", endless, LinkErrorKind::Usage, ""),
        (&echo.address, None, LinkErrorKind::Protocol, "a framing"),
    ] {
        let options = options(framing, Duration::from_millis(200));
        assert_fails(Device::open(address, &options), kind, words);
    }
}
