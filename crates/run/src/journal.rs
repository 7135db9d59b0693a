//! The format of a journal: rows as they come, in frames that can be read one by one, so that a file that was cut
//! anywhere gives all rows before the cut. docs/run-format.md describes it.

use crate::columns::Kind;
use crate::kind::RunKind;
use crate::layout::{DATA, Layout};
use crate::run_file::SCHEMA;
use crc::{CRC_32_ISO_HDLC, Crc, Table};
use serde::{Deserialize, Serialize};

const CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

/// The first bytes of every journal.
pub(crate) const MAGIC: &[u8; 8] = b"WGROWS1\n";

/// Bytes before the head: the magic, its length, its checksum.
pub(crate) const FILE_START: usize = 16;

/// A head is at most this long: names of some dozen columns, and a point.
pub(crate) const LONGEST_HEAD: usize = 1 << 20;

/// Bytes before the rows of a frame: their length, their number, the first of them, checksum.
pub(crate) const FRAME_START: usize = 20;

/// What a journal says about itself.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(bound = "")]
pub(crate) struct Head<K: RunKind> {
    schema: u32,
    kind: String,
    pub(crate) point: K::Point,
    /// Which segment of the point its rows belong to.
    pub(crate) segment: u32,
    /// How many rows of the point are in the segments before.
    pub(crate) first_row: u64,
    columns: Vec<ColumnHead>,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct ColumnHead {
    name: String,
    stored: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
}

impl<K: RunKind> Head<K> {
    pub(crate) fn new(point: K::Point, layout: Layout, segment: u32, first_row: u64) -> Head<K> {
        Head {
            schema: SCHEMA,
            kind: K::NAME.to_owned(),
            point,
            segment,
            first_row,
            columns: columns::<K>(layout),
        }
    }

