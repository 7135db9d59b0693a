//! Figures and verdicts of buses whose limit is known.

use crate::made::{Limit, Made, Pipe, Truth, Wire, bus};
use crate::reading::bus_of;
use crate::responders::request_response;
use fastrand::Rng;
use wiregauge_capture::{Bus, Judged, Parts, Speed, Verdict, Window, frame_ns};

fn explained(made: &Made) -> Bus {
    bus_of(&made.file, Window::default())
}

fn endpoint<'a>(bus: &'a Bus, made: &Made) -> &'a Judged {
    let wanted = |judged: &&Judged| {
        (judged.endpoint.device, judged.endpoint.endpoint) == (made.address, made.endpoint)
    };
    bus.endpoints.iter().find(wanted).expect("a whole capture")
}

fn is_right(limit: Limit, verdict: Option<Verdict>) -> bool {
    matches!(
        (limit, verdict),
        (Limit::Host, Some(Verdict::HostTooLate { .. }))
            | (Limit::Device, Some(Verdict::DeviceTooLate { .. }))
            | (Limit::Bus, Some(Verdict::Bus { .. }))
    )
}

/// A full-speed bus that carries data for 62 % of each frame, in a capture of so many packets.
fn part_loaded(packets: u64) -> Bus {
    let mut pipe = Pipe::new(5, 2, false, true);
    let mut wire = Wire::new(Speed::Full, Rng::with_seed(packets));
    let frame = frame_ns(Speed::Full);
    while wire.truth.packets < packets {
        pipe.send(&mut wire, &[0x55; 64], 0);
        if wire.now_ns % frame > frame * 62 / 100 {
            let next = (wire.now_ns / frame + 1) * frame;
            wire.wait_until(next);
        }
    }
    bus_of(&wire.writer.into_inner(), Window::default())
}

#[test]
fn neither_the_packets_nor_the_time_of_a_frame_that_is_cut_count() {
    // Ends at every place of a frame, short captures and longer ones.
    for packets in 14..60 {
        let bus = part_loaded(packets);
        let shares = &bus.shares;
        assert!((0.3..0.42).contains(&shares.idle), "{packets}: {shares:?}");
        let share = bus.endpoints[0].endpoint.frame_share;
        assert!((0.5..0.7).contains(&share), "{packets} packets: {share}");
        assert!(!is_right(Limit::Bus, bus.verdict), "{}", bus.words);
    }
}

/// The parts of a time make the whole of it.
fn hold(parts: &Parts) {
    let naks = parts.nak_ns + parts.unrequested_ns;
    let sum = parts.data_ns + naks + parts.other_ns + parts.hub_ns + parts.idle_ns;
    assert!((sum / parts.total_ns - 1.0).abs() < 1e-9, "{parts:?}");
}

fn hundred(limit: Limit) {
    for seed in 0..100 {
        let case = format!("{limit:?}, seed {seed}");
        let made = bus(limit, seed);
        let bus = explained(&made);
        let judged = endpoint(&bus, &made);
        let (figures, counts) = (&judged.endpoint, judged.endpoint.counts);
        let found = Truth {
            tokens: counts.tokens,
            transfers: counts.transfers,
            packets: counts.packets,
            bytes: counts.bytes,
            naks: counts.naks,
            retries: counts.retries,
            unanswered: counts.unanswered,
            short: counts.short,
            empty: counts.empty,
            frames: bus.starts_of_frame,
            all_packets: bus.packets,
            turn_around_max_ns: figures.turn_around.expect("a whole capture").max_ns,
        };
        assert_eq!(found, made.truth, "{case}");
        assert_eq!(bus.speed, made.speed);
        assert_eq!((bus.damaged, bus.stray, bus.missing), (0, 0, 0));
        assert_eq!(figures.max_packet, made.max_packet);
        hold(&figures.parts);
        let (share, max) = (figures.frame_share, figures.frame_share_max);
        assert!(share <= max && max <= 1.0, "{figures:?}");
        let words = (&judged.words, &bus.words);
        assert!(is_right(limit, judged.verdict), "{case}: {words:?}");
        assert!(is_right(limit, bus.verdict), "{case}: {words:?}");
    }
}

#[test]
fn a_host_that_is_too_late_is_found_for_each_of_a_hundred_devices() {
    hundred(Limit::Host);
}

#[test]
fn a_device_that_is_too_late_is_found_for_each_of_a_hundred_devices() {
    hundred(Limit::Device);
}

#[test]
fn a_full_bus_is_found_for_each_of_a_hundred_devices() {
    hundred(Limit::Bus);
}

fn hundred_responders(limit: Limit) {
    for seed in 0..100 {
        let case = format!("{limit:?}, seed {seed}");
        let device = request_response(limit, seed);
        let bus = explained(&device.made);
        let judged = endpoint(&bus, &device.made);
        let (parts, words) = (judged.endpoint.parts, &judged.words);
        let both = (words, &bus.words);
        assert!(is_right(limit, judged.verdict), "{case}: {both:?}");
        assert!(is_right(limit, bus.verdict), "{case}: {both:?}");
        hold(&parts);
        // The NAKs between the packets of a request add to it.
        let found = parts.unrequested_ns / parts.total_ns;
        let made = device.unrequested_ns as f64 / parts.total_ns;
        let near = (made - 0.05..made + 0.2).contains(&found);
        assert!(near, "{case}: {found} of {made}");
        if limit == Limit::Host && device.polled {
            let words = words.as_deref().unwrap_or_default();
            assert!(words.contains("no request was outstanding"), "{words}");
            assert!(words.contains("before the next OUT packet"), "{words}");
        }
    }
}

#[test]
fn a_slow_device_is_found_for_each_of_a_hundred_that_respond_to_requests() {
    hundred_responders(Limit::Device);
}

#[test]
fn a_host_that_requests_rarely_is_found_for_each_of_a_hundred_devices() {
    hundred_responders(Limit::Host);
}

#[test]
fn the_pause_of_a_host_is_not_the_distance_of_its_retries() {
    let made = bus(Limit::Host, 3);
    let judged_bus = explained(&made);
    let judged = endpoint(&judged_bus, &made);
    let (pause, words) = (judged.endpoint.pause, judged.words.as_deref());
    // The generator pauses for 50 us or more after each transfer.
    let is_long = pause.is_some_and(|pause| pause.p50_ns >= 50_000);
    assert!(is_long, "{pause:?}");
    let words = words.unwrap_or_default();
    assert!(words.contains("median pause before a transfer"), "{words}");
    let words = &judged_bus.words;
    let most = "which carried most, is limited by the host";
    assert!(words.contains(most), "{words}");
    assert!(words.contains("on the wire: data"), "{words}");
}

fn until(to_ns: u64) -> Window {
    Window { from_ns: 0, to_ns }
}

#[test]
fn a_window_leaves_out_the_rest() {
    let made = bus(Limit::Device, 1);
    let whole = explained(&made);
    let part = bus_of(&made.file, until(whole.duration_ns / 2));
    assert!(part.packets < whole.packets);
    assert!(part.duration_ns <= whole.duration_ns / 2);
}

#[test]
fn few_packets_give_no_verdict() {
    let made = bus(Limit::Device, 2);
    let bus = bus_of(&made.file, until(100_000));
    assert_eq!(bus.verdict, None, "{bus:?}");
    assert!(bus.words.contains("no verdict"), "{}", bus.words);
}
