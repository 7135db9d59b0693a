//! The model of a control loop, from flags and from a file: flags override the keys of the file.

mod flags;

use crate::args::{MissArgs, ModelArgs};
use anyhow::bail;
pub use flags::{described, duration, is_given};
use std::time::Duration;
use wiregauge_control::{Cost, Loop, Pid, Rules, StateSpace, TransferFunction};
use wiregauge_program::model::{
    ControllerKeys, Entries, ModelFile, Source, TextOr, matrices, noise_of, plant_of,
};

/// A loop and what becomes of its late answers.
#[derive(Clone, Debug)]
pub struct LoopModel {
    /// Plant, controller, period, noise, cost, limits.
    pub model: Loop,
    /// Which responses become commands.
    pub rules: Rules,
    /// Plant and controller as they were given, such as `plant 1/s, PID 2,0,0`.
    pub words: String,
}

/// The loop that these flags and their file describe. `measured` is the period that is used if neither has one.
pub fn resolve(
    args: &ModelArgs,
    misses: &MissArgs,
    measured: Option<Duration>,
) -> anyhow::Result<LoopModel> {
    resolved(args, misses, measured, 1.0)
}

/// The same, where no noise is given with none, as `wiregauge serve --plant` does.
pub fn resolve_without_noise(
    args: &ModelArgs,
    misses: &MissArgs,
    measured: Option<Duration>,
) -> anyhow::Result<LoopModel> {
    resolved(args, misses, measured, 0.0)
}

fn resolved(
    args: &ModelArgs,
    misses: &MissArgs,
    measured: Option<Duration>,
    usual_noise: f64,
) -> anyhow::Result<LoopModel> {
    let file = args.model.as_deref();
    let keys = file.map(ModelFile::read).transpose()?.unwrap_or_default();
    let of_file = Source(file);
    let Some(period) = args.period.or(keys.period).or(measured) else {
        bail!(
            "the loop has no period: give --period, such as --period 1ms, or the key `period` of --model"
        );
    };
    let period_s = period.as_secs_f64();
    let of_plant = args.plant.as_deref();
    let of_plant = of_plant.or(keys.plant.as_ref().and_then(TextOr::text));
    let of_plant = of_plant.map(str::to_owned);
    let in_file = keys.controller.as_ref().and_then(|given| match given {
        TextOr::Text(text) => Some(text.as_str()),
        TextOr::Table(keys) => keys.transfer.as_deref(),
    });
    let of_controller = args.controller.as_deref().or(in_file).map(str::to_owned);
    let plant = plant_of(args.plant.as_deref(), keys.plant, of_file)?;
    let (controller, pid) = controller(args, keys.controller, period_s, of_file)?;
    if pid.is_some() && (plant.inputs(), plant.outputs()) != (1, 1) {
        return Err(of_file.says(&format!(
            "a PID controller requires a plant with one input and one output, and this one has {} and {}: give the controller as \
             matrices (controller.a, b, c, d)",
            plant.inputs(),
            plant.outputs()
        )));
    }
    let words = [
        part("plant", of_plant, &plant),
        match pid {
            Some(pid) => format!("PID {},{},{}", pid.gain, pid.integral_s, pid.derivative_s),
            None => part("controller", of_controller, &controller),
        },
    ];
    let noise = noise_of(args.noise, keys.noise, &plant, of_file, usual_noise)?;
    let (states, inputs, outputs) = (plant.states(), plant.inputs(), plant.outputs());
    let weights = |given: Option<Entries>, default: f64, size: usize| {
        given.unwrap_or(Entries::Number(default)).on_diagonal(size)
    };
    let cost = Cost {
        output: weights(keys.cost.output, 1.0, outputs),
        input: weights(keys.cost.input, 0.0, inputs),
        state: weights(keys.cost.state, 0.0, states),
    };
    let model = Loop {
        plant,
        controller,
        period_s,
        noise,
        cost,
        limits: keys.limits.input,
    };
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Ok(LoopModel {
        model: of_file.names(model.checked())?,
        words: words.join(", "),
        rules: Rules {
            order: misses
                .order
                .map(Into::into)
                .or(keys.misses.order)
                .unwrap_or_default(),
            on_miss: (misses.on_miss.map(Into::into))
                .or(keys.misses.on_miss)
                .unwrap_or_default(),
            deadline_ns: misses.deadline.or(keys.misses.deadline).map(ns),
        },
    })
}

/// A system by its text, or one of matrices by its states.
fn part(name: &str, text: Option<String>, system: &StateSpace) -> String {
    match (text, system.states()) {
        (Some(text), _) => format!("{name} {text}"),
        (None, 1) => format!("{name} with 1 state"),
        (None, states) => format!("{name} with {states} states"),
    }
}

fn controller(
    args: &ModelArgs,
    of_file: Option<TextOr<ControllerKeys>>,
    period_s: f64,
    file: Source<'_>,
) -> anyhow::Result<(StateSpace, Option<Pid>)> {
    let transfer = |text: &str| {
        TransferFunction::parse("controller", 'z', text).and_then(|read| read.state_space())
    };
    if let Some([gain, integral_s, derivative_s]) = args.pid {
        let pid = Pid::new(gain, integral_s, derivative_s);
        return Ok((pid.state_space(period_s)?, Some(pid)));
    }
    let keys = match (&args.controller, of_file) {
        (Some(text), _) => return Ok((transfer(text)?, None)),
        (None, Some(TextOr::Text(text))) => return Ok((file.names(transfer(&text))?, None)),
        (None, Some(TextOr::Table(keys))) => keys,
        (None, None) => {
            return Err(file.says(
                "the loop has no controller: give --pid K,Ti,Td, --controller TF or the key `controller` of --model",
            ));
        }
    };
    let has_matrix = [&keys.a, &keys.b, &keys.c, &keys.d]
        .iter()
        .any(|key| key.is_some());
    let made = match keys {
        ControllerKeys { pid: Some([gain, integral_s, derivative_s]), transfer: None, filter, .. } if !has_matrix => {
            let mut pid = Pid::new(gain, integral_s, derivative_s);
            pid.filter = filter.unwrap_or(pid.filter);
            return Ok((file.names(pid.state_space(period_s))?, Some(pid)));
        }
        ControllerKeys { filter: Some(_), .. } => {
            Err(file.says("controller.filter: only a PID controller (controller.pid) has a filter"))
        }
        ControllerKeys { pid: None, transfer: Some(text), .. } if !has_matrix => {
            file.names(transfer(&text))
        }
        ControllerKeys { pid: None, transfer: None, a: Some(a), b: Some(b), c: Some(c), d, .. } => {
            file.names(matrices("controller", [a, b, c], d))
        }
        ControllerKeys { pid: None, transfer: None, a: None, b: None, c: None, d: Some(d), .. } => {
            Ok(StateSpace::gain(d.matrix()))
        }
        _ => Err(file.says(
            "controller: give one of `pid` (with `filter`), `transfer`, or the matrices `a`, `b`, `c` and `d` (only \
             `d`: a gain)",
        )),
    };
    Ok((made?, None))
}
