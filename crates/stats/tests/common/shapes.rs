//! Series as links yield them, to be compared: with each, two runs of the same thing are two seeds.

use super::{MEDIAN, Random, skewed_autoregression};

/// How a series comes about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Log-normal (sigma 1/2) over a Gaussian autoregression of first order.
    Autoregression(f64),
    /// The same with a jitter of a tenth (sigma 1/10), as of a quiet host.
    Quiet(f64),
    /// A floor of 1 ms and a Pareto tail, P(> x) = (1 + x / 0.2 ms)^-2.5.
    Pareto,
    /// Log-normal, and one stretch of 20 in 1,000 is ten times as long: a host that is busy.
    Bursts,
    /// Answers in the next frame of 1 ms or, three times in ten, in the one after it.
    Frames,
    /// A request whose phase slips against frames of 1 ms: a sawtooth.
    Sawtooth,
    /// A level that wanders by 2 % (SD) within each run, slower than the run can tell.
    Drift,
}

impl Shape {
    pub const ALL: [Shape; 10] = [
        Shape::Autoregression(0.0),
        Shape::Autoregression(0.5),
        Shape::Autoregression(0.9),
        Shape::Autoregression(0.99),
        Shape::Quiet(0.9),
        Shape::Pareto,
        Shape::Bursts,
        Shape::Frames,
        Shape::Sawtooth,
        Shape::Drift,
    ];

    pub fn name(self) -> String {
        match self {
            Shape::Autoregression(0.0) => "independent".into(),
            Shape::Autoregression(phi) => format!("autoregression {phi}"),
            Shape::Quiet(phi) => format!("quiet, autoregression {phi}"),
            Shape::Pareto => "Pareto tail".into(),
            Shape::Bursts => "bursts".into(),
            Shape::Frames => "two frames".into(),
            Shape::Sawtooth => "sawtooth".into(),
            Shape::Drift => "drift".into(),
        }
    }

    /// `n` samples in nanoseconds, each `scale` times as long as the shape has it.
    pub fn series(self, seed: u64, n: usize, scale: f64) -> Vec<u64> {
        let random = &mut Random::new(seed);
        let mut values: Vec<f64> = match self {
            Shape::Autoregression(phi) => as_floats(skewed_autoregression(random, phi, n)),
            Shape::Quiet(phi) => as_floats(skewed_autoregression(random, phi, n))
                .into_iter()
                .map(|value| MEDIAN * (value / MEDIAN).powf(0.2))
                .collect(),
            Shape::Pareto => (0..n)
                .map(|_| MEDIAN * (0.8 + 0.2 * random.uniform().powf(-1.0 / 2.5)))
                .collect(),
            Shape::Bursts => {
                let mut left = 0;
                let calm = skewed_autoregression(random, 0.0, n).into_iter();
                calm.map(|value| {
                    if left == 0 && random.uniform() < 0.001 {
                        left = 20;
                    }
                    let long = left > 0;
                    left -= i32::from(long);
                    value as f64 * if long { 10.0 } else { 1.0 }
                })
                .collect()
            }
            Shape::Frames => (0..n)
                .map(|_| {
                    let frames = if random.uniform() < 0.3 { 2.0 } else { 1.0 };
                    MEDIAN * (frames + 0.01 * random.normal())
                })
                .collect(),
            Shape::Sawtooth => {
                let (mut phase, slip) = (random.uniform(), 0.003 + 0.02 * random.uniform());
                (0..n)
                    .map(|_| {
                        phase = (phase + slip + 0.002 * random.normal()).rem_euclid(1.0);
                        MEDIAN * (1.2 + phase)
                    })
                    .collect()
            }
            Shape::Drift => {
                let keeps = 1.0 - 3.0 / n as f64;
                let fresh = (1.0 - keeps * keeps).sqrt();
                let mut level = random.normal();
                let calm = skewed_autoregression(random, 0.0, n).into_iter();
                calm.map(|value| {
                    level = keeps * level + fresh * random.normal();
                    value as f64 * (0.02 * level).exp()
                })
                .collect()
            }
        };
        values.iter_mut().for_each(|value| *value *= scale);
        values.iter().map(|value| value.round() as u64).collect()
    }
}

fn as_floats(values: Vec<u64>) -> Vec<f64> {
    values.into_iter().map(|value| value as f64).collect()
}
