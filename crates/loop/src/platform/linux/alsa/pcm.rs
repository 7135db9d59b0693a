//! One direction of a sound card: opened, set up exactly as asked or refused with what it can do.

use super::cards::{Card, Place, find};
use super::kernel::{self, HwParams, Interval, Number, Set, Status};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use wiregauge_link::{LinkError, LinkErrorKind};

/// How a stream is to be set up. All in frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Frames a second.
    pub rate: u32,
    /// Channels.
    pub channels: u32,
    /// From one interrupt to the next.
    pub period: u32,
    /// The ring.
    pub buffer: u32,
}

/// An opened stream.
pub struct Pcm {
    file: File,
    /// What it is, for messages: `hw:0,0 for capture`.
    printed: String,
    /// Card, name and subdevice, for the conditions.
    pub device: String,
    /// Number of the card.
    pub card: u32,
    /// Whether its position moves in steps only (`SNDRV_PCM_INFO_BATCH`).
    pub batch: bool,
    channels: usize,
    boundary: u64,
    /// The hardware's position at the last look, and the frames since the last `prepare`.
    last_ptr: u64,
    passed: u64,
}

/// Where a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// `kernel::STATE_*`.
    pub state: i32,
    /// Frames that the hardware is done with since it was prepared.
    pub frames: u64,
    /// Frames between the program's position and the hardware's: what is to be read, or was played
    /// though it had not been written, if positive.
    pub ahead: i64,
    /// When that was so, on the monotonic clock.
    pub at_ns: u64,
}

impl Pcm {
    /// Opens a stream of a card.
    pub fn open(place: &Place, capture: bool, cards: Option<&[Card]>) -> Result<Pcm, LinkError> {
        let card = find(place, capture, cards)?;
        let way = if capture { "capture" } else { "playback" };
        let printed = format!("{place} for {way}");
        let letter = if capture { 'c' } else { 'p' };
        let path = format!("/dev/snd/pcmC{}D{}{letter}", card.number, place.device);
        let refused = |error: &io::Error| refused(&printed, &path, card.number, error);
        // The wish for a subdevice holds as long as the control is open.
        let control = place.subdevice.map(|subdevice| {
            let control = open(&format!("/dev/snd/controlC{}", card.number))?;
            kernel::prefer_subdevice(&control, subdevice as i32)?;
            Ok(control)
        });
        let control = control.transpose().map_err(|error| refused(&error))?;
        let file = open(&path).map_err(|error| refused(&error))?;
        drop(control);
        let (subdevice, name) = kernel::info(&file).map_err(|error| refused(&error))?;
        if place.subdevice.is_some_and(|wanted| wanted != subdevice) {
            let said = format!("the kernel opened subdevice {subdevice} instead");
            return Err(LinkError::new(
                LinkErrorKind::Busy,
                format!("cannot open {printed}"),
                said,
            )
            .hint("use another subdevice, or omit it to use a free one"));
        }
        Ok(Pcm {
            file,
            device: format!("{} ({name}), subdevice {subdevice}", card.id),
            card: card.number,
            printed,
            batch: false,
            channels: 0,
            boundary: 0,
            last_ptr: 0,
            passed: 0,
        })
    }

