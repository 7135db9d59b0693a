//! The value of a statistic, in its unit.

use crate::{grouped, percent, rate, significant, time};
use wiregauge_record::Unit;

/// A value of this unit.
///
/// ```
/// use wiregauge_quantity::of_unit;
/// use wiregauge_record::Unit;
///
/// assert_eq!(of_unit(Unit::Frequency, 27_999.4), "27,999/s");
/// assert_eq!(of_unit(Unit::Bytes, 4096.0), "4,096 B");
/// ```
pub fn of_unit(unit: Unit, value: f64) -> String {
    let whole = || grouped(value.round() as u64);
    match unit {
        Unit::Time => time(value),
        Unit::Share => percent(value),
        Unit::Count => whole(),
        Unit::Bytes => format!("{} B", whole()),
        Unit::Rate => rate(value),
        Unit::Frequency => format!("{}/s", significant(value)),
        Unit::Number => significant(value),
    }
}
