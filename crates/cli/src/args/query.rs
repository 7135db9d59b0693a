//! The flags of `wiregauge exchange` for devices that know nothing of wiregauge: what is sent, and where replies end.

use crate::query_values::{self, Bytes, Pdu};
use crate::values;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_record::ReplyLength;

/// Queries and replies.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Queries (--protocol text, scpi, modbus)")]
pub struct QueryArgs {
    /// Send this text, with C escapes such as \n and \x1b; several are sent in turn. scpi appends a newline.
    #[arg(long, value_name = "TEXT", value_parser = query_values::bytes)]
    pub send: Vec<Bytes>,
    /// Send the lines of FILE in turn, each as with --send.
    #[arg(long, value_name = "FILE", conflicts_with = "send")]
    pub send_file: Option<PathBuf>,
    /// A reply ends with this text [default: \n; over UDP and CAN each message is a reply].
    #[arg(long, value_name = "TEXT", value_parser = query_values::bytes, group = "reply")]
    pub until: Option<Bytes>,
    /// Every reply has N bytes.
    #[arg(long, value_name = "N", value_parser = values::size, group = "reply")]
    pub reply_bytes: Option<u32>,
    /// A field of the reply says how long it is: TYPE[@OFFSET][+ADDED], such as u16be@2+4 (u8, u16le, u16be,
    /// u32le, u32be; ADDED: bytes behind the field that it does not count).
    #[arg(long, value_name = "FIELD", value_parser = str::parse::<ReplyLength>, group = "reply")]
    pub reply_length: Option<ReplyLength>,
    /// A reply ends when nothing is received for TIME; longer than any pause within a reply.
    #[arg(long, value_name = "TIME", value_parser = values::duration, group = "reply")]
    pub idle: Option<Duration>,
    /// Count replies that do not match this regular expression separately, and store them. It matches bytes: ^\\xaa\\x55.
    #[arg(long, value_name = "REGEX")]
    pub expect: Option<String>,
    /// Modbus: address of the unit [default: 1].
    #[arg(long, value_name = "N")]
    pub unit: Option<u8>,
    /// Modbus: read COUNT values from ADDRESS (0 is the first): holding:100+10, input:0+2, coil:5, discrete:0+8.
    #[arg(long, value_name = "TABLE:ADDRESS+COUNT", value_parser = query_values::reads)]
    pub read: Vec<Pdu>,
    /// Modbus: write values to holding registers (40:1,2,3) or coils (coil:8:1,0,1) from ADDRESS on.
    #[arg(long, value_name = "ADDRESS:VALUES", value_parser = query_values::writes)]
    pub write: Vec<Pdu>,
}
