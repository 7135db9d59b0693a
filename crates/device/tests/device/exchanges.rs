//! Exchanges, batches and the pipeline with a responder that speaks the wiregauge protocol.

use crate::parts::{MAX_WAIT, Responder, options, payload};
use std::time::{Duration, Instant};
use wiregauge_device::{Device, DeviceOptions, Framing, Replies, Requests, Timing};
use wiregauge_link::LinkErrorKind;
use wiregauge_record::{Protocol, Wait};
use wiregauge_responder::{FaultRate, Faults, Model};

const LINKS: [&str; 4] = ["tcp", "udp", "unix", "pty"];

/// A batch of `count` requests of `bytes` each; the replies must be their echo.
fn echo_many(device: &mut Device, count: usize, bytes: usize, reply: usize, depth: u32) {
    let requests: Vec<u8> = (0..count).flat_map(|n| payload(n, bytes)).collect();
    let ends: Vec<usize> = (1..=count).map(|n| n * bytes).collect();
    let mut rows = vec![0; count * reply];
    let (mut lengths, mut timings) = (vec![0; count], vec![Timing::default(); count]);
    let replies = Replies {
        bytes: &mut rows,
        row_bytes: reply,
        lengths: &mut lengths,
        timings: &mut timings,
    };
    let requests = Requests {
        bytes: &requests,
        ends: &ends,
    };
    device.exchange_many(requests, replies, depth).unwrap();
    for n in 0..count {
        assert_eq!(lengths[n], reply);
        let sent = payload(n, bytes);
        let row = &rows[n * reply..(n + 1) * reply];
        assert!(
            row.iter().zip(sent.iter().cycle()).all(|(a, b)| a == b),
            "row {n}"
        );
        assert!(timings[n].rtt_ns > 0, "{n}");
        assert!(n == 0 || timings[n].start_ns >= timings[n - 1].start_ns);
    }
}

#[test]
fn a_message_comes_back_repeated_or_cut_on_every_kind_of_link() {
    for link in LINKS {
        let responder = Responder::plain(link);
        let mut device = responder.device();
        assert_eq!(
            device.about().responder.as_ref().unwrap().name,
            "device test"
        );
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
        let large = payload(1, 30_000);
        assert_eq!(
            device.exchange(&large, None).unwrap().payload,
            large,
            "{link}"
        );
    }
}

#[test]
fn every_way_to_wait_gets_the_reply() {
    for wait in [Wait::Block, Wait::Poll, Wait::Spin] {
        for link in LINKS {
            let responder = Responder::plain(link);
            let options = DeviceOptions {
                wait,
                ..options(None, MAX_WAIT)
            };
            let mut device = responder.device_with(&options);
            for n in 0..20 {
                let sent = payload(n, 40);
                assert_eq!(device.exchange(&sent, None).unwrap().payload, sent);
            }
        }
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
        assert_eq!(
            device.exchange(b"and after", None).unwrap().payload,
            b"and after"
        );
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
    let faults = Faults {
        reorder: Some(FaultRate::Every(3)),
        duplicate: Some(FaultRate::Every(5)),
        ..Faults::default()
    };
    let responder = Responder::faulty("udp", faults);
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
        assert_eq!(
            device.next_reply().unwrap_err().kind(),
            LinkErrorKind::Usage
        );
    }
}

#[test]
fn while_requests_are_outstanding_nothing_else_is_begun() {
    let responder = Responder::plain("unix");
    let mut device = responder.device();
    device.submit(b"one", None).unwrap();
    let error = device.exchange(b"two", None).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Usage);
    assert!(
        error.to_string().contains("receive their replies first"),
        "{error}"
    );
    assert_eq!(device.next_reply().unwrap().payload, b"one");
    assert_eq!(device.exchange(b"two", None).unwrap().payload, b"two");
}

#[test]
fn a_late_reply_answers_nothing_else() {
    std::thread::scope(|scope| {
        for link in LINKS {
            scope.spawn(move || late_replies(link));
        }
    });
}

