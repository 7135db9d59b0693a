//! A marker that is sent round a loop, and found again by correlation: what the latency is by the
//! samples themselves. Numbers only.
//!
//! The marker is a maximum-length sequence (S. W. Golomb, Shift Register Sequences, 1967): its copies are like
//! each other only where they coincide, so that it is found to the sample in noise, at any gain, clipped or upside
//! down.

/// Feedback taps that give a sequence of maximum length, by the number of stages (Golomb).
const TAPS: [(u32, u32); 6] = [
    (5, 0b1_0100),
    (6, 0b11_0000),
    (7, 0b110_0000),
    (8, 0b1011_1000),
    (9, 0b1_0001_0000),
    (10, 0b10_0100_0000),
];

/// A quarter of full scale: far above noise, and a gain of four does not clip it.
const AMPLITUDE: i16 = 8192;

/// The sequence sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// One of -1 and 1 a frame.
    chips: Vec<i16>,
}

/// The marker as it came in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Frame with which it begins.
    pub at: usize,
    /// How like the marker it is: 1 is the same but for gain and offset, 0 not at all.
    pub likeness: f64,
    /// Whether it came upside down.
    pub inverted: bool,
}

impl Marker {
    /// The longest that a loop of so many frames can hold at once; `None` below 31 frames, where
    /// nothing that short is distinguished from noise.
    pub fn for_loop(frames: u64) -> Option<Marker> {
        let fits = |stages: &&(u32, u32)| (1_u64 << stages.0) - 1 <= frames;
        let (stages, taps) = TAPS.iter().rev().find(fits)?;
        let mut register = 1_u32;
        let chips = (1..1_u32 << stages).map(|_| {
            let chip = if register & 1 == 1 { 1 } else { -1 };
            let feedback = (register & taps).count_ones() & 1;
            register = ((register << 1) | feedback) & ((1 << stages) - 1);
            chip
        });
        Some(Marker {
            chips: chips.collect(),
        })
    }

    /// Frames of it.
    pub fn frames(&self) -> usize {
        self.chips.len()
    }

    /// The sample of a frame, the same on each channel.
    pub fn sample(&self, frame: usize) -> i16 {
        self.chips[frame] * AMPLITUDE
    }

    /// The likeness from which an arrival is one. Of noise alone, likeness has a standard deviation of
    /// one over the root of the length; six of them are not met by chance in hours of samples.
    pub fn enough(&self) -> f64 {
        (6.0 / (self.frames() as f64).sqrt()).clamp(0.4, 0.9)
    }

    /// Each arrival in samples of one channel, in order.
    pub fn arrivals(&self, samples: &[i16]) -> Vec<Arrival> {
        let enough = self.enough();
        let mut found: Vec<Arrival> = Vec::new();
        self.likeness(samples, |at, likeness| {
            if likeness.abs() < enough {
                return;
            }
            let arrival = Arrival {
                at,
                likeness: likeness.abs(),
                inverted: likeness < 0.0,
            };
            // Of those that overlap, the best is the arrival; a cable's ringing makes the others.
            match found.last_mut() {
                Some(last) if at - last.at < self.frames() / 2 => {
                    if arrival.likeness > last.likeness {
                        *last = arrival;
                    }
                }
                _ => found.push(arrival),
            }
        });
        found
    }

