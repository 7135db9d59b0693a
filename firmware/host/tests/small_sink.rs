//! The sink of whole words: what it promises, and no more.

use wiregauge_firmware_host::SmallSink;
use wiregauge_firmware_host::recipe::{order, words};
use wiregauge_wire::{Kind, Request, Verb};

/// The counts of a stream that comes in pieces, and the numbers of the frames in it, whose payload has 16 bytes.
fn judge(stream: &[u8], piece: usize) -> ([u64; 5], Vec<u32>) {
    let mut sink = SmallSink::default();
    let mut frames = Vec::new();
    let mut payload = 0;
    for mut rest in stream.chunks(piece) {
        while !rest.is_empty() {
            let skipped = rest.len().min(payload);
            payload -= skipped;
            let (used, header) = sink.take(&rest[skipped..]);
            rest = &rest[skipped + used..];
            if let Some(header) = header {
                frames.push(Request::decode(&header).expect("a header").sequence);
                payload = 16;
            }
        }
    }
    (sink.end(), frames)
}

fn in_pieces(stream: &[u8]) -> ([u64; 5], Vec<u32>) {
    let whole = judge(stream, stream.len());
    for piece in [1, 2, 3, 4, 5, 7, 16, 63, 64] {
        assert_eq!(judge(stream, piece), whole, "in pieces of {piece}");
    }
    whole
}

#[test]
fn right_bytes_are_right_however_they_are_cut() {
    assert_eq!(in_pieces(&words(0, 4000)).0, [4000, 0, 0, 0, 0]);
}

#[test]
fn lost_and_repeated_words_are_counted_to_the_byte() {
    let mut lost = words(0, 4000);
    lost.drain(1000..1064);
    assert_eq!(in_pieces(&lost).0, [3936, 64, 0, 0, 0]);
    let again = [words(0, 576), words(512, 3000)].concat();
    assert_eq!(in_pieces(&again).0, [3576, 0, 64, 0, 0]);
}

#[test]
fn a_lost_byte_costs_a_word_and_the_rest_is_right() {
    let mut stream = words(0, 4000);
    stream.remove(1001);
    let [received, lost, duplicated, corrupted, stray] = in_pieces(&stream).0;
    assert_eq!([received, duplicated, corrupted], [3999, 0, 0]);
    assert_eq!((lost, stray), (4, 3));
}

#[test]
fn a_changed_byte_is_a_word_lost_and_four_stray_bytes() {
    let mut stream = words(0, 4000);
    stream[2001] ^= 4;
    assert_eq!(in_pieces(&stream).0, [4000, 4, 0, 0, 4]);
}

#[test]
fn inserted_bytes_are_stray() {
    let mut stream = words(0, 4000);
    stream.splice(801..801, [0x55; 9]);
    let [received, lost, duplicated, corrupted, stray] = in_pieces(&stream).0;
    assert_eq!([received, duplicated, corrupted], [4009, 0, 0]);
    assert_eq!(stray - lost, 9);
    assert!(lost <= 4);
}

#[test]
fn orders_within_the_stream_are_found_and_no_part_of_it() {
    let ask = order(Kind::Source, 70, Verb::Start, 64, 0);
    let stream = [words(0, 512), ask.clone(), words(512, 512), ask].concat();
    assert_eq!(in_pieces(&stream), ([1024, 0, 0, 0, 0], vec![70, 70]));
}

#[test]
fn an_order_behind_lost_words_is_found() {
    let ask = order(Kind::Sink, 71, Verb::End, 0, 0);
    let stream = [words(0, 512), words(576, 64), ask].concat();
    assert_eq!(in_pieces(&stream), ([576, 64, 0, 0, 0], vec![71]));
}
