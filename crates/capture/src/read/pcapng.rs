//! The blocks of pcapng: <https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html>.
//!
//! `pcap-file` 2 is not used for reading: it takes every time for nanoseconds, whatever the interface says, and its errors
//! do not say where in the file they are.

use super::ReadError;
use super::error::DAMAGED;
use super::frame::{Framed, LONGEST, Order};
use super::link_type::LinkType;
use super::source::Source;
use crate::packet::Speed;
use std::io::Read;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
/// A block of a company, not to be copied by others.
const CUSTOM: u32 = 0x4000_0bad;
/// Great Scott Gadgets, whose program Packetry writes events of the bus.
const GREAT_SCOTT_GADGETS: u32 = 62392;
/// `0x3343` and version 0; the lowest byte is the event.
const EVENT: u32 = 0x3343_0000;
/// Interfaces of a section; a file that has more is damaged.
const INTERFACES: usize = 1024;
/// Of a block, without the bytes of a packet.
const OVERHEAD: u32 = 64 * 1024;

/// How the times of an interface count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock {
    /// `if_tsresol`: a negative power of 10, or of 2 if the highest bit is set.
    resolution: u8,
    /// `if_tsoffset`, in seconds.
    offset_s: i64,
}

impl Clock {
    fn ns(self, ticks: u64) -> u64 {
        let power = u32::from(self.resolution & 0x7f);
        let ticks = u128::from(ticks) * 1_000_000_000;
        let ns = if self.resolution & 0x80 == 0 {
            // Beyond 10^38 no time is left.
            10_u128.checked_pow(power).map_or(0, |per_s| ticks / per_s)
        } else {
            ticks.checked_shr(power).unwrap_or(0)
        };
        let ns = i128::try_from(ns).unwrap_or(i128::MAX);
        let moved = ns.saturating_add(i128::from(self.offset_s) * 1_000_000_000);
        u64::try_from(moved.max(0)).unwrap_or(u64::MAX)
    }
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: LinkType,
    clock: Clock,
}

/// The blocks of a file.
pub(super) struct Blocks<R> {
    source: Source<R>,
    order: Order,
    interfaces: Vec<Interface>,
    dropped: u64,
    cut_off: Option<u64>,
    begun: bool,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(source: Source<R>) -> Blocks<R> {
        Blocks {
            source,
            order: Order::Little,
            interfaces: Vec::new(),
            dropped: 0,
            cut_off: None,
            begun: false,
        }
    }

