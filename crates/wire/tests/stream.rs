//! What must hold for every stream and every fault, however it is cut on arrival.

use crate::properties::{Sent, pieces};
use proptest::prelude::*;
use wiregauge_wire::{
    Header, Request, Response, StreamChecker, StreamCounts, StreamOrder, StreamReport, Taken, Verb,
    fill_stream,
};

fn stream(from: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    fill_stream(from, &mut bytes);
    bytes
}

fn header(sequence: u32, in_payload: u32) -> Vec<u8> {
    Response::exchange(sequence, in_payload).header()
}

/// Takes `bytes` in pieces of the given sizes (repeated); the counts, and the frames' sequence
/// numbers, each with the count of bytes received before it.
fn check<H: Header>(bytes: &[u8], pieces: &[usize]) -> (StreamCounts, Vec<u32>) {
    let mut checker = StreamChecker::new();
    let mut frames = Vec::new();
    let mut payload = 0;
    let mut rest = bytes;
    for piece in pieces.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (mut arriving, later) = rest.split_at(rest.len().min(*piece));
        rest = later;
        loop {
            let skipped = arriving.len().min(payload);
            payload -= skipped;
            arriving = &arriving[skipped..];
            match checker.take::<H>(arriving) {
                Taken::All => break,
                Taken::Frame { header, used } => {
                    assert!(0 < used && used <= arriving.len());
                    frames.push(header.sequence());
                    payload = header.payload_len();
                    arriving = &arriving[used..];
                }
            }
        }
        let counts = checker.counts();
        assert!(
            counts.right() + counts.duplicated + counts.corrupted + counts.stray == counts.received
        );
    }
    let counts = checker.finish();
    assert_eq!(checker.counts(), counts);
    assert_eq!(
        counts.right() + counts.duplicated + counts.corrupted + counts.stray,
        counts.received
    );
    (counts, frames)
}

fn whole(bytes: &[u8]) -> StreamCounts {
    check::<Response>(bytes, &[bytes.len().max(1)]).0
}

fn clean(received: u64) -> StreamCounts {
    StreamCounts {
        received,
        ..StreamCounts::default()
    }
}

/// One fault in a stream of `length` bytes, and what must be counted.
#[derive(Clone, Debug)]
enum Fault {
    Lose(usize),
    Repeat(usize),
    Insert(Vec<u8>),
    Change(Vec<u8>),
}

/// So much behind a fault there must be at least, or it cannot be placed.
const ROOM: usize = 12;

fn faults() -> impl Strategy<Value = Fault> {
    let some = || prop_oneof![1..12_usize, 1..700_usize];
    let foreign = || prop::collection::vec(any::<u8>(), 1..300);
    prop_oneof![
        some().prop_map(Fault::Lose),
        some().prop_map(Fault::Repeat),
        foreign().prop_map(Fault::Insert),
        foreign().prop_map(Fault::Change),
    ]
}

impl Fault {
    /// Bytes of the stream that it lays hands on.
    fn length(&self) -> usize {
        match self {
            Fault::Lose(count) => *count,
            Fault::Change(by) => by.len(),
            Fault::Repeat(_) | Fault::Insert(_) => 0,
        }
    }

    /// Does it behind `at` bytes of the stream; returns what is to be added to the counts.
    fn happen(&self, bytes: &mut Vec<u8>, at: usize) -> StreamCounts {
        let mut counts = StreamCounts::default();
        match self {
            Fault::Lose(count) => {
                bytes.drain(at..at + count);
                counts.lost = *count as u64;
            }
            Fault::Repeat(count) => {
                let again = bytes[at - count..at].to_vec();
                bytes.splice(at..at, again);
                counts.duplicated = *count as u64;
            }
            Fault::Insert(foreign) => {
                bytes.splice(at..at, foreign.iter().copied());
                counts.stray = foreign.len() as u64;
            }
            Fault::Change(by) => {
                for (byte, by) in bytes[at..].iter_mut().zip(by) {
                    *byte ^= by;
                    counts.corrupted += u64::from(*by != 0);
                }
            }
        }
        counts
    }
}

