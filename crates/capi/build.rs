//! Gives the shared library the name that programs ask the loader for. It ends in the number of the ABI
//! (`ABI` in src/about_library.rs; a test compares them).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libwiregauge.so.0");
    }
}
