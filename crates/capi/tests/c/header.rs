//! The header is what cbindgen makes of the sources, and C and C++ take it.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_header_is_made_of_the_sources() {
    let path = root().join("include/wiregauge.h");
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    cbindgen::generate_with_config(root(), config)
        .expect("cbindgen reads the sources")
        .write(&mut made);
    let made = String::from_utf8(made).unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let first = there.lines().zip(made.lines()).position(|(a, b)| a != b);
    assert!(
        there == made,
        "{} is stale (first at line {}); BLESS=1 cargo test -p wiregauge-capi --test tests header writes it",
        path.display(),
        first.map_or(there.lines().count().min(made.lines().count()), |at| at) + 1
    );
}

#[test]
fn c99_and_cpp11_take_the_header_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let use_it = "#include <wiregauge.h>\n#include <wiregauge.h>\nint main(void) { return wg_version() == 0; }\n";
    for (compiler, standard, name) in [
        ("cc", "-std=c99", "header.c"),
        ("c++", "-std=c++11", "header.cpp"),
    ] {
        let source = folder.path().join(name);
        std::fs::write(&source, use_it).unwrap();
        compiles(compiler, standard, &source);
    }
}

fn compiles(compiler: &str, standard: &str, source: &Path) {
    let done = Command::new(compiler)
        .args([
            standard,
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-fsyntax-only",
            "-I",
        ])
        .arg(root().join("include"))
        .arg(source)
        .output()
        .unwrap_or_else(|error| panic!("{compiler} runs: {error}"));
    assert!(
        done.status.success(),
        "{compiler} {standard}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}
