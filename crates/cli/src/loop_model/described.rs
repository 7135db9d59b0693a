//! The model of a control loop as it was given, for a page: the flags, and the file.

use crate::args::{MissArgs, ModelArgs};
use anyhow::Context;
use clap::ValueEnum;
use std::time::Duration;
use wiregauge_command_line::quoted;

/// A longer file is named only.
const MOST_BYTES: usize = 20_000;

/// True if any flag of a loop was given, except those of its cycles: `--period` and `--deadline`.
pub fn is_given(args: &ModelArgs, misses: &MissArgs) -> bool {
    let args = ModelArgs {
        period: None,
        ..args.clone()
    };
    let misses = MissArgs {
        deadline: None,
        ..misses.clone()
    };
    args.model.is_some() || !flags(&args, &misses).is_empty()
}

/// What the parts of the model are called, and their text.
pub fn described(args: &ModelArgs, misses: &MissArgs) -> anyhow::Result<Vec<(String, String)>> {
    let mut parts = Vec::new();
    if let Some(file) = &args.model {
        let model = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.file_name().unwrap_or(file.as_os_str());
        let text = match model.len() <= MOST_BYTES {
            true => model,
            false => format!("{} bytes: too long for this page", model.len()),
        };
        parts.push((format!("Model file {}", name.display()), text));
    }
    let flags = flags(args, misses);
    if !flags.is_empty() {
        parts.push(("Model: flags".into(), quoted(&flags)));
    }
    Ok(parts)
}

fn flags(args: &ModelArgs, misses: &MissArgs) -> Vec<String> {
    let pid = args
        .pid
        .map(|[gain, integral, derivative]| format!("{gain},{integral},{derivative}"));
    let time = |time: Duration| format!("{time:?}");
    let given = [
        ("--plant", args.plant.clone()),
        ("--pid", pid),
        ("--controller", args.controller.clone()),
        ("--period", args.period.map(time)),
        ("--noise", args.noise.map(|noise| noise.to_string())),
        ("--order", misses.order.map(|order| name(&order))),
        ("--on-miss", misses.on_miss.map(|action| name(&action))),
        ("--deadline", misses.deadline.map(time)),
    ];
    let given = given.into_iter();
    given
        .filter_map(|(flag, value)| Some([flag.to_owned(), value?]))
        .flatten()
        .collect()
}

fn name(value: &impl ValueEnum) -> String {
    let value = value
        .to_possible_value()
        .expect("every value of these flags is a possible one");
    value.get_name().to_owned()
}
