//! What a bus analyzer would see of a modelled bus.

use super::composer::{Composer, Endpoint, Event};
use super::wire::Wire;
use crate::bus::BusTiming;
use wiregauge_capture::{Pid, packet};
use wiregauge_link::limits::Bus;

const MS: u64 = 1_000_000;

const IN: Endpoint = Endpoint {
    address: 1,
    number: 2,
    is_in: true,
    interval_ns: 0,
    by_frame: false,
};

const OUT: Endpoint = Endpoint { is_in: false, ..IN };

/// A packet on the wire: begin, end, what it is, all its bytes.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    begin_ns: u64,
    end_ns: u64,
    pid: Pid,
    bytes: Vec<u8>,
}

fn wire(bus: Bus) -> Wire {
    Wire::of(bus, &BusTiming::of(bus))
}

/// What is on the wire after these events, which the last one makes certain.
fn seen(bus: Bus, events: &[Event]) -> Vec<Seen> {
    let wire = wire(bus);
    let mut composer = Composer::new(wire, bus.frame_ns());
    let mut all = Vec::new();
    let mut write = |at_ns: u64, bytes: &[u8]| {
        let pid = Pid::of(bytes[0]).unwrap();
        let lasts_ns = match pid {
            Pid::Sof => wire.sof_ns(),
            _ if pid.is_token() => wire.token_ns(),
            _ if pid.is_data() => wire.data_ns(bytes.len() as u64 - 3),
            _ => wire.handshake_ns(),
        };
        all.push(Seen {
            begin_ns: at_ns,
            end_ns: at_ns + lasts_ns,
            pid,
            bytes: bytes.to_vec(),
        });
        Ok(())
    };
    for event in events {
        composer.take(event.clone(), &mut write).unwrap();
    }
    composer.finish(&mut write).unwrap();
    all
}

fn pids(seen: &[Seen]) -> Vec<Pid> {
    let pids = seen.iter().map(|one| one.pid);
    pids.filter(|pid| *pid != Pid::Sof).collect()
}

fn carried(endpoint: Endpoint, asked_ns: u64, begin_ns: u64, payload: &[u8]) -> Event {
    Event::Carried {
        endpoint,
        asked_ns,
        ready_ns: begin_ns,
        begin_ns,
        fills: false,
        payload: payload.to_vec(),
    }
}

fn refused(endpoint: Endpoint, since_ns: u64, until_ns: u64, payload: &[u8]) -> Event {
    Event::Refused {
        endpoint,
        since_ns,
        until_ns,
        payload: payload.to_vec(),
    }
}

fn no_two_overlap(seen: &[Seen]) {
    for pair in seen.windows(2) {
        assert!(pair[0].end_ns <= pair[1].begin_ns, "{pair:#?}");
    }
}

#[test]
fn a_packet_is_a_token_its_data_and_a_handshake() {
    let events = [carried(IN, 5_000, 5_000, b"abc"), Event::Until(MS)];
    let seen = seen(Bus::FullSpeed, &events);
    assert_eq!(pids(&seen), [Pid::In, Pid::Data0, Pid::Ack]);
    assert_eq!(packet::endpoint_of(&seen[1].bytes), Some((1, 2)));
    assert_eq!(packet::payload_of(&seen[2].bytes), Some(&b"abc"[..]));
    no_two_overlap(&seen);
}

#[test]
fn a_transaction_takes_as_long_as_the_model_says() {
    for (bus, bytes) in [(Bus::FullSpeed, 64), (Bus::HighSpeed, 512)] {
        let payload = vec![7; bytes];
        let events = [carried(OUT, 0, 0, &payload), Event::Until(MS)];
        let seen = seen(bus, &events);
        let of_it: Vec<_> = seen.iter().filter(|one| one.pid != Pid::Sof).collect();
        let lasts_ns = of_it[2].end_ns - of_it[0].begin_ns + 2 * wire(bus).gap_ns;
        let modelled_ns = BusTiming::of(bus).wire_ns(bytes as u64);
        let rest_ns = modelled_ns.abs_diff(lasts_ns);
        assert!(rest_ns <= 2 * wire(bus).gap_ns + 20, "{bus:?}: {rest_ns}");
    }
}

