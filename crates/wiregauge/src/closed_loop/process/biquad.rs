//! A low-pass section of second order, per channel: Butterworth, by the bilinear transform, in
//! transposed direct form II (Bristow-Johnson, "Cookbook formulae for audio EQ biquad filter
//! coefficients"; the crate `biquad` has both).

use super::planes::{Format, Planes, Process};
use crate::error::LinkError;
use biquad::{Biquad as _, Coefficients, DirectForm2Transposed, Hertz, Q_BUTTERWORTH_F64, Type};

/// Added to every sample so that the state never fades into subnormal numbers, which cost many
/// processors over a hundred cycles each. It is 360 dB below full scale.
const BREATH: f64 = 1e-18;

/// States and sums are 64-bit floats: with 32 bits a corner far below the rate would add noise that 16
/// bits can show.
pub(super) struct Biquad {
    coefficients: Coefficients<f64>,
    sections: Vec<DirectForm2Transposed<f64>>,
}

impl Biquad {
    /// The corner is a part of the sample rate, within its bounds.
    pub(super) fn new(corner: f32) -> Biquad {
        let rate = Hertz::<f64>::from_hz(1.0).expect("1 is positive");
        let corner = Hertz::<f64>::from_hz(corner).expect("its bounds were checked");
        let coefficients =
            Coefficients::from_params(Type::LowPass, rate, corner, Q_BUTTERWORTH_F64)
                .expect("the corner is below half the rate");
        Biquad {
            coefficients,
            sections: Vec::new(),
        }
    }
}

impl Process for Biquad {
    fn prepare(&mut self, format: &Format) -> Result<(), LinkError> {
        let section = DirectForm2Transposed::new(self.coefficients);
        self.sections = vec![section; format.channels];
        Ok(())
    }

    fn run(&mut self, samples: &mut Planes<'_>) {
        for (plane, kept) in samples.each().zip(&mut self.sections) {
            // A copy on the stack, so that the state can stay in registers.
            let mut section = *kept;
            for sample in plane {
                *sample = section.run(f64::from(*sample) + BREATH) as f32;
            }
            *kept = section;
        }
    }

    fn reset(&mut self) {
        for section in &mut self.sections {
            section.reset_state();
        }
    }

    fn needs_whole_blocks(&self) -> bool {
        false
    }
}
