//! Report descriptors of HID devices: whatever the bytes are, sizes are bounded and no report is listed twice.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(reports) = wiregauge_link::parse_report_descriptor(bytes) else {
        return;
    };
    assert!(reports.list.len() <= 3 * 256);
    for pair in reports.list.windows(2) {
        assert!((pair[0].kind, pair[0].id) < (pair[1].kind, pair[1].id));
    }
    for report in &reports.list {
        assert!((1..=16_384).contains(&report.bytes));
        assert!(reports.numbered || report.id == 0);
    }
    let _ = reports.to_string();
});
