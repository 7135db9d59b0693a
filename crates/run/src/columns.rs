//! The one table that says which columns a sample file has, in which order, of which type, and
//! which field of `Sample` each one is. Writer, reader and schema are all driven by it.

use parquet::basic::{Compression, Encoding};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type};
use std::sync::Arc;
use wiregauge_record::{Phase, Point, Sample, Status};

/// How a column is stored and which field it is.
pub(crate) enum Kind {
    /// UINT_64.
    Wide {
        get: fn(&Sample) -> u64,
        set: fn(&mut Sample, u64),
    },
    /// UINT_32.
    Narrow {
        get: fn(&Sample) -> u32,
        set: fn(&mut Sample, u32),
    },
    /// A short text out of a closed list, so that a table reads "lost" and not 1. `get` gives the
    /// position in the list; `set` takes the text and is false where it is not in the list.
    Name {
        names: &'static [&'static str],
        get: fn(&Sample) -> u8,
        set: fn(&mut Sample, &[u8]) -> bool,
    },
}

/// One column of a sample file.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
}

macro_rules! wide {
    ($field:ident) => {
        Column {
            name: stringify!($field),
            kind: Kind::Wide {
                get: |s| s.$field,
                set: |s, v| s.$field = v,
            },
        }
    };
}

macro_rules! narrow {
    ($field:ident) => {
        Column {
            name: stringify!($field),
            kind: Kind::Narrow {
                get: |s| s.$field,
                set: |s, v| s.$field = v,
            },
        }
    };
}

const PHASES: [Phase; 3] = [Phase::First, Phase::WarmUp, Phase::Measured];

/// The columns of every sample file, in order.
pub(crate) const COLUMNS: [Column; 13] = [
    wide!(sequence),
    Column {
        name: "phase",
        kind: Kind::Name {
            names: &["first", "warm-up", "measured"],
            get: |s| s.phase as u8,
            set: |s, text| match PHASES.into_iter().find(|p| p.name().as_bytes() == text) {
                Some(phase) => {
                    s.phase = phase;
                    true
                }
                None => false,
            },
        },
    },
    Column {
        name: "status",
        kind: Kind::Name {
            names: &["ok", "lost", "late", "duplicated", "reordered", "corrupted"],
            get: |s| s.status as u8,
            set: |s, text| match Status::ALL
                .into_iter()
                .find(|x| x.name().as_bytes() == text)
            {
                Some(status) => {
                    s.status = status;
                    true
                }
                None => false,
            },
        },
    },
    wide!(intended_ns),
    wide!(start_ns),
    wide!(rtt_ns),
    wide!(connect_ns),
    wide!(access_ns),
    wide!(device_rx_ticks),
    wide!(device_tx_ticks),
    narrow!(bytes_out),
    narrow!(bytes_in),
    narrow!(outstanding),
];

/// Name of a column that holds the same value for all samples of a point, and the value.
type PointColumn = (&'static str, fn(&Point) -> u32);

/// Columns that an export of all points puts in front, to tell the points apart.
pub(crate) const POINT_COLUMNS: [PointColumn; 4] = [
    ("point", |p| p.index),
    ("out_bytes_asked", |p| p.out_bytes),
    ("in_bytes_asked", |p| p.in_bytes),
    ("depth", |p| p.depth),
];

/// The column with the bytes of the answers, last where they are kept.
pub(crate) const DATA: &str = "data";

/// Which of the optional columns a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The columns of `POINT_COLUMNS` come first.
    pub(crate) point: bool,
    /// The column `data` comes last.
    pub(crate) data: bool,
}

impl Layout {
    /// The Parquet schema of such a file.
    pub(crate) fn schema(self) -> Result<Arc<Type>> {
        const NARROW: (&str, &str) = ("INT32", " (INTEGER(32,false))");
        const WIDE: (&str, &str) = ("INT64", " (INTEGER(64,false))");
        let mut text = String::from("message sample {");
        let mut add = |(physical, logical): (&str, &str), name: &str| {
            text += &format!(" REQUIRED {physical} {name}{logical};");
        };
        if self.point {
            POINT_COLUMNS.iter().for_each(|(name, _)| add(NARROW, name));
        }
        for column in &COLUMNS {
            let types = match column.kind {
                Kind::Wide { .. } => WIDE,
                Kind::Narrow { .. } => NARROW,
                Kind::Name { .. } => ("BYTE_ARRAY", " (STRING)"),
            };
            add(types, column.name);
        }
        if self.data {
            add(("BYTE_ARRAY", ""), DATA);
        }
        text += " }";
        Ok(Arc::new(parse_message_type(&text)?))
    }

    /// How such a file is encoded. Neighbouring values differ little, which is what
    /// DELTA_BINARY_PACKED stores; the names go through a dictionary.
    pub(crate) fn properties(self, metadata: Vec<KeyValue>) -> WriterProperties {
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("wiregauge ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(metadata))
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BINARY_PACKED)
            .set_statistics_enabled(EnabledStatistics::Chunk);
        for column in &COLUMNS {
            if matches!(column.kind, Kind::Name { .. }) {
                let path = ColumnPath::from(column.name);
                properties = properties
                    .set_column_encoding(path.clone(), Encoding::PLAIN)
                    .set_column_dictionary_enabled(path, true);
            }
        }
        properties
            .set_column_encoding(ColumnPath::from(DATA), Encoding::PLAIN)
            .set_column_statistics_enabled(ColumnPath::from(DATA), EnabledStatistics::None)
            .build()
    }

    /// Says in what way a file's columns are not these, if they are not.
    pub(crate) fn mismatch(self, found: &SchemaDescriptor) -> Result<Option<String>> {
        let expected = SchemaDescriptor::new(self.schema()?);
        if found.num_columns() != expected.num_columns() {
            return Ok(Some(format!(
                "it has {} columns where {} were expected",
                found.num_columns(),
                expected.num_columns()
            )));
        }
        for (expected, found) in expected.columns().iter().zip(found.columns()) {
            let same = expected.path() == found.path()
                && expected.physical_type() == found.physical_type()
                && found.max_def_level() == 0
                && found.max_rep_level() == 0;
            if !same {
                return Ok(Some(format!(
                    "column `{}` stands where a required column `{}` of type {} was expected",
                    found.path(),
                    expected.path(),
                    expected.physical_type()
                )));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_the_table_are_those_of_the_shared_nouns() {
        let names = |name: &str| {
            COLUMNS
                .iter()
                .find(|c| c.name == name)
                .map(|c| match c.kind {
                    Kind::Name { names, .. } => names,
                    _ => panic!("{name} is no column of names"),
                })
        };
        let statuses: Vec<_> = Status::ALL.iter().map(|s| s.name()).collect();
        assert_eq!(names("status"), Some(statuses.as_slice()));
        let phases: Vec<_> = (0..)
            .map_while(Phase::from_number)
            .map(|p| p.name())
            .collect();
        assert_eq!(names("phase"), Some(phases.as_slice()));
    }

    #[test]
    fn the_documentation_names_every_column_in_order() {
        let page = include_str!("../../../docs/run-format.md");
        let mut rest = page;
        for name in COLUMNS.iter().map(|c| c.name).chain([DATA]) {
            let row = format!("\n| `{name}` |");
            let at = rest
                .find(&row)
                .unwrap_or_else(|| panic!("`{name}` is not in its place"));
            rest = &rest[at + row.len()..];
        }
        for (name, _) in POINT_COLUMNS {
            assert!(
                page.contains(&format!("`{name}`")),
                "`{name}` is not documented"
            );
        }
    }
}