    /// The beginning of the file, and the checksum that its frames begin with.
    pub(crate) fn encode(&self) -> serde_json::Result<(Vec<u8>, u32)> {
        let text = serde_json::to_vec(self)?;
        let checksum = CRC.checksum(&text);
        let mut bytes = Vec::with_capacity(FILE_START + text.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(&text);
        Ok((bytes, checksum))
    }

    /// Understands a head whose checksum is this, and checks that it is of such rows.
    pub(crate) fn decode(text: &[u8], checksum: u32, layout: Layout) -> Result<Head<K>, String> {
        if CRC.checksum(text) != checksum {
            return Err("its head is damaged".to_owned());
        }
        let head: Head<K> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if head.schema != SCHEMA || head.kind != K::NAME {
            return Err(format!(
                "it holds {} rows of format {}, expected {} rows of format {SCHEMA}",
                head.kind,
                head.schema,
                K::NAME
            ));
        }
        let expected = columns::<K>(layout);
        // A later version may know more names, always behind the others.
        let fits = |(found, known): (&ColumnHead, &ColumnHead)| {
            found.name == known.name
                && found.stored == known.stored
                && known.names.starts_with(&found.names)
        };
        if head.columns.len() != expected.len() || !head.columns.iter().zip(&expected).all(fits) {
            return Err("its columns are not those of this run".to_owned());
        }
        Ok(head)
    }
}

fn columns<K: RunKind>(layout: Layout) -> Vec<ColumnHead> {
    let column = |name: &str, stored: &str, names: &[&str]| ColumnHead {
        name: name.to_owned(),
        stored: stored.to_owned(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let rows = layout.columns::<K>().iter().map(|c| match c.kind {
        Kind::Wide { .. } => column(c.name, "uint64", &[]),
        Kind::Narrow { .. } => column(c.name, "uint32", &[]),
        Kind::Real { .. } => column(c.name, "double", &[]),
        Kind::Name { names, .. } => column(c.name, "name", names),
    });
    let data = layout.data.then(|| column(DATA, "bytes", &[]));
    rows.chain(data).collect()
}

/// The beginning of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameStart {
    /// Bytes of its rows.
    pub(crate) length: u32,
    /// Its rows.
    pub(crate) rows: u32,
    /// Number of its first row within the point.
    pub(crate) first_row: u64,
    checksum: u32,
}

impl FrameStart {
    /// The beginning of a frame with these rows, in a journal whose head has the checksum `head`. A frame of another
    /// journal does not fit.
    pub(crate) fn new(head: u32, rows: u32, first_row: u64, payload: &[u8]) -> FrameStart {
        let length = payload.len() as u32;
        let mut start = FrameStart {
            length,
            rows,
            first_row,
            checksum: 0,
        };
        start.checksum = start.checksum_of(head, payload);
        start
    }

    pub(crate) fn encode(self) -> [u8; FRAME_START] {
        let mut bytes = self.numbers();
        bytes[16..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; FRAME_START]) -> FrameStart {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = *bytes;
        FrameStart {
            length: u32::from_le_bytes([a, b, c, d]),
            rows: u32::from_le_bytes([e, f, g, h]),
            first_row: u64::from_le_bytes([i, j, k, l, m, n, o, p]),
            checksum: u32::from_le_bytes([q, r, s, t]),
        }
    }

    /// True if the frame is whole and belongs to this journal.
    pub(crate) fn fits(self, head: u32, payload: &[u8]) -> bool {
        self.checksum_of(head, payload) == self.checksum
    }

    fn numbers(self) -> [u8; FRAME_START] {
        let mut bytes = [0; FRAME_START];
        bytes[..4].copy_from_slice(&self.length.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.rows.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.first_row.to_le_bytes());
        bytes
    }

    fn checksum_of(self, head: u32, payload: &[u8]) -> u32 {
        let mut digest = CRC.digest_with_initial(head);
        digest.update(&self.numbers()[..16]);
        digest.update(payload);
        digest.finalize()
    }
}

/// Puts the rows of a frame into bytes: each number as its difference to the row before, so that most take a byte or two.
pub(crate) struct Encoder {
    before: Vec<u64>,
}

impl Encoder {
    pub(crate) fn new<K: RunKind>(layout: Layout) -> Encoder {
        Encoder {
            before: vec![0; layout.columns::<K>().len()],
        }
    }

    /// The next row is the first of a frame.
    pub(crate) fn restart(&mut self) {
        self.before.fill(0);
    }

    pub(crate) fn push<K: RunKind>(
        &mut self,
        layout: Layout,
        row: &K::Row,
        data: &[u8],
        bytes: &mut Vec<u8>,
    ) {
        for (column, before) in layout.columns::<K>().iter().zip(&mut self.before) {
            let value = match &column.kind {
                Kind::Wide { get, .. } => get(row),
                Kind::Narrow { get, .. } => u64::from(get(row)),
                Kind::Real { get, .. } => {
                    bytes.extend_from_slice(&get(row).to_le_bytes());
                    continue;
                }
                Kind::Name { get, .. } => {
                    bytes.push(get(row));
                    continue;
                }
            };
            let difference = value.wrapping_sub(*before).cast_signed();
            put(
                bytes,
                ((difference << 1) ^ (difference >> 63)).cast_unsigned(),
            );
            *before = value;
        }
        if layout.data {
            put(bytes, data.len() as u64);
            bytes.extend_from_slice(data);
        }
    }
}

fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes the rows of a frame out of its bytes again.
pub(crate) struct Decoder {
    before: Vec<u64>,
}

impl Decoder {
    pub(crate) fn new<K: RunKind>(layout: Layout) -> Decoder {
        Decoder {
            before: vec![0; layout.columns::<K>().len()],
        }
    }

    /// The next row is the first of a frame.
    pub(crate) fn restart(&mut self) {
        self.before.fill(0);
    }

    /// Takes one row off the front of `bytes`: the columns at the places `wanted`, and the bytes of its answer.
    pub(crate) fn next<'a, K: RunKind>(
        &mut self,
        layout: Layout,
        wanted: &[bool],
        row: &mut K::Row,
        bytes: &mut &'a [u8],
    ) -> Result<&'a [u8], String> {
        let short = || "a row is cut short".to_owned();
        let columns = layout.columns::<K>().iter().zip(&mut self.before);
        for ((column, before), &wanted) in columns.zip(wanted) {
            match &column.kind {
                Kind::Wide { set, .. } => {
                    let value = number(before, bytes).ok_or_else(short)?;
                    if wanted {
                        set(row, value);
                    }
                }
                Kind::Narrow { set, .. } => {
                    let value = number(before, bytes).ok_or_else(short)?;
                    let value = u32::try_from(value).map_err(|_| {
                        format!("column `{}`: {value} is not a valid value", column.name)
                    })?;
                    if wanted {
                        set(row, value);
                    }
                }
                Kind::Real { set, .. } => {
                    let value = bytes.split_off(..8).ok_or_else(short)?;
                    let value = value.try_into().map_err(|_| short())?;
                    if wanted {
                        set(row, f64::from_le_bytes(value));
                    }
                }
                Kind::Name { names, set, .. } => {
                    let value = *bytes.split_off_first().ok_or_else(short)?;
                    if usize::from(value) >= names.len() {
                        let name = column.name;
                        return Err(format!("column `{name}`: {value} is not a valid value"));
                    }
                    if wanted {
                        set(row, value);
                    }
                }
            }
        }
        if !layout.data {
            return Ok(&[]);
        }
        let length = take(bytes).ok_or_else(short)?;
        let length = usize::try_from(length).map_err(|_| short())?;
        bytes.split_off(..length).ok_or_else(short)
    }
}

fn number(before: &mut u64, bytes: &mut &[u8]) -> Option<u64> {
    let difference = take(bytes)?;
    let sign = (difference & 1).wrapping_neg();
    *before = before.wrapping_add((difference >> 1) ^ sign);
    Some(*before)
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
