//! The flags of `wiregauge serve` for a simulated plant.

use crate::values;
use clap::Args;
use wiregauge_control::{Noise, PlantModel, TransferFunction};
use wiregauge_record::Protocol;

/// The plant that a device is.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Plant")]
pub struct PlantArgs {
    /// Simulate a plant, a transfer function such as '1000/(s^2+s)': messages command and measure it.
    #[arg(long, value_name = "G(s)", allow_hyphen_values = true)]
    pub plant: Option<String>,
    /// Intensity of white noise that is added to the command [default: 0].
    #[arg(long, value_name = "INTENSITY", value_parser = values::intensity, requires = "plant", allow_hyphen_values = true)]
    pub noise: Option<f64>,
    /// Clip commands to these limits, such as -10..10.
    #[arg(long, value_name = "LOW..HIGH", value_parser = values::range, requires = "plant", allow_hyphen_values = true)]
    pub input_limits: Option<(f64, f64)>,
}

impl PlantArgs {
    /// The plant of a device that speaks this protocol, if one is given.
    pub fn model(&self, protocol: Protocol) -> anyhow::Result<Option<PlantModel>> {
        let Some(text) = &self.plant else {
            return Ok(None);
        };
        if protocol != Protocol::Wiregauge {
            anyhow::bail!(
                "--plant requires --protocol wiregauge, whose messages carry commands and measurements"
            );
        }
        let system = TransferFunction::parse("plant", 's', text)?.state_space()?;
        let noise = Noise::on_input(&system, self.noise.unwrap_or(0.0));
        let limits = self.input_limits.map(|limits| vec![limits]);
        Ok(Some(PlantModel::new(system, noise, limits)?))
    }

    /// What it simulates, in a line.
    pub fn description(&self, model: &PlantModel) -> String {
        let states = model.system().states();
        let plural = if states == 1 { "" } else { "s" };
        let mut line = format!(
            "simulating the plant {} ({states} state{plural})",
            self.plant.as_deref().unwrap_or_default()
        );
        if let Some(noise) = self.noise.filter(|noise| *noise > 0.0) {
            line += &format!(", noise of intensity {noise} at its input");
        }
        if let Some((low, high)) = self.input_limits {
            line += &format!(", commands clipped to {low}..{high}");
        }
        line
    }
}
