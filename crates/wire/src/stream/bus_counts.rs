//! What a device on a modelled bus knows of the packets of a stream: appended to its report if the host asks.

use super::BUS_COUNTS;

/// The packets of one endpoint, from the first packet of a stream to the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusCounts {
    /// Packets that carried data, those of length zero included.
    pub packets: u64,
    /// Times that the device answered NAK.
    pub naks: u64,
    /// Time of the bus for these packets, overhead included, in nanoseconds.
    pub packets_ns: u64,
    /// Time of the bus for these NAKs.
    pub naks_ns: u64,
    /// Time of the bus for all other endpoints, their NAKs included.
    pub others_ns: u64,
    /// Time in which the host could have had a packet and the device was not ready for it.
    pub not_ready_ns: u64,
    /// From the begin of the first packet to the end of the last.
    pub elapsed_ns: u64,
}

// Everything is little-endian; seven fields of 8 bytes in the order above.
impl BusCounts {
    /// The bytes that follow the report.
    pub fn encode(&self) -> [u8; BUS_COUNTS] {
        let fields = [
            self.packets,
            self.naks,
            self.packets_ns,
            self.naks_ns,
            self.others_ns,
            self.not_ready_ns,
            self.elapsed_ns,
        ];
        let mut bytes = [0; BUS_COUNTS];
        for (to, field) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(fields) {
            *to = field.to_le_bytes();
        }
        bytes
    }

    /// Reads what follows a report; `None` if it is shorter than this. What is behind it is ignored.
    pub fn decode(from: &[u8]) -> Option<BusCounts> {
        let bytes = from.first_chunk::<BUS_COUNTS>()?;
        let mut fields = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|field| u64::from_le_bytes(*field));
        Some(BusCounts {
            packets: fields.next()?,
            naks: fields.next()?,
            packets_ns: fields.next()?,
            naks_ns: fields.next()?,
            others_ns: fields.next()?,
            not_ready_ns: fields.next()?,
            elapsed_ns: fields.next()?,
        })
    }
}
