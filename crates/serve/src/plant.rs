//! The plant that `--plant` simulates: a transfer function, or the file that `wiregauge control --model` reads.

use crate::args::PlantArgs;
use std::path::Path;
use wiregauge_control::{Noise, PlantModel, TransferFunction};
use wiregauge_program::model::{ModelFile, Source, noise_of, plant_of};
use wiregauge_record::Protocol;

/// A plant, and what it is in a line.
pub struct ServedPlant {
    /// The plant.
    pub model: PlantModel,
    /// What is simulated.
    pub description: String,
}

/// The plant of a device that speaks this protocol, if one is given.
pub fn served(args: &PlantArgs, protocol: Protocol) -> anyhow::Result<Option<ServedPlant>> {
    let Some(text) = &args.plant else {
        return Ok(None);
    };
    if protocol != Protocol::Wiregauge {
        anyhow::bail!(
            "--plant requires --protocol wiregauge, whose messages carry commands and measurements"
        );
    }
    let (system, mut noise, mut limits) = match file_of(text) {
        Some(file) => {
            let keys = ModelFile::read(file)?;
            let of_file = Source(Some(file));
            let system = plant_of(None, keys.plant, of_file)?;
            let noise = noise_of(None, keys.noise, &system, of_file, 0.0)?;
            (system, noise, keys.limits.input)
        }
        None => {
            let system = TransferFunction::parse("plant", 's', text)?.state_space()?;
            let noise = Noise::on_input(&system, 0.0);
            (system, noise, None)
        }
    };
    if let Some(intensity) = args.noise {
        noise.process = Noise::on_input(&system, intensity).process;
    }
    if let Some(given) = args.input_limits {
        limits = Some(vec![given; system.inputs()]);
    }
    let model =
        Source(file_of(text)).names(PlantModel::new(system, noise.clone(), limits.clone()))?;
    let states = model.system().states();
    let plural = if states == 1 { "" } else { "s" };
    let mut description = format!("simulating the plant {text} ({states} state{plural})");
    match args.noise {
        Some(intensity) if intensity > 0.0 => {
            description += &format!(", noise of intensity {intensity} at its input");
        }
        None if noise.process.amax() > 0.0 => description += ", with its process noise",
        _ => {}
    }
    if noise.measurement.amax() > 0.0 {
        description += ", noise of its measurements";
    }
    for (low, high) in limits.unwrap_or_default() {
        description += &format!(", commands clipped to {low}..{high}");
    }
    Ok(Some(ServedPlant { model, description }))
}

/// The file that a value means: one that exists, or a name that ends as a model's.
fn file_of(text: &str) -> Option<&Path> {
    let path = Path::new(text);
    let is_named = path.extension().is_some_and(|ending| {
        ending.eq_ignore_ascii_case("toml") || ending.eq_ignore_ascii_case("json")
    });
    (is_named || path.is_file()).then_some(path)
}
