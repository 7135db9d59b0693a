//! Times that no clock shows are not added up: a file may hold anything.

use crate::columns::Kind;
use crate::kind::RunKind;

/// Sums of two such times still fit.
const LONGEST_NS: u64 = 1 << 62;

/// Fails with the time if a row has one that is too long.
pub(crate) fn check_times<K: RunKind>(row: &K::Row) -> Result<(), u64> {
    let times = K::COLUMNS.iter().filter_map(|column| match column.kind {
        Kind::Wide { get, .. } if column.name.ends_with("_ns") => Some(get(row)),
        _ => None,
    });
    match times.max() {
        Some(longest) if longest > LONGEST_NS => Err(longest),
        _ => Ok(()),
    }
}
