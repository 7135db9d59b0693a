//! A sound card as digitizer and generator: one period is one block, the buffer is the ring, and both
//! directions start at one instant. Linux's own.
//!
//! When a block was due is known from the driver: the time at which it last looked at the hardware's position
//! (CLOCK_MONOTONIC, at an interrupt as a rule), less the time that the frames behind the block took. That is
//! exact to the step in which the driver knows its position: a few frames where it reads the DMA's counter, a
//! period where it counts interrupts (`position` in the conditions says which), a tick of the kernel's clock with
//! snd-aloop. A look that finds the position where it was moves no time.

mod cards;
mod kernel;
mod pcm;
mod verify;

use crate::device::{Arrived, DeviceEnd, LoopDevice, Rings, STALLS_KEPT, Submitted};
use cards::Address;
use pcm::{Pcm, Position, Setup};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use verify::Verifier;
use wiregauge_link::host::Clock;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{LinkDetail, LoopPoint, LoopWait, Stall, Verified, Xrun};

/// The longest sleep before the flag to stop is looked at again.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// A card that has delivered nothing for so long, and for four blocks, is silent.
const TIMEOUT_NS: u64 = 2_000_000_000;

/// A sound card.
pub struct Alsa {
    address: Address,
    ends: Option<Ends>,
    said: Vec<(String, String)>,
    clock: Clock,
    rate: u32,
    channels: usize,
    period: u64,
    buffer: u64,
    preload: u64,
    input: Vec<i16>,
    output: Vec<i16>,
    /// Frames taken since the streams were started.
    taken: u64,
    /// The capture's position, and the first time at which it was seen there.
    seen: (u64, u64),
    /// What became of the block under way.
    lost: Xrun,
    end: DeviceEnd,
    verifier: Option<Verifier>,
    verified: Option<Verified>,
}

struct Ends {
    capture: Pcm,
    playback: Pcm,
}

impl Ends {
    fn open(address: &Address) -> Result<Ends, LinkError> {
        let cards = cards::all();
        Ok(Ends {
            capture: Pcm::open(&address.capture, true, cards.as_deref())?,
            playback: Pcm::open(&address.playback, false, cards.as_deref())?,
        })
    }
}

impl Alsa {
    /// Opens `alsa:hw:CARD[,DEVICE[,SUBDEVICE]]`, or `alsa:CAPTURE/PLAYBACK`.
    pub fn open(address: &str) -> Result<Alsa, LinkError> {
        let address = Address::parse(address)?;
        let ends = Ends::open(&address)?;
        Ok(Alsa {
            said: said(&ends, None),
            address,
            ends: Some(ends),
            clock: Clock::start(),
            rate: 0,
            channels: 0,
            period: 0,
            buffer: 0,
            preload: 0,
            input: Vec::new(),
            output: Vec::new(),
            taken: 0,
            seen: (0, 0),
            lost: Xrun::None,
            end: DeviceEnd::default(),
            verifier: None,
            verified: None,
        })
    }

    fn ends(&mut self) -> &mut Ends {
        self.ends
            .as_mut()
            .expect("opened in `start`, closed in `stop`")
    }

    /// From whatever state: preloads the output and starts both directions.
    fn begin(&mut self) -> Result<(), LinkError> {
        self.taken = 0;
        self.lost = Xrun::None;
        self.output.fill(0);
        let preload = self.preload as usize * self.channels;
        let ends = self.ends.as_mut().expect("opened in `start`");
        ends.capture.prepare()?;
        ends.capture.count_from_here()?;
        ends.playback.count_from_here()?;
        let mut left = preload;
        while left > 0 {
            let part = left.min(self.output.len());
            let written = ends.playback.write(&self.output[..part]);
            let written = written.map_err(|error| ends.playback.failed("preloading", &error))?;
            if written == 0 {
                return Err(ends
                    .playback
                    .failed("preloading", &io::ErrorKind::WriteZero.into()));
            }
            left -= written * self.channels;
        }
        self.seen = (0, self.clock.now());
        self.ends().capture.start()
    }