/// Every fourth takes longer than the timeout, and those behind it wait for it.
fn late_replies(link: &str) {
    let stall = Duration::from_millis(250);
    let faults = Faults {
        stall: Some((FaultRate::Every(4), stall.as_nanos() as u64)),
        ..Faults::default()
    };
    let responder = Responder::faulty(link, faults);
    let mut device = responder.device_with(&options(None, MAX_WAIT));
    device.set_timeout(Duration::from_millis(100)).unwrap();
    let (mut late, mut right) = (0, 0);
    for n in 0..24 {
        let sent = payload(n, 50);
        match device.exchange(&sent, None) {
            Ok(reply) => {
                assert_eq!(reply.payload, sent, "{link}");
                right += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), LinkErrorKind::Timeout, "{error}");
                late += 1;
            }
        }
    }
    assert!(
        late >= 4 && right >= 4,
        "{link}: {late} late, {right} right"
    );
}

#[test]
fn damage_on_the_way_is_an_error_and_costs_no_other_exchange() {
    let often = Some(FaultRate::Every(4));
    let none = Faults::default;
    let faults = [
        Faults {
            corrupt: often,
            ..none()
        },
        Faults {
            lose_byte: often,
            ..none()
        },
        Faults {
            insert_byte: often,
            ..none()
        },
        Faults {
            drop: often,
            ..none()
        },
        Faults {
            duplicate: often,
            ..none()
        },
    ];
    std::thread::scope(|scope| {
        for (which, faults) in faults.into_iter().enumerate() {
            for link in LINKS {
                scope.spawn(move || damaged(link, faults, which));
            }
        }
    });
}

fn damaged(link: &str, faults: Faults, which: usize) {
    let responder = Responder::faulty(link, faults);
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
    let faults = Faults {
        corrupt: Some(FaultRate::Every(10)),
        ..Faults::default()
    };
    let responder = Responder::faulty("tcp", faults);
    let mut device = responder.device();
    let ends: Vec<usize> = (1..=30).map(|n| 4 * n).collect();
    let (mut rows, mut lengths) = (vec![0; 120], vec![0; 30]);
    let replies = Replies {
        bytes: &mut rows,
        row_bytes: 4,
        lengths: &mut lengths,
        timings: &mut [],
    };
    let requests = Requests {
        bytes: &[7; 120],
        ends: &ends,
    };
    let (answered, error) = device.exchange_many(requests, replies, 4).unwrap_err();
    assert_eq!(
        (answered, error.kind()),
        (9, LinkErrorKind::Protocol),
        "{error}"
    );
    assert_eq!(rows[..36], [7; 36]);
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
    let drop = Faults {
        drop: Some(FaultRate::Every(1)),
        ..Faults::default()
    };
    for link in LINKS {
        let responder = Responder::faulty(link, drop);
        for wait in [Wait::Block, Wait::Poll, Wait::Spin] {
            for timeout in [3, 60, 150] {
                let timeout = Duration::from_millis(timeout);
                let mut device = responder.device_with(&DeviceOptions {
                    wait,
                    ..options(None, MAX_WAIT)
                });
                device.set_timeout(timeout).unwrap();
                let begun = Instant::now();
                let error = device.exchange(b"anyone?", None).unwrap_err();
                assert!(begun.elapsed() >= timeout);
                assert!(begun.elapsed() < timeout + MAX_WAIT);
                assert_eq!(error.kind(), LinkErrorKind::Timeout);
                assert!(error.to_string().contains("no reply within"), "{error}");
            }
        }
    }
}

