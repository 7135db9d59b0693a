//! What the receiver of a stream makes of what it receives: stretches from anywhere, frames, damage.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use wiregauge_fuzz::{Recipe, cook};
use wiregauge_wire::{
    Header, Kind, Request, Response, Status, StreamChecker, StreamCounts, StreamOrder,
    StreamReport, Taken, fill_stream,
};

fuzz_target!(|bytes: &[u8]| {
    if let Some(order) = StreamOrder::decode(bytes) {
        assert_eq!(StreamOrder::decode(&order.encode()), Some(order));
    }
    if let Some(report) = StreamReport::decode(bytes) {
        assert_eq!(report.encode(), bytes[..72]);
    }
    let mut recipe = Recipe::new(bytes);
    let piece = 1 + usize::from(recipe.byte().unwrap_or(0));
    whole_and_in_pieces::<Request>(bytes, piece);
    let mut position = 0;
    let stream = cook(&mut recipe, |recipe| {
        let step = recipe.byte().unwrap_or(0);
        if step.is_multiple_of(8) {
            let mut header = [0; 32];
            Response {
                kind: Kind::Sink,
                sequence: recipe.word(),
                in_payload: u32::from(step / 8),
                status: Status::Ok,
                flags: 0,
                rx_ticks: u64::from(recipe.word()),
                tx_ticks: 0,
            }
            .encode(&mut header);
            return header.to_vec();
        }
        if step % 8 == 1 {
            position = u64::from(recipe.word()) << (step / 8);
        }
        let mut piece = vec![0; usize::from(recipe.number()) % 600];
        fill_stream(position, &mut piece);
        position += piece.len() as u64;
        piece
    });
    whole_and_in_pieces::<Response>(&stream, piece);
});

fn whole_and_in_pieces<H: Header + Debug + PartialEq>(stream: &[u8], piece: usize) {
    let whole = check::<H>(stream, stream.len().max(1));
    assert_eq!(check::<H>(stream, piece), whole);
}

fn check<H: Header>(stream: &[u8], piece: usize) -> (StreamCounts, Vec<H>) {
    let mut checker = StreamChecker::new();
    let mut frames = Vec::new();
    for mut rest in stream.chunks(piece) {
        while let Taken::Frame { header, used } = checker.take::<H>(rest) {
            assert!(0 < used && used <= rest.len());
            frames.push(header);
            rest = &rest[used..];
        }
        adds_up(&checker.counts());
    }
    let counts = checker.finish();
    adds_up(&counts);
    let own = (frames.len() * H::SIZE) as u64;
    assert_eq!(counts.received + own, stream.len() as u64);
    (counts, frames)
}

fn adds_up(counts: &StreamCounts) {
    let wrong = counts.duplicated + counts.corrupted + counts.stray;
    assert!(wrong <= counts.received);
    assert_eq!(counts.right() + wrong, counts.received);
}
