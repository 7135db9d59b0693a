//! The CSV of Total Phase's Data Center: one row a packet, below rows for the transactions and transfers that they make.
//!
//! The columns are found by their heads, in the line `# Level,Sp,Index,m:s.ms.us,Dur,Len,Err,Dev,Ep,Record,Data,Summary`.

use super::error::ReadError;
use super::record::{Record, WirePacket};
use super::source::Source;
use crate::packet::{self, Pid, Speed};
use csv::{Position, StringRecord};
use std::io::{BufReader, Read};

const EXPORT: &str = "export from Data Center with all records expanded to packets (File, Export, CSV), with the columns \
     Sp, m:s.ms.us, Dev, Ep, Record and Data";

/// True if a text begins like such a file.
pub(super) fn is_export(first: &[u8]) -> bool {
    let text = String::from_utf8_lossy(first);
    text.lines().any(|line| is_heading(line.split(',')))
        || text.starts_with('#') && text.contains("Total Phase")
}

fn is_heading<'a>(mut cells: impl Iterator<Item = &'a str> + Clone) -> bool {
    let has_level = cells
        .clone()
        .next()
        .is_some_and(|cell| cell.trim_start_matches(['#', ' ', '\u{feff}']) == "Level");
    has_level && cells.any(|cell| cell.trim() == "Record")
}

/// Where the columns are.
#[derive(Clone, Copy, Debug)]
struct Columns {
    speed: Option<usize>,
    time: usize,
    device: usize,
    endpoint: usize,
    record: usize,
    data: Option<usize>,
}

/// The rows of a file.
pub(super) struct Rows<R: Read> {
    rows: csv::Reader<BufReader<R>>,
    row: StringRecord,
    columns: Option<Columns>,
    collapsed: u64,
    last_ns: u64,
}

impl<R: Read> Rows<R> {
    pub(super) fn new(source: Source<R>) -> Rows<R> {
        Rows {
            rows: csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .from_reader(source.into_inner()),
            row: StringRecord::new(),
            columns: None,
            collapsed: 0,
            last_ns: 0,
        }
    }

    /// Rows that stand for several packets whose times are not in the file.
    pub(super) fn collapsed(&self) -> u64 {
        self.collapsed
    }

    pub(super) fn next_record<'a>(
        &mut self,
        bytes: &'a mut Vec<u8>,
    ) -> Result<Option<Record<'a>>, ReadError> {
        loop {
            let more = self.rows.read_record(&mut self.row).map_err(|error| {
                let offset = error.position().map_or(0, Position::byte);
                match error.into_kind() {
                    csv::ErrorKind::Io(error) => ReadError::Io { offset, error },
                    _ => ReadError::format(offset, "a row that is not text (UTF-8)", EXPORT),
                }
            })?;
            let offset = self.row.position().map_or(0, Position::byte);
            if !more {
                return match self.columns {
                    Some(_) => Ok(None),
                    None => Err(ReadError::format(
                        offset,
                        "no line with the heads of the columns",
                        EXPORT,
                    )),
                };
            }
            if is_heading(self.row.iter()) {
                self.columns = Some(columns(&self.row, offset)?);
                continue;
            }
            let Some(columns) = self.columns else {
                continue;
            };
            if self.row.get(0).is_some_and(|cell| cell.starts_with('#')) {
                continue;
            }
            if let Some((at_ns, speed)) = self.packet(columns, bytes, offset)? {
                // The times of a long export are not always in order to the last digit.
                self.last_ns = self.last_ns.max(at_ns);
                return Ok(Some(Record::Packet(WirePacket {
                    at_ns: self.last_ns,
                    length: bytes.len() as u32,
                    bytes,
                    speed,
                })));
            }
        }
    }

    /// A row that is a packet.
    fn packet(
        &mut self,
        columns: Columns,
        bytes: &mut Vec<u8>,
        offset: u64,
    ) -> Result<Option<(u64, Option<Speed>)>, ReadError> {
        let cell = |at: usize| self.row.get(at).unwrap_or("").trim();
        let record = cell(columns.record);
        if let Some(group) = record.strip_prefix('[') {
            // "[250 IN-NAK]": its packets follow only if the export was expanded.
            if let Some((count, what)) = group.split_once(' ')
                && what.contains("NAK")
            {
                self.collapsed = self.collapsed.saturating_add(count.parse().unwrap_or(0));
            }
            return Ok(None);
        }
        let Some(name) = record.strip_suffix("packet") else {
            return Ok(None);
        };
        let Some(pid) = pid_of(name.trim()) else {
            return Ok(None);
        };
        let at_ns = time_of(cell(columns.time)).ok_or_else(|| {
            ReadError::format(
                offset,
                format!("{:?} is not a time m:s.ms.us", cell(columns.time)),
                EXPORT,
            )
        })?;
        let speed = match columns.speed.map(cell) {
            Some("LS") => Some(Speed::Low),
            Some("FS") => Some(Speed::Full),
            Some("HS") => Some(Speed::High),
            _ => None,
        };
        bytes.clear();
        let data = columns.data.map_or("", cell);
        let dumped: Option<Vec<u8>> = data
            .split_whitespace()
            .map(|byte| u8::from_str_radix(byte, 16).ok())
            .collect();
        match dumped {
            // As it was on the wire.
            Some(whole) if whole.first() == Some(&pid.byte()) => bytes.extend(whole),
            Some(payload) if pid.is_data() => bytes.extend(packet::data(pid, &payload)),
            _ if pid.is_token() => {
                let number = |at: usize| cell(at).parse::<u8>().ok();
                let (Some(device), Some(endpoint)) =
                    (number(columns.device), number(columns.endpoint))
                else {
                    return Ok(None);
                };
                bytes.extend(packet::token(pid, device, endpoint));
            }
            _ if pid == Pid::Sof => bytes.extend(packet::sof(0)),
            _ if pid.is_handshake() => bytes.extend(packet::handshake(pid)),
            _ => return Ok(None),
        }
        if self.collapsed > 0 && pid == Pid::Nak {
            // The group was expanded: its packets are here.
            self.collapsed -= 1;
        }
        Ok(Some((at_ns, speed)))
    }
}

