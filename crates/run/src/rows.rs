//! Rows as records of bytes, for callers that know no kinds of run: numpy looks at them without a copy.

use crate::columns::Kind;
use crate::error::RunError;
use crate::files::Files;
use crate::kind::RunKind;
use crate::kinds::for_every_kind;
use crate::run::Run;

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type as numpy writes it.
    pub form: &'static str,
    /// Its place in bytes.
    pub place: usize,
    /// The names behind its numbers, in their order; empty where they have none.
    pub names: &'static [&'static str],
}

/// How a row lies in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Bytes of a row.
    pub bytes: usize,
    /// The number of the point, then the columns in the order of docs/run-format.md.
    pub fields: Vec<Field>,
}

impl Record {
    /// The record of a kind. The widest fields come first in memory, so that each is aligned.
    pub fn new<K: RunKind>() -> Record {
        const NONE: &[&str] = &[];
        let field = |name, (form, names)| Field {
            name,
            form,
            place: 0,
            names,
        };
        let mut fields = vec![field("point", ("u4", NONE))];
        for column in K::COLUMNS {
            let form = match column.kind {
                Kind::Wide { .. } => ("u8", NONE),
                Kind::Narrow { .. } => ("u4", NONE),
                Kind::Real { .. } => ("f8", NONE),
                Kind::Name { names, .. } => ("u1", names),
            };
            fields.push(field(column.name, form));
        }
        let mut bytes = 0;
        for (ending, width) in [('8', 8), ('4', 4), ('1', 1)] {
            let wide = fields.iter_mut();
            for field in wide.filter(|field| field.form.ends_with(ending)) {
                field.place = bytes;
                bytes += width;
            }
        }
        Record {
            bytes: bytes.next_multiple_of(8),
            fields,
        }
    }
}

macro_rules! by_name {
    ($($kind:ident),+) => {
        impl Record {
            /// The record of the kind of this name.
            pub fn of_kind(name: &str) -> Option<Record> {
                $(
                    if name == <$crate::$kind as RunKind>::NAME {
                        return Some(Record::new::<$crate::$kind>());
                    }
                )+
                None
            }
        }
    };
}

for_every_kind!(by_name);

/// The rows of a point, or of all points, as records one after the other. What is between fields is 0, so that nothing else
/// of this process is shown.
pub(crate) fn records<K: Files>(run: &Run<K>, point: Option<usize>) -> Result<Vec<u8>, RunError> {
    let record = Record::new::<K>();
    let places = match point {
        Some(at) => at..at + 1,
        None => 0..run.file.points.len(),
    };
    let mut readers = Vec::new();
    for place in places {
        let reader = run.samples(place)?;
        let summary = run.file.points.get(place);
        let index = summary.map_or(0, |summary| K::index(&K::point(summary)));
        readers.push((index, reader));
    }
    // What a damaged file claims is not believed beyond what fits the memory easily.
    let claimed = readers.iter().map(|(_, reader)| reader.rows()).sum::<u64>();
    let claimed = usize::try_from(claimed).unwrap_or(0).min(1 << 24);
    let mut all = Vec::with_capacity(claimed * record.bytes);
    for (index, reader) in &mut readers {
        while let Some(rows) = reader.next_rows() {
            append::<K>(&mut all, &record, *index, rows?);
        }
    }
    Ok(all)
}

/// Appends rows of a point, field by field.
fn append<K: RunKind>(all: &mut Vec<u8>, record: &Record, point: u32, rows: &[K::Row]) {
    let begin = all.len();
    all.resize(begin + rows.len() * record.bytes, 0);
    let made = &mut all[begin..];
    let mut places = record.fields.iter().map(|of| (record.bytes, of.place));
    if let Some(place) = places.next() {
        put(made, place, rows, |_| point.to_ne_bytes());
    }
    for (column, place) in K::COLUMNS.iter().zip(places) {
        match column.kind {
            Kind::Wide { get, .. } => put(made, place, rows, |row| get(row).to_ne_bytes()),
            Kind::Narrow { get, .. } => put(made, place, rows, |row| get(row).to_ne_bytes()),
            Kind::Real { get, .. } => put(made, place, rows, |row| get(row).to_ne_bytes()),
            Kind::Name { get, .. } => put(made, place, rows, |row| [get(row)]),
        }
    }
}

/// Writes a field of records of so many bytes, at its place.
fn put<R, const N: usize>(
    records: &mut [u8],
    (bytes, place): (usize, usize),
    rows: &[R],
    of: impl Fn(&R) -> [u8; N],
) {
    for (record, row) in records.chunks_exact_mut(bytes).zip(rows) {
        record[place..place + N].copy_from_slice(&of(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Exchange, Loop, Stream};

    #[test]
    fn no_field_of_a_record_lies_over_another_and_each_is_aligned() {
        fn check<K: RunKind>() {
            let record = Record::new::<K>();
            assert_eq!(record.fields.len(), K::COLUMNS.len() + 1);
            let mut taken = vec![false; record.bytes];
            for field in &record.fields {
                let width: usize = field.form[1..].parse().expect("a width");
                assert_eq!(field.place % width, 0, "{field:?}");
                for byte in &mut taken[field.place..field.place + width] {
                    assert!(!std::mem::replace(byte, true), "{field:?}");
                }
            }
            assert_eq!(Record::of_kind(K::NAME), Some(record));
        }
        check::<Exchange>();
        check::<Stream>();
        check::<Loop>();
        check::<Control>();
        assert_eq!(Record::of_kind("weigh"), None);
    }
}