    /// Sets it up exactly so, or says what it can do.
    pub fn set_up(&mut self, setup: Setup) -> Result<(), LinkError> {
        let doing = format!("cannot set up {}", self.printed);
        let failed = |error: &io::Error| LinkError::from_io(&doing, error);
        let mut params = self.formats().map_err(|error| failed(&error))?;
        let wanted = 1 << kernel::FORMAT_S16_LE;
        if params.allowed(Set::Format) & wanted == 0 {
            let said = "it does not support 16-bit samples (S16_LE), which wiregauge requires";
            return Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(
                "use another device of the card; those not named HDMI often support 16 bits",
            ));
        }
        params.only(Set::Format, kernel::FORMAT_S16_LE);
        params.only(Set::Subformat, kernel::SUBFORMAT_STD);
        for (number, value) in [
            (Number::Channels, setup.channels),
            (Number::Rate, setup.rate),
            (Number::PeriodSize, setup.period),
            (Number::BufferSize, setup.buffer),
        ] {
            let before = params;
            params.narrow(number, Interval::of(value, value));
            if kernel::refine(&self.file, &mut params).is_err() {
                let range = self.near(before, number, value);
                return Err(impossible(&doing, number, value, setup.channels, range));
            }
        }
        kernel::set_hardware(&self.file, &mut params).map_err(|error| {
            match error.raw_os_error() {
                Some(libc::EINVAL) => failed(&error).hint(
                    "use a ring of 2, 4 or 8 blocks; some cards support fewer combinations than they list",
                ),
                Some(libc::ENOMEM) => failed(&error).hint("use a smaller ring"),
                _ => failed(&error),
            }
        })?;
        self.batch = params.info() & kernel::INFO_BATCH != 0;
        self.channels = setup.channels as usize;
        self.boundary = kernel::set_software(&self.file, setup.period, setup.buffer)
            .map_err(|error| failed(&error))?;
        Ok(())
    }

    fn formats(&self) -> io::Result<HwParams> {
        let mut params = HwParams::any();
        params.only(Set::Access, kernel::ACCESS_RW_INTERLEAVED);
        kernel::refine(&self.file, &mut params)?;
        Ok(params)
    }

    /// What a number can be instead of a value, with what was chosen before.
    fn near(&self, before: HwParams, number: Number, value: u32) -> Near {
        let narrowed = |interval: Option<Interval>| {
            let mut params = before;
            if let Some(interval) = interval {
                params.narrow(number, interval);
            }
            let refined = kernel::refine(&self.file, &mut params);
            refined.is_ok().then(|| params.range(number))
        };
        let all = narrowed(None).unwrap_or_else(|| before.range(number));
        Near {
            least: all.min,
            most: all.max,
            below: narrowed(Some(Interval::of(0, value))).map(|range| range.max),
            above: narrowed(Some(Interval::of(value, u32::MAX))).map(|range| range.min),
        }
    }

    /// The descriptor, to wait on.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Ties another stream to this one: they start and stop together.
    pub fn link(&self, other: &Pcm) -> Result<(), LinkError> {
        kernel::link(&self.file, &other.file).map_err(|error| {
            LinkError::from_io(
                format!("cannot link {} to {}", other.printed, self.printed),
                &error,
            )
        })
    }

    /// Makes it ready to start at zero. What it is tied to becomes ready as well.
    pub fn prepare(&self) -> Result<(), LinkError> {
        kernel::prepare(&self.file).map_err(|error| self.failed("preparing", &error))
    }

    /// Begins to count frames here; after `prepare`.
    pub fn count_from_here(&mut self) -> Result<(), LinkError> {
        let status = kernel::status(&self.file, false);
        let status = status.map_err(|error| self.failed("cannot read the state of", &error))?;
        self.last_ptr = status.hw_ptr;
        self.passed = 0;
        Ok(())
    }

    /// Starts it and what it is tied to.
    pub fn start(&self) -> Result<(), LinkError> {
        kernel::start(&self.file).map_err(|error| match error.raw_os_error() {
            Some(libc::EIO) => self.failed("cannot start", &error).hint(
                "use the same rate and channels on both ends; a loopback card rejects a change while running",
            ),
            _ => self.failed("cannot start", &error),
        })
    }

    /// Stops it and what it is tied to. What was not played is dropped.
    pub fn stop(&self) {
        let _ = kernel::stop(&self.file);
    }

    /// Where it is; with `ask`, the hardware is asked.
    pub fn position(&mut self, ask: bool) -> Result<Position, LinkError> {
        let Status {
            state,
            hw_ptr,
            appl_ptr,
            at_ns,
        } = match kernel::status(&self.file, ask) {
            // Stopped by that very look, which the next one tells of.
            Err(error) if ask && error.raw_os_error() == Some(libc::EPIPE) => {
                kernel::status(&self.file, false)
            }
            other => other,
        }
        .map_err(|error| self.failed("cannot read the state of", &error))?;
        self.passed += ahead(hw_ptr, self.last_ptr, self.boundary).max(0) as u64;
        self.last_ptr = hw_ptr;
        Ok(Position {
            state,
            frames: self.passed,
            ahead: ahead(hw_ptr, appl_ptr, self.boundary),
            at_ns,
        })
    }

    /// Takes what came in; returns whole frames.
    pub fn read(&self, to: &mut [i16]) -> io::Result<usize> {
        kernel::read(&self.file, to, self.channels)
    }

    /// Hands over what is to go out; returns whole frames.
    pub fn write(&self, from: &[i16]) -> io::Result<usize> {
        kernel::write(&self.file, from, self.channels)
    }

    /// What the system said while this was `doing`.
    pub fn failed(&self, doing: &str, error: &io::Error) -> LinkError {
        let printed = LinkError::from_io(format!("{doing} {}", self.printed), error);
        match error.raw_os_error() {
            Some(libc::ENODEV) => printed.hint("the card was unplugged: plug it in again"),
            Some(libc::ESTRPIPE) => printed.hint("the computer was suspended: run it again"),
            _ => printed,
        }
    }
}

/// What a card can have instead of a value.
#[derive(Clone, Copy)]
struct Near {
    least: u32,
    most: u32,
    below: Option<u32>,
    above: Option<u32>,
}

/// Tells of a number that a card cannot have, in the units and flags of the user.
fn impossible(doing: &str, number: Number, value: u32, channels: u32, near: Near) -> LinkError {
    let bytes = |frames: u32| u64::from(frames) * u64::from(channels) * 2;
    let (what, is_frames, flag) = match number {
        Number::Channels => ("channels", false, "--channels"),
        Number::Rate => ("samples/s", false, "--rate"),
        Number::PeriodSize => ("frames per block", true, "--notify"),
        Number::BufferSize => ("frames in the ring", true, "--ring"),
    };
    let Near {
        least,
        most,
        below,
        above,
    } = near;
    let said = match least == most {
        true => format!("it supports only {least} {what}, not {value}"),
        false => format!("it supports {least} to {most} {what}, not {value}"),
    };
    let mut tries: Vec<u32> = [below, above].into_iter().flatten().collect();
    tries.dedup();
    let tries: Vec<String> = tries
        .into_iter()
        .map(|value| match is_frames {
            true => format!("{flag} {} ({value} frames)", bytes(value)),
            false => format!("{flag} {value}"),
        })
        .collect();
    let error = LinkError::new(LinkErrorKind::Usage, doing, said);
    match tries.is_empty() {
        true => error,
        false => error.hint(format!("use {}", tries.join(" or "))),
    }
}

