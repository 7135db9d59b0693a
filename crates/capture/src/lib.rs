//! Packets of a USB bus as USB 2.0 has them on the wire, and capture files of them that Wireshark,
//! tshark and packetry read.
//!
//! ```
//! use wiregauge_capture::{Pid, Speed, Writer, packet};
//!
//! let mut writer = Writer::new(Vec::new(), Speed::Full)?;
//! writer.packet(1_000_000, &packet::sof(1))?;
//! writer.packet(1_010_000, &packet::token(Pid::In, 5, 2))?;
//! writer.packet(1_012_000, &packet::handshake(Pid::Nak))?;
//! let file: Vec<u8> = writer.into_inner();
//! # assert!(file.len() > 100);
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod packet;
mod write;

pub use packet::{Pid, Speed};
pub use write::Writer;
