//! The library as `make install-lib` leaves it, made of what Cargo has just built; and the programs that use it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// The crate.
pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where it is installed. In Cargo's folder and not in /tmp: the static library of a debug build is large.
pub fn prefix() -> &'static Path {
    static PREFIX: LazyLock<PathBuf> = LazyLock::new(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("capi");
        let test = std::env::current_exe().expect("this test is a file");
        let done = Command::new(home().join("../../scripts/install-lib"))
            .arg(&prefix)
            .arg(test.parent().expect("it lies in a folder"))
            .output()
            .expect("scripts/install-lib runs");
        assert!(done.status.success(), "{}", said(&done));
        prefix
    });
    &PREFIX
}

/// What pkg-config says of the library, in words.
pub fn pkg_config(ask: &[&str]) -> Vec<String> {
    let done = Command::new("pkg-config")
        .args(ask)
        .arg("wiregauge")
        .env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"))
        .output()
        .expect("pkg-config runs");
    assert!(done.status.success(), "{}", said(&done));
    let words = String::from_utf8(done.stdout).unwrap();
    words.split_whitespace().map(str::to_owned).collect()
}

/// How the library gets into a program.
#[derive(Clone, Copy, Debug)]
pub enum Linked {
    Shared,
    Static,
    /// Shared, and what is not freed is an error, in the library as well; so is what is read or written beyond its end.
    Sanitized,
}

/// Compiles a program and gives its path.
pub fn compiled(folder: &Path, source: &Path, linked: Linked) -> PathBuf {
    let program = folder.join(format!(
        "{}-{linked:?}",
        source.file_stem().unwrap().display()
    ));
    let mut compiler = Command::new("cc");
    compiler
        .args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-g",
            "-pthread",
        ])
        .args(pkg_config(&["--cflags"]))
        .arg(source)
        .arg("-o")
        .arg(&program);
    // The library's own debugging information would be most of the program, and most of the time to link it.
    compiler.arg("-Wl,--strip-debug");
    match linked {
        Linked::Shared => compiler.args(pkg_config(&["--libs"])),
        Linked::Static => compiler.args(pkg_config(&["--variable=static"])),
        Linked::Sanitized => compiler
            .arg("-fsanitize=address,undefined")
            .args(pkg_config(&["--libs"])),
    };
    let done = compiler.output().expect("cc runs");
    assert!(done.status.success(), "{compiler:?}\n{}", said(&done));
    program
}

/// Runs a program, which must end with 0; gives what it printed.
pub fn run(program: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    succeeds(command.args(arguments))
}

/// Runs a command, which must end with 0; gives what it printed.
pub fn succeeds(command: &mut Command) -> String {
    let done = command
        .env("LD_LIBRARY_PATH", prefix().join("lib"))
        .env("ASAN_OPTIONS", "detect_leaks=1:allocator_may_return_null=1")
        .env("UBSAN_OPTIONS", "halt_on_error=1")
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        done.status.success(),
        "{command:?}: {}\n{}",
        done.status,
        said(&done)
    );
    String::from_utf8(done.stdout).unwrap()
}

/// All that a program printed.
pub fn said(done: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    )
}