    /// The correlation coefficient (Pearson's) of the marker with each stretch of its length.
    fn likeness(&self, samples: &[i16], mut each: impl FnMut(usize, f64)) {
        let length = self.frames();
        if samples.len() < length {
            return;
        }
        let n = length as f64;
        let chip_sum = f64::from(self.chips.iter().map(|chip| i32::from(*chip)).sum::<i32>());
        let chip_spread = n - chip_sum * chip_sum / n;
        let square = |sample: i16| i64::from(sample) * i64::from(sample);
        let mut sum: i64 = samples[..length]
            .iter()
            .map(|sample| i64::from(*sample))
            .sum();
        let mut squares: i64 = samples[..length].iter().map(|sample| square(*sample)).sum();
        for at in 0..=samples.len() - length {
            let spread = squares as f64 - sum as f64 * sum as f64 / n;
            // Less than one step of the converter a sample is silence.
            if spread > n {
                let stretch = &samples[at..at + length];
                // At most 1023 x 32768: fits.
                let product: i32 = stretch
                    .iter()
                    .zip(&self.chips)
                    .map(|(sample, chip)| i32::from(*sample) * i32::from(*chip))
                    .sum();
                let correlation = f64::from(product) - sum as f64 * chip_sum / n;
                each(at, correlation / (spread * chip_spread).sqrt());
            }
            if let Some(next) = samples.get(at + length) {
                sum += i64::from(*next) - i64::from(samples[at]);
                squares += square(*next) - square(samples[at]);
            }
        }
    }
}

/// What a marker's way round amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Frames from the output to the input: the cable by itself.
    pub cable: u64,
    /// Frames once round, of the first time.
    pub once: Option<u64>,
    /// Times that it came round.
    pub times: u64,
    /// How many of them were not as long as the cable and the preload.
    pub wrong: u64,
}