/// How far a position is ahead of another, where both begin anew at the boundary.
fn ahead(of: u64, from: u64, boundary: u64) -> i64 {
    let difference = of as i64 - from as i64;
    let (boundary, half) = (boundary as i64, (boundary / 2) as i64);
    if boundary == 0 {
        difference
    } else if difference > half {
        difference - boundary
    } else if difference < -half {
        difference + boundary
    } else {
        difference
    }
}

fn open(path: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Nonblocking: a card in use is an error then, not a wait.
    options
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK);
    options.open(path)
}

/// Why a stream could not be opened, and what would make it possible.
fn refused(printed: &str, path: &str, card: u32, error: &io::Error) -> LinkError {
    let doing = format!("cannot open {printed} ({path})");
    let printed = LinkError::from_io(&doing, error);
    match error.raw_os_error() {
        Some(libc::EBUSY | libc::EAGAIN) => {
            let holder = holder(card).map_or(String::new(), |who| format!(" by {who}"));
            LinkError::new(LinkErrorKind::Busy, doing, format!("it is in use{holder}")).hint(
                "close the program that uses it (`fuser -v /dev/snd/*` shows it). To stop a sound server: \
                 `systemctl --user stop pipewire.socket wireplumber pipewire`, or `pulseaudio --kill`",
            )
        }
        Some(libc::EACCES | libc::EPERM) => printed.hint(
            "add yourself to the group audio: sudo usermod -aG audio $USER, then log in again",
        ),
        Some(libc::ENOENT) => printed.hint(
            "the card exists but its device file does not: in a container, pass /dev/snd into it",
        ),
        _ => printed,
    }
}

/// Who has a stream of the card open, by the kernel's own list.
fn holder(card: u32) -> Option<String> {
    let streams = std::fs::read_dir(format!("/proc/asound/card{card}")).ok()?;
    let subdevices = streams.filter_map(|stream| std::fs::read_dir(stream.ok()?.path()).ok());
    subdevices.flatten().find_map(|subdevice| {
        let status = std::fs::read_to_string(subdevice.ok()?.path().join("status")).ok()?;
        let thread = value(&status, "owner_pid")?;
        // The kernel tells the thread that opened it.
        let state = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
        let process = value(&state, "Tgid").unwrap_or(thread);
        let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
        Some(format!("process {process} ({})", name.trim()))
    })
}

fn value(status: &str, name: &str) -> Option<u32> {
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split(':').nth(1)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_compared_across_the_boundary() {
        assert_eq!(ahead(10, 4, 1_000), 6);
        assert_eq!(ahead(4, 10, 1_000), -6);
        assert_eq!(ahead(4, 990, 1_000), 14);
        assert_eq!(ahead(990, 4, 1_000), -14);
        assert_eq!(ahead(7, 5, 0), 2);
    }

    #[test]
    fn a_number_that_a_card_cannot_have_is_reported_with_those_that_it_can() {
        let near = |below, above| Near {
            least: 64,
            most: 4096,
            below,
            above,
        };
        let printed =
            |number, value, near| impossible("setting up", number, value, 2, near).to_string();
        assert_eq!(
            printed(Number::PeriodSize, 100, near(Some(96), Some(128))),
            "setting up: it supports 64 to 4096 frames per block, not 100\n  hint: use --notify 384 (96 \
            frames) or --notify 512 (128 frames)"
        );
        assert!(
            printed(Number::Rate, 9_000, near(Some(4096), None)).ends_with("hint: use --rate 4096")
        );
        assert!(!printed(Number::BufferSize, 1, near(None, None)).contains("try"));
    }

    #[test]
    fn the_owner_of_a_stream_is_read_from_its_status() {
        let status = "state: RUNNING\nowner_pid   : 4711\ntrigger_time: 1.2\n";
        assert_eq!(value(status, "owner_pid"), Some(4711));
        assert_eq!(value("closed\n", "owner_pid"), None);
    }

    #[test]
    fn a_card_that_cannot_be_opened_says_what_to_do() {
        let said = |code| {
            let error = io::Error::from_raw_os_error(code);
            refused("hw:0,0 for capture", "/dev/snd/pcmC0D0c", 4_000, &error)
        };
        let busy = said(libc::EBUSY);
        assert_eq!(busy.kind(), LinkErrorKind::Busy);
        assert!(busy.to_string().contains("fuser -v"), "{busy}");
        assert!(busy.to_string().contains("pipewire"), "{busy}");
        let denied = said(libc::EACCES);
        assert_eq!(denied.kind(), LinkErrorKind::PermissionDenied);
        assert!(denied.to_string().contains("group audio"), "{denied}");
    }
}