#[test]
fn a_frame_begins_every_millisecond_or_eight_times_in_one() {
    for (bus, most) in [(Bus::FullSpeed, 10), (Bus::HighSpeed, 80)] {
        let seen = seen(bus, &[Event::Until(4 * MS), Event::Until(10 * MS)]);
        assert_eq!(seen.len(), most);
        for (at, one) in seen.iter().enumerate() {
            assert_eq!(one.begin_ns, at as u64 * bus.frame_ns());
            let number = one.begin_ns / MS;
            assert_eq!(packet::frame_of(&one.bytes), Some(number as u16));
        }
    }
}

#[test]
fn data_toggle_with_each_packet_and_begin_anew_with_the_configuration() {
    let configured = Event::Control {
        address: 1,
        at_ns: 2 * MS,
        setup: [0, 9, 1, 0, 0, 0, 0, 0],
        data: Vec::new(),
        stalls: false,
        resets: vec![IN, OUT],
    };
    let events = [
        carried(IN, 0, 0, b"a"),
        carried(IN, MS, MS, b"b"),
        carried(IN, 2 * MS, 2 * MS, b"c"),
        configured,
        carried(IN, 3 * MS, 3 * MS, b"d"),
        Event::Until(4 * MS),
    ];
    let seen = seen(Bus::FullSpeed, &events);
    let data = |payload: &[u8]| {
        let one = seen
            .iter()
            .find(|one| packet::payload_of(&one.bytes) == Some(payload));
        one.unwrap().pid
    };
    let toggles = [data(b"a"), data(b"b"), data(b"c"), data(b"d")];
    assert_eq!(toggles, [Pid::Data0, Pid::Data1, Pid::Data0, Pid::Data0]);
}

#[test]
fn a_device_that_is_not_ready_answers_nak_until_it_is() {
    let events = [carried(IN, 100_000, 300_000, b"late"), Event::Until(MS)];
    let seen = seen(Bus::FullSpeed, &events);
    let naks: Vec<_> = seen.iter().filter(|one| one.pid == Pid::Nak).collect();
    assert!((10..20).contains(&naks.len()), "{}", naks.len());
    assert!(
        naks.iter()
            .all(|nak| nak.begin_ns > 100_000 && nak.begin_ns < 305_000)
    );
    let found = &pids(&seen)[naks.len() * 2..];
    assert_eq!(found, [Pid::In, Pid::Data0, Pid::Ack]);
    no_two_overlap(&seen);
}

#[test]
fn the_refusals_before_each_packet_stay_when_several_become_certain_at_once() {
    let events = [
        carried(IN, 100_000, 300_000, b"late"),
        carried(IN, 400_000, 410_000, b"next"),
        carried(IN, 500_000, 700_000, b"late again"),
        Event::Until(MS),
    ];
    let seen = seen(Bus::FullSpeed, &events);
    no_two_overlap(&seen);
    let naks = |from_ns, to_ns| {
        let of_it = seen.iter().filter(|one| one.pid == Pid::Nak);
        of_it
            .filter(|one| (from_ns..to_ns).contains(&one.begin_ns))
            .count()
    };
    assert!(naks(100_000, 310_000) >= 10 && naks(500_000, 710_000) >= 10);
}

#[test]
fn a_device_that_is_polled_across_many_steps_is_polled_every_10_us() {
    let mut events = Vec::new();
    for step in 1..200 {
        events.push(refused(IN, 50_000, step * 77_000, b""));
        events.push(Event::Until(step * 77_000));
    }
    let seen = seen(Bus::FullSpeed, &events);
    no_two_overlap(&seen);
    let naks: Vec<_> = seen.iter().filter(|one| one.pid == Pid::Nak).collect();
    assert!(naks.len() > 900, "{}", naks.len());
    for pair in naks.windows(2) {
        let apart_ns = pair[1].begin_ns - pair[0].end_ns;
        assert!((10_000..40_000).contains(&apart_ns), "{pair:?}");
    }
}

