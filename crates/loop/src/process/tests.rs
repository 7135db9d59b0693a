use super::*;
use proptest::prelude::*;
use std::f64::consts::PI;

fn chain(stages: &[Stage], channels: u32, frames: u32) -> Chain {
    Chain::new(
        stages,
        channels,
        1_000_000,
        frames * channels * SAMPLE_BYTES,
    )
    .unwrap()
}

fn run(chain: &mut Chain, input: &[i16]) -> Vec<i16> {
    let mut output = vec![i16::MIN; input.len()];
    chain.run(input, &mut output);
    output
}

/// What comes out when one sample of the size goes in, followed by zeros.
fn impulse(stage: Stage, size: i16, frames: usize) -> Vec<i16> {
    let mut input = vec![0; frames];
    input[0] = size;
    run(&mut chain(&[stage], 1, 64), &input)
}

/// What a stage makes of a float, without the conversion to integers.
fn floats(stage: &mut dyn Process, input: &[f32]) -> Vec<f32> {
    let frames = input.len();
    let format = Format {
        channels: 1,
        rate_hz: 1,
        frames,
    };
    stage.prepare(&format).unwrap();
    let mut all = input.to_vec();
    stage.run(&mut Planes::new(&mut all, frames, frames));
    all
}

/// The amplitude of the response at a frequency (part of the sample rate), by the Fourier sum.
fn amplitude(response: &[f32], frequency: f64) -> f64 {
    let (mut re, mut im) = (0.0, 0.0);
    for (n, value) in response.iter().enumerate() {
        let angle = 2.0 * PI * frequency * n as f64;
        re += f64::from(*value) * angle.cos();
        im -= f64::from(*value) * angle.sin();
    }
    re.hypot(im)
}

fn unit_impulse(frames: usize) -> Vec<f32> {
    let mut input = vec![0.0; frames];
    input[0] = 1.0;
    input
}

#[test]
fn a_chain_of_copies_copies_every_bit() {
    let all: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    let mut copies = chain(&[Stage::Copy, Stage::Copy], 2, 1000);
    assert!(copies.is_copy());
    assert_eq!(run(&mut copies, &all), all);
}

#[test]
fn the_way_through_the_floats_changes_no_sample() {
    let all: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    for channels in [1, 2, 4, 8, 16] {
        let unity = [Stage::Fir { taps: 1 }, Stage::Gain { factor: 1.0 }];
        let mut unity = chain(&unity, channels, 100);
        assert_eq!(run(&mut unity, &all), all, "{channels} channels");
    }
}

#[test]
fn a_gain_rounds_to_nearest_and_saturates() {
    for factor in [0.5f32, -1.0, 3.0, 0.3, -0.001, 1e-9, 1e30, 0.0, -77.7] {
        let all: Vec<i16> = (i16::MIN..=i16::MAX).collect();
        let made = run(&mut chain(&[Stage::Gain { factor }], 1, 64), &all);
        for (sample, made) in all.iter().zip(made) {
            let exact = f64::from(*sample) * f64::from(factor);
            let exact = exact.clamp(f64::from(i16::MIN), f64::from(i16::MAX));
            let off = (f64::from(made) - exact).abs();
            assert!(off <= 0.502, "{sample} x {factor} = {exact}, not {made}");
        }
    }
    // Ties go to the even one.
    let mut half = chain(&[Stage::Gain { factor: 0.5 }], 1, 64);
    let found = run(&mut half, &[1, 3, 5, -1, -3, -32767]);
    assert_eq!(found, [0, 2, 2, 0, -2, -16384]);
}

#[test]
fn a_threshold_answers_with_full_scale_above_the_level_only() {
    let mut decides = chain(&[Stage::Threshold { level: 0.25 }], 2, 64);
    let made = run(&mut decides, &[8191, 8192, 8193, i16::MAX, i16::MIN, 0]);
    assert_eq!(made, [0, 0, 32767, 32767, 0, 0]);
    let mut never = chain(&[Stage::Threshold { level: 1.0 }], 1, 64);
    assert_eq!(run(&mut never, &[i16::MAX]), [0]);
}

#[test]
fn a_fir_answers_an_impulse_with_its_taps() {
    for taps in [1usize, 2, 8, 63, 64, 511] {
        let designed = fir::windowed_sinc(taps);
        let mut stage = fir::Fir::new(taps);
        let made = floats(&mut stage, &unit_impulse(taps + 100));
        assert_eq!(made[..taps], designed, "{taps} taps");
        assert!(made[taps..].iter().all(|&after| after == 0.0));
        // By way of the integers too, to half a step.
        let integers = impulse(Stage::Fir { taps: taps as u32 }, 16_384, taps + 3);
        for (tap, made) in designed.iter().zip(integers) {
            assert!((tap * 16_384.0 - f32::from(made)).abs() <= 0.501);
        }
    }
}

