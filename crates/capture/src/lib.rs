//! Packets of a USB bus as USB 2.0 has them on the wire, capture files of them that Wireshark, tshark and packetry read, and
//! what such a file says of where the time goes.
//!
//! ```
//! use wiregauge_capture::{Explained, Pid, Speed, Window, Writer, explain, packet};
//!
//! let mut writer = Writer::new(Vec::new(), Speed::Full)?;
//! writer.packet(1_000_000, &packet::sof(1))?;
//! writer.packet(1_010_000, &packet::token(Pid::In, 5, 2))?;
//! writer.packet(1_014_000, &packet::handshake(Pid::Nak))?;
//! writer.packet(2_000_000, &packet::sof(2))?;
//! let file: Vec<u8> = writer.into_inner();
//!
//! let Explained::Bus(bus) = explain(|| Ok(file.as_slice()), Window::default())? else {
//!     panic!("these are packets of a bus");
//! };
//! assert_eq!(bus.endpoints[0].endpoint.counts.naks, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod bus;
mod bus_verdict;
mod descriptors;
mod endpoint;
mod explain;
mod frame_use;
mod host;
mod judged;
pub mod packet;
mod picture;
mod read;
mod requests;
mod small;
mod spread;
mod survey;
mod timing;
mod transactions;
mod verdict;
mod write;

pub use bus::Bus;
pub use endpoint::{Counts, Endpoint, Parts};
pub use explain::{Explained, explain};
pub use host::{Host, UrbEndpoint, UrbVerdict};
pub use judged::{Judged, Shares};
pub use packet::{Pid, Speed};
pub use picture::{Bar, BarKind, FrameRow, Picture, picture};
pub use read::{Format, ReadError, Reader, Record, Urb, UrbStage, UrbType, WirePacket};
pub use small::SmallPackets;
pub use spread::Times;
pub use survey::Window;
pub use timing::{frame_ns, wire_ns};
pub use transactions::{Assembler, Data, Event, Outcome, Split, Transaction};
pub use verdict::Verdict;
pub use write::Writer;
