//! Microsoft Defender scans the files of runs while they are written.

use super::super::check::Check;
use crate::{Finding, HostContext, Level, WindowsHost};
use std::io;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "Microsoft Defender, which scans the files of runs while they are written",
    look,
};

const NAME: &str = "antivirus";

const DEFENDER: &str = r"SOFTWARE\Microsoft\Windows Defender";
const POLICIES: &str = r"SOFTWARE\Policies\Microsoft\Windows Defender";
const REAL_TIME: &str = "Real-Time Protection";
const OFF: &str = "DisableRealtimeMonitoring";

fn look(context: &HostContext) -> Vec<Finding> {
    let host = context.windows().filter(|_| context.run.is_none());
    host.and_then(of).into_iter().collect()
}

/// Nothing where there is no Defender. Other products are not known.
fn of(host: &dyn WindowsHost) -> Option<Finding> {
    if host
        .keys(DEFENDER)
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    {
        return None;
    }
    let off = [POLICIES, DEFENDER].iter().find_map(|key| {
        let key = format!(r"{key}\{REAL_TIME}");
        let is_off = host.number(&key, OFF) == Some(1);
        is_off.then(|| format!(r"HKLM\{key}\{OFF} = 1"))
    });
    let runs = host.runs().to_string_lossy().into_owned();
    let good = |title: &str| Finding::new(NAME, Level::Good, title);
    if let Some(off) = off {
        return Some(good("real-time protection of Microsoft Defender is off").seen(off));
    }
    let (mut is_hidden, mut seen) = (false, Vec::new());
    for key in [POLICIES, DEFENDER] {
        let key = format!(r"{key}\Exclusions\Paths");
        match host.values(&key) {
            // The names of the values are the paths.
            Ok(values) => {
                let mut paths = values.into_iter().map(|(path, _)| path);
                if let Some(path) = paths.find(|path| covers(path, &runs)) {
                    return Some(
                        good("Microsoft Defender excludes the directory of runs")
                            .seen(format!(r"HKLM\{key}: {path}")),
                    );
                }
                seen.push(format!(r"HKLM\{key}: does not contain {runs}"));
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                is_hidden = true;
                seen.push(format!(r"HKLM\{key}: {error}; run as administrator"));
            }
            Err(_) => {}
        }
    }
    if is_hidden {
        let title = "cannot see whether Microsoft Defender excludes the directory of runs";
        return Some(Finding::new(NAME, Level::Unknown, title).all_seen(seen));
    }
    if seen.is_empty() {
        seen.push("no path is excluded".into());
    }
    Some(
        Finding::new(
            NAME,
            Level::Note,
            "Microsoft Defender scans the files of runs while they are written",
        )
        .all_seen(seen)
        .seen("another antivirus product, if installed, replaces Microsoft Defender and has exclusions of its own")
        .costs(
            "the scan takes CPU time during the measurement, most of it when samples are written. Not measured by this project",
            "Microsoft, Troubleshoot performance issues related to real-time protection",
        )
        .remedy(format!(
            "powershell -Command \"Add-MpPreference -ExclusionPath '{}'\"  # malware in this directory is then not found",
            runs.replace('\'', "''")
        )),
    )
}

/// True if an excluded path is the directory or lies above it. In a part of it `*` stands for any characters and `?` for
/// one.
fn covers(excluded: &str, directory: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        let path = path.trim_end_matches(['\\', '/']).to_lowercase();
        path.split(['\\', '/']).map(str::to_owned).collect()
    };
    let (excluded, directory) = (parts(excluded), parts(directory));
    let pairs = || excluded.iter().zip(&directory);
    excluded != [""]
        && excluded.len() <= directory.len()
        && pairs().all(|(pattern, part)| matches(pattern.as_bytes(), part.as_bytes()))
}

fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => {
            matches(rest, text)
                || text
                    .split_first()
                    .is_some_and(|(_, text)| matches(pattern, text))
        }
        ([b'?', rest @ ..], [_, text @ ..]) => matches(rest, text),
        ([one, rest @ ..], [other, text @ ..]) => one == other && matches(rest, text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn an_excluded_path_covers_what_is_below_it() {
        let runs = r"C:\Users\me\AppData\Local\wiregauge\runs";
        for excluded in [
            r"C:\",
            r"c:\users\ME\appdata\local\wiregauge",
            r"C:\Users\*\AppData\Local\wiregauge\runs\",
            r"C:\Users\m?",
        ] {
            assert!(covers(excluded, runs), "{excluded}");
        }
        for excluded in [
            "",
            r"C:\User",
            r"D:\",
            r"C:\Users\me\AppData\Local\wiregauge\runs\a-run",
            "C:\\Users\\you*",
        ] {
            assert!(!covers(excluded, runs), "{excluded}");
        }
    }
}
