//! What a user types as an address, of a device or to serve on.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wiregauge_link::Address;
use wiregauge_link::LinkErrorKind;
use wiregauge_responder::ServeAddress;

/// Most typed addresses begin so; from raw bytes the fuzzer would not soon find it.
const BEGINNINGS: [&str; 10] = [
    "",
    "tcp://",
    "udp://",
    "unix://",
    "serial://",
    "can://",
    "usbtmc://",
    "null://",
    "pty:",
    "tcp://[",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let Ok(rest) = std::str::from_utf8(rest) else {
        return;
    };
    let text = format!(
        "{}{rest}",
        BEGINNINGS[usize::from(*first) % BEGINNINGS.len()]
    );
    match Address::parse(&text) {
        Ok(address) => {
            // With its scheme, if it was left out.
            let whole = Address::with_scheme(&text);
            assert_eq!(address.to_string(), whole);
            assert_eq!(
                Address::parse(&whole).map(|again| again.to_string()).ok(),
                Some(whole)
            );
        }
        // Whatever is wrong with it, the user is told so and told what to type instead.
        Err(error) => {
            assert_eq!(error.kind(), LinkErrorKind::Usage);
            assert!(error.to_string().contains("hint: "), "{error}");
        }
    }
    match ServeAddress::parse(&text) {
        Ok(ServeAddress::Pty(path)) => {
            assert!(text.starts_with("pty:"));
            assert!(path.is_none_or(|path| !path.as_os_str().is_empty()));
        }
        Ok(served) => assert_eq!(ServeAddress::parse(&text).ok(), Some(served)),
        Err(error) => assert_eq!(error.kind(), LinkErrorKind::Usage),
    }
});
