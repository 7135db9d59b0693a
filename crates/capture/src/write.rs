//! Capture files in the form pcapng, link types `USB_2_0_*`, times in nanoseconds.

use crate::packet::Speed;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

/// The longest packet: 1024 B of payload, PID and check.
const LONGEST: u32 = 1027;
/// Ten to the minus ninth of a second.
const NANOSECONDS: u8 = 9;

/// Writes packets of one bus.
pub struct Writer<W: Write> {
    file: PcapNgWriter<W>,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// What the system says of the file.
    pub fn new(file: W, speed: Speed) -> io::Result<Writer<W>> {
        let mut file = PcapNgWriter::new(file).map_err(error)?;
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::from(link_type(speed)),
            snaplen: LONGEST,
            options: vec![InterfaceDescriptionOption::IfTsResol(NANOSECONDS)],
        };
        file.write_pcapng_block(interface).map_err(error)?;
        Ok(Writer { file })
    }

    /// Adds a packet that began on the wire at this time.
    ///
    /// # Errors
    /// What the system says of the file.
    pub fn packet(&mut self, at_ns: u64, bytes: &[u8]) -> io::Result<()> {
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(at_ns),
            original_len: bytes.len() as u32,
            data: Cow::Borrowed(bytes),
            options: Vec::new(),
        };
        self.file.write_pcapng_block(block).map_err(error)?;
        Ok(())
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.file.into_inner()
    }
}

impl<W: Write> std::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

/// Numbers of `LINKTYPE_USB_2_0_LOW_SPEED`, `..._FULL_SPEED` and `..._HIGH_SPEED`.
pub(crate) fn link_type(speed: Speed) -> u32 {
    match speed {
        Speed::Low => 293,
        Speed::Full => 294,
        Speed::High => 295,
    }
}

fn error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Pid, handshake, sof, token};
    use pcap_file::pcapng::PcapNgReader;

    #[test]
    fn a_file_holds_the_packets_with_times_in_nanoseconds() {
        let packets: [(u64, &[u8]); 3] = [
            (1_000_000_001, &sof(7)),
            (1_000_010_002, &token(Pid::In, 5, 2)),
            (1_000_012_003, &handshake(Pid::Nak)),
        ];
        let mut writer = Writer::new(Vec::new(), Speed::High).unwrap();
        for (at_ns, bytes) in packets {
            writer.packet(at_ns, bytes).unwrap();
        }
        let file = writer.into_inner();
        let mut reader = PcapNgReader::new(&file[..]).unwrap();
        for (at_ns, bytes) in packets {
            let block = loop {
                let block = reader.next_block().unwrap().unwrap().into_owned();
                if let Some(packet) = block.into_enhanced_packet() {
                    break packet;
                }
            };
            assert_eq!(block.timestamp, Duration::from_nanos(at_ns));
            assert_eq!(&block.data[..], bytes);
        }
        let interface = &reader.interfaces()[0];
        assert_eq!(u32::from(interface.linktype), 295);
        assert_eq!(
            interface.options,
            [InterfaceDescriptionOption::IfTsResol(9)]
        );
    }
}
