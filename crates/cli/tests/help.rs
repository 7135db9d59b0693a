//! What the program says of itself: help with examples, completions, man pages, version.

use crate::common;

use common::{Desk, has_all};
use predicates::str::contains;

const COMMANDS: &[&str] = &[
    "exchange",
    "stream",
    #[cfg(feature = "loop")]
    "loop",
    "loop-control",
    "tune",
    "explain",
    "deadline",
    "control",
    "compare",
    "doctor",
    "limits",
    "serve",
    "show",
    "report",
    "runs",
    "export",
    "demo",
    "devices",
    "completions",
    "man",
];

#[test]
fn the_help_of_every_command_has_an_example_that_begins_with_it() {
    let desk = Desk::new();
    let listed = desk.output("help");
    for command in COMMANDS {
        assert!(listed.contains(command), "{command}: {listed}");
        for help in [format!("help {command}"), format!("{command} --help")] {
            has_all(
                &desk.output(&help),
                &["Example", &format!("wiregauge {command}")],
            );
        }
    }
}

#[test]
fn every_command_is_listed_once_and_tested_here() {
    let desk = Desk::new();
    let help = desk.output("help");
    let list = help.split("Options:").next().unwrap_or_default();
    let mut names: Vec<&str> = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    let declared: serde_json::Value =
        serde_json::from_str(&wiregauge_cli::declared()).expect("JSON");
    let mut declared: Vec<&str> = declared
        .as_object()
        .expect("an object of commands")
        .keys()
        .map(String::as_str)
        .collect();
    let mut tested = COMMANDS.to_vec();
    names.sort_unstable();
    declared.sort_unstable();
    tested.sort_unstable();
    assert_eq!(names, declared, "in the list, and declared");
    assert_eq!(tested, declared, "tested here, and declared");
}

#[test]
fn the_examples_of_the_commands_that_measure_and_serve_are_ones_that_the_program_reads() {
    let desk = Desk::new();
    let mut read = 0;
    for command in [
        "exchange",
        "stream",
        #[cfg(feature = "loop")]
        "loop",
        "loop-control",
        "tune",
        "serve",
        "limits",
        "control",
    ] {
        let help = desk.output(&format!("help {command}"));
        // As the shell reads them.
        let help = help.replace("\\\n", " ");
        let begin = format!("wiregauge {command} ");
        for line in help
            .lines()
            .filter_map(|line| line.trim().strip_prefix(&begin))
        {
            let arguments = line.split('#').next().unwrap_or_default().replace('\'', "");
            if arguments.trim().is_empty() || arguments.starts_with('[') {
                continue;
            }
            // With one flag more, that there is not: it is the only thing to complain of.
            desk.wiregauge(&format!("{command} {arguments} --no-such-flag"))
                .assert()
                .code(2)
                .stderr(contains("unexpected argument '--no-such-flag'"));
            read += 1;
        }
    }
    assert!(read >= 15, "only {read} examples found");
}

#[test]
fn examples_are_not_wrapped_so_that_they_can_be_pasted() {
    let desk = Desk::new();
    for command in COMMANDS {
        let help = desk.output(&format!("help {command}"));
        let examples = help.split("\nExamples:\n").nth(1).unwrap_or_default();
        let examples = examples.replace("\\\n", " ");
        for line in examples.lines().filter(|line| line.starts_with("  ")) {
            let line = line.trim_start();
            assert!(
                line.starts_with('#') || line.contains("wiregauge "),
                "{command}: `{line}` is the rest of a wrapped line"
            );
        }
    }
}

#[test]
fn completions_are_generated_for_every_shell() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        has_all(
            &desk.output(&format!("completions {shell}")),
            &["wiregauge", "no-calibration"],
        );
    }
    desk.wiregauge("completions abacus").assert().code(2);
}

#[test]
fn bash_reads_its_completions() {
    let desk = Desk::new();
    let done = desk.wiregauge("completions bash").assert().success();
    let script = desk.path("completions.bash");
    std::fs::write(&script, &done.get_output().stdout).expect("written");
    let read = desk.command_of("bash", ["-n"]).arg(&script).output();
    let read = read.expect("bash runs");
    assert!(read.status.success(), "{read:?}");
}

#[test]
fn a_man_page_is_generated_for_every_command() {
    let desk = Desk::new();
    let pages = desk.path("man/man1");
    desk.wiregauge(&format!("man {}", pages.display()))
        .assert()
        .success();
    // As it is read: roff writes each minus as `\-`.
    let read = |page: &str| {
        let text =
            std::fs::read_to_string(pages.join(page)).unwrap_or_else(|_| panic!("no {page}"));
        text.replace("\\-", "-")
    };
    for command in COMMANDS {
        let text = read(&format!("wiregauge-{command}.1"));
        has_all(
            &text,
            &[
                ".TH",
                "EXAMPLES",
                "EXIT STATUS",
                "ENVIRONMENT",
                "WIREGAUGE_RUNS",
                "SEE ALSO",
            ],
        );
    }
    let all = read("wiregauge.1");
    has_all(&all, &["EXIT STATUS", "wiregauge-exchange(1)"]);
    let examples = all.split_once("EXAMPLES").expect("examples").1;
    assert!(examples.contains("wiregauge demo"), "{examples}");
    let text = read("wiregauge-exchange.1");
    let examples = text.split_once("EXAMPLES").expect("examples").1;
    has_all(examples, &["wiregauge exchange tcp://10.0.0.5:7700"]);
    std::fs::write(desk.path("file"), "a file").expect("a file");
    desk.wiregauge(&format!("man {}/man1", desk.text("file")))
        .assert()
        .failure()
        .stderr(contains("man1"));
}

#[test]
fn the_exit_codes_are_documented() {
    let desk = Desk::new();
    has_all(&desk.output("--help"), &["Exit codes", "130"]);
}

#[test]
fn without_a_command_the_program_shows_its_help() {
    let desk = Desk::new();
    desk.fails("", 2, &["Usage", "exchange"]);
    has_all(&desk.output("--version"), &[env!("CARGO_PKG_VERSION")]);
}

#[test]
fn a_mistyped_command_or_flag_is_answered_with_the_right_one() {
    let desk = Desk::new();
    desk.fails("exchagne null://", 2, &["exchange"]);
    desk.fails("exchange null:// --dept 4", 2, &["--depth"]);
}
