//! A plan to test with.

use wiregauge_record::{
    Connect, HostPlan, Limit, LinkOptions, Plan, Point, Protocol, Schedule, Wait,
};

/// Ten echoes one after the other, the first of which is apart.
pub fn plan(timeout_ns: u64) -> Plan {
    Plan {
        address: "tcp://device:7".into(),
        more_links: Vec::new(),
        protocol: Protocol::Echo,
        queries: None,
        connect: Connect::Once,
        points: Vec::new(),
        limit: Limit::Count(9),
        warmup: 0,
        schedule: Schedule::AsFastAsPossible,
        timeout_ns,
        give_up: 10,
        wait: Wait::Block,
        below_ns: Vec::new(),
        keep_data: false,
        batch: None,
        calibrate: false,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

pub fn point(out_bytes: u32, in_bytes: u32, depth: u32) -> Point {
    Point {
        index: 0,
        out_bytes,
        in_bytes,
        depth,
        link: 0,
        together: false,
    }
}