#[test]
fn a_full_frame_stays_between_its_starts_of_frame() {
    for (bus, bytes) in [(Bus::FullSpeed, 64), (Bus::HighSpeed, 512)] {
        let timing = BusTiming::of(bus);
        let lasts_ns = timing.wire_ns(bytes);
        let count = bus.packets_per_frame();
        let payload = vec![1; bytes as usize];
        let mut events: Vec<Event> = (0..3 * count)
            .map(|packet| {
                let at_ns = packet / count * bus.frame_ns() + packet % count * lasts_ns;
                carried(IN, at_ns, at_ns, &payload)
            })
            .collect();
        events.push(Event::Until(4 * bus.frame_ns()));
        let seen = seen(bus, &events);
        no_two_overlap(&seen);
        let acks = seen.iter().filter(|one| one.pid == Pid::Ack).count();
        assert_eq!(acks as u64, 3 * count);
    }
}

#[test]
fn a_device_that_is_asked_by_the_frame_answers_nak_once_in_each() {
    let endpoint = Endpoint {
        by_frame: true,
        ..IN
    };
    let events = [
        refused(endpoint, 500_000, 2 * MS, b""),
        Event::Until(2 * MS),
        carried(endpoint, 500_000, 5 * MS, b"x"),
        Event::Until(6 * MS),
    ];
    let seen = seen(Bus::FullSpeed, &events);
    let naks = seen.iter().filter(|one| one.pid == Pid::Nak);
    let frames: Vec<_> = naks.map(|one| one.begin_ns / MS).collect();
    assert_eq!(frames, [0, 1, 2, 3, 4]);
}

#[test]
fn an_interrupt_endpoint_is_asked_at_its_interval() {
    let endpoint = Endpoint {
        interval_ns: 4 * MS,
        ..IN
    };
    let events = [carried(endpoint, MS, 20 * MS, b"x"), Event::Until(21 * MS)];
    let seen = seen(Bus::FullSpeed, &events);
    let tokens = seen.iter().filter(|one| one.pid == Pid::In);
    let frames: Vec<_> = tokens.map(|one| one.begin_ns / MS).collect();
    assert_eq!(frames, [4, 8, 12, 16, 20]);
}

#[test]
fn a_full_device_gets_its_data_again_at_full_speed_and_is_pinged_at_high_speed() {
    let events = [refused(OUT, 0, 90_000, b"again"), Event::Until(100_000)];
    let at_full = seen(Bus::FullSpeed, &events);
    assert_eq!(pids(&at_full)[..3], [Pid::Out, Pid::Data0, Pid::Nak]);
    assert_eq!(packet::payload_of(&at_full[2].bytes), Some(&b"again"[..]));
    let found = &pids(&seen(Bus::HighSpeed, &events))[..2];
    assert_eq!(found, [Pid::Ping, Pid::Nak]);
}

#[test]
fn data_that_are_refused_have_the_toggle_with_which_they_are_taken() {
    let events = [
        carried(OUT, 0, 10_000, b"first"),
        carried(OUT, 100_000, 300_000, b"again"),
        Event::Until(MS),
    ];
    let seen = seen(Bus::FullSpeed, &events);
    let again = seen
        .iter()
        .filter(|one| packet::payload_of(&one.bytes) == Some(b"again"));
    let pids: Vec<_> = again.map(|one| one.pid).collect();
    let holds = pids.len() > 3 && pids.iter().all(|pid| *pid == Pid::Data1);
    assert!(holds, "{pids:?}");
}

