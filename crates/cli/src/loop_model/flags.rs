//! The model of a loop as it was given, for a page: the flags and the file.

use crate::args::{MissArgs, ModelArgs};
use anyhow::Context;
use clap::ValueEnum;
use std::time::Duration;
use wiregauge_command_line::quoted;
use wiregauge_quantity::flag_time;

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
    !flags(&args, &misses).is_empty()
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
    let without_file = ModelArgs {
        model: None,
        ..args.clone()
    };
    let flags = flags(&without_file, misses);
    if !flags.is_empty() {
        parts.push(("Model: flags".into(), quoted(&flags)));
    }
    Ok(parts)
}

/// Those that were given, each followed by its value; relative paths stay relative.
fn flags(args: &ModelArgs, misses: &MissArgs) -> Vec<String> {
    let mut flags = Vec::new();
    let mut flag = |name: &str, value: Option<String>| {
        flags.extend(
            value
                .into_iter()
                .flat_map(|value| [format!("--{name}"), value]),
        );
    };
    flag(
        "model",
        args.model.as_ref().map(|file| file.display().to_string()),
    );
    flag("plant", args.plant.clone());
    flag(
        "pid",
        args.pid
            .map(|pid| pid.map(|part| part.to_string()).join(",")),
    );
    flag("controller", args.controller.clone());
    flag("period", args.period.map(duration));
    flag("noise", args.noise.map(|noise| noise.to_string()));
    flag("order", misses.order.and_then(name));
    flag("on-miss", misses.on_miss.and_then(name));
    flag("deadline", misses.deadline.map(duration));
    flags
}

fn name(value: impl ValueEnum) -> Option<String> {
    Some(value.to_possible_value()?.get_name().to_owned())
}

/// A time as a flag takes it, exact.
pub fn duration(time: Duration) -> String {
    flag_time(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values;

    #[test]
    fn a_time_is_read_back_as_itself() {
        for (ns, text) in [
            (6_000_000, "6ms"),
            (2_000_000_000, "2s"),
            (62_500, "62.5us"),
            (333_000, "333us"),
        ] {
            let time = Duration::from_nanos(ns);
            assert_eq!(duration(time), text);
            assert_eq!(values::duration(text), Ok(time));
        }
    }
}