fn columns(row: &StringRecord, offset: u64) -> Result<Columns, ReadError> {
    let at = |head: &str| row.iter().position(|cell| cell.trim() == head);
    let needed = |head: &str| {
        at(head).ok_or_else(|| {
            ReadError::format(offset, format!("the column {head} is missing"), EXPORT)
        })
    };
    Ok(Columns {
        speed: at("Sp"),
        time: needed("m:s.ms.us")?,
        device: needed("Dev")?,
        endpoint: needed("Ep")?,
        record: needed("Record")?,
        data: at("Data"),
    })
}

fn pid_of(name: &str) -> Option<Pid> {
    Some(match name {
        "OUT" => Pid::Out,
        "IN" => Pid::In,
        "SOF" => Pid::Sof,
        "SETUP" => Pid::Setup,
        "DATA0" => Pid::Data0,
        "DATA1" => Pid::Data1,
        "DATA2" => Pid::Data2,
        "MDATA" => Pid::Mdata,
        "ACK" => Pid::Ack,
        "NAK" => Pid::Nak,
        "STALL" => Pid::Stall,
        "NYET" => Pid::Nyet,
        "PING" => Pid::Ping,
        "SPLIT" => Pid::Split,
        _ => return None,
    })
}

/// `m:s.ms.us`, with or without `.ns`.
fn time_of(text: &str) -> Option<u64> {
    let (minutes, rest) = text.split_once(':')?;
    let mut ns = minutes.parse::<u64>().ok()?.checked_mul(60_000_000_000)?;
    let mut unit = 1_000_000_000;
    for part in rest.split('.') {
        let value = part.parse::<u64>().ok()?;
        ns = ns.checked_add(value.checked_mul(unit)?)?;
        unit /= 1000;
    }
    Some(ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Reader;

    const ROWS: &str = "\
# Total Phase Data Center(tm) v6.73 (c) 2005-2018 Total Phase, Inc.
# Exported: Tue Nov 24 10:00:00 2026
# Level,Sp,Index,m:s.ms.us,Dur,Len,Err,Dev,Ep,Record,Data,Summary,ASCII
0,,0,0:00.000.000,,,,,,Capture started (Aggregate),,[11/24/26 10:00:00],
0,HS,1,0:01.002.003.166,583.33 us,8 B,,05,02,IN txn,01 02 03,01 02 03,...
1,HS,2,0:01.002.003.166,50 ns,3 B,,05,02,   IN packet,69 05 59,69 05 59,i..
1,HS,3,0:01.002.003.300,50 ns,6 B,,05,02,   DATA0 packet,C3 01 02 03 61 A1,C3 01 02,...
1,HS,4,0:01.002.003.900,50 ns,1 B,,05,02,   ACK packet,D2,D2,.
0,HS,5,0:01.003.000.000,10 us,,,05,02,[250 IN-NAK],,,
";

    #[test]
    fn rows_of_packets_are_packets_and_the_others_are_not() {
        let mut reader = Reader::new(ROWS.as_bytes()).unwrap();
        let mut packets = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            let Record::Packet(packet) = record else {
                panic!("{record:?}")
            };
            packets.push((packet.at_ns, packet.bytes.to_vec(), packet.speed));
        }
        let high = Some(Speed::High);
        assert_eq!(
            packets,
            [
                (1_002_003_166, vec![0x69, 0x05, 0x59], high),
                (1_002_003_300, vec![0xc3, 1, 2, 3, 0x61, 0xa1], high),
                (1_002_003_900, vec![0xd2], high),
            ]
        );
        assert_eq!(reader.missing(), 250);
    }

    #[test]
    fn a_missing_column_is_named() {
        let rows = "# Level,Sp,Index,m:s.ms.us,Dev,Record\n0,FS,1,0:00.000.000,1,IN packet\n";
        let error = Reader::new(rows.as_bytes())
            .unwrap()
            .next_record()
            .unwrap_err();
        assert!(
            error.to_string().contains("column Ep is missing"),
            "{error}"
        );
    }
}
