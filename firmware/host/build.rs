//! Compiles firmware/common and the descriptors of the RP2040 for this computer, every warning an error.

const FILES: [&str; 6] = [
    "wg_count.c",
    "wg_responder.c",
    "wg_sink.c",
    "wg_source.c",
    "wg_siphash.c",
    "wg_udp.c",
];

/// Compiled a second time for the sink of whole words, whose structures are others.
const SMALL: [&str; 2] = ["wg_count.c", "wg_sink_small.c"];
const RENAMED: [&str; 9] = [
    "wg_get32",
    "wg_put32",
    "wg_put_longs",
    "wg_add",
    "wg_add_long",
    "wg_take_off",
    "wg_sunk",
    "wg_sink_take",
    "wg_sink_end",
];

fn main() {
    println!("cargo:rerun-if-changed=../common");
    println!("cargo:rerun-if-changed=shim.c");
    println!("cargo:rerun-if-changed=small.c");
    println!("cargo:rerun-if-changed=rp2040.c");
    println!("cargo:rerun-if-changed=../rp2040");
    strict()
        .include("../rp2040")
        .file("rp2040.c")
        .file("../rp2040/descriptors.c")
        .compile("wiregauge_firmware_rp2040");
    let mut small = strict();
    small.file("small.c").define("WG_EXACT", "0");
    for file in SMALL {
        small.file(format!("../common/{file}"));
    }
    for name in RENAMED {
        small.define(name, Some(&*format!("small_{name}")));
    }
    small.compile("wiregauge_firmware_small");
    let mut build = strict();
    build.file("shim.c");
    for file in FILES {
        build.file(format!("../common/{file}"));
    }
    build.compile("wiregauge_firmware");
}

fn strict() -> cc::Build {
    let mut build = cc::Build::new();
    build
        .include("../common")
        .std("c99")
        .define("WG_WAITING", "2")
        .define("WG_PEERS", "3")
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .flag("-pedantic")
        .flag("-Wconversion");
    // What C leaves undefined ends the test that does it, without a runtime library that would have to be linked.
    if std::env::var("PROFILE").as_deref() == Ok("debug") {
        build
            .flag("-fsanitize=undefined")
            .flag("-fsanitize-undefined-trap-on-error");
    }
    build
}
