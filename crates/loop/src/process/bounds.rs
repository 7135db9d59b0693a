//! What the stages can be.

use wiregauge_record::Stage;

/// The most taps of a filter: computed one by one, more would not keep up with anything.
pub const TAPS_MOST: u32 = 65_536;

/// The lowest corner of a biquad, as a part of the sample rate. Below it the gain at DC, a quotient of
/// differences of nearly equal 64-bit floats, is no longer sure to five digits.
pub const CORNER_LOWEST: f32 = 1e-6;

/// What is out of bounds with a stage, and the bounds; `None` if all is well.
pub fn out_of_bounds(stage: &Stage) -> Option<String> {
    let bounds = match *stage {
        Stage::Gain { factor } if !factor.is_finite() => "the factor must be finite".to_string(),
        Stage::Fir { taps } if !(1..=TAPS_MOST).contains(&taps) => {
            format!("the taps must be 1 to {TAPS_MOST}")
        }
        Stage::Biquad { corner } if !(CORNER_LOWEST..0.5).contains(&corner) => {
            format!(
                "the corner must be {CORNER_LOWEST} or more and below 0.5, as a fraction of the sample rate"
            )
        }
        Stage::Threshold { level } if !(-1.0..=1.0).contains(&level) => {
            "the level must be -1 to 1, as a fraction of full scale".to_string()
        }
        _ => return None,
    };
    Some(format!("{stage}: {bounds}"))
}