#[test]
fn whichever_vectors_the_processor_has_a_fir_is_the_plain_sum_to_the_bit() {
    for count in [1, 7, 64, 130] {
        let input: Vec<f32> = noise(333, 5).iter().map(|&n| f32::from(n) / 7e4).collect();
        let taps = fir::windowed_sinc(count);
        let padded = [vec![0.0; count - 1], input.clone()].concat();
        let plain: Vec<f32> = padded
            .windows(count)
            .map(|window| {
                let products = window.iter().zip(&taps).map(|(sample, tap)| sample * tap);
                products.fold(0.0, |sum, product| sum + product)
            })
            .collect();
        assert_eq!(floats(&mut fir::Fir::new(count), &input), plain, "{count}");
    }
}

#[test]
fn the_taps_are_symmetric_and_have_a_gain_of_one_at_dc() {
    for taps in [1, 2, 5, 64, 1001, 65_536] {
        let designed = fir::windowed_sinc(taps);
        let sum: f64 = designed.iter().map(|&tap| f64::from(tap)).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{taps} taps sum to {sum}");
        let turned: Vec<f32> = designed.iter().rev().copied().collect();
        assert_eq!(designed, turned);
    }
    // scipy 1.17: firwin(7, 0.2), whose cutoff counts in halves of the rate.
    let published = [
        0.013_496_923_6,
        0.078_450_868_6,
        0.240_862_474_2,
        0.334_379_467_0,
    ];
    for (made, published) in fir::windowed_sinc(7).into_iter().zip(published) {
        assert!((f64::from(made) - published).abs() < 1e-7);
    }
    let chain = chain(&[Stage::Fir { taps: 64 }, Stage::Fir { taps: 7 }], 1, 64);
    assert_eq!(chain.delay_frames(), 31.5 + 3.0);
}

#[test]
fn a_long_fir_passes_low_and_stops_high_frequencies() {
    let response = floats(&mut fir::Fir::new(255), &unit_impulse(255));
    assert!((amplitude(&response, 0.05) - 1.0).abs() < 0.01);
    assert!((amplitude(&response, fir::CORNER) - 0.5).abs() < 0.01);
    for high in [0.12, 0.2, 0.35, 0.5] {
        assert!(amplitude(&response, high) < 0.004, "at {high}");
    }
}

#[test]
fn a_biquad_is_a_butterworth_of_second_order() {
    for corner in [0.01f32, 0.1, 0.25, 0.4] {
        let response = floats(&mut biquad::Biquad::new(corner), &unit_impulse(4000));
        // The analogue prototype, its frequency bent by the bilinear transform.
        let bent = |frequency: f64| (PI * frequency).tan() / (PI * f64::from(corner)).tan();
        for frequency in [0.0, 0.02, 0.1, f64::from(corner), 0.3, 0.45] {
            let textbook = 1.0 / (1.0 + bent(frequency).powi(4)).sqrt();
            let made = amplitude(&response, frequency);
            let holds = (made - textbook).abs() < 1e-4;
            assert!(holds, "{corner} at {frequency}: {made}");
        }
        let db = 20.0 * amplitude(&response, f64::from(corner)).log10();
        assert!((db + 3.0103).abs() < 0.01, "{db} dB at the corner {corner}");
        assert!(amplitude(&response, 0.5) < 1e-5, "Nyquist is a zero");
    }
}

#[test]
fn the_lowest_and_the_highest_corner_settle_at_the_input() {
    for corner in [CORNER_LOWEST, 1e-4, 0.499_999_97] {
        let frames = (8.0 / f64::from(corner)) as usize + 100;
        let made = run(
            &mut chain(&[Stage::Biquad { corner }], 1, 4096),
            &vec![10_000; frames],
        );
        assert_eq!(*made.last().unwrap(), 10_000, "{corner}");
    }
}

#[test]
fn the_state_of_a_biquad_never_fades_into_subnormal_numbers() {
    let mut stage = biquad::Biquad::new(0.3);
    let after = floats(&mut stage, &unit_impulse(20_000));
    let last = *after.last().unwrap();
    assert!(last.is_normal() && last.abs() < 1e-15, "{last}");
}

#[test]
fn a_reset_chain_begins_anew() {
    let noise = noise(1000, 3);
    let stages = [Stage::Fir { taps: 33 }, Stage::Biquad { corner: 0.02 }];
    let mut chain = chain(&stages, 1, 100);
    let first = run(&mut chain, &noise);
    assert_ne!(run(&mut chain, &noise), first, "the state carries over");
    chain.reset();
    assert_eq!(run(&mut chain, &noise), first);
}

