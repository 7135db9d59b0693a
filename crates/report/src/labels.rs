//! What tells the runs of one report from each other: as short as can be, unique, and what the user
//! would call them.

use std::collections::HashSet;
use std::path::PathBuf;
use wiregauge_run::Stored;

/// One label a run, in their order: what they were measured on if that differs, else when or under
/// which name they were stored, else where.
pub fn labels<'a>(runs: impl IntoIterator<Item = &'a dyn Stored>) -> Vec<String> {
    let of = |run: &dyn Stored| Facts {
        address: run.links(),
        name: run.name(),
        dir: run
            .dir()
            .canonicalize()
            .unwrap_or_else(|_| run.dir().to_owned()),
    };
    let facts: Vec<Facts> = runs.into_iter().map(of).collect();
    choose(&facts).into_iter().map(printable).collect()
}

struct Facts {
    address: String,
    name: String,
    dir: PathBuf,
}

fn choose(facts: &[Facts]) -> Vec<String> {
    if facts.is_empty() {
        return Vec::new();
    }
    let addresses: Vec<String> = facts.iter().map(|run| run.address.clone()).collect();
    let names: Vec<String> = facts.iter().map(|run| run.name.clone()).collect();
    let tries = [addresses, times(facts), names.clone(), places(facts)];
    let unique = tries.into_iter().find(|labels| all_differ(labels));
    unique.unwrap_or_else(|| {
        let numbered = names.iter().zip(1..);
        numbered
            .map(|(name, number)| format!("{name} ({number})"))
            .collect()
    })
}

fn all_differ(labels: &[String]) -> bool {
    let mut seen = HashSet::new();
    let mut labels = labels.iter();
    labels.all(|label| !label.is_empty() && seen.insert(label))
}

/// When runs were measured, by the names that they got by themselves: `2026-11-21T14-36-05`.
fn times(facts: &[Facts]) -> Vec<String> {
    let name = facts.iter().map(|run| run.name.as_str());
    let time = name.map(|name| name.split_once("Z-").map_or(name, |(time, _)| time));
    time.map(str::to_owned).collect()
}

/// The parts of the paths that differ.
fn places(facts: &[Facts]) -> Vec<String> {
    let parts: Vec<Vec<String>> = facts
        .iter()
        .map(|run| {
            let parts = run.dir.components();
            parts
                .map(|part| part.as_os_str().to_string_lossy().into_owned())
                .collect()
        })
        .collect();
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(0);
    let first = &parts[0];
    let front = (0..shortest)
        .take_while(|&at| parts.iter().all(|path| path[at] == first[at]))
        .count();
    let back = (0..shortest - front)
        .take_while(|&at| {
            let last = |path: &Vec<String>| path[path.len() - 1 - at].clone();
            parts.iter().all(|path| last(path) == last(first))
        })
        .count();
    let differing = parts
        .iter()
        .map(|path| path[front..path.len() - back].join("/"));
    differing.collect()
}

/// A name may hold anything; a label is one line.
fn printable(label: String) -> String {
    let one = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    label.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(runs: &[(&str, &str)]) -> Vec<String> {
        let facts = runs.iter().map(|(address, dir)| Facts {
            address: (*address).to_owned(),
            name: dir.rsplit('/').next().unwrap_or_default().to_owned(),
            dir: PathBuf::from(dir),
        });
        choose(&facts.collect::<Vec<_>>())
    }

    #[test]
    fn labels_are_what_differs_as_short_as_can_be() {
        let one = "/r/2026-11-21T14-36-05Z-tcp-a-7";
        let hour = "/r/2026-11-21T15-00-00Z-tcp-a-7";
        let same_second = "/r/2026-11-21T14-36-05Z-tcp-a-7-2";
        let of_one_link = |dirs: [&str; 2]| of(&dirs.map(|dir| ("tcp://a:7", dir)));
        for (dirs, labels) in [
            (["/r/before", "/r/after"], ["before", "after"]),
            ([one, hour], ["2026-11-21T14-36-05", "2026-11-21T15-00-00"]),
            ([one, same_second], [&one[3..], &same_second[3..]]),
            (["/x/old/fw/run", "/x/new/fw/run"], ["old", "new"]),
            (["/x/run", "/x/run"], ["run (1)", "run (2)"]),
        ] {
            assert_eq!(of_one_link(dirs), labels);
        }
        let links = of(&[("tcp://a:7", "/r/before"), ("udp://a:7", "/r/after")]);
        assert_eq!(links, ["tcp://a:7", "udp://a:7"]);
        let labels = of_one_link(["/x/run", "/x/new/run"]);
        assert!(all_differ(&labels), "{labels:?}");
        assert_eq!(of(&[("tcp://a:7", "/x/run")]), ["tcp://a:7"]);
        assert!(of(&[]).is_empty());
    }
}
