//! The model of a control loop in a file, and the plant and noise of it: for commands that judge a loop, and for a
//! responder that simulates its plant.

mod entries;
mod file;

pub use entries::{Entries, TextOr};
pub use file::{ControllerKeys, CostKeys, LimitKeys, Matrices, MissKeys, ModelFile, NoiseKeys};

use anyhow::Context;
use std::path::Path;
use wiregauge_control::{ControlError, Matrix, Noise, StateSpace, TransferFunction};

/// The file whose key an error is about, if there is one.
#[derive(Clone, Copy)]
pub struct Source<'a>(pub Option<&'a Path>);

impl Source<'_> {
    /// Puts the name of the file before the error, if there is one.
    pub fn names<T, E>(self, made: Result<T, E>) -> anyhow::Result<T>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        match self.0 {
            Some(file) => made.with_context(|| file.display().to_string()),
            None => Ok(made?),
        }
    }

    /// An error that begins with the name of the file.
    pub fn says(self, why: &str) -> anyhow::Error {
        match self.0 {
            Some(file) => anyhow::anyhow!("{}: {why}", file.display()),
            None => anyhow::anyhow!("{why}"),
        }
    }
}

/// The plant of a flag, or else of the file.
pub fn plant_of(
    given: Option<&str>,
    of_file: Option<TextOr<Matrices>>,
    file: Source<'_>,
) -> anyhow::Result<StateSpace> {
    let transfer = |text: &str| {
        TransferFunction::parse("plant", 's', text).and_then(|read| read.state_space())
    };
    match (given, of_file) {
        (Some(text), _) => Ok(transfer(text)?),
        (None, Some(TextOr::Text(text))) => file.names(transfer(&text)),
        (None, Some(TextOr::Table(Matrices { a, b, c, d }))) => {
            file.names(matrices("plant", [a, b, c], d))
        }
        (None, None) => Err(file.says(
            "the loop has no plant: give --plant, such as --plant '1000/(s^2+s)', or the key `plant` of --model",
        )),
    }
}

/// A system of four matrices. D is zero if it is not given.
pub fn matrices(
    key: &'static str,
    abc: [Entries; 3],
    d: Option<Entries>,
) -> Result<StateSpace, ControlError> {
    let [a, b, c] = abc.map(Entries::matrix);
    let d = d.map_or_else(|| Matrix::zeros(c.nrows(), b.ncols()), Entries::matrix);
    StateSpace::new(key, a, b, c, d)
}

/// The noise: of a flag, or else of the file, or else of this intensity at the input of the plant.
pub fn noise_of(
    given: Option<f64>,
    keys: NoiseKeys,
    plant: &StateSpace,
    file: Source<'_>,
    usual: f64,
) -> anyhow::Result<Noise> {
    let mut noise = match (given, keys.input, keys.process) {
        (Some(intensity), _, _) => Noise::on_input(plant, intensity),
        (None, Some(_), Some(_)) => {
            return Err(file.says("noise: give one of `input` and `process`"));
        }
        (None, Some(intensity), None) => Noise::on_input(plant, intensity),
        (None, None, Some(process)) => Noise {
            process: process.on_diagonal(plant.states()),
            ..Noise::on_input(plant, 0.0)
        },
        (None, None, None) => Noise::on_input(plant, usual),
    };
    if let Some(measurement) = keys.measurement {
        noise.measurement = measurement.on_diagonal(plant.outputs());
    }
    Ok(noise)
}
