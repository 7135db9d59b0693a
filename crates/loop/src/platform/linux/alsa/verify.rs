//! The marker of a sound card's loop: played once in place of what was processed, and looked for in
//! what comes in. All memory is laid out before the loop runs.

use crate::marker::{Marker, round};
use wiregauge_record::Verified;

/// Input that is let pass before the marker is played, as a part of a second: cards click as they start.
const AFTER: u64 = 20;

/// The longest cable for which there is room, as a part of a second.
const CABLE: u64 = 4;

/// Input kept at most: 2 MiB.
const KEPT_FRAMES: u64 = 1 << 20;

/// One marker of one point.
pub struct Verifier {
    marker: Marker,
    channels: usize,
    preload: u64,
    /// Input frames before the marker may be played.
    after: u64,
    /// Output frame with which it began.
    sent: Option<u64>,
    /// Input frame with which `kept` begins.
    from: u64,
    /// The first channel of the input.
    kept: Vec<i16>,
    room: usize,
}

impl Verifier {
    /// For a loop of this latency in frames; `None` if no marker is as short.
    pub fn new(rate: u32, channels: usize, preload: u64) -> Option<Verifier> {
        let marker = Marker::for_loop(preload)?;
        let rate = u64::from(rate);
        // Twice round, through any cable.
        let room = 2 * (preload + rate / CABLE + marker.frames() as u64);
        let room = room.min(KEPT_FRAMES) as usize;
        // Ones first, so that every page is there before the loop runs.
        let mut kept = vec![1; room];
        kept.clear();
        Some(Verifier {
            marker,
            channels,
            preload,
            after: rate / AFTER,
            sent: None,
            from: 0,
            kept,
            room,
        })
    }

    /// A block came in, whose last frame is the one before `end`.
    pub fn came(&mut self, block: &[i16], end: u64) {
        let Some(sent) = self.sent else { return };
        if end <= sent {
            return;
        }
        if self.kept.is_empty() {
            self.from = end - (block.len() / self.channels) as u64;
        }
        let room = self.room - self.kept.len();
        let first = block.iter().step_by(self.channels);
        self.kept.extend(first.take(room));
    }

    /// A block goes out, whose first frame is `from`.
    pub fn goes(&mut self, block: &mut [i16], from: u64) {
        let sent = match self.sent {
            Some(sent) => sent,
            None if from >= self.after + self.preload => *self.sent.insert(from),
            None => return,
        };
        let marked = (from - sent) as usize..self.marker.frames();
        for (samples, frame) in block.chunks_exact_mut(self.channels).zip(marked) {
            samples.fill(self.marker.sample(frame));
        }
    }

    /// The loop stalled and starts anew: so does the marker, if it has not been heard to the end.
    pub fn interrupted(&mut self) {
        if self.kept.len() < self.room {
            self.sent = None;
            self.kept.clear();
        }
    }

    /// What was heard; `None` if the marker was never played.
    pub fn found(self) -> Option<Verified> {
        let sent = self.sent?;
        let arrivals = self.marker.arrivals(&self.kept);
        let round = round(&arrivals, self.from, sent, self.preload);
        Some(Verified {
            method: "marker".to_owned(),
            found_frames: round.and_then(|round| round.once),
            cable_frames: round.map(|round| round.cable),
            preload_frames: self.preload,
            compared: round.map_or(0, |round| round.times),
            wrong: round.map_or(0, |round| round.wrong),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop of blocks over a cable of so many frames, with an output that is `late` frames off.
    fn run(preload: usize, notify: usize, channels: usize, cable: usize, late: usize) -> Verified {
        let mut verifier = Verifier::new(8_000, channels, preload as u64).unwrap();
        let mut output = vec![0_i16; (preload + late) * channels];
        for block in 0..8_000 / notify {
            let from = block * notify;
            let mut samples = vec![0_i16; notify * channels];
            for frame in from..from + notify {
                for channel in 0..channels {
                    let at = frame
                        .checked_sub(cable)
                        .map(|frame| frame * channels + channel);
                    let played = at.and_then(|at| output.get(at)).copied().unwrap_or(0);
                    samples[(frame - from) * channels + channel] = played / 2;
                }
            }
            verifier.came(&samples, (from + notify) as u64);
            verifier.goes(&mut samples, (from + preload) as u64);
            output.extend_from_slice(&samples);
        }
        verifier.found().unwrap()
    }

    #[test]
    fn the_marker_tells_the_preload_and_the_cable_to_the_frame() {
        for (preload, notify, channels, cable) in [
            (128, 64, 1, 0),
            (256, 64, 2, 17),
            (900, 300, 8, 333),
            (96, 16, 2, 1),
        ] {
            let found = run(preload, notify, channels, cable, 0);
            assert_eq!(found.preload_frames, preload as u64);
            assert_eq!(found.cable_frames, Some(cable as u64));
            assert_eq!(found.found_frames, Some((preload + cable) as u64));
            assert!(found.compared >= 2, "{found:?}");
            assert_eq!(found.wrong, 0);
        }
    }

    #[test]
    fn an_output_that_is_a_frame_late_is_seen() {
        let found = run(256, 64, 2, 5, 1);
        assert_eq!(found.cable_frames, Some(6));
        assert_eq!(found.found_frames, Some(262));
    }

    #[test]
    fn a_cable_that_is_not_there_gives_no_latency() {
        let found = run(256, 64, 1, 100_000, 0);
        assert_eq!((found.found_frames, found.cable_frames), (None, None));
    }

    #[test]
    fn an_interrupted_marker_is_sent_anew() {
        let mut verifier = Verifier::new(8_000, 1, 128).unwrap();
        let mut block = [0; 64];
        verifier.goes(&mut block, 8_000);
        assert_ne!(block, [0; 64]);
        verifier.interrupted();
        let mut early = [0; 64];
        verifier.goes(&mut early, 128);
        assert_eq!(early, [0; 64]);
        verifier.goes(&mut early, 8_000);
        assert_eq!(early, block);
    }

    #[test]
    fn a_loop_too_short_for_a_marker_has_none() {
        assert!(Verifier::new(48_000, 2, 16).is_none());
    }
}
