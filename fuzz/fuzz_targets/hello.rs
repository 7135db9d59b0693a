//! What a device says of itself, and what a stranger sends to be let in.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wiregauge_wire::{HelloReply, HelloRequest, Request, Response, sequence_of};

fuzz_target!(|bytes: &[u8]| {
    if let Some(mut hello) = HelloReply::decode(bytes) {
        let again = hello.encode();
        assert_eq!(again[..20], bytes[..20]);
        assert_eq!(again[20..24], [0; 4]);
        assert_eq!(again[24..], bytes[24..72]);
        assert!(!hello.name_str().contains(char::is_control));
        let name = hello.name_str().to_owned();
        hello.set_name(&name);
        assert_eq!(hello.name_str(), name);
        let from = u64::from_le_bytes(hello.token);
        assert_eq!(hello.ticks_between(from, from), 0);
    }
    if let Some(hello) = HelloRequest::decode(bytes) {
        assert_eq!(HelloRequest::decode(&hello.encode()), Some(hello));
    }
    if let Ok(name) = std::str::from_utf8(bytes) {
        let mut hello = HelloReply::default();
        hello.set_name(name);
        assert!(name.starts_with(hello.name_str()));
    }
    if let Ok(request) = Request::decode(bytes) {
        assert_eq!(sequence_of(bytes), Some(request.sequence));
    }
    if let Ok(response) = Response::decode(bytes) {
        assert_eq!(sequence_of(bytes), Some(response.sequence));
    }
});
