//! Capture files, one record at a time: packets of a bus, or URBs of a host.

mod beagle;
mod error;
mod frame;
mod link_type;
mod pcap;
mod pcapng;
mod record;
mod source;
mod usbmon;

pub use error::ReadError;
pub use record::{Record, WirePacket};
pub use usbmon::{Urb, UrbStage, UrbType};

use frame::Framed;
use link_type::LinkType;
use source::Source;
use std::io::Read;

/// How a capture is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Blocks.
    Pcapng,
    /// A header and records.
    Pcap,
    /// Rows of Total Phase's Data Center.
    BeagleCsv,
}

/// Reads a capture file, whose format its first bytes say.
pub struct Reader<R: Read> {
    body: Body<R>,
    frame: Vec<u8>,
    format: Format,
}

enum Body<R: Read> {
    Frames(Frames<R>),
    Rows(Box<beagle::Rows<R>>),
}

impl<R: Read> Reader<R> {
    /// Reads the first bytes.
    ///
    /// # Errors
    /// If the file cannot be read, or is in no format that is known.
    pub fn new(file: R) -> Result<Reader<R>, ReadError> {
        let mut source = Source::new(file);
        let first = source.peek(4096)?;
        let (body, format) = match first.as_slice() {
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => (
                Body::Frames(Frames::Pcapng(pcapng::Blocks::new(source))),
                Format::Pcapng,
            ),
            [a, b, c, d, ..] if pcap::Layout::of([*a, *b, *c, *d]).is_some() => (
                Body::Frames(Frames::Pcap(pcap::Records::new(source)?)),
                Format::Pcap,
            ),
            [0x1f, 0x8b, ..] => {
                return Err(ReadError::format(
                    0,
                    "the file is compressed (gzip)",
                    "decompress it first: gunzip FILE.gz",
                ));
            }
            [] => return Err(ReadError::format(0, "the file is empty", error::FORMATS)),
            text if beagle::is_export(text) => (
                Body::Rows(Box::new(beagle::Rows::new(source))),
                Format::BeagleCsv,
            ),
            _ => {
                return Err(ReadError::format(0, "not a capture file", error::FORMATS));
            }
        };
        Ok(Reader {
            body,
            frame: Vec::new(),
            format,
        })
    }

    /// The next record; `None` at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read or contradicts its format. A file that ends within a record ends before it.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        let frames = match &mut self.body {
            Body::Rows(rows) => return rows.next_record(&mut self.frame),
            Body::Frames(frames) => frames,
        };
        let Some(framed) = frames.next_frame(&mut self.frame)? else {
            return Ok(None);
        };
        record(framed, &self.frame).map(Some)
    }

    /// Where the file ends within a record: the bytes of the file that could be used.
    pub fn cut_off(&self) -> Option<u64> {
        match &self.body {
            Body::Frames(frames) => frames.cut_off(),
            Body::Rows(_) => None,
        }
    }

    /// How the file is written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What the capture lacks as its writer says: packets that were dropped, rows that stand for several.
    pub fn missing(&self) -> u64 {
        match &self.body {
            Body::Frames(frames) => frames.dropped(),
            Body::Rows(rows) => rows.collapsed(),
        }
    }
}

impl<R: Read> std::fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

fn record(framed: Framed, bytes: &[u8]) -> Result<Record<'_>, ReadError> {
    match framed.link_type {
        LinkType::Bus(speed) => Ok(Record::Packet(WirePacket {
            at_ns: framed.at_ns,
            bytes,
            length: framed.length.max(bytes.len() as u32),
            speed,
        })),
        LinkType::Usbmon { header } => usbmon::urb(framed, bytes, header).map(Record::Urb),
    }
}

/// The frames of a file.
enum Frames<R: Read> {
    Pcapng(pcapng::Blocks<R>),
    Pcap(pcap::Records<R>),
}

impl<R: Read> Frames<R> {
    fn next_frame(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Framed>, ReadError> {
        match self {
            Frames::Pcapng(blocks) => blocks.next_frame(bytes),
            Frames::Pcap(records) => records.next_frame(bytes),
        }
    }

    fn cut_off(&self) -> Option<u64> {
        match self {
            Frames::Pcapng(blocks) => blocks.cut_off(),
            Frames::Pcap(records) => records.cut_off(),
        }
    }

    fn dropped(&self) -> u64 {
        match self {
            Frames::Pcapng(blocks) => blocks.dropped(),
            Frames::Pcap(_) => 0,
        }
    }
}