    /// Looks where the capture is; true if the block that ends at `end` is there.
    fn look(&mut self, end: u64, ask: bool) -> Result<bool, LinkError> {
        let zero = self.clock.zero_ns();
        let position = self.ends().capture.position(ask)?;
        if position.state == kernel::STATE_XRUN {
            self.lost = self.stalled()?;
            return Ok(true);
        }
        if position.frames != self.seen.0 {
            self.seen = (position.frames, position.at_ns.saturating_sub(zero));
        }
        if position.frames >= end {
            return Ok(true);
        }
        match position.state {
            kernel::STATE_RUNNING => {}
            kernel::STATE_DISCONNECTED => return Err(self.ended(libc::ENODEV)),
            kernel::STATE_SUSPENDED => return Err(self.ended(libc::ESTRPIPE)),
            _ => return Err(self.ended(libc::EBADFD)),
        }
        let timeout = TIMEOUT_NS + (4.0 * self.time_ns(self.period)) as u64;
        if self.clock.now() > self.seen.1 + timeout {
            let doing = format!("no data from {}", self.address.capture);
            let said = format!("received nothing for {:.1} s", timeout as f64 * 1e-9);
            return Err(LinkError::new(LinkErrorKind::Timeout, doing, said).hint(
                "use another rate or notify size; a card with an external clock needs that clock",
            ));
        }
        Ok(false)
    }

    fn ended(&mut self, code: i32) -> LinkError {
        let error = io::Error::from_raw_os_error(code);
        self.ends().capture.failed("cannot wait for", &error)
    }

    /// Which side made the kernel stop both, counted.
    fn stalled(&mut self) -> Result<Xrun, LinkError> {
        let (zero, buffer) = (self.clock.zero_ns(), self.buffer as i64);
        let ends = self.ends();
        let capture: Position = ends.capture.position(false)?;
        let playback = ends.playback.position(false)?;
        let (over, under) = (capture.ahead >= buffer, playback.ahead >= 0);
        // The driver may stop by itself; then nobody knows.
        let xrun = if over || under {
            Xrun::of(over, under)
        } else {
            Xrun::Both
        };
        self.end.overruns += u64::from(xrun.is_over());
        self.end.underruns += u64::from(xrun.is_under());
        if self.end.stalls.len() < STALLS_KEPT {
            self.end.stalls.push(Stall {
                xrun,
                at_ns: capture.at_ns.max(playback.at_ns).saturating_sub(zero),
                late_ns: 0,
            });
        }
        if let Some(verifier) = &mut self.verifier {
            verifier.interrupted();
        }
        Ok(xrun)
    }

    fn time_ns(&self, frames: u64) -> f64 {
        frames as f64 * 1e9 / f64::from(self.rate)
    }

    /// When the frame before `end` had come in, by the last look.
    fn due(&self, end: u64) -> u64 {
        let behind = self.seen.0 as f64 - end as f64;
        (self.seen.1 as f64 - behind * 1e9 / f64::from(self.rate)).max(0.0) as u64
    }

    fn pause(&mut self, how: LoopWait, end: u64) -> Result<(), LinkError> {
        match how {
            LoopWait::Spin => Ok(()),
            LoopWait::Sleep => self.poll(true),
            // Before the first look nobody knows when the card's blocks end.
            LoopWait::Hybrid { .. } if self.seen.0 == 0 => self.poll(true),
            LoopWait::Hybrid { margin_ns } => {
                let until = self.due(end).saturating_sub(margin_ns);
                // In steps, for the flag to stop.
                let step = self.clock.now() + LOOK.tv_nsec as u64;
                if until > self.clock.now() {
                    self.clock.sleep_until(until.min(step));
                }
                Ok(())
            }
        }
    }

    /// Sleeps until there is a block to read, or room for one, or it is time to look at the flag.
    fn poll(&mut self, capture: bool) -> Result<(), LinkError> {
        let ends = self.ends();
        let (pcm, flags) = match capture {
            true => (&ends.capture, PollFlags::IN),
            false => (&ends.playback, PollFlags::OUT),
        };
        let mut wanted = [PollFd::new(pcm.file(), flags)];
        match poll(&mut wanted, Some(&LOOK)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(pcm.failed("cannot wait for", &error.into())),
        }
    }

    /// Hands the output over. False if the streams were stopped meanwhile.
    fn write(&mut self) -> Result<bool, LinkError> {
        let mut from = 0;
        let begun = self.clock.now();
        while from < self.output.len() {
            let ends = self.ends.as_ref().expect("opened in `start`");
            match ends.playback.write(&self.output[from..]) {
                Ok(frames) => from += frames * self.channels,
                // A preload as large as the ring: its first block may not be played yet.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.clock.now() > begun + TIMEOUT_NS {
                        return Err(ends.playback.failed("cannot write to", &error));
                    }
                    self.poll(false)?;
                }
                Err(error) if error.raw_os_error() == Some(libc::EPIPE) => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ends.playback.failed("cannot write to", &error)),
            }
        }
        Ok(true)
    }

    /// Takes the block that is there. False if the streams were stopped meanwhile.
    fn read(&mut self) -> Result<bool, LinkError> {
        let mut to = 0;
        while to < self.input.len() {
            let ends = self.ends.as_ref().expect("opened in `start`");
            match ends.capture.read(&mut self.input[to..]) {
                Ok(frames) => to += frames * self.channels,
                Err(error) if error.raw_os_error() == Some(libc::EPIPE) => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ends.capture.failed("reading", &error)),
            }
        }
        Ok(true)
    }
}

