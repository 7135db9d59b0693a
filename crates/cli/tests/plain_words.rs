//! Words that a reader must guess do not come back: in the help of the commands, and in the texts of the sources.

use crate::common;

use common::Desk;
use std::fs;
use std::path::{Path, PathBuf};

/// Retired words and phrases, in lower case. Each was in a text, and a reader asked what it means.
const RETIRED: &[&str] = &[
    "a fresh run",
    "a run every",
    "asked for",
    "at the least",
    "axis of nines",
    "be gone",
    "both ways",
    "by way of",
    "can be told",
    "cannot be told",
    "cannot tell",
    "comes round",
    "each way",
    "either way",
    "from nowhere",
    "goes before",
    "hangs on",
    "held by",
    "hurts",
    "in a few numbers",
    "is let go",
    "is no framing",
    "is no limit",
    "is no load",
    "is no number",
    "is no probability",
    "is no rate",
    "is no size",
    "is no stage",
    "is no stall",
    "is no time",
    "is no tty",
    "is no whole number",
    "link kind",
    "made on purpose",
    "mend",
    "mends",
    "no difference shown",
    "nothing is gained",
    "nothing is told",
    "nothing moves",
    "oftener",
    "on the way",
    "prove it",
    "put back",
    "puts back",
    "rubbish",
    "seldom",
    "serves an aim",
    "so long",
    "so many",
    "so often",
    "somebody",
    "stands out",
    "takes it back",
    "tell",
    "tells",
    "the least",
    "the way to",
    "told",
    "under way",
    "vanished",
    "vouches",
    "way to the device",
    "whatever hangs",
    "what mends",
    "worth about",
];

/// Where one is right: a part of the text, and the retired phrase in it.
const ALLOWED: &[(&str, &str)] = &[
    ("worth about {} independent ones", "worth about"),
    ("asked for room before", "asked for"),
];

fn is_part_of_a_word(character: Option<char>) -> bool {
    character.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// The retired phrases in a text, whole words only.
fn retired_in(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_there = |phrase: &str| {
        text.match_indices(phrase).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + phrase.len()..].chars().next();
            !is_part_of_a_word(before) && !is_part_of_a_word(after)
        })
    };
    let allowed = |phrase| {
        ALLOWED
            .iter()
            .any(|(part, of)| *of == phrase && text.contains(part))
    };
    let found = RETIRED.iter().filter(|phrase| is_there(phrase));
    found.copied().filter(|phrase| !allowed(*phrase)).collect()
}

/// The string literals of Rust source outside its unit tests, with their lines; what a format string
/// inserts is `{}`.
fn literals(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut rest = source.split("#[cfg(test)]\nmod ").next().unwrap_or(source);
    let whole = rest.len();
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let line = source[..whole - rest.len() + at].matches('\n').count() + 1;
        let raw = rest[..at].ends_with('r');
        let hashes = rest[..at].len() - rest[..at].trim_end_matches('#').len();
        rest = &rest[at..];
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\") {
            rest = &rest[3..];
        } else if !rest.starts_with('"') {
            rest = &rest[1..];
        } else if raw || hashes > 0 {
            let end = format!("\"{}", "#".repeat(hashes));
            let (text, after) = rest[1..]
                .split_once(end.as_str())
                .unwrap_or((&rest[1..], ""));
            found.push((line, text.to_owned()));
            rest = after;
        } else {
            let mut text = String::new();
            let mut characters = rest[1..].char_indices();
            let mut depth = 0;
            let mut end = rest.len();
            while let Some((at, character)) = characters.next() {
                match character {
                    '"' => {
                        end = at + 2;
                        break;
                    }
                    '\\' => match characters.next() {
                        Some((_, '\n')) | Some((_, 'n')) => text.push('\n'),
                        Some((_, other)) => text.push(other),
                        None => {}
                    },
                    '{' | '}' => {
                        text.push(character);
                        depth += if character == '{' { 1 } else { -1 };
                    }
                    _ if depth > 0 => {}
                    _ => text.push(character),
                }
            }
            found.push((line, text));
            rest = &rest[end..];
        }
    }
    found
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let is_of_tests = name.is_some_and(|name| name.contains("test"));
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !is_of_tests {
            found.push(path);
        }
    }
}

#[test]
fn the_help_of_no_command_has_a_retired_word() {
    let desk = Desk::new();
    let declared: serde_json::Value =
        serde_json::from_str(&wiregauge_cli::declared()).expect("JSON");
    let commands = declared.as_object().expect("an object of commands").keys();
    let mut wrong = Vec::new();
    for words in std::iter::once("--help".to_owned()).chain(commands.map(|c| format!("{c} --help")))
    {
        let help = desk.output(&words);
        let paragraphs = help.split("\n\n");
        wrong.extend(paragraphs.flat_map(|text| {
            retired_in(text).into_iter().map({
                let words = words.clone();
                move |phrase| format!("wiregauge {words}: `{phrase}` in {text:?}")
            })
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_text_of_the_sources_has_a_retired_word() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for one in fs::read_dir(&crates).expect("the crates") {
        let source = one.expect("an entry").path().join("src");
        // The simulator speaks to the developers of this project only.
        if source.is_dir() && !source.ends_with("sim/src") {
            sources(&source, &mut files);
        }
    }
    assert!(files.len() > 300, "only {} files of source", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).expect("source");
        for (line, text) in literals(&source) {
            // A single word is a key or a name.
            if text.trim().contains(' ') {
                let file = file.strip_prefix(&crates).unwrap_or(&file).display();
                let found = retired_in(&text).into_iter();
                wrong.extend(found.map(|phrase| format!("{file}:{line}: `{phrase}` in {text:?}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_retired_phrase_is_found_as_whole_words_across_lines() {
    assert_eq!(retired_in("wait so\n  many times"), ["so many"]);
    assert_eq!(retired_in("Recommend a telling mendable setting"), [""; 0]);
    let source = "fn a() { say(\"it hangs \\\n      on {told}\"); } // so many\n#[cfg(test)]\nmod tests { \"tell\" }";
    let found = literals(source);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(retired_in(&found[0].1), ["hangs on"]);
}
