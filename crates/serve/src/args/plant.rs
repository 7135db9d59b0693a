//! The flags of a simulated plant.

use crate::values::range;
use clap::Args;
use wiregauge_program::values::intensity;

/// The plant that a device is.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Plant")]
pub struct PlantArgs {
    /// Simulate a plant, a transfer function such as '1000/(s^2+s)', or the model of a loop (.toml or .json) with its
    /// plant, noise and limits: messages command and measure it.
    #[arg(long, value_name = "G(s)|FILE", allow_hyphen_values = true)]
    pub plant: Option<String>,
    /// Intensity of white noise that is added to the command [default: that of the file, else 0].
    #[arg(long, value_name = "INTENSITY", value_parser = intensity, requires = "plant", allow_hyphen_values = true)]
    pub noise: Option<f64>,
    /// Clip commands to these limits, such as -10..10 [default: those of the file].
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, requires = "plant", allow_hyphen_values = true)]
    pub input_limits: Option<(f64, f64)>,
}
