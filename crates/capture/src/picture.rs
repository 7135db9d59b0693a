//! Some frames of a capture with each of their packets, to be drawn.

use crate::packet::{self, Pid, Speed};
use crate::read::{ReadError, Reader, Record, WirePacket};
use crate::survey::{Survey, Window};
use crate::timing::{frame_ns, wire_ns};
use std::collections::VecDeque;
use std::io::{self, Read};

/// What a packet is in a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BarKind {
    /// A start of frame.
    Sof,
    /// `IN`, `OUT`, `SETUP`, `PING`, `SPLIT`.
    Token,
    /// Data to the host.
    DataIn,
    /// Data to a device.
    DataOut,
    /// Taken.
    Ack,
    /// Not ready.
    Nak,
    /// All else.
    Other,
}

/// A packet within its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// From the start of the frame.
    pub begin_ns: u64,
    /// On the wire.
    pub length_ns: u64,
    /// What it is.
    pub kind: BarKind,
}

/// A frame and its packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameRow {
    /// From the first packet of the capture.
    pub begin_ns: u64,
    /// Its packets.
    pub bars: Vec<Bar>,
}

/// Frames of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Of the wire.
    pub speed: Speed,
    /// Nominal length of a frame.
    pub frame_ns: u64,
    /// The frames, in order.
    pub rows: Vec<FrameRow>,
}

/// Packets of a frame; no frame has room for more.
const BARS: usize = 4096;

/// Reads at most `most` frames of a capture: the first ones, or those around the median data packet.
///
/// # Errors
/// If the file cannot be read.
pub fn picture<R: Read>(
    open: impl Fn() -> io::Result<R>,
    window: Window,
    most: usize,
    first: bool,
) -> Result<Picture, ReadError> {
    let opened = || open().map_err(|error| ReadError::Io { offset: 0, error });
    let survey = Survey::of(opened()?, window)?;
    let median = match first {
        true => 0,
        false => survey.data_packets / 2,
    };
    let mut reader = Reader::new(opened()?)?;
    let mut taking = Taking {
        survey: &survey,
        rows: VecDeque::new(),
        most,
        median,
        data: 0,
        after: None,
        is_in: false,
    };
    while let Some(record) = reader.next_record()? {
        let Record::Packet(packet) = record else {
            continue;
        };
        if window.has(survey.begin_ns, packet.at_ns) && !taking.take(&packet) {
            break;
        }
    }
    Ok(Picture {
        speed: survey.speed,
        frame_ns: frame_ns(survey.speed),
        rows: taking.rows.into(),
    })
}

struct Taking<'a> {
    survey: &'a Survey,
    rows: VecDeque<FrameRow>,
    most: usize,
    median: u64,
    data: u64,
    /// Frames that are still to be taken, once the median was passed.
    after: Option<usize>,
    is_in: bool,
}

impl Taking<'_> {
    /// False if there are enough.
    fn take(&mut self, packet: &WirePacket<'_>) -> bool {
        let at_ns = packet.at_ns.saturating_sub(self.survey.begin_ns);
        let pid = packet.bytes.first().and_then(|&byte| Pid::of(byte));
        let nominal = frame_ns(self.survey.speed);
        let begins = match (self.rows.back(), self.survey.frames > 1) {
            (None, _) => true,
            (Some(_), true) => pid == Some(Pid::Sof) && packet::frame_of(packet.bytes).is_some(),
            (Some(last), false) => at_ns >= last.begin_ns + nominal,
        };
        if begins {
            if let Some(left) = &mut self.after {
                if *left == 0 {
                    return false;
                }
                *left -= 1;
            } else if self.rows.len() > self.most / 2 {
                self.rows.pop_front();
            }
            let begin_ns = match self.survey.frames > 1 {
                true => at_ns,
                false => at_ns / nominal * nominal,
            };
            self.rows.push_back(FrameRow {
                begin_ns,
                bars: Vec::new(),
            });
        }
        let kind = self.kind(pid);
        if matches!(kind, BarKind::DataIn | BarKind::DataOut) {
            self.data += 1;
        }
        if self.after.is_none() && self.data >= self.median {
            self.after = Some(self.most.saturating_sub(self.rows.len()));
        }
        let speed = packet.speed.unwrap_or(self.survey.speed);
        if let Some(row) = self.rows.back_mut()
            && row.bars.len() < BARS
        {
            row.bars.push(Bar {
                begin_ns: at_ns.saturating_sub(row.begin_ns),
                length_ns: wire_ns(packet.bytes, packet.length, speed),
                kind,
            });
        }
        true
    }

    fn kind(&mut self, pid: Option<Pid>) -> BarKind {
        match pid {
            Some(Pid::Sof) => BarKind::Sof,
            Some(Pid::Split) => BarKind::Token,
            Some(pid) if pid.is_token() => {
                self.is_in = pid == Pid::In;
                BarKind::Token
            }
            Some(pid) if pid.is_data() && self.is_in => BarKind::DataIn,
            Some(pid) if pid.is_data() => BarKind::DataOut,
            Some(Pid::Ack | Pid::Nyet) => BarKind::Ack,
            Some(Pid::Nak) => BarKind::Nak,
            _ => BarKind::Other,
        }
    }
}
