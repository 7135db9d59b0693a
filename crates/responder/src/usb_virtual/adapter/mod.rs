//! USB-to-serial adapters as the kernel's own drivers know them (ftdi_sio, cp210x, ch341): packets of the bus on one side,
//! a UART on the other. No I/O, virtual time.

mod ch341;
mod cp210x;
mod ftdi;
mod packets;
mod port;
mod uart;

use super::control::Answer;
use crate::gadget::Function;
use ch341::Ch341;
use cp210x::Cp210x;
use ftdi::Ftdi;
use packets::{Packets, Rule};
pub use port::Event;
use port::Port;
use uart::Format;

/// Baud rate before the driver sets one.
const FIRST_BAUD: u32 = 9_600;

/// Bytes of the FT232R's FIFO to the host and of that from it (FT232R data sheet, 4.2).
const FTDI_FIFOS: [usize; 2] = [256, 128];

/// An adapter.
#[derive(Debug)]
pub struct Adapter {
    chip: Chip,
    port: Port,
    /// A modem line changed, and the interrupt endpoint has not reported it.
    notice: Option<[u8; 4]>,
}

#[derive(Debug)]
enum Chip {
    Ftdi(Ftdi),
    Cp210x(Cp210x),
    Ch341(Ch341),
}

impl Adapter {
    /// The adapter of this function as it is when it is plugged in; nothing if the function is not an adapter.
    pub fn of(function: Function) -> Option<Adapter> {
        let format = Format::new(FIRST_BAUD);
        let (chip, port) = match function {
            Function::Ftdi => {
                let chip = Ftdi::default();
                let packets = Packets::new(chip.rule(), FTDI_FIFOS[0], ftdi::PACKET_DATA);
                let port = Port::new(format, FTDI_FIFOS[1], 64, packets);
                (Chip::Ftdi(chip), port)
            }
            Function::Cp210x => {
                let packets = Packets::new(Rule::Idle, cp210x::FIFOS[0], 64);
                let port = Port::new(format, cp210x::FIFOS[1], 64, packets);
                (Chip::Cp210x(Cp210x::default()), port)
            }
            Function::Ch341 => {
                // The data sheet names no sizes: two packets in each direction.
                let (chip, fifo) = (Ch341::default(), 2 * ch341::PACKET);
                let packets = Packets::new(chip.rule(), fifo, ch341::PACKET);
                let port = Port::new(format, fifo, ch341::PACKET, packets);
                (Chip::Ch341(chip), port)
            }
            _ => return None,
        };
        Some(Adapter {
            chip,
            port,
            notice: None,
        })
    }

    /// Answers a vendor request with its data stage OUT, if it has one.
    pub fn answer(&mut self, setup: [u8; 8], data: &[u8], now_ns: u64) -> Answer {
        let port = &mut self.port;
        let was_dtr = port.is_dtr();
        let answer = match &mut self.chip {
            Chip::Ftdi(chip) => {
                let answer = chip.answer(port, setup, now_ns);
                port.packets.rule = chip.rule();
                answer
            }
            Chip::Cp210x(chip) => chip.answer(port, setup, data, now_ns),
            Chip::Ch341(chip) => {
                let answer = chip.answer(port, setup, now_ns);
                port.packets.rule = chip.rule();
                if port.is_dtr() != was_dtr {
                    self.notice = Some(chip.notice(port));
                }
                answer
            }
        };
        match answer {
            Answer::Data(mut bytes) => {
                bytes.truncate(usize::from(u16::from_le_bytes([setup[6], setup[7]])));
                Answer::Data(bytes)
            }
            other => other,
        }
    }

    /// What the interrupt endpoint has to report, once.
    pub fn take_notice(&mut self) -> Option<[u8; 4]> {
        self.notice.take()
    }

    /// True once after a request has dropped what the host had not received, the packet that waits for it included.
    pub fn take_purged(&mut self) -> bool {
        self.port.take_purged()
    }

    /// The device behind it begins anew: nothing is on the line.
    pub fn restart(&mut self, now_ns: u64) {
        self.port.restart(now_ns);
    }

    /// Takes a packet from the host.
    pub fn send(&mut self, bytes: &[u8], now_ns: u64) {
        self.port.send(bytes, now_ns);
    }

    /// The device behind it sends bytes.
    pub fn receive(&mut self, bytes: &[u8], now_ns: u64) {
        self.port.receive(bytes, now_ns);
    }

    /// Bytes that the device behind it sent and the host has not received.
    pub fn queued(&self) -> usize {
        self.port.queued()
    }

    /// True if it takes another packet from the host.
    pub fn has_room(&self) -> bool {
        self.port.has_room()
    }

    /// The next thing that happens not after `now_ns`, with its time. After [`Event::Packet`],
    /// [`Adapter::take_packet`] must be called.
    pub fn step(&mut self, now_ns: u64) -> Option<(u64, Event)> {
        self.port.step(now_ns)
    }

    /// When [`Adapter::step`] is to be called next.
    pub fn next_ns(&self) -> Option<u64> {
        self.port.next_ns()
    }

    /// The packet that is due, status bytes included.
    pub fn take_packet(&mut self) -> Option<Vec<u8>> {
        let byte_ns = self.port.format.byte_ns();
        let data = self.port.packets.take(byte_ns)?;
        Some(match &self.chip {
            Chip::Ftdi(chip) => {
                let mut packet = chip.status(&mut self.port).to_vec();
                packet.extend(data);
                packet
            }
            Chip::Cp210x(_) | Chip::Ch341(_) => data,
        })
    }

    /// The host has taken the packet; what happened before must have been stepped through.
    pub fn packet_sent(&mut self, at_ns: u64) {
        self.port.packet_sent(at_ns);
    }
}
