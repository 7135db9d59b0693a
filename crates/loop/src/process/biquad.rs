//! A low-pass section of second order, per channel: Butterworth, by the bilinear transform, in
//! transposed direct form II (Bristow-Johnson, "Cookbook formulae for audio EQ biquad filter
//! coefficients"; the crate `biquad` has both).

use super::planes::{Format, Planes, Process};
use biquad::{Biquad as _, Coefficients, DirectForm2Transposed, Hertz, Q_BUTTERWORTH_F64, Type};
use wiregauge_link::LinkError;

/// Added to every sample so that the state never fades into subnormal numbers, which cost many
/// processors over a hundred cycles each. It is 360 dB below full scale.
const BREATH: f64 = 1e-18;

type Section = DirectForm2Transposed<f64>;

/// States and sums are 64-bit floats: with 32 bits a corner far below the rate would add noise that 16
/// bits can show.
pub(super) struct Biquad {
    coefficients: Coefficients<f64>,
    sections: Vec<Section>,
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
        let section = Section::new(self.coefficients);
        self.sections = vec![section; format.channels];
        Ok(())
    }

    fn run(&mut self, samples: &mut Planes<'_>) {
        let frames = samples.frames();
        let (floats, stride) = samples.floats();
        let (fours, rest) = self.sections.as_chunks_mut::<4>();
        let (in_fours, in_rest) = floats.split_at_mut(fours.len() * 4 * stride);
        for (sections, planes) in fours.iter_mut().zip(in_fours.chunks_mut(4 * stride)) {
            filter_channels(sections, planes, stride, frames);
        }
        let (twos, last) = rest.as_chunks_mut::<2>();
        let (in_twos, in_last) = in_rest.split_at_mut(twos.len() * 2 * stride);
        for (sections, planes) in twos.iter_mut().zip(in_twos.chunks_mut(2 * stride)) {
            filter_channels(sections, planes, stride, frames);
        }
        for section in last {
            filter_channels(std::array::from_mut(section), in_last, stride, frames);
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

/// Some channels in step. Each sample waits for the one before, a dozen cycles: with several channels the
/// processor has something to do meanwhile.
fn filter_channels<const N: usize>(
    sections: &mut [Section; N],
    floats: &mut [f32],
    stride: usize,
    frames: usize,
) {
    let mut each = floats.chunks_mut(stride);
    let mut planes: [&mut [f32]; N] = std::array::from_fn(|_| {
        let plane = each.next().expect("as many planes as sections");
        &mut plane[..frames]
    });
    // A copy on the stack, so that the states can stay in registers.
    let mut now = *sections;
    for at in 0..frames {
        for (section, plane) in now.iter_mut().zip(&mut planes) {
            plane[at] = section.run(f64::from(plane[at]) + BREATH) as f32;
        }
    }
    *sections = now;
}
