//! One column of the samples as plain numbers, for callers that know no rows: another language, a table.

use crate::columns::Kind;
use crate::error::RunError;
use crate::files::Files;
use crate::run::Run;

/// Hands over the values of a column, some thousands at once. A name is its position in its list,
/// a real number its bits.
pub(crate) fn column<K: Files>(
    run: &Run<K>,
    point: usize,
    name: &str,
    take: &mut dyn FnMut(&[u64]),
) -> Result<(), RunError> {
    let mut reader = run.samples_of(point, &[name])?;
    // `samples_of` has refused a name that is none.
    let Some(column) = K::COLUMNS.iter().find(|column| column.name == name) else {
        return Ok(());
    };
    let mut values = Vec::new();
    while let Some(rows) = reader.next_rows() {
        let rows = rows?;
        values.clear();
        match column.kind {
            Kind::Wide { get, .. } => values.extend(rows.iter().map(get)),
            Kind::Narrow { get, .. } => values.extend(rows.iter().map(|row| u64::from(get(row)))),
            Kind::Real { get, .. } => values.extend(rows.iter().map(|row| get(row).to_bits())),
            Kind::Name { get, .. } => values.extend(rows.iter().map(|row| u64::from(get(row)))),
        }
        take(&values);
    }
    Ok(())
}
