//! Compiles firmware/common for this computer, every warning an error.

const FILES: [&str; 6] = [
    "wg_count.c",
    "wg_responder.c",
    "wg_sink.c",
    "wg_source.c",
    "wg_siphash.c",
    "wg_udp.c",
];

fn main() {
    let mut build = cc::Build::new();
    for file in FILES {
        build.file(format!("../common/{file}"));
    }
    println!("cargo:rerun-if-changed=../common");
    println!("cargo:rerun-if-changed=shim.c");
    build
        .file("shim.c")
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
    build.compile("wiregauge_firmware");
}