impl LoopDevice for Alsa {
    fn detail(&self) -> LinkDetail {
        LinkDetail {
            settings: self.said.clone(),
        }
    }

    fn start(&mut self, point: &LoopPoint, copies: bool) -> Result<(), LinkError> {
        let (setup, preload) = in_frames(&self.address, point)?;
        self.rate = setup.rate;
        self.channels = setup.channels as usize;
        self.period = u64::from(setup.period);
        self.buffer = u64::from(setup.buffer);
        self.preload = u64::from(preload);
        // Anew for each point: some drivers hold both sides to the first setup until both are closed.
        self.ends = None;
        let mut ends = Ends::open(&self.address)?;
        ends.capture.set_up(setup)?;
        ends.playback.set_up(setup)?;
        ends.capture.link(&ends.playback)?;
        self.said = said(&ends, Some(setup));
        self.ends = Some(ends);
        let block = setup.period as usize * self.channels;
        // Ones first, so that every page is there before the loop runs.
        self.input = vec![1; block];
        self.output = vec![1; block];
        self.end = DeviceEnd::default();
        self.end.stalls.reserve(STALLS_KEPT);
        self.verified = None;
        // What a stage makes of the marker need not look like it.
        let marks = copies && self.address.marker;
        let verifier = || Verifier::new(self.rate, self.channels, self.preload);
        self.verifier = marks.then(verifier).flatten();
        self.clock = Clock::start();
        self.begin()
    }

    fn wait(&mut self, how: LoopWait, halt: &AtomicBool) -> Result<Option<Arrived>, LinkError> {
        let end = self.taken + self.period;
        // What is known by itself comes first: its time is that of the interrupt.
        while !self.look(end, false)? {
            if halt.load(Ordering::Relaxed) {
                return Ok(None);
            }
            self.pause(how, end)?;
            if how != LoopWait::Sleep && self.look(end, true)? {
                break;
            }
        }
        let seen_ns = self.clock.now();
        if self.lost == Xrun::None && !self.read()? {
            self.lost = self.stalled()?;
        }
        if self.lost != Xrun::None {
            // The row of a block that nobody has seen.
            self.input.fill(0);
            let at = self.end.stalls.last().map_or(seen_ns, |stall| stall.at_ns);
            return Ok(Some(Arrived {
                due_ns: at.min(seen_ns),
                seen_ns,
            }));
        }
        self.taken = end;
        if let Some(verifier) = &mut self.verifier {
            verifier.came(&self.input, end);
        }
        Ok(Some(Arrived {
            due_ns: self.due(end).min(seen_ns),
            seen_ns,
        }))
    }

    fn block(&mut self) -> (&[i16], &mut [i16]) {
        (&self.input, &mut self.output)
    }

    fn submit(&mut self) -> Result<Submitted, LinkError> {
        if self.lost == Xrun::None {
            if let Some(verifier) = &mut self.verifier {
                let goes_out = self.taken - self.period + self.preload;
                verifier.goes(&mut self.output, goes_out);
            }
            if !self.write()? {
                self.lost = self.stalled()?;
            }
        }
        let xrun = self.lost;
        let done_ns = self.clock.now();
        if xrun != Xrun::None {
            self.begin()?;
        }
        Ok(Submitted { done_ns, xrun })
    }

    fn stop(&mut self) -> DeviceEnd {
        if let Some(ends) = self.ends.take() {
            ends.playback.stop();
            ends.capture.stop();
        }
        self.verified = self.verifier.take().and_then(|verifier| verifier.found());
        std::mem::take(&mut self.end)
    }

    fn rings(&self) -> Option<Rings<'_>> {
        None
    }

    fn verified(&self) -> Option<Verified> {
        self.verified.clone()
    }
}

