//! What to use instead of a command or flag that other tools have. clap suggests what is spelled
//! alike, which is often something else.

use clap::error::{ContextKind, ContextValue};

/// Words that are no command, and the one that they mean.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &[
            "measure",
            "mesure",
            "bench",
            "benchmark",
            "ping",
            "rtt",
            "latency",
            "jitter",
            "test",
            "run",
            "perf",
        ],
        "request/response exchanges (RTT, jitter, throughput): wiregauge exchange ADDRESS",
    ),
    (
        &[
            "throughput",
            "bandwidth",
            "speed",
            "speedtest",
            "iperf",
            "bulk",
        ],
        "one-way streams: wiregauge stream ADDRESS; requests with responses: wiregauge exchange ADDRESS",
    ),
    (
        &["server", "responder", "respond", "listen", "echo"],
        "the other end of a link: wiregauge serve ADDRESS",
    ),
    (
        &["list", "ls", "scan", "discover"],
        "attached devices: wiregauge devices; stored runs: wiregauge runs",
    ),
    (&["history", "results"], "stored runs: wiregauge runs"),
    (&["diff"], "two runs: wiregauge compare RUN RUN"),
    (
        &["optimise", "optimize"],
        "the best settings: wiregauge tune ADDRESS",
    ),
    (
        &["plot", "html", "graph"],
        "figures and an HTML page: wiregauge report RUN",
    ),
    (
        &["check", "diagnose"],
        "problems of this host: wiregauge doctor",
    ),
];

/// What `wiregauge help` knows.
const TOPICS: &str = "help takes one command or one warning code; all commands: wiregauge --help; all \
     warnings: wiregauge help warnings";

/// Of these commands, flags that they do not have, and what to use.
const FLAGS: &[(&[&str], &[&str], &str)] = &[
    (
        &["exchange", "tune"],
        &[
            "--size",
            "--sizes",
            "--payload",
            "--length",
            "--len",
            "--bytes",
            "--bs",
            "-s",
            "-l",
        ],
        "sizes are --out (requests) and --in (responses)",
    ),
    (
        &["stream"],
        &[
            "--size",
            "--sizes",
            "--payload",
            "--length",
            "--len",
            "--bytes",
            "--bs",
            "-s",
            "-l",
        ],
        "the size of transfers is --transfer",
    ),
    (
        &["exchange"],
        &[
            "-n",
            "-c",
            "--n",
            "--num",
            "--number",
            "--iterations",
            "--samples",
            "--repeat",
            "--packets",
            "--requests",
            "--exchanges",
            "--loops",
        ],
        "the number of exchanges is --count",
    ),
    (
        &["exchange"],
        &[
            "--queue",
            "--iodepth",
            "--concurrency",
            "--outstanding",
            "--window",
            "--parallel",
            "-P",
        ],
        "the number of outstanding requests is --depth",
    ),
    (
        &["stream"],
        &[
            "--depth",
            "--iodepth",
            "--concurrency",
            "--outstanding",
            "--window",
            "--parallel",
        ],
        "the number of pending transfers is --queue",
    ),
    (
        &["exchange", "stream"],
        &["--time", "--seconds", "--runtime", "-t"],
        "the duration of each point is --duration TIME, such as 10s",
    ),
    (
        &["exchange"],
        &["--period", "--freq", "--frequency", "-i"],
        "a schedule is --interval TIME or --rate N",
    ),
    (
        &["exchange", "stream", "tune"],
        &["--host", "--port", "--address", "--device", "-p"],
        "the address has no flag: tcp://HOST:PORT, serial://PATH",
    ),
    (
        &["exchange"],
        &["--output", "-o"],
        "the directory of the run is --store, a file with all samples --csv, JSON on standard output --json",
    ),
    (
        &["exchange"],
        &["--deadline"],
        "the share below a time is --below TIMES; of a stored run: wiregauge deadline RUN",
    ),
];

/// The error, with a tip that helps if there is one.
pub fn with_hint(mut error: clap::Error, command: &str) -> clap::Error {
    let Some(tip) = tip(&error, command) else {
        return error;
    };
    for kind in [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        // It is about the argument that was suggested.
        ContextKind::Usage,
    ] {
        error.remove(kind);
    }
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![tip.into()]),
    );
    error
}

fn tip(error: &clap::Error, command: &str) -> Option<&'static str> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    match error.kind() {
        clap::error::ErrorKind::InvalidSubcommand => {
            let wrong = word(ContextKind::InvalidSubcommand)?.to_lowercase();
            let found = COMMANDS
                .iter()
                .find(|(words, _)| words.contains(&wrong.as_str()));
            let is_like_another = error.get(ContextKind::SuggestedSubcommand).is_some();
            let asks_for_help = command == "help" && !is_like_another;
            found
                .map(|(_, tip)| *tip)
                .or(asks_for_help.then_some(TOPICS))
        }
        clap::error::ErrorKind::UnknownArgument => {
            let wrong = word(ContextKind::InvalidArg)?;
            let found = FLAGS
                .iter()
                .find(|(commands, flags, _)| commands.contains(&command) && flags.contains(&wrong));
            found.map(|(_, _, tip)| *tip)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use clap::CommandFactory;

    #[test]
    fn hints_are_for_words_that_are_no_commands_and_name_flags_that_exist() {
        let program = Arguments::command();
        for (words, _) in COMMANDS {
            for word in *words {
                assert!(program.find_subcommand(word).is_none(), "{word}");
            }
        }
        for (commands, flags, tip) in FLAGS {
            for command in *commands {
                let command = program.find_subcommand(command).expect("a command");
                let has = |flag: &str| {
                    let long = flag.strip_prefix("--");
                    let mut all = command.get_arguments();
                    all.any(|arg| match long {
                        Some(long) => arg.get_long() == Some(long),
                        None => arg.get_short() == flag.chars().nth(1),
                    })
                };
                for flag in *flags {
                    assert!(!has(flag), "{flag}");
                }
                let named = tip
                    .split([' ', ',', ':', ';'])
                    .filter(|word| word.starts_with("--"));
                for flag in named {
                    assert!(has(flag), "{flag} of {tip}");
                }
            }
        }
    }
}
