//! Figures and verdicts of buses whose limit is known.

use crate::made::{Limit, Made, Truth, bus};
use wiregauge_capture::{Bus, Explained, Judged, Verdict, Window, explain};

fn explained(made: &Made) -> Bus {
    match explain(|| Ok(made.file.as_slice()), Window::default()).expect("a whole capture") {
        Explained::Bus(bus) => bus,
        other => panic!("{other:?}"),
    }
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
            | (Limit::Bus, Some(Verdict::BusFull { .. }))
    )
}

fn hundred(limit: Limit) {
    for seed in 0..100 {
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
        assert_eq!(found, made.truth, "{limit:?}, seed {seed}");
        assert_eq!(bus.speed, made.speed);
        assert_eq!((bus.damaged, bus.stray, bus.missing), (0, 0, 0));
        assert_eq!(figures.max_packet, made.max_packet);
        let parts = figures.parts;
        let sum = parts.data_ns + parts.nak_ns + parts.other_ns + parts.hub_ns + parts.idle_ns;
        assert!((sum / parts.total_ns - 1.0).abs() < 1e-9, "{parts:?}");
        assert!(
            figures.frame_share <= figures.frame_share_max,
            "{figures:?}"
        );
        assert!(figures.frame_share_max <= 1.0, "{figures:?}");
        assert!(
            is_right(limit, judged.verdict),
            "{limit:?}, seed {seed}: {:?}",
            judged.words
        );
        assert!(
            is_right(limit, Some(bus.verdict)),
            "{limit:?}, seed {seed}: {}",
            bus.words
        );
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

#[test]
fn a_window_leaves_out_the_rest() {
    let made = bus(Limit::Device, 1);
    let whole = explained(&made);
    let half = Window {
        from_ns: 0,
        to_ns: whole.duration_ns / 2,
    };
    let Explained::Bus(part) = explain(|| Ok(made.file.as_slice()), half).unwrap() else {
        panic!("packets of a bus");
    };
    assert!(part.packets < whole.packets);
    assert!(part.duration_ns <= whole.duration_ns / 2);
}

#[test]
fn few_packets_give_no_verdict() {
    let made = bus(Limit::Device, 2);
    let few = Window {
        from_ns: 0,
        to_ns: 100_000,
    };
    let Explained::Bus(bus) = explain(|| Ok(made.file.as_slice()), few).unwrap() else {
        panic!("packets of a bus");
    };
    assert!(matches!(bus.verdict, Verdict::TooFew { .. }), "{bus:?}");
    assert!(bus.words.contains("no verdict"), "{}", bus.words);
}
