//! The flags as they are declared, for those who offer them in other ways and want to know that none
//! is missing.

use crate::args::Arguments;
use clap::{Arg, ArgAction, CommandFactory};
use serde_json::{Value, json};

/// Every command with its flags, as JSON: an object of commands, each with `about` and `flags`, of
/// which each has `name` (as it is typed), `help`, `heading`, `is_switch`, `is_required`,
/// `is_repeated` (given several times, or a list), `default` and `choices`.
pub fn declared() -> String {
    let mut all = Arguments::command();
    all.build();
    let commands = all.get_subcommands().filter(|c| c.get_name() != "help");
    let object: serde_json::Map<String, Value> = commands
        .map(|command| {
            let about = command.get_about().map(ToString::to_string);
            let shown = |arg: &&Arg| {
                !matches!(
                    arg.get_action(),
                    ArgAction::Help
                        | ArgAction::HelpShort
                        | ArgAction::HelpLong
                        | ArgAction::Version
                )
            };
            let flags: Vec<Value> = command.get_arguments().filter(shown).map(flag).collect();
            let value = json!({ "about": about, "flags": flags });
            (command.get_name().to_owned(), value)
        })
        .collect();
    Value::Object(object).to_string()
}

fn flag(arg: &Arg) -> Value {
    let name = match arg.get_long() {
        Some(long) => format!("--{long}"),
        None => arg.get_id().to_string(),
    };
    let choices = arg.get_possible_values();
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
    let choices: Vec<&str> = match is_switch {
        true => Vec::new(),
        false => choices.iter().map(|choice| choice.get_name()).collect(),
    };
    let default: Vec<_> = match is_switch {
        true => Vec::new(),
        false => arg.get_default_values().iter().collect(),
    };
    let default: Vec<_> = default
        .iter()
        .map(|value| value.to_string_lossy())
        .collect();
    json!({
        "name": name,
        "help": arg.get_long_help().or(arg.get_help()).map(ToString::to_string),
        "heading": arg.get_help_heading(),
        "is_switch": is_switch,
        "is_required": arg.is_required_set(),
        "is_repeated": matches!(arg.get_action(), ArgAction::Append),
        "default": default,
        "choices": choices,
    })
}
