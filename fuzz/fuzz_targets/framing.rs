//! What a program makes of the replies of a device that knows nothing of wiregauge.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wiregauge_device::{Framing, LengthField, Split, Splitter};
use wiregauge_fuzz::Recipe;

/// Longest message that is taken.
const LIMIT: usize = 512;

fuzz_target!(|bytes: &[u8]| {
    let mut recipe = Recipe::new(bytes);
    let which = recipe.byte().unwrap_or(0);
    let framing = match which % 4 {
        0 => Framing::Raw,
        1 => Framing::Fixed {
            bytes: usize::from(recipe.number()),
        },
        2 => Framing::Terminator {
            end: recipe.bytes(usize::from(which / 16)).to_vec(),
        },
        _ => Framing::LengthPrefix(LengthField {
            bytes: 1 << (which / 4 % 4),
            big_endian: which & 64 != 0,
            counts_itself: which & 128 != 0,
        }),
    };
    let piece = 1 + usize::from(recipe.byte().unwrap_or(0));
    let awaited = 1 + usize::from(recipe.byte().unwrap_or(0));
    let rest = recipe.bytes(bytes.len());
    if Splitter::new(&framing, false, LIMIT).is_err() {
        return;
    }
    let whole = messages(&framing, rest, rest.len().max(1), awaited);
    assert_eq!(messages(&framing, rest, piece, awaited), whole);
    assert_eq!(messages(&framing, rest, 1, awaited), whole);
    let mut datagrams = Splitter::new(&framing, true, LIMIT).expect("as a stream it was right");
    match datagrams.next(rest, awaited) {
        Split::Message { payload, end } => assert!(payload.end <= end && end == rest.len()),
        Split::More => panic!("nothing follows a datagram"),
        Split::Malformed(_) => {}
    }
});

/// The messages that come in pieces, and whether they ended in nonsense.
fn messages(framing: &Framing, bytes: &[u8], piece: usize, awaited: usize) -> (Vec<Vec<u8>>, bool) {
    let mut splitter = Splitter::new(framing, false, LIMIT).expect("it was right before");
    let (mut found, mut buffer) = (Vec::new(), Vec::new());
    for arriving in bytes.chunks(piece) {
        buffer.extend_from_slice(arriving);
        while !buffer.is_empty() {
            match splitter.next(&buffer, awaited) {
                Split::More => {
                    assert!(buffer.len() < LIMIT);
                    break;
                }
                Split::Message { payload, end } => {
                    assert!(payload.end <= end && 0 < end && end <= buffer.len());
                    let mut framed = Vec::new();
                    if splitter.check_request(&buffer[payload.clone()]).is_ok() {
                        splitter.frame(&buffer[payload.clone()], &mut framed);
                        assert_eq!(framed, buffer[..end]);
                    }
                    found.push(buffer[payload].to_vec());
                    buffer.drain(..end);
                }
                Split::Malformed(_) => return (found, true),
            }
        }
    }
    (found, false)
}
