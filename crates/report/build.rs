//! Embeds uPlot, if `scripts/fetch-uplot` has put it beside what Cargo builds, and computes the hashes
//! by which a page lets its own scripts run and no others.

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where else to look, for those who package wiregauge.
const DIR: &str = "WIREGAUGE_UPLOT_DIR";

/// The files of uPlot 1.6.32 and their SHA-256.
const FILES: [(&str, &str); 3] = [
    (
        "uPlot.iife.min.js",
        "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    ),
    (
        "uPlot.min.css",
        "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    ),
    (
        "LICENSE",
        "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    ),
];

/// The scripts of pages: the name of their constants, their directory, their files in order.
const PAGE_SCRIPTS: [(&str, &str, &[&str]); 2] = [
    (
        "PAGE",
        "src/page/script",
        &["controls.js", "data.js", "plot.js", "forms.js", "live.js"],
    ),
    ("BUS", "src/page", &["bus.js"]),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={DIR}");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it"));
    let mut code = String::new();
    for (name, dir, files) in PAGE_SCRIPTS {
        let script = joined(dir, files);
        let hash = source_hash(&script);
        write!(
            code,
            "pub(super) const {name}_SCRIPT: &str = {script:?};\npub(super) const {name}_HASH: &str = {hash:?};\n"
        )
        .expect("a string takes everything");
    }
    match uplot(&out) {
        Some([script, style, licence]) => write!(
            code,
            "pub(super) const UPLOT: Option<Uplot> = Some(Uplot {{\n    script: {script:?},\n    \
             hash: {:?},\n    style: {style:?},\n    licence: {licence:?},\n}});\n",
            source_hash(&script)
        )
        .expect("a string takes everything"),
        None => code.push_str("pub(super) const UPLOT: Option<Uplot> = None;\n"),
    }
    let file = out.join("scripts.rs");
    fs::write(&file, code).unwrap_or_else(|e| stop(&file.display().to_string(), &e.to_string()));
}

/// Files as one script, in a function: they share their names with each other and with nothing else.
fn joined(dir: &str, files: &[&str]) -> String {
    let mut script = String::from("(function () {\n\"use strict\";\n");
    for file in files {
        let path = format!("{dir}/{file}");
        println!("cargo::rerun-if-changed={path}");
        script += &fs::read_to_string(&path).unwrap_or_else(|e| stop(&path, &e.to_string()));
    }
    script + "})();\n"
}

/// A script as a Content-Security-Policy names it.
fn source_hash(script: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(script)))
}

/// The texts of uPlot's files; `None` if it was not fetched.
fn uplot(out: &Path) -> Option<[String; 3]> {
    let named = env::var_os(DIR).filter(|dir| !dir.is_empty());
    let dir = match &named {
        Some(dir) => PathBuf::from(dir),
        None => conventional(out)?,
    };
    // A directory that is not there would count as changed at every build. So it is made: Cargo
    // then notices when something is put into it.
    if named.is_none() && fs::create_dir_all(&dir).is_err() {
        return None;
    }
    println!("cargo::rerun-if-changed={}", dir.display());
    if named.is_none() && !dir.join(FILES[0].0).exists() {
        return None;
    }
    Some(FILES.map(|(name, pinned)| {
        let path = dir.join(name);
        let shown = path.display().to_string();
        let text = fs::read_to_string(&path).unwrap_or_else(|e| stop(&shown, &e.to_string()));
        let found: String = Sha256::digest(&text)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if found != pinned {
            stop(
                &shown,
                &format!(
                    "it is not the file of uPlot 1.6.32 (SHA-256 {found}, pinned is {pinned}). {}",
                    match named {
                        Some(_) => format!("{DIR} leads there: change it, or what is there"),
                        None => "Remove its directory, then run scripts/fetch-uplot".into(),
                    }
                ),
            );
        }
        text
    }))
}

/// `vendor/uplot` in Cargo's target directory, which Cargo does not tell: OUT_DIR is
/// `TARGET-DIR/[TRIPLE/]PROFILE/build/.../out`.
fn conventional(out: &Path) -> Option<PathBuf> {
    let build = out.ancestors().find(|dir| dir.ends_with("build"))?;
    let target = build.parent()?.parent()?;
    let triple = env::var_os("TARGET")?;
    let target = match target.file_name() == Some(&triple) {
        true => target.parent()?,
        false => target,
    };
    Some(target.join("vendor").join("uplot"))
}

fn stop(what: &str, problem: &str) -> ! {
    println!("cargo::error=reading {what}: {problem}");
    std::process::exit(1)
}
