//! For tests: an exchange run that nothing measured.

use wiregauge_record::{Plan, Point};

/// A plan over the null link.
pub fn plan() -> Plan {
    let plan = r#"{"address": "null:", "protocol": "echo", "connect": "once", "points": [],
        "limit": {"count": 100}, "warmup": 0, "schedule": "as-fast-as-possible", "timeout_ns": 1000000,
        "give_up": 1, "wait": "block", "below_ns": [], "keep_data": false, "calibrate": false,
        "host": {"priority": null, "pin": null, "lock_memory": false, "load": {"cpu": 0, "memory": 0}},
        "link": {"baud": null, "quick_ack": false}}"#;
    serde_json::from_str(plan).expect("a plan")
}

/// A point of small requests; each next one is deeper.
pub fn point(index: u32) -> Point {
    Point {
        index,
        out_bytes: 16,
        in_bytes: 48,
        depth: 1 + index,
        link: 0,
        together: false,
    }
}