/// Judges arrivals in a stretch of input that begins with frame `from`, of a marker that was played
/// from output frame `sent` on, both counted from the common start.
pub fn round(arrivals: &[Arrival], from: u64, sent: u64, preload: u64) -> Option<Round> {
    let at = |arrival: &Arrival| from + arrival.at as u64;
    let mut arrivals = arrivals.iter().filter(|arrival| at(arrival) >= sent);
    let first = at(arrivals.next()?);
    let mut round = Round {
        cable: first - sent,
        once: None,
        times: 0,
        wrong: 0,
    };
    let mut last = first;
    for arrival in arrivals {
        let distance = at(arrival) - last;
        last = at(arrival);
        round.once.get_or_insert(distance);
        round.times += 1;
        round.wrong += u64::from(distance != preload + round.cable);
    }
    Some(round)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise of this standard deviation, as far as a sum of twelve is normal.
    fn noise(frames: usize, deviation: f64, seed: u64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..frames)
            .map(|_| ((0..12).map(|_| random.f64()).sum::<f64>() - 6.0) * deviation)
            .collect()
    }

    fn put(into: &mut [f64], marker: &Marker, at: usize, gain: f64) {
        for frame in 0..marker.frames() {
            into[at + frame] += f64::from(marker.sample(frame)) * gain;
        }
    }

    fn heard(samples: &[f64]) -> Vec<i16> {
        let clip = |sample: &f64| sample.round().clamp(-32768.0, 32767.0) as i16;
        samples.iter().map(clip).collect()
    }

    fn places(marker: &Marker, samples: &[f64]) -> Vec<usize> {
        let arrivals = marker.arrivals(&heard(samples));
        arrivals.iter().map(|arrival| arrival.at).collect()
    }

    #[test]
    fn each_sequence_has_the_longest_length_that_its_stages_allow_and_is_like_no_shift_of_itself() {
        for (stages, _) in TAPS {
            let marker = Marker::for_loop((1 << stages) - 1).unwrap();
            let n = marker.frames();
            assert_eq!(n, (1 << stages) - 1);
            for shift in 1..n {
                let product: i32 = (0..n)
                    .map(|i| i32::from(marker.chips[i]) * i32::from(marker.chips[(i + shift) % n]))
                    .sum();
                assert_eq!(product, -1, "{stages} stages, shifted by {shift}");
            }
        }
    }

    #[test]
    fn the_marker_is_never_longer_than_the_loop() {
        assert_eq!(Marker::for_loop(30), None);
        for (frames, length) in [
            (31, 31),
            (62, 31),
            (128, 127),
            (1023, 1023),
            (1 << 40, 1023),
        ] {
            assert_eq!(Marker::for_loop(frames).unwrap().frames(), length);
        }
    }

    #[test]
    fn it_is_found_to_the_sample_in_noise_at_any_gain() {
        let marker = Marker::for_loop(512).unwrap();
        for gain in [0.1, 0.3, 1.0] {
            // As strong as the marker.
            let mut samples = noise(8_000, gain * f64::from(AMPLITUDE), 1);
            put(&mut samples, &marker, 1_234, gain);
            put(&mut samples, &marker, 5_000, gain);
            assert_eq!(places(&marker, &samples), [1_234, 5_000], "gain {gain}");
        }
    }

    #[test]
    fn clipped_offset_and_inverted_it_is_found_all_the_same() {
        let marker = Marker::for_loop(300).unwrap();
        let mut samples = noise(4_000, 300.0, 2);
        put(&mut samples, &marker, 700, 9.0);
        put(&mut samples, &marker, 2_000, -0.5);
        for sample in &mut samples {
            *sample += 3_000.0;
        }
        assert_eq!(places(&marker, &samples), [700, 2_000]);
        let arrivals = marker.arrivals(&heard(&samples));
        assert!(!arrivals[0].inverted && arrivals[1].inverted);
        assert!(arrivals[0].likeness > 0.9);
    }

    #[test]
    fn it_is_not_found_where_it_is_not() {
        for frames in [31, 127, 1_000] {
            let marker = Marker::for_loop(frames).unwrap();
            assert_eq!(marker.arrivals(&heard(&noise(60_000, 8_000.0, 3))), []);
            assert_eq!(marker.arrivals(&vec![0; 5_000]), []);
            assert_eq!(marker.arrivals(&vec![77; 5_000]), []);
            assert_eq!(marker.arrivals(&[]), []);
            let tone: Vec<f64> = (0..20_000)
                .map(|i| 9e3 * (f64::from(i) * 0.1).sin())
                .collect();
            assert_eq!(marker.arrivals(&heard(&tone)), []);
        }
    }

    #[test]
    fn another_length_of_marker_is_not_taken_for_it() {
        let marker = Marker::for_loop(255).unwrap();
        let mut samples = noise(8_000, 100.0, 4);
        put(&mut samples, &Marker::for_loop(511).unwrap(), 900, 1.0);
        assert_eq!(places(&marker, &samples), [] as [usize; 0]);
    }

    #[test]
    fn the_shortest_loops_hold_marker_behind_marker() {
        let marker = Marker::for_loop(31).unwrap();
        let mut samples = noise(2_000, 50.0, 5);
        for turn in 0..10 {
            put(&mut samples, &marker, 100 + 32 * turn, 1.0);
        }
        let expected: Vec<usize> = (0..10).map(|turn| 100 + 32 * turn).collect();
        assert_eq!(places(&marker, &samples), expected);
    }

    fn arrivals(places: &[usize]) -> Vec<Arrival> {
        let arrival = |at: &usize| Arrival {
            at: *at,
            likeness: 1.0,
            inverted: false,
        };
        places.iter().map(arrival).collect()
    }

    #[test]
    fn a_loop_whose_latency_is_preload_and_cable_is_right() {
        // Played at 5,000; the input kept begins at 4,900; the cable takes 40 frames, the preload 256.
        let found = round(&arrivals(&[140, 436, 732]), 4_900, 5_000, 256).unwrap();
        assert_eq!((found.cable, found.once), (40, Some(296)));
        assert_eq!((found.times, found.wrong), (2, 0));
    }

    #[test]
    fn a_loop_that_takes_a_frame_longer_is_wrong() {
        let found = round(&arrivals(&[140, 437, 734]), 4_900, 5_000, 256).unwrap();
        assert_eq!((found.once, found.times, found.wrong), (Some(297), 2, 2));
    }

    #[test]
    fn a_marker_that_came_once_tells_of_the_cable_only_and_one_that_never_came_of_nothing() {
        let once = round(&arrivals(&[140]), 4_900, 5_000, 256).unwrap();
        assert_eq!((once.cable, once.once, once.times), (40, None, 0));
        assert_eq!(round(&[], 4_900, 5_000, 256), None);
        assert_eq!(round(&arrivals(&[3]), 4_900, 5_000, 256), None);
    }
}
