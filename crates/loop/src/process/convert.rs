//! 16-bit integers, interleaved, to floats in planes and back.

use super::planes::Planes;
use multiversion::multiversion;

/// Full scale of the integers is -1 to 1 of the floats.
const SCALE: f32 = 32_768.0;

/// The largest float that is not more than the largest integer.
pub(super) const HIGHEST: f32 = 32_767.0 / SCALE;

/// 1.5 x 2^23. Added to a float between -2^22 and 2^22, the sum's last bit is worth 1: the addition
/// rounds to the nearest integer (ties to even), which then stands in the low bits of the sum, in two's
/// complement. This needs no rounding instruction, which x86-64 has from SSE4.1 only.
const ROUNDER: f32 = 12_582_912.0;

/// Spreads frames over the planes. Compiled for wider vectors too: half as fast again.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn from_interleaved(input: &[i16], samples: &mut Planes<'_>) {
    let channels = samples.channels();
    match channels {
        1 => {
            for plane in samples.each() {
                for (to, from) in plane.iter_mut().zip(input) {
                    *to = to_float(*from);
                }
            }
        }
        // The number of channels known to the compiler: it shuffles vectors instead of picking samples.
        2 => spread::<2>(input, samples),
        4 => spread::<4>(input, samples),
        8 => spread::<8>(input, samples),
        _ => {
            for (channel, plane) in samples.each().enumerate() {
                for (to, frame) in plane.iter_mut().zip(input.chunks_exact(channels)) {
                    *to = to_float(frame[channel]);
                }
            }
        }
    }
}

/// Gathers frames from the planes, rounded to nearest and saturated.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn to_interleaved(samples: &mut Planes<'_>, output: &mut [i16]) {
    let channels = samples.channels();
    match channels {
        1 => {
            for plane in samples.each() {
                for (to, from) in output.iter_mut().zip(plane) {
                    *to = to_integer(*from);
                }
            }
        }
        2 => gather::<2>(samples, output),
        4 => gather::<4>(samples, output),
        8 => gather::<8>(samples, output),
        _ => {
            for (channel, plane) in samples.each().enumerate() {
                for (frame, from) in output.chunks_exact_mut(channels).zip(plane) {
                    frame[channel] = to_integer(*from);
                }
            }
        }
    }
}

#[inline(always)]
fn spread<const N: usize>(input: &[i16], samples: &mut Planes<'_>) {
    let (frames, _) = input.as_chunks::<N>();
    for (channel, plane) in samples.each().enumerate() {
        for (to, from) in plane.iter_mut().zip(frames) {
            *to = to_float(from[channel]);
        }
    }
}

#[inline(always)]
fn gather<const N: usize>(samples: &mut Planes<'_>, output: &mut [i16]) {
    let count = samples.frames();
    let (floats, stride) = samples.floats();
    let planes: [&[f32]; N] = std::array::from_fn(|n| &floats[n * stride..][..count]);
    let (frames, _) = output.as_chunks_mut::<N>();
    for (at, to) in frames.iter_mut().enumerate().take(count) {
        for (to, plane) in to.iter_mut().zip(&planes) {
            *to = to_integer(plane[at]);
        }
    }
}

#[inline(always)]
fn to_float(sample: i16) -> f32 {
    f32::from(sample) * (1.0 / SCALE)
}

/// Rounded to nearest, ties to even; saturated. What is no number becomes the lowest.
#[inline(always)]
fn to_integer(value: f32) -> i16 {
    let value = saturated(value) * SCALE;
    (value + ROUNDER).to_bits() as i16
}

/// Within what the integers can hold. Written as the two comparisons that a processor has an instruction
/// for; `clamp` would keep what is no number.
#[inline(always)]
pub(super) fn saturated(value: f32) -> f32 {
    let value = if value > -1.0 { value } else { -1.0 };
    if value < HIGHEST { value } else { HIGHEST }
}
