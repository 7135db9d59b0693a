//! The classic format of tcpdump: <https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-03.html>.

use super::ReadError;
use super::error::{DAMAGED, FORMATS};
use super::frame::{Framed, LONGEST, Order};
use super::link_type::LinkType;
use super::source::Source;
use std::io::Read;

/// What the first four bytes say of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    order: Order,
    /// What a unit of the second part of a time is.
    unit_ns: u64,
}

impl Layout {
    pub(super) fn of(magic: [u8; 4]) -> Option<Layout> {
        let (order, unit_ns) = match magic {
            [0xd4, 0xc3, 0xb2, 0xa1] => (Order::Little, 1_000),
            [0x4d, 0x3c, 0xb2, 0xa1] => (Order::Little, 1),
            [0xa1, 0xb2, 0xc3, 0xd4] => (Order::Big, 1_000),
            [0xa1, 0xb2, 0x3c, 0x4d] => (Order::Big, 1),
            _ => return None,
        };
        Some(Layout { order, unit_ns })
    }
}

/// The records of a file.
pub(super) struct Records<R> {
    source: Source<R>,
    layout: Layout,
    link_type: LinkType,
    cut_off: Option<u64>,
}

impl<R: Read> Records<R> {
    pub(super) fn new(mut source: Source<R>) -> Result<Records<R>, ReadError> {
        let mut header = [0; 24];
        if !source.fill(&mut header)? {
            return Err(ReadError::format(
                source.offset(),
                "the file ends within its header of 24 bytes",
                DAMAGED,
            ));
        }
        let [a, b, c, d, ..] = header;
        let layout = Layout::of([a, b, c, d])
            .ok_or_else(|| ReadError::format(0, "not a pcap file", FORMATS))?;
        // The upper bits say whether frames end with a check.
        let link_type = LinkType::of(layout.order.u32(&header, 20) & 0x0fff_ffff, 20)?;
        Ok(Records {
            source,
            layout,
            link_type,
            cut_off: None,
        })
    }

    pub(super) fn next_frame(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Framed>, ReadError> {
        if self.cut_off.is_some() || self.source.is_at_end()? {
            return Ok(None);
        }
        let offset = self.source.offset();
        let mut header = [0; 16];
        if !self.source.fill(&mut header)? {
            self.cut_off = Some(offset);
            return Ok(None);
        }
        let order = self.layout.order;
        let captured = order.u32(&header, 8);
        if captured > LONGEST {
            return Err(ReadError::format(
                offset + 8,
                format!("a frame of {captured} bytes, expected at most {LONGEST}"),
                DAMAGED,
            ));
        }
        bytes.resize(captured as usize, 0);
        if !self.source.fill(bytes)? {
            self.cut_off = Some(offset);
            return Ok(None);
        }
        let at_ns = u64::from(order.u32(&header, 0)) * 1_000_000_000
            + u64::from(order.u32(&header, 4)) * self.layout.unit_ns;
        Ok(Some(Framed {
            at_ns,
            offset,
            length: order.u32(&header, 12),
            link_type: self.link_type,
            order,
        }))
    }

    pub(super) fn cut_off(&self) -> Option<u64> {
        self.cut_off
    }
}
