//! However a link cuts replies, the messages are the same; and nothing that a device announces is believed.

use super::*;
use proptest::prelude::*;

const LIMIT: usize = 300;

fn field(bytes: u8, big_endian: bool, counts_itself: bool) -> Framing {
    Framing::LengthPrefix(LengthField {
        bytes,
        big_endian,
        counts_itself,
    })
}

fn splitter(framing: &Framing) -> Splitter {
    Splitter::new(framing, false, LIMIT).unwrap()
}

/// Receives `bytes` in pieces of the given sizes, again and again; the messages, and what ended them.
fn receive(
    framing: &Framing,
    bytes: &[u8],
    pieces: &[usize],
    awaited: usize,
) -> (Vec<Vec<u8>>, Option<Malformed>) {
    let mut splitter = splitter(framing);
    let (mut messages, mut buffer, mut rest) = (Vec::new(), Vec::new(), bytes);
    for piece in pieces.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (arriving, later) = rest.split_at(rest.len().min(*piece));
        rest = later;
        buffer.extend_from_slice(arriving);
        while !buffer.is_empty() {
            match splitter.next(&buffer, awaited) {
                Split::More => {
                    let holds = buffer.len() < LIMIT;
                    assert!(holds, "a message over the limit is waited for");
                    break;
                }
                Split::Message { payload, end } => {
                    assert!(payload.end <= end && 0 < end && end <= buffer.len());
                    messages.push(buffer[payload].to_vec());
                    buffer.drain(..end);
                }
                Split::Malformed(wrong) => return (messages, Some(wrong)),
            }
        }
    }
    (messages, None)
}

fn framings() -> impl Strategy<Value = Framing> {
    prop_oneof![
        Just(Framing::Raw),
        (1..20_usize).prop_map(|bytes| Framing::Fixed { bytes }),
        prop::collection::vec(any::<u8>(), 1..=8).prop_map(|end| Framing::Terminator { end }),
        Just(Framing::Terminator {
            end: b"\r\n".to_vec()
        }),
        Just(Framing::Terminator {
            end: b"aab".to_vec()
        }),
        (
            prop::sample::select(vec![1, 2, 4]),
            any::<bool>(),
            any::<bool>()
        )
            .prop_map(|(bytes, big, itself)| field(bytes, big, itself)),
    ]
}

fn pieces() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1..4_usize, 1..40_usize, 1..900_usize], 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_of_any_replies_gives_the_same_messages(
        framing in framings(),
        replies in prop::collection::vec(prop::collection::vec(
            prop_oneof![Just(b'a'), Just(b'\r'), any::<u8>()], 0..90), 1..12),
        cut in pieces(),
    ) {
        let splitter = splitter(&framing);
        // Where the framing does not tell, all are as long as it says.
        let awaited = 7;
        let sized = match framing {
            Framing::Raw => Some(awaited),
            Framing::Fixed { bytes } => Some(bytes),
            _ => None,
        };
        let replies: Vec<Vec<u8>> = replies
            .into_iter()
            .map(|mut reply| {
                if let Some(size) = sized {
                    reply.resize(size, b'x');
                }
                reply
            })
            .filter(|reply| splitter.check_request(reply).is_ok())
            .collect();
        // A terminator may begin with the end of a message: then the message ends before.
        let clean = |reply: &Vec<u8>| match &framing {
            Framing::Terminator { end } => {
                let whole = [&reply[..], end].concat();
                splitter.end.as_ref().and_then(|finder| finder.find(&whole)) == Some(reply.len())
            }
            _ => true,
        };
        let replies: Vec<Vec<u8>> = replies.into_iter().filter(clean).collect();
        let mut bytes = Vec::new();
        for reply in &replies {
            splitter.frame(reply, &mut bytes);
        }
        prop_assert_eq!(receive(&framing, &bytes, &cut, awaited), (replies, None));
    }

    #[test]
    fn arbitrary_bytes_are_cut_alike_however_they_come(
        framing in framings(),
        bytes in prop::collection::vec(prop_oneof![Just(0), Just(b'a'), any::<u8>()], 0..900),
        cut in pieces(),
    ) {
        let whole = receive(&framing, &bytes, &[bytes.len().max(1)], 9);
        prop_assert_eq!(receive(&framing, &bytes, &[1], 9), whole.clone());
        prop_assert_eq!(receive(&framing, &bytes, &cut, 9), whole);
    }

    #[test]
    fn a_datagram_is_one_message_or_none(
        framing in framings(), bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut splitter = Splitter::new(&framing, true, LIMIT).unwrap();
        match splitter.next(&bytes, 5) {
            Split::Message { end, payload } => prop_assert!(end == bytes.len() && payload.end <= end),
            Split::Malformed(_) => {}
            Split::More => prop_assert!(false, "nothing follows a datagram"),
        }
    }
}

