//! The flags of a loop as they were given, for a command line that is to describe the same loop.

use crate::args::{MissArgs, ModelArgs};
use clap::ValueEnum;
use std::time::Duration;
use wiregauge_quantity::flag_time;

/// Those that were given, each followed by its value; relative paths stay relative.
pub fn flags(args: &ModelArgs, misses: &MissArgs) -> Vec<String> {
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