#[test]
fn stages_out_of_bounds_are_refused_with_the_bounds() {
    for (stage, bound) in [
        (Stage::Fir { taps: 0 }, "65536"),
        (Stage::Fir { taps: 65_537 }, "65536"),
        (Stage::Biquad { corner: 0.0 }, "0.5"),
        (Stage::Biquad { corner: 0.5 }, "0.5"),
        (Stage::Biquad { corner: f32::NAN }, "0.5"),
        (
            Stage::Gain {
                factor: f32::INFINITY,
            },
            "finite",
        ),
        (Stage::Threshold { level: 1.1 }, "-1 to 1"),
    ] {
        let refused = Chain::new(&[Stage::Copy, stage], 1, 1000, 64)
            .err()
            .unwrap();
        assert!(refused.to_string().contains(bound), "{refused}");
    }
    let holds = Chain::new(&[], 3, 1000, 64).is_err();
    assert!(holds, "64 B are no frames of 6 B");
    assert!(Chain::new(&[], 0, 1000, 64).is_err());
    assert!(Chain::new(&[], 1, 1000, 0).is_err());
}

/// A user's stage: swaps two channels, and notes how much it was given at once.
struct Swap {
    seen: std::sync::mpsc::Sender<(Format, usize)>,
    format: Option<Format>,
}

impl Process for Swap {
    fn prepare(&mut self, format: &Format) -> Result<(), LinkError> {
        self.format = Some(*format);
        Ok(())
    }

    fn run(&mut self, samples: &mut Planes<'_>) {
        let format = self.format.unwrap();
        self.seen.send((format, samples.frames())).unwrap();
        let mut planes = samples.each();
        let (left, right) = (planes.next().unwrap(), planes.next().unwrap());
        left.swap_with_slice(right);
    }
}

#[test]
fn a_stage_of_ones_own_sees_whole_blocks_and_every_channel() {
    let (seen, printed) = std::sync::mpsc::channel();
    let mut chain = chain(&[Stage::Gain { factor: -1.0 }], 2, 50_000);
    chain.push(Box::new(Swap { seen, format: None })).unwrap();
    let input: Vec<i16> = (0..100_000).map(|n| (n % 30_000) as i16).collect();
    let made = run(&mut chain, &input);
    for (from, to) in input.chunks(2).zip(made.chunks(2)) {
        assert_eq!([-from[1], -from[0]], to);
    }
    let format = Format {
        channels: 2,
        rate_hz: 1_000_000,
        frames: 50_000,
    };
    assert_eq!(printed.try_iter().collect::<Vec<_>>(), [(format, 50_000)]);
}

fn noise(samples: usize, seed: u64) -> Vec<i16> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..samples).map(|_| random.i16(..)).collect()
}

fn any_stage() -> impl Strategy<Value = Stage> {
    prop_oneof![
        Just(Stage::Copy),
        (-3.0f32..3.0).prop_map(|factor| Stage::Gain { factor }),
        (1u32..300).prop_map(|taps| Stage::Fir { taps }),
        (0.001f32..0.49).prop_map(|corner| Stage::Biquad { corner }),
        (-1.0f32..1.0).prop_map(|level| Stage::Threshold { level }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn where_the_blocks_begin_changes_no_bit(
        stages in prop::collection::vec(any_stage(), 1..4),
        channels in 1u32..10,
        lengths in prop::collection::vec(1usize..700, 1..12),
        seed: u64,
    ) {
        let frames: usize = lengths.iter().sum();
        let input = noise(frames * channels as usize, seed);
        let whole = run(&mut chain(&stages, channels, frames as u32), &input);
        let mut parts = chain(&stages, channels, 700);
        let (mut made, mut rest) = (Vec::new(), &input[..]);
        for length in lengths {
            let (block, after) = rest.split_at(length * channels as usize);
            made.extend(run(&mut parts, block));
            rest = after;
        }
        prop_assert_eq!(made, whole);
    }

    #[test]
    fn each_channel_is_processed_as_if_it_were_alone(
        stages in prop::collection::vec(any_stage(), 1..4),
        channels in 2usize..18,
        frames in 1usize..600,
        seed: u64,
    ) {
        let input = noise(frames * channels, seed);
        let made = run(&mut chain(&stages, channels as u32, frames as u32), &input);
        for channel in 0..channels {
            let only = |all: &[i16]| -> Vec<i16> {
                all[channel..].iter().step_by(channels).copied().collect()
            };
            let alone = run(&mut chain(&stages, 1, frames as u32), &only(&input));
            prop_assert_eq!(only(&made), alone, "channel {}", channel);
        }
    }
}
