//! What a host may say and a line may make of it: frames of every kind, stretches of streams, noise and damage, all
//! from a few bytes of a fuzzer or a random generator. Raw bytes alone would hardly ever pass a header's check.

use wiregauge_wire as wire;
use wiregauge_wire::{Kind, Request, StreamOrder, Verb};

/// Bytes that are read as a recipe.
struct Recipe<'a>(&'a [u8]);

impl<'a> Recipe<'a> {
    fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes(1).first().copied()
    }

    fn small(&mut self) -> usize {
        usize::from(self.byte().unwrap_or(0))
    }

    fn number(&mut self) -> usize {
        self.small() | self.small() << 8
    }
}

/// A frame with this payload.
pub fn frame(kind: Kind, sequence: u32, payload: &[u8], in_bytes: u32) -> Vec<u8> {
    let request = Request {
        kind,
        sequence,
        out_payload: payload.len() as u32,
        in_bytes,
    };
    let mut header = [0; wire::REQUEST_HEADER];
    request.encode(&mut header);
    [&header[..], payload].concat()
}

/// An EXCHANGE with `payload` bytes of pattern.
pub fn exchange(sequence: u32, payload: usize, in_bytes: u32) -> Vec<u8> {
    let mut bytes = vec![0; payload];
    wire::fill_pattern(sequence, &mut bytes);
    frame(Kind::Exchange, sequence, &bytes, in_bytes)
}

/// A MESSAGE with its check.
pub fn message(sequence: u32, text: &[u8], in_bytes: u32) -> Vec<u8> {
    let payload = [text, &wire::message_check(text)[..]].concat();
    frame(Kind::Message, sequence, &payload, in_bytes)
}

/// A HELLO with this token.
pub fn hello(sequence: u32, token: [u8; 8]) -> Vec<u8> {
    let payload = wire::HelloRequest { token }.encode();
    frame(Kind::Hello, sequence, &payload, 104)
}

/// An order of a stream.
pub fn order(
    kind: Kind,
    sequence: u32,
    verb: Verb,
    transfer_bytes: u32,
    stop_after: u64,
) -> Vec<u8> {
    let order = StreamOrder {
        verb,
        transfer_bytes,
        stop_after,
    };
    let in_bytes = match verb {
        Verb::Start => 32,
        Verb::End => 104,
    };
    frame(kind, sequence, &order.encode(), in_bytes)
}

/// Bytes of a stream from `position` on.
pub fn words(position: u64, bytes: usize) -> Vec<u8> {
    let mut made = vec![0; bytes];
    wire::fill_stream(position, &mut made);
    made
}

/// What a host says. With `sources`, there may be streams to the host among it.
pub fn cook(recipe: &[u8], max_frame: u32, sources: bool) -> Vec<u8> {
    let mut recipe = Recipe(recipe);
    let mut said: Vec<u8> = Vec::new();
    let mut position = 0;
    // Whether a request within a damaged message is refused if it is too large, a device may choose.
    let messages = recipe.small().is_multiple_of(2);
    while let Some(step) = recipe.byte() {
        if said.len() > 1 << 15 {
            break;
        }
        let sequence = (recipe.small() % 5) as u32 + 249;
        let argument = usize::from(step >> 5);
        match step % 32 {
            0..5 => said.extend(exchange(
                sequence,
                recipe.number() % 300,
                recipe.number() as u32 % 400,
            )),
            5 => said.extend(hello(sequence, [0; 8])),
            6..9 if messages => {
                let text: Vec<u8> = (0..recipe.small()).map(|at| (at * 7) as u8).collect();
                // A larger answer may cost frames in a damaged message before it, which a device may choose.
                let in_bytes = recipe.number() % (35 + text.len());
                said.extend(message(sequence, &text, in_bytes as u32));
            }
            9 if messages => {
                // A program may send frames in frames.
                let inner = said[said.len().saturating_sub(recipe.number() % 500)..].to_vec();
                said.extend(message(sequence, &inner, 34));
            }
            10 | 11 => {
                let transfer = [512, 64, 1, 0, max_frame, max_frame + 1, 700, 100][argument];
                said.extend(order(Kind::Sink, sequence, Verb::Start, transfer, 0));
                position = 0;
            }
            12 => said.extend(order(Kind::Sink, sequence, Verb::End, 0, 0)),
            13..17 => {
                said.extend(words(position, recipe.number() % 700));
                position += said.len() as u64;
                let begin = said.len();
                let bytes = recipe.number() % 200;
                said.extend(words(position, bytes));
                position += (said.len() - begin) as u64;
            }
            17 => position = (recipe.number() as u64) << (4 * argument),
            18 => position = position.wrapping_sub(recipe.number() as u64) & 0x3_FFFF_FFFF,
            19 if sources => {
                let transfer = [512, 64, 1, 7, 33, 100, 513, 0][argument];
                let stop_after = 1 + (recipe.number() % 3000) as u64;
                said.extend(order(
                    Kind::Source,
                    sequence,
                    Verb::Start,
                    transfer,
                    stop_after,
                ));
            }
            20 if sources => said.extend(order(Kind::Source, sequence, Verb::End, 0, 0)),
            21 => {
                // No order, or one with too little of it.
                let kind = [Kind::Sink, Kind::Source, Kind::Hello, Kind::Message][argument % 4];
                let payload = recipe.bytes(argument * 3).to_vec();
                let known = matches!(payload.first(), Some(1 | 2)) && payload.len() >= 16;
                if !known && (messages || kind != Kind::Message) {
                    said.extend(frame(kind, sequence, &payload, 32));
                }
            }
            22 => said.extend(recipe.bytes(argument * 4)),
            23 => said.extend(exchange(sequence, 0, max_frame + argument as u32)),
            24 if !messages => {
                let mut header = [0; wire::REQUEST_HEADER];
                Request {
                    kind: Kind::Exchange,
                    sequence,
                    out_payload: max_frame - 16 + argument as u32,
                    in_bytes: 48,
                }
                .encode(&mut header);
                said.extend(header);
            }
            // Broken off, as by a host that was reset.
            25 => {
                let keep = said.len() - (recipe.number() % 300).min(said.len());
                said.truncate(keep);
            }
            26 | 27 if !said.is_empty() => {
                let at = said.len() - 1 - (recipe.number() % 700).min(said.len() - 1);
                let to = said
                    .len()
                    .min(at + 1 + [0, 0, 0, 1, 2, 7, 63, 200][argument]);
                said.drain(at..to);
            }
            28 => {
                let at = said.len() - (recipe.number() % 700).min(said.len());
                let byte = [0xA7, 0x11, 0x10, 0x14, 0, 0xFF, 0xA8, 0x55][argument];
                said.insert(at, byte);
            }
            29 | 30 if !said.is_empty() => {
                let at = said.len() - 1 - (recipe.number() % 700).min(said.len() - 1);
                said[at] ^= 1 << argument;
            }
            31 => said.push([0xA7, 0xA7, 0x11, 0x10, 0x12, 0xFA, 0, 1][argument]),
            _ => {}
        }
    }
    said
}
