//! Headers of USBTMC transfers in both directions, and replies in whatever pieces they come.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wiregauge_link::usbtmc::header::{FromInstrument, HEADER, ToInstrument};
use wiregauge_link::usbtmc::incoming::{Incoming, Piece};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(header) = ToInstrument::decode(bytes) {
        // Reserved bytes are not read, nor TermChar where it has no effect.
        assert_eq!(ToInstrument::decode(&header.encode()), Ok(header));
    }
    if let Ok(header) = FromInstrument::decode(bytes) {
        assert_eq!(FromInstrument::decode(&header.encode()), Ok(header));
    }
    let Some((&[size, asked, tag], received)) = bytes.split_first_chunk() else {
        return;
    };
    let size = usize::from(size) + HEADER;
    let mut incoming = Incoming::default();
    incoming.asked(tag, asked.into());
    let mut payload = 0;
    for piece in received.chunks(size) {
        match incoming.take(piece, piece.len() < size) {
            Ok(Piece::More(range)) => {
                assert!(piece.len() == size && incoming.left() > 0);
                payload += piece[range].len();
            }
            Ok(Piece::Last(range, _)) => {
                payload += piece[range].len();
                assert!(payload <= usize::from(asked));
                assert_eq!(incoming.left(), 0);
                return;
            }
            Ok(Piece::Nothing) => unreachable!("the piece is not empty"),
            Err(error) => {
                let _ = error.to_string();
                return;
            }
        }
        assert!(payload <= usize::from(asked));
    }
});
