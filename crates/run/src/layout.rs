//! The schema and the encoding of a sample file, by the columns of its kind.

use crate::columns::{Column, Kind, PointKind};
use crate::kind::RunKind;
use parquet::basic::{Compression, Encoding};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type};
use std::sync::Arc;

/// The column with the bytes of the answers, last where they are kept.
pub(crate) const DATA: &str = "data";

/// Which of the optional columns a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The columns that tell the points apart come first.
    pub(crate) point: bool,
    /// The columns that only some runs have are there, behind the others.
    pub(crate) optional: bool,
    /// The column `data` comes last.
    pub(crate) data: bool,
}

impl Layout {
    /// The sample files of a run.
    pub(crate) fn of_point<K: RunKind>(plan: &K::Plan) -> Layout {
        Layout {
            point: false,
            optional: K::has_optional(plan),
            data: K::keeps_data(plan),
        }
    }

    /// The columns of its rows.
    pub(crate) fn columns<K: RunKind>(self) -> &'static [Column<K::Row>] {
        let absent = if self.optional { 0 } else { K::OPTIONAL };
        &K::COLUMNS[..K::COLUMNS.len() - absent]
    }

    /// The Parquet schema of such a file.
    pub(crate) fn schema<K: RunKind>(self) -> Result<Arc<Type>> {
        const NARROW: (&str, &str) = ("INT32", " (INTEGER(32,false))");
        const WIDE: (&str, &str) = ("INT64", " (INTEGER(64,false))");
        const REAL: (&str, &str) = ("DOUBLE", "");
        const NAME: (&str, &str) = ("BYTE_ARRAY", " (STRING)");
        let mut text = String::from("message sample {");
        let mut add = |(physical, logical): (&str, &str), name: &str| {
            text += &format!(" REQUIRED {physical} {name}{logical};");
        };
        if self.point {
            for (name, kind) in K::POINT_COLUMNS {
                let types = match kind {
                    PointKind::Number(_) => NARROW,
                    PointKind::Wide(_) => WIDE,
                    PointKind::Name(_) | PointKind::Text(_) => NAME,
                };
                add(types, name);
            }
        }
        for column in self.columns::<K>() {
            let types = match column.kind {
                Kind::Wide { .. } => WIDE,
                Kind::Narrow { .. } => NARROW,
                Kind::Real { .. } => REAL,
                Kind::Name { .. } => NAME,
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
    pub(crate) fn properties<K: RunKind>(self, metadata: Vec<KeyValue>) -> WriterProperties {
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("wiregauge ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(metadata))
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BINARY_PACKED)
            .set_statistics_enabled(EnabledStatistics::Chunk);
        let columns = self.columns::<K>();
        let names = columns
            .iter()
            .filter(|column| matches!(column.kind, Kind::Name { .. }))
            .map(|column| column.name);
        let reals = columns
            .iter()
            .filter(|column| matches!(column.kind, Kind::Real { .. }));
        for column in reals {
            properties =
                properties.set_column_encoding(ColumnPath::from(column.name), Encoding::PLAIN);
        }
        let point_names = K::POINT_COLUMNS
            .iter()
            .filter(|(_, kind)| matches!(kind, PointKind::Name(_) | PointKind::Text(_)))
            .map(|(name, _)| *name);
        for name in names.chain(point_names) {
            let path = ColumnPath::from(name);
            properties = properties
                .set_column_encoding(path.clone(), Encoding::PLAIN)
                .set_column_dictionary_enabled(path, true);
        }
        properties
            .set_column_encoding(ColumnPath::from(DATA), Encoding::PLAIN)
            .set_column_statistics_enabled(ColumnPath::from(DATA), EnabledStatistics::None)
            .build()
    }

    /// Says in what way a file's columns are not these, if they are not.
    pub(crate) fn mismatch<K: RunKind>(self, found: &SchemaDescriptor) -> Result<Option<String>> {
        let expected = SchemaDescriptor::new(self.schema::<K>()?);
        if found.num_columns() != expected.num_columns() {
            return Ok(Some(format!(
                "it has {} columns, expected {}",
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
                    "found column `{}`, expected the required column `{}` of type {}",
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
    use crate::{Control, Exchange, Loop, Stream};

    /// A name read is the value that was written, whatever the kind.
    #[test]
    fn every_name_is_set_as_it_was_got() {
        fn check<K: RunKind>() {
            for column in K::COLUMNS {
                if let Kind::Name { names, get, set } = column.kind {
                    for number in 0..names.len() as u8 {
                        let mut row = K::Row::default();
                        set(&mut row, number);
                        assert_eq!(get(&row), number, "{}", column.name);
                    }
                }
            }
        }
        check::<Exchange>();
        check::<Stream>();
        check::<Loop>();
        check::<Control>();
    }

    /// The part of the page under a heading.
    fn section(heading: &str) -> &'static str {
        let page = include_str!("../../../docs/run-format.md");
        let begin = page
            .find(&format!("\n{heading}\n"))
            .unwrap_or_else(|| panic!("there is no section `{heading}`"));
        let rest = &page[begin + heading.len() + 2..];
        let level = heading.split(' ').next().unwrap_or_default();
        &rest[..rest.find(&format!("\n{level} ")).unwrap_or(rest.len())]
    }

    fn assert_documented<K: RunKind>(heading: &str, last: &[&str]) {
        let mut rest = section(heading);
        let names = K::COLUMNS.iter().map(|c| c.name);
        for name in names.chain(last.iter().copied()) {
            let row = format!("\n| `{name}` |");
            let at = rest
                .find(&row)
                .unwrap_or_else(|| panic!("`{name}` is not in its place under `{heading}`"));
            rest = &rest[at + row.len()..];
        }
        assert!(
            !rest.contains("\n| `"),
            "a column too many under `{heading}`"
        );
        let point_columns = K::POINT_COLUMNS.iter().map(|(name, _)| *name);
        for name in point_columns.chain(K::CSV.split(',')) {
            assert!(
                section(heading).contains(&format!("`{name}`")),
                "`{name}` is not documented under `{heading}`"
            );
        }
    }

    #[test]
    fn the_documentation_names_every_column_in_order() {
        assert_documented::<Exchange>("## Samples of an exchange run", &[DATA]);
        assert_documented::<Stream>("## Samples of a stream run", &[]);
        assert_documented::<Loop>("## Samples of a loop run", &[]);
        assert_documented::<Control>("## Samples of a control run", &[]);
    }
}