proptest! {
    #[test]
    fn orders_and_reports_survive_the_wire(
        start: bool, transfer_bytes: u32, stop_after: u64, fields: [u64; 9], more in 0..9_usize,
    ) {
        let verb = if start { Verb::Start } else { Verb::End };
        let order = StreamOrder { verb, transfer_bytes, stop_after };
        let mut bytes = order.encode().to_vec();
        bytes.resize(bytes.len() + more, 0xEE);
        prop_assert_eq!(StreamOrder::decode(&bytes), Some(order));
        prop_assert_eq!(StreamOrder::decode(&bytes[..15]), None);
        let bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
        let report = StreamReport::decode(&bytes).unwrap();
        prop_assert_eq!(&report.encode()[..], bytes);
        prop_assert_eq!((report.bytes, report.last_ticks), (fields[0], fields[8]));
    }

    #[test]
    fn one_fault_is_counted_to_the_byte(
        fault in faults(), at in 0..2000_usize, cut in pieces(),
    ) {
        let at = at + 700;
        let mut bytes = stream(0, 4000);
        let expected = fault.happen(&mut bytes, at);
        let (counts, frames) = check::<Response>(&bytes, &cut);
        prop_assert!(frames.is_empty());
        prop_assert_eq!(counts.received, bytes.len() as u64);
        prop_assert_eq!(counts.reached(), 4000);
        match fault {
            // Bytes that are those which stand around them cannot be distinguished from repeated ones.
            Fault::Insert(foreign) => {
                prop_assert_eq!(counts.lost + counts.corrupted, 0);
                prop_assert_eq!(counts.stray + counts.duplicated, expected.stray);
                prop_assert!(foreign.len() < 3 || counts.duplicated == 0);
            }
            _ => prop_assert_eq!(counts, StreamCounts { received: counts.received, ..expected }),
        }
    }

    #[test]
    fn many_faults_are_counted_to_the_byte_if_they_are_apart(
        faults in prop::collection::vec((faults(), ROOM..900_usize), 1..8), cut in pieces(),
    ) {
        let mut bytes = stream(0, 20_000);
        let mut expected = StreamCounts::default();
        // From the last to the first, so that the places of the others stay.
        let mut at = 19_000;
        for (fault, apart) in &faults {
            at -= apart + 700;
            if let Fault::Insert(foreign) = fault {
                prop_assume!(foreign.len() >= 3);
            }
            let one = fault.happen(&mut bytes, at);
            expected.lost += one.lost;
            expected.duplicated += one.duplicated;
            expected.corrupted += one.corrupted;
            expected.stray += one.stray;
        }
        expected.received = bytes.len() as u64;
        let (counts, _) = check::<Response>(&bytes, &cut);
        prop_assert_eq!(counts, expected);
        prop_assert_eq!(counts.reached(), 20_000);
    }

    #[test]
    fn faults_close_to_each_other_or_to_the_end_blur_no_more_than_they_touch(
        faults in prop::collection::vec((faults(), 0..20_usize), 1..5), tail in 0..20_usize,
        cut in pieces(),
    ) {
        let mut bytes = stream(0, 9000);
        let mut expected = StreamCounts::default();
        let mut at = 9000 - tail;
        let mut blur = 8 + tail as u64;
        for (fault, apart) in &faults {
            at -= apart + fault.length();
            let one = fault.happen(&mut bytes, at);
            expected.lost += one.lost;
            // A repeated stretch makes up for a loss beside it.
            blur += one.corrupted + one.stray + one.duplicated + 8 + *apart as u64;
        }
        let (counts, _) = check::<Response>(&bytes, &cut);
        prop_assert_eq!(whole(&bytes), counts);
        prop_assert_eq!(counts.received, bytes.len() as u64);
        prop_assert!(counts.reached() <= 9000);
        // What was lost at the very end shows only by what was sent.
        let lost = counts.lost + 9000 - counts.reached();
        prop_assert!(lost.abs_diff(expected.lost) <= blur, "{lost}, {expected:?}, {blur}");
    }

    #[test]
    fn frames_are_found_anywhere_and_count_for_nothing(
        places in prop::collection::vec((0..900_usize, any::<u32>(), 0..100_u32), 0..12),
        cut in pieces(),
    ) {
        let mut bytes = Vec::new();
        let mut position = 0;
        let mut sent = Vec::new();
        for (length, sequence, payload) in places {
            bytes.extend(stream(position, length));
            position += length as u64;
            bytes.extend(header(sequence, payload));
            bytes.extend(vec![0x55; payload as usize]);
            sent.push(sequence);
        }
        bytes.extend(stream(position, 33));
        let (counts, frames) = check::<Response>(&bytes, &cut);
        prop_assert_eq!(counts, clean(position + 33));
        prop_assert_eq!(frames, sent);
    }

    #[test]
    fn a_frame_within_a_fault_changes_nothing(
        fault in faults(), at in 700..1500_usize, frame in 500..2500_usize, sequence: u32,
        cut in pieces(),
    ) {
        let mut bytes = stream(0, 4000);
        fault.happen(&mut bytes, at);
        let expected = whole(&bytes);
        bytes.splice(frame..frame, header(sequence, 0));
        let (counts, frames) = check::<Response>(&bytes, &cut);
        prop_assert_eq!(counts, expected);
        prop_assert_eq!(frames, [sequence]);
    }

    #[test]
    fn garbage_is_survived_and_adds_up(
        bytes in prop::collection::vec(
            prop_oneof![Just(0x7A), Just(0xA7), Just(0x12), Just(0), any::<u8>()], 0..1000),
        cut in pieces(),
    ) {
        let (counts, frames) = check::<Response>(&bytes, &cut);
        prop_assert_eq!((counts, frames), check::<Response>(&bytes, &[bytes.len().max(1)]));
        prop_assert!(counts.stray + 64 >= bytes.len() as u64);
        check::<Request>(&bytes, &cut);
    }

    #[test]
    fn stretches_of_anywhere_add_up(
        stretches in prop::collection::vec((0..3000_u64, 0..60_usize, any::<bool>()), 0..40),
        cut in pieces(),
    ) {
        let mut bytes = Vec::new();
        for (from, length, foreign) in stretches {
            match foreign {
                true => bytes.extend((0..length).map(|n| (n as u64 * from) as u8)),
                false => bytes.extend(stream(from, length)),
            }
        }
        let (counts, frames) = check::<Response>(&bytes, &cut);
        prop_assert_eq!(counts.received, bytes.len() as u64);
        prop_assert_eq!((counts, frames), check::<Response>(&bytes, &[bytes.len().max(1)]));
        prop_assert!(counts.reached() <= 3060 + bytes.len() as u64);
    }
}

#[test]
fn a_frame_does_not_push_out_the_few_right_bytes_before_it() {
    for inserted in 200..230 {
        let mut bytes = stream(0, 4000);
        bytes.splice(1000..1000, vec![0xDA; inserted]);
        bytes.splice(1225..1225, header(0, 0));
        let (counts, frames) = check::<Response>(&bytes, &[bytes.len()]);
        assert_eq!((counts.stray, counts.lost), (inserted as u64, 0));
        assert_eq!(frames, [0]);
    }
}
