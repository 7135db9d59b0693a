//! What a host makes of what it receives, from a device that need not be friendly.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wiregauge_fuzz::{Recipe, cook, receive};
use wiregauge_wire::{Kind, MESSAGE_CHECK, Response, Status, fill_pattern, message_check};

fuzz_target!(|bytes: &[u8]| {
    let mut recipe = Recipe::new(bytes);
    let piece = 1 + usize::from(recipe.byte().unwrap_or(0));
    receive::<Response>(bytes, piece);
    let stream = cook(&mut recipe, |recipe| {
        let kind = Kind::from_number(recipe.byte().unwrap_or(1) % 5).unwrap_or(Kind::Exchange);
        let status = Status::from_number(u16::from(recipe.byte().unwrap_or(0)) / 51);
        let status = status.unwrap_or(Status::Ok);
        let length = match (status, kind) {
            (Status::Ok, Kind::Hello) => 72,
            (Status::Ok, _) => usize::from(recipe.number()) % 2200,
            _ => 0,
        };
        let response = Response {
            kind,
            sequence: recipe.word(),
            in_payload: length as u32,
            status,
            flags: recipe.number(),
            rx_ticks: u64::from(recipe.word()) << 32 | u64::from(recipe.word()),
            tx_ticks: u64::from(recipe.word()) << 32 | u64::from(recipe.word()),
        };
        let mut header = [0; 32];
        response.encode(&mut header);
        assert_eq!(Response::decode(&header), Ok(response));
        let mut payload = vec![0; length];
        fill_pattern(response.sequence, &mut payload);
        if let (Kind::Message, Some(text)) = (kind, length.checked_sub(MESSAGE_CHECK)) {
            let check = message_check(&payload[..text]);
            payload[text..].copy_from_slice(&check);
        }
        [&header[..], &payload].concat()
    });
    receive::<Response>(&stream, piece);
});
