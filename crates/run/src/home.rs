//! Where runs are kept when the user names no place, and what a new one is called.

use crate::platform;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Longest part of a name that comes from an address; file systems allow 255 bytes for a name.
const MAX_ADDRESS: usize = 80;

/// The directory that runs are kept in: `$WIREGAUGE_RUNS`, else `$XDG_DATA_HOME/wiregauge/runs`,
/// else `$HOME/.local/share/wiregauge/runs`, else `./wiregauge-runs`; on Windows `%LOCALAPPDATA%\wiregauge\runs`
/// instead of the second and third. It need not exist.
pub fn runs_home() -> PathBuf {
    home_from(|name| env::var_os(name))
}

fn home_from(variable: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let runs = variable("WIREGAUGE_RUNS").filter(|value| !value.is_empty());
    if let Some(runs) = runs {
        return PathBuf::from(runs);
    }
    match platform::data_home(&variable) {
        Some(data) => data.join("wiregauge").join("runs"),
        None => PathBuf::from("wiregauge-runs"),
    }
}

/// A directory in `home` that does not exist yet, named after now and the link:
/// `2026-11-21T14-36-05Z-tcp-127.0.0.1-7700`. It is not created.
pub fn new_run_dir(home: &Path, address: &str) -> PathBuf {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ");
    unused(home, &format!("{now}-{}", safe(address)))
}

fn unused(home: &Path, name: &str) -> PathBuf {
    let first = home.join(name);
    if first.symlink_metadata().is_err() {
        return first;
    }
    let mut number = 2_u64;
    loop {
        let path = home.join(format!("{name}-{number}"));
        if path.symlink_metadata().is_err() {
            return path;
        }
        number += 1;
    }
}

/// Only letters, digits, points and underscores, with single hyphens between.
fn safe(address: &str) -> String {
    let mut name = String::new();
    for c in address.chars() {
        if name.len() >= MAX_ADDRESS {
            break;
        }
        if c.is_ascii_alphanumeric() || c == '_' || (c == '.' && !name.ends_with(['.', '-'])) {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    match name.trim_end_matches(['-', '.']) {
        "" => "link".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(variables: &[(&str, &str)]) -> PathBuf {
        home_from(|name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_home_of_runs_follows_the_environment() {
        let (runs, data) = (("WIREGAUGE_RUNS", "runs"), ("XDG_DATA_HOME", "/x"));
        let odd = [("WIREGAUGE_RUNS", ""), ("XDG_DATA_HOME", "relative")];
        let user = ("HOME", "/h");
        for (variables, expected) in [
            (&[runs, data, user][..], "runs"),
            (&[data, user], "/x/wiregauge/runs"),
            (&[user], "/h/.local/share/wiregauge/runs"),
            (&[odd[0], odd[1], user], "/h/.local/share/wiregauge/runs"),
            (&[], "wiregauge-runs"),
        ] {
            assert_eq!(home(variables), Path::new(expected), "{variables:?}");
        }
    }

    #[test]
    fn names_are_safe_on_every_file_system() {
        assert_eq!(safe("tcp://127.0.0.1:7700"), "tcp-127.0.0.1-7700");
        assert_eq!(safe("serial:///dev/ttyACM0"), "serial-dev-ttyACM0");
        assert_eq!(safe("tcp://[fe80::1%eth0]:7"), "tcp-fe80-1-eth0-7");
        assert_eq!(safe("unix://../../etc/passwd"), "unix-etc-passwd");
        assert_eq!(safe("null:"), "null");
        assert_eq!(safe("/..\0\n"), "link");
        assert_eq!(safe("é"), "link");
        assert_eq!(safe(&"x".repeat(1000)).len(), MAX_ADDRESS);
    }

    #[test]
    fn a_second_run_in_the_same_second_gets_a_number() {
        let home = tempfile::tempdir().unwrap();
        for expected in ["run", "run-2", "run-3"] {
            let dir = unused(home.path(), "run");
            assert_eq!(dir, home.path().join(expected));
            std::fs::create_dir(dir).unwrap();
        }
    }

    #[test]
    fn a_new_run_is_named_after_now_and_its_link() {
        let dir = new_run_dir(Path::new("/nowhere"), "tcp://10.0.0.5:7");
        let name = dir.file_name().unwrap().to_str().unwrap();
        assert_eq!(name.len(), "2026-11-21T14-36-05Z-tcp-10.0.0.5-7".len());
        assert!(name.ends_with("Z-tcp-10.0.0.5-7"), "{name}");
        let is_time = name.starts_with("20") && name.as_bytes()[10] == b'T';
        assert!(is_time, "{name}");
    }
}