#[test]
fn a_prefix_of_four_gigabytes_is_refused_at_once() {
    for (big, bytes) in [(true, [0xff, 0xff, 0xff, 0xff]), (false, [0xff; 4])] {
        let wrong = Malformed::TooLong {
            announced: u64::from(u32::MAX),
            limit: LIMIT,
        };
        let found = splitter(&field(4, big, false)).next(&bytes, 0);
        assert_eq!(found, Split::Malformed(wrong));
    }
}

#[test]
fn a_length_that_counts_itself_is_never_less_than_itself() {
    let framing = field(2, true, true);
    assert_eq!(
        splitter(&framing).next(&[0, 1], 0),
        Split::Malformed(Malformed::TooShort { announced: 1 })
    );
    let empty = Split::Message {
        payload: 2..2,
        end: 2,
    };
    assert_eq!(splitter(&framing).next(&[0, 2], 0), empty);
    let mut request = Vec::new();
    splitter(&framing).frame(b"abc", &mut request);
    assert_eq!(request, b"\0\x05abc");
}

#[test]
fn a_device_that_never_ends_its_message_is_reported_from_a_slow_one() {
    let framing = Framing::Terminator {
        end: b"\n".to_vec(),
    };
    let mut splitter = splitter(&framing);
    assert_eq!(splitter.next(&[b'x'; LIMIT - 1], 0), Split::More);
    let wrong = Split::Malformed(Malformed::NoEnd { limit: LIMIT });
    assert_eq!(splitter.next(&[b'x'; LIMIT], 0), wrong);
}

#[test]
fn requests_that_the_device_would_misunderstand_are_refused() {
    let refused =
        |framing: &Framing, request: &[u8]| splitter(framing).check_request(request).unwrap_err();
    let scpi = Framing::Terminator {
        end: b"\n".to_vec(),
    };
    assert!(refused(&scpi, b"*IDN?\n").contains("which the framing adds"));
    assert!(refused(&field(1, true, false), &[0; 256]).contains("length field of 1 B"));
    assert!(
        splitter(&field(1, true, false))
            .check_request(&[0; 255])
            .is_ok()
    );
    assert!(refused(&field(1, true, true), &[0; 255]).contains("length field"));
    assert!(refused(&Framing::Raw, &[0; LIMIT + 1]).contains("exceeds the maximum of the link"));
    assert!(refused(&Framing::Raw, b"").contains("empty"));
    assert!(splitter(&scpi).check_request(b"").is_ok());
}

#[test]
fn framings_that_make_no_sense_are_refused() {
    for framing in [
        Framing::Fixed { bytes: 0 },
        Framing::Fixed { bytes: LIMIT + 1 },
        Framing::Terminator { end: vec![] },
        Framing::Terminator { end: vec![0; 9] },
        field(3, true, false),
        field(0, true, false),
    ] {
        let holds = Splitter::new(&framing, false, LIMIT).is_err();
        assert!(holds, "{framing:?}");
    }
}
