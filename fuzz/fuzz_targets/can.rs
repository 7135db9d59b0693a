//! What comes from a CAN bus, and what the kernel says of an interface.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wiregauge_link::can::parsers::{Received, decode, timing};

fuzz_target!(|bytes: &[u8]| {
    match decode(bytes) {
        Received::Data(data) => {
            assert!(matches!(bytes.len(), 16 | 72));
            assert_eq!(data, &bytes[8..8 + usize::from(bytes[4])]);
        }
        Received::Remote | Received::Error(_) => assert!(matches!(bytes.len(), 16 | 72)),
        Received::Malformed => {}
    }
    if let Some(found) = timing(bytes) {
        assert_ne!(found.bitrate, Some(0));
        assert!(found.bitrate.is_none() || found.kind.as_deref() == Some("can"));
        let _ = found.state_name();
    }
});