#[test]
fn a_waiting_call_ends_when_it_is_interrupted_and_the_device_can_be_used_on() {
    for wait in [Wait::Block, Wait::Spin] {
        let model = Model {
            service_ns: 700_000_000,
            ..Model::default()
        };
        let responder = Responder::new("tcp", Protocol::Wiregauge, model, Faults::default());
        let mut device = responder.device_with(&DeviceOptions {
            wait,
            ..options(None, MAX_WAIT)
        });
        let mut asked = 0;
        device.set_interrupt(Some(Box::new(move || {
            asked += 1;
            asked == 2
        })));
        let begun = Instant::now();
        let error = device.exchange(b"slow", None).unwrap_err();
        assert_eq!(error.kind(), LinkErrorKind::Interrupted);
        assert!(
            begun.elapsed() < Duration::from_millis(600),
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(device.exchange(b"again", None).unwrap().payload, b"again");
    }
}

#[test]
fn a_batch_whose_every_wait_is_short_can_be_interrupted() {
    const COUNT: usize = 1_000_000;
    let responder = Responder::plain("unix");
    let mut device = responder.device();
    device.set_interrupt(Some(Box::new(|| true)));
    let ends: Vec<usize> = (1..=COUNT).map(|n| 4 * n).collect();
    let requests = Requests {
        bytes: &vec![0; 4 * COUNT],
        ends: &ends,
    };
    let replies = Replies {
        bytes: &mut vec![0; 4 * COUNT],
        row_bytes: 4,
        lengths: &mut vec![0; COUNT],
        timings: &mut vec![Timing::default(); COUNT],
    };
    let (answered, error) = device.exchange_many(requests, replies, 1).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Interrupted);
    assert!(answered > 0 && answered < COUNT, "{answered}");
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_sent() {
    let responder = Responder::plain("tcp");
    let mut device = responder.device();
    let (most_out, most_in) = (device.about().largest_request, device.about().largest_reply);
    assert_eq!((most_out, most_in), ((1 << 20) - 18, (1 << 20) - 34));
    let usage = |device: &mut Device, request: &[u8], reply| {
        let error = device.exchange(request, reply).unwrap_err();
        assert_eq!(error.kind(), LinkErrorKind::Usage, "{error}");
        error.to_string()
    };
    assert!(
        usage(&mut device, &vec![0; most_out + 1], None)
            .contains("exceeds the maximum of the device")
    );
    assert!(
        usage(&mut device, b"", Some(most_in + 1)).contains("exceeds the maximum of the device")
    );
    let largest = vec![9; most_out];
    assert_eq!(
        device
            .exchange(&largest, Some(most_in))
            .unwrap()
            .payload
            .len(),
        most_in
    );
    device.close();
    device.close();
    let error = device.exchange(b"x", None).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Closed);
    assert_eq!(
        device.submit(b"x", None).unwrap_err().kind(),
        LinkErrorKind::Closed
    );
    assert_eq!(
        device.next_reply().unwrap_err().kind(),
        LinkErrorKind::Closed
    );
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
        let faults = Faults {
            disconnect_after: Some(3),
            ..Faults::default()
        };
        let responder = Responder::faulty(link, faults);
        let mut device = responder.device();
        for n in 0..3 {
            device.exchange(&[n], None).unwrap();
        }
        for _ in 0..2 {
            let error = device.exchange(b"gone?", None).unwrap_err();
            assert_eq!(error.kind(), LinkErrorKind::Disconnected, "{error}");
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
    assert_eq!(device.exchange(b"parent", None).unwrap().payload, b"parent");
}

#[test]
fn nothing_to_talk_to_is_told_when_it_is_opened() {
    let open = |address: &str, framing: Option<Framing>| {
        Device::open(address, &options(framing, Duration::from_millis(200)))
            .err()
            .unwrap()
    };
    assert_eq!(
        open("tcp://127.0.0.1:1", None).kind(),
        LinkErrorKind::Unreachable
    );
    assert_eq!(
        open("udp://127.0.0.1:1", None).kind(),
        LinkErrorKind::Unreachable
    );
    assert_eq!(open("null://", None).kind(), LinkErrorKind::Usage);
    assert_eq!(open("ftp://x", None).kind(), LinkErrorKind::Usage);
    let endless = Some(Framing::Terminator { end: vec![] });
    assert_eq!(open("null://", endless).kind(), LinkErrorKind::Usage);
    let echo = Responder::new("tcp", Protocol::Echo, Model::default(), Faults::default());
    let error = open(&echo.address, None);
    assert_eq!(error.kind(), LinkErrorKind::Protocol);
    assert!(error.to_string().contains("a framing"), "{error}");
}