#[test]
fn a_control_transfer_at_the_end_of_what_is_known_stays_clear_of_what_follows() {
    let events = [
        Event::Control {
            address: 1,
            at_ns: 499_000,
            setup: [0x80, 6, 0, 1, 0, 0, 64, 0],
            data: vec![2; 64],
            stalls: false,
            resets: Vec::new(),
        },
        Event::Until(500_000),
        carried(IN, 510_000, 510_000, &[1; 64]),
        carried(IN, 570_000, 570_000, &[1; 64]),
        Event::Until(3 * MS),
    ];
    let seen = seen(Bus::FullSpeed, &events);
    no_two_overlap(&seen);
    assert_eq!(seen.iter().filter(|one| one.pid == Pid::Setup).count(), 1);
}

#[test]
fn control_transfers_have_three_stages_and_a_refused_one_ends_with_stall() {
    let get = |stalls| Event::Control {
        address: 3,
        at_ns: 10_000,
        setup: [0x80, 6, 0, 1, 0, 0, 100, 0],
        data: if stalls { Vec::new() } else { vec![1; 70] },
        stalls,
        resets: Vec::new(),
    };
    use Pid::{Ack, Data0, Data1, In, Out, Setup, Stall};
    let whole = seen(Bus::FullSpeed, &[get(false), Event::Until(MS)]);
    let expected = [
        Setup, Data0, Ack, In, Data1, Ack, In, Data0, Ack, Out, Data1, Ack,
    ];
    assert_eq!(pids(&whole), expected);
    no_two_overlap(&whole);
    let refused = seen(Bus::FullSpeed, &[get(true), Event::Until(MS)]);
    assert_eq!(pids(&refused), [Setup, Data0, Ack, In, Stall]);
}

#[test]
fn a_refusal_that_ended_before_it_was_certain_is_in_order() {
    // Ready at 150 us, which is known at 160 us; carried at 300 us only, behind other packets.
    let mut late = carried(OUT, 3_000, 300_000, b"x");
    if let Event::Carried { ready_ns, .. } = &mut late {
        *ready_ns = 150_000;
    }
    let events = [
        carried(IN, 0, 160_000, &[1; 64]),
        refused(OUT, 3_000, 150_000, b"x"),
        Event::Until(170_000),
        late,
        Event::Until(2 * MS),
    ];
    let seen = seen(Bus::FullSpeed, &events);
    no_two_overlap(&seen);
    let naks = seen.iter().filter(|one| one.pid == Pid::Nak);
    assert!(naks.clone().count() > 3 && naks.clone().all(|one| one.begin_ns < 160_000));
}

#[test]
fn what_fills_the_gaps_never_overlaps_what_the_model_carried() {
    let mut random = fastrand::Rng::with_seed(7);
    for bus in [Bus::FullSpeed, Bus::HighSpeed] {
        let timing = BusTiming::of(bus);
        let (mut events, mut at_ns, mut to_ns) = (Vec::new(), 0, 0);
        for _ in 0..2_000 {
            let endpoint = if random.bool() { IN } else { OUT };
            let bytes = random.usize(0..=timing.packet_bytes as usize);
            let asked_ns = at_ns;
            let lasts_ns = timing.wire_ns(bytes as u64);
            at_ns += random.u64(0..60_000);
            if at_ns % bus.frame_ns() + lasts_ns + 5_000 > bus.frame_ns() {
                at_ns = (at_ns / bus.frame_ns() + 1) * bus.frame_ns();
            }
            if at_ns > to_ns + MS / 2 {
                events.push(refused(IN, to_ns, at_ns, b""));
                events.push(Event::Until(at_ns));
                to_ns = at_ns;
            }
            events.push(carried(endpoint, asked_ns, at_ns, &vec![1; bytes]));
            at_ns += lasts_ns;
        }
        events.push(Event::Until(at_ns + MS));
        let seen = seen(bus, &events);
        no_two_overlap(&seen);
        assert!(seen.iter().filter(|one| one.pid == Pid::Nak).count() > 1_000);
        let acked = seen.iter().filter(|one| one.pid == Pid::Ack).count();
        assert_eq!(acked, 2_000, "{bus:?}");
    }
}