    pub(super) fn cut_off(&self) -> Option<u64> {
        self.cut_off
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The next packet.
    pub(super) fn next_frame(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Framed>, ReadError> {
        loop {
            let Some((kind, offset)) = self.next_block(bytes)? else {
                return Ok(None);
            };
            match kind {
                SECTION => self.section(bytes, offset)?,
                INTERFACE => self.interface(bytes, offset)?,
                ENHANCED_PACKET | OLD_PACKET => {
                    return self.packet(kind, bytes, offset).map(Some);
                }
                SIMPLE_PACKET => {
                    return Err(ReadError::format(
                        offset,
                        "a packet without a time (simple packet block)",
                        "save the capture with times: editcap FILE.pcapng NEW.pcapng does not add them",
                    ));
                }
                STATISTICS => self.statistics(bytes),
                CUSTOM => self.event(bytes),
                // Names, keys, journals: nothing of the bus.
                _ => {}
            }
        }
    }

    /// The body of the next block, in `bytes`: its type, and where it begins in the file.
    fn next_block(&mut self, bytes: &mut Vec<u8>) -> Result<Option<(u32, u64)>, ReadError> {
        if self.cut_off.is_some() || self.source.is_at_end()? {
            return Ok(None);
        }
        let offset = self.source.offset();
        let mut head = [0; 12];
        if !self.source.fill(&mut head)? {
            return self.cut(offset);
        }
        if head[..4] == SECTION.to_be_bytes() {
            self.order = match head[8..] {
                [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
                [0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
                _ => {
                    return Err(ReadError::format(
                        offset + 8,
                        "a section without its byte-order magic 1a2b3c4d",
                        DAMAGED,
                    ));
                }
            };
        }
        let (kind, length) = (self.order.u32(&head, 0), self.order.u32(&head, 4));
        if !self.begun && kind != SECTION {
            return Err(ReadError::format(offset, "no section header", DAMAGED));
        }
        if !length.is_multiple_of(4) || !(12..=LONGEST + OVERHEAD).contains(&length) {
            return Err(ReadError::format(
                offset + 4,
                format!(
                    "a block of {length} bytes, expected a multiple of 4 from 12 to {}",
                    LONGEST + OVERHEAD
                ),
                DAMAGED,
            ));
        }
        // The shortest has no body: its length is there twice, and the second was read.
        if length > 12 {
            // Not at once: the file may be much shorter than a damaged length.
            bytes.clear();
            bytes.extend_from_slice(&head[8..]);
            let mut left = length as usize - 12;
            while left > 0 {
                let (from, more) = (bytes.len(), left.min(1 << 20));
                bytes.resize(from + more, 0);
                if !self.source.fill(&mut bytes[from..])? {
                    return self.cut(offset);
                }
                left -= more;
            }
        } else {
            bytes.clear();
            bytes.extend_from_slice(&head[8..]);
        }
        let again = self.order.u32(bytes, bytes.len() - 4);
        if again != length {
            return Err(ReadError::format(
                offset + u64::from(length) - 4,
                format!("a block ends with its length {again}, and began with {length}"),
                DAMAGED,
            ));
        }
        bytes.truncate(bytes.len() - 4);
        self.begun = true;
        Ok(Some((kind, offset)))
    }

    fn cut(&mut self, offset: u64) -> Result<Option<(u32, u64)>, ReadError> {
        self.cut_off = Some(offset);
        Ok(None)
    }

    fn section(&mut self, bytes: &[u8], offset: u64) -> Result<(), ReadError> {
        self.interfaces.clear();
        let major = self.order.u16(bytes, 4);
        if major != 1 {
            return Err(ReadError::format(
                offset + 12,
                format!("pcapng of version {major}, expected 1"),
                DAMAGED,
            ));
        }
        Ok(())
    }

    fn interface(&mut self, bytes: &[u8], offset: u64) -> Result<(), ReadError> {
        if bytes.len() < 8 || self.interfaces.len() >= INTERFACES {
            return Err(ReadError::format(offset, "a damaged interface", DAMAGED));
        }
        let link_type = LinkType::of(u32::from(self.order.u16(bytes, 0)), offset + 8)?;
        let mut clock = Clock {
            resolution: 6,
            offset_s: 0,
        };
        self.options(&bytes[8..], |order, code, value| match (code, value) {
            (9, [resolution, ..]) => clock.resolution = *resolution,
            (14, value) if value.len() == 8 => clock.offset_s = order.u64(value, 0) as i64,
            _ => {}
        });
        self.interfaces.push(Interface { link_type, clock });
        Ok(())
    }

    /// Moves the packet's bytes to the begin of `bytes`.
    fn packet(&self, kind: u32, bytes: &mut Vec<u8>, offset: u64) -> Result<Framed, ReadError> {
        if bytes.len() < 20 {
            return Err(ReadError::format(
                offset,
                "a packet block shorter than its header",
                DAMAGED,
            ));
        }
        let order = self.order;
        let number = match kind {
            OLD_PACKET => u32::from(order.u16(bytes, 0)),
            _ => order.u32(bytes, 0),
        };
        let Some(interface) = self.interfaces.get(number as usize) else {
            return Err(ReadError::format(
                offset + 8,
                format!(
                    "a packet of interface {number}, of which there are {}",
                    self.interfaces.len()
                ),
                DAMAGED,
            ));
        };
        let ticks = u64::from(order.u32(bytes, 4)) << 32 | u64::from(order.u32(bytes, 8));
        let (captured, length) = (order.u32(bytes, 12) as usize, order.u32(bytes, 16));
        if captured > bytes.len() - 20 {
            return Err(ReadError::format(
                offset + 20,
                format!(
                    "a packet of {captured} bytes in a block that has room for {}",
                    bytes.len() - 20
                ),
                DAMAGED,
            ));
        }
        bytes.drain(..20);
        bytes.truncate(captured);
        Ok(Framed {
            at_ns: interface.clock.ns(ticks),
            offset,
            length,
            link_type: interface.link_type,
            order,
        })
    }

    /// Packets that the interface or the system dropped.
    fn statistics(&mut self, bytes: &[u8]) {
        let mut dropped = 0_u64;
        self.options(
            bytes.get(12..).unwrap_or(&[]),
            |order, code, value| match code {
                5 | 7 if value.len() == 8 => {
                    dropped = dropped.saturating_add(order.u64(value, 0));
                }
                _ => {}
            },
        );
        self.dropped = self.dropped.saturating_add(dropped);
    }

    /// Packetry's events: of those, the ones that say the speed.
    fn event(&mut self, bytes: &[u8]) {
        let order = self.order;
        if bytes.len() < 20
            || order.u32(bytes, 0) != GREAT_SCOTT_GADGETS
            || order.u32(bytes, 4) & !0xff != EVENT
        {
            return;
        }
        let speed = match order.u32(bytes, 4) & 0xff {
            4 | 8 => Some(Speed::High),
            5 | 9 => Some(Speed::Full),
            6 | 10 => Some(Speed::Low),
            7 | 11 => None,
            _ => return,
        };
        if let Some(interface) = self.interfaces.get_mut(order.u32(bytes, 8) as usize)
            && let LinkType::Bus(known) = &mut interface.link_type
        {
            *known = speed;
        }
    }

    fn options(&self, mut bytes: &[u8], mut each: impl FnMut(Order, u16, &[u8])) {
        while bytes.len() >= 4 {
            let (code, length) = (self.order.u16(bytes, 0), self.order.u16(bytes, 2));
            let Some(value) = bytes.get(4..4 + usize::from(length)) else {
                return;
            };
            if code == 0 {
                return;
            }
            each(self.order, code, value);
            let whole = 4 + usize::from(length).next_multiple_of(4);
            bytes = bytes.get(whole..).unwrap_or(&[]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_as_the_interface_says() {
        let clock = |resolution, offset_s| Clock {
            resolution,
            offset_s,
        };
        assert_eq!(clock(6, 0).ns(1_500_000), 1_500_000_000);
        assert_eq!(clock(9, 0).ns(1_500_000), 1_500_000);
        assert_eq!(clock(3, 2).ns(1), 2_001_000_000);
        // 60 MHz of an analyzer would be no power; 2^-20 s is.
        assert_eq!(clock(0x80 | 20, 0).ns(1 << 20), 1_000_000_000);
        assert_eq!(clock(9, -1).ns(5), 0);
        assert_eq!(clock(0x7f, 0).ns(u64::MAX), 0);
        assert_eq!(clock(0xff, 0).ns(u64::MAX), 0);
        assert_eq!(clock(0, i64::MAX).ns(u64::MAX), u64::MAX);
    }
}
