//! The command list of `wiregauge --help`, in groups: clap has no groups of subcommands.

use clap::Subcommand;
use clap::builder::Styles;

/// Names of the commands, in the order of the list. The descriptions come from the declarations.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start here", &["demo", "devices", "exchange"]),
    ("Measure", &["stream", "loop", "loop-control", "tune"]),
    (
        "Understand",
        &[
            "show", "report", "explain", "compare", "deadline", "control",
        ],
    ),
    ("Prepare", &["doctor", "limits", "serve"]),
    ("Data", &["runs", "export"]),
    ("Program", &["completions", "man", "help"]),
];

/// As most terminals are: clap does not wrap the text of a template.
const WIDTH: usize = 80;
/// Width of the column of names.
const NAME: usize = 13;

/// The help of the program without a command.
pub(super) fn template() -> String {
    let declared = super::Command::augment_subcommands(clap::Command::new("wiregauge"));
    let heading = *Styles::styled().get_header();
    let name_style = *Styles::styled().get_literal();
    let mut list = String::new();
    for (title, names) in GROUPS {
        list += &format!("{heading}{title}:{heading:#}\n");
        for name in names {
            let about = match (declared.find_subcommand(name), *name) {
                (Some(command), _) => command.get_about().map(ToString::to_string),
                (None, "help") => {
                    Some("Print the help of a command, or of a warning such as W07".into())
                }
                // Built without its feature.
                (None, _) => continue,
            };
            let about = textwrap::wrap(about.as_deref().unwrap_or_default(), WIDTH - 2 - NAME);
            let indent = format!("\n{:1$}", "", 2 + NAME);
            list += &format!(
                "  {name_style}{name}{name_style:#}{:1$}{2}\n",
                "",
                NAME - name.len(),
                about.join(&indent)
            );
        }
        list.push('\n');
    }
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{heading}Options:{heading:#}\n{{options}}{{after-help}}"
    )
}
