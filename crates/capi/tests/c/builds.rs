//! What is installed is what was promised: names, versions, symbols, examples that build by themselves.

use crate::installed::{home, pkg_config, prefix, run, succeeds};
use crate::responder::Responder;
use std::fs;
use std::process::Command;
use wiregauge_record::Protocol;

/// The functions that the header declares.
pub fn declared() -> Vec<String> {
    let header = fs::read_to_string(home().join("include/wiregauge.h")).unwrap();
    let mut names: Vec<_> = header
        .lines()
        .filter(|line| {
            line.starts_with(|c: char| c.is_ascii_lowercase()) && !line.starts_with("typedef")
        })
        .filter_map(|line| {
            let before = line.split('(').next()?;
            let name = before.rsplit([' ', '*']).next()?;
            name.starts_with("wg_").then(|| name.to_owned())
        })
        .collect();
    names.sort();
    assert!(names.len() > 30, "{names:?}");
    names
}

#[test]
fn the_shared_library_exports_what_the_header_declares_and_nothing_else() {
    let library = prefix().join("lib/libwiregauge.so");
    let listed = succeeds(
        Command::new("nm")
            .args(["-D", "--defined-only"])
            .arg(&library),
    );
    let mut exported: Vec<_> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(str::to_owned)
        .collect();
    exported.sort();
    assert_eq!(exported, declared());
}

#[test]
fn programs_ask_for_the_library_by_the_number_of_its_abi() {
    let header = fs::read_to_string(home().join("include/wiregauge.h")).unwrap();
    let abi = header
        .lines()
        .find_map(|line| line.strip_prefix("#define WG_ABI_VERSION "))
        .unwrap();
    let wanted = format!("libwiregauge.so.{abi}");
    let lib = prefix().join("lib");
    let dynamic = succeeds(
        Command::new("readelf")
            .arg("-d")
            .arg(lib.join("libwiregauge.so")),
    );
    assert!(dynamic.contains(&format!("[{wanted}]")), "{dynamic}");
    let file = fs::canonicalize(lib.join(&wanted)).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, concat!("libwiregauge.so.", env!("CARGO_PKG_VERSION")));
    assert_eq!(pkg_config(&["--modversion"]), [env!("CARGO_PKG_VERSION")]);
}

#[test]
fn every_function_is_tested_with_bad_input_and_used_as_it_is_meant_to_be() {
    let read = |name: &str| fs::read_to_string(home().join("tests/c").join(name)).unwrap();
    let good = read("walk.c") + &read("threads.c") + &read("queries.c");
    let bad = read("bad_input.c");
    for function in declared() {
        let call = format!("{function}(");
        assert!(bad.contains(&call), "bad_input.c does not call {function}");
        let of_the_library = ["wg_version", "wg_abi_version", "wg_error_name"];
        assert!(
            good.contains(&call) || of_the_library.contains(&&*function),
            "nobody uses {function}"
        );
    }
}

/// What stands between a panic and the caller is in every function that does more than give a constant.
#[test]
fn every_function_is_fenced() {
    let unfenced = [
        "wg_version",
        "wg_abi_version",
        "wg_error_name",
        "wg_last_error",
        "wg_interrupt",
    ];
    let mut seen = 0;
    for entry in fs::read_dir(home().join("src")).unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        for (at, _) in source.match_indices("extern \"C\" fn wg_") {
            let function = &source[at + 14..];
            let name = &function[..function.find('(').unwrap()];
            let body = &function[..function.find("\n}\n").unwrap()];
            let body = &body[body.find(" {\n").unwrap() + 3..];
            let fenced = [
                "fenced(",
                "device::with(",
                "with(",
                "set(",
                "frame(",
                "ends(",
            ]
            .iter()
            .any(|fence| body.trim_start().starts_with(fence));
            assert!(fenced || unfenced.contains(&name), "{name}: {body}");
            seen += 1;
        }
    }
    assert_eq!(seen, declared().len());
}

#[test]
fn the_examples_build_with_their_own_makefile_and_do_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(home().join("examples")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    succeeds(
        Command::new("make")
            .current_dir(folder.path())
            .env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig")),
    );
    let responder = Responder::start(Protocol::Wiregauge);
    let said = run(&folder.path().join("exchange"), &[&responder.address]);
    assert!(said.contains("one exchange: 12 bytes after "), "{said}");
    let rows = said
        .lines()
        .skip_while(|line| !line.starts_with("request "));
    let widths: Vec<_> = rows.map(str::len).collect();
    assert_eq!(widths, [widths[0]; 13], "{said}");
    let said = run(&folder.path().join("control"), &[&responder.address]);
    assert!(said.contains("   500 "), "{said}");
    assert!(said.contains("the valve came to 100.0 of 100.0"), "{said}");
}

#[test]
fn an_example_that_fails_says_what_to_try() {
    let folder = tempfile::tempdir().unwrap();
    let source = home().join("examples/exchange.c");
    let program =
        crate::installed::compiled(folder.path(), &source, crate::installed::Linked::Shared);
    let done = Command::new(program)
        .arg("tcp://127.0.0.1:1")
        .env("LD_LIBRARY_PATH", prefix().join("lib"))
        .output()
        .unwrap();
    let said = crate::installed::said(&done);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("WG_ERROR_UNREACHABLE"), "{said}");
    assert!(
        said.contains("tcp://127.0.0.1:1") && said.contains("hint: "),
        "{said}"
    );
}