/// The numbers of a point in frames, with the preload, if a sound card can have such.
fn in_frames(address: &Address, point: &LoopPoint) -> Result<(Setup, u32), LinkError> {
    let doing = format!("cannot set up {} to {}", address.capture, address.playback);
    let wrong = |said: String| LinkError::new(LinkErrorKind::Usage, &doing, said);
    let frame = u64::from(point.frame_bytes());
    let frames = |bytes: u64, what: &str| {
        if bytes == 0 || frame == 0 || !bytes.is_multiple_of(frame) {
            let said =
                format!("a {what} of {bytes} B is not a whole number of frames of {frame} B");
            return Err(wrong(said).hint(format!("use a multiple of {frame} B")));
        }
        u32::try_from(bytes / frame).map_err(|_| {
            wrong(format!(
                "a {what} of {bytes} B is too large for a sound card"
            ))
        })
    };
    let setup = Setup {
        rate: u32::try_from(point.rate_hz).map_err(|_| {
            wrong(format!(
                "{} samples/s are too many for a sound card",
                point.rate_hz
            ))
        })?,
        channels: point.channels,
        period: frames(u64::from(point.notify_bytes), "notify size")?,
        buffer: frames(point.ring_bytes, "ring")?,
    };
    let preload = frames(point.preload_bytes, "preload")?;
    if preload > setup.buffer {
        let said = format!(
            "a preload of {preload} frames does not fit in a ring of {}",
            setup.buffer
        );
        return Err(wrong(said).hint("use a larger ring or a smaller preload"));
    }
    if u64::from(setup.buffer) < 2 * u64::from(setup.period) {
        let said = format!(
            "a ring of {} frames is too small for two blocks of {}",
            setup.buffer, setup.period
        );
        return Err(wrong(said).hint("use a ring of two blocks or more"));
    }
    Ok((setup, preload))
}

/// What it is, for the conditions of a run.
fn said(ends: &Ends, setup: Option<Setup>) -> Vec<(String, String)> {
    let Ends { capture, playback } = ends;
    let mut said = vec![
        ("capture".to_owned(), capture.device.clone()),
        ("playback".to_owned(), playback.device.clone()),
        (
            "format".to_owned(),
            "S16_LE, interleaved, read and write calls".to_owned(),
        ),
    ];
    if capture.card != playback.card {
        let printed = "two cards, whose clocks drift: in a long run one side overflows or starves";
        said.push(("clock".to_owned(), printed.to_owned()));
    }
    if setup.is_some() {
        let printed = match capture.batch || playback.batch {
            true => "updated by the driver in steps of up to a block (batch)",
            false => "read by the driver from the hardware",
        };
        said.push(("position".to_owned(), printed.to_owned()));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::{Aim, LoopPath};

    fn point(notify: u32, ring: u64, preload: u64) -> LoopPoint {
        LoopPoint {
            index: 0,
            rate_hz: 48_000,
            channels: 2,
            notify_bytes: notify,
            ring_bytes: ring,
            preload_bytes: preload,
            aim: Aim::Hold,
            path: LoopPath::Cpu,
        }
    }

    fn printed(point: &LoopPoint) -> String {
        let address = Address::parse("alsa:hw:0").unwrap();
        let error = in_frames(&address, point).unwrap_err();
        assert_eq!(error.kind(), LinkErrorKind::Usage);
        error.to_string()
    }

    #[test]
    fn bytes_become_frames_of_the_card() {
        let address = Address::parse("alsa:hw:0").unwrap();
        let (setup, preload) = in_frames(&address, &point(256, 4096, 1024)).unwrap();
        assert_eq!((setup.period, setup.buffer, preload), (64, 1024, 256));
        assert_eq!((setup.rate, setup.channels), (48_000, 2));
    }

    #[test]
    fn sizes_that_no_sound_card_can_have_are_refused_with_the_reason() {
        assert!(printed(&point(255, 4096, 1024)).contains("not a whole number of frames of 4 B"));
        assert!(printed(&point(256, 4096, 0)).contains("preload of 0 B"));
        assert!(printed(&point(256, 4096, 8192)).contains("does not fit in a ring of 1024"));
        assert!(printed(&point(4096, 4096, 4096)).contains("too small for two blocks"));
        let fast = LoopPoint {
            rate_hz: 1 << 40,
            ..point(256, 4096, 1024)
        };
        assert!(printed(&fast).contains("too many for a sound card"));
    }

    #[test]
    fn a_computer_without_this_card_is_told_so() {
        let error = Alsa::open("alsa:hw:no_such_card")
            .err()
            .expect("no such card");
        assert_eq!(error.kind(), LinkErrorKind::NotFound);
        assert!(error.to_string().contains("hint: "), "{error}");
    }
}
