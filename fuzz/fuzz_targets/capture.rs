//! Capture files: of whatever bytes, memory is bounded, the figures agree with each other, and errors say where.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wiregauge_capture::{Explained, ReadError, Window, explain, picture};

/// How files begin; from raw bytes the fuzzer would not soon find it.
const BEGINNINGS: [&[u8]; 5] = [
    b"",
    // pcapng: a section, and an interface of full speed with nanoseconds.
    &[
        0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 28, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0, 0x26, 1, 0, 0, 0, 0, 0,
        0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0,
    ],
    // pcap: packets, and usbmon.
    &[
        0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0x20, 1, 0, 0,
    ],
    &[
        0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0xdc, 0, 0, 0,
    ],
    b"# Level,Sp,Index,m:s.ms.us,Dur,Len,Err,Dev,Ep,Record,Data,Summary\n",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let begin = BEGINNINGS[usize::from(*first) % BEGINNINGS.len()];
    let file = [begin, rest].concat();
    let open = || Ok(file.as_slice());
    match explain(open, Window::default()) {
        Ok(Explained::Bus(bus)) => {
            assert!(bus.endpoints.len() <= 64);
            for judged in &bus.endpoints {
                let (one, counts) = (&judged.endpoint, &judged.endpoint.counts);
                assert!(counts.naks + counts.packets <= counts.tokens);
                assert!(counts.short + counts.empty <= counts.packets);
                assert!(counts.transfers <= counts.packets);
                let parts = one.parts;
                let sum = parts.data_ns
                    + parts.nak_ns
                    + parts.unrequested_ns
                    + parts.other_ns
                    + parts.hub_ns
                    + parts.idle_ns;
                // Percentiles of long times are rounded.
                assert!(
                    (sum - parts.total_ns).abs() <= parts.total_ns * 0.01 + 1.0,
                    "{parts:?}"
                );
            }
            let drawn = picture(open, Window::default(), 8, false).expect("it was read before");
            assert!(drawn.rows.len() <= 9);
        }
        Ok(Explained::Urbs(host)) => {
            for one in &host.endpoints {
                assert!(one.short + one.empty <= one.transfers);
                assert!((0.0..=1.0).contains(&one.idle));
            }
        }
        Err(ReadError::Format { hint, .. }) => assert!(!hint.is_empty()),
        Err(error) => assert!(error.to_string().starts_with("byte "), "{error}"),
    }
});
