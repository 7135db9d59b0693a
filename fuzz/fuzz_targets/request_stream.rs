//! What a responder makes of what it receives.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wiregauge_fuzz::{Recipe, cook, receive};
use wiregauge_wire::{HelloRequest, Kind, MESSAGE_CHECK, Request, fill_pattern, message_check};

fuzz_target!(|bytes: &[u8]| {
    let mut recipe = Recipe::new(bytes);
    let piece = 1 + usize::from(recipe.byte().unwrap_or(0));
    receive::<Request>(bytes, piece);
    let stream = cook(&mut recipe, |recipe| {
        let kind = Kind::from_number(recipe.byte().unwrap_or(1) % 5).unwrap_or(Kind::Exchange);
        let length = match kind {
            Kind::Hello => 88,
            _ => usize::from(recipe.number()) % 2200,
        };
        let request = Request {
            kind,
            sequence: recipe.word(),
            out_payload: length as u32,
            in_bytes: u32::from(recipe.number()),
        };
        let mut header = [0; 16];
        request.encode(&mut header);
        assert_eq!(Request::decode(&header), Ok(request));
        let mut payload = vec![0; length];
        if kind == Kind::Hello {
            let token = u64::from(recipe.word()).to_le_bytes();
            payload.copy_from_slice(&HelloRequest { token }.encode());
        } else {
            fill_pattern(request.sequence, &mut payload);
        }
        if let (Kind::Message, Some(text)) = (kind, length.checked_sub(MESSAGE_CHECK)) {
            let check = message_check(&payload[..text]);
            payload[text..].copy_from_slice(&check);
        }
        [&header[..], &payload].concat()
    });
    receive::<Request>(&stream, piece);
});
