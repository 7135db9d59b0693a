//! Numbers with units as text, so that a table, a sentence and a page show the same digits.
//!
//! ```
//! use wiregauge_quantity::{exact_time, percent, rate, time};
//!
//! assert_eq!(time(10_170_400.0), "10.17 ms");
//! assert_eq!(exact_time(2_000_000), "2 ms");
//! assert_eq!(rate(2.409e9), "2.409 GB/s");
//! assert_eq!(percent(0.995_56), "99.56 %");
//! ```

mod column;
mod count;
mod figure;
mod share;
mod text;

pub use column::{RateUnit, TimeUnit};
pub use count::{LARGE, about, one_in, rounded_up, times};
pub use figure::of_unit;
pub use share::{is_above_all, percent, percent_number};
pub use text::{
    about_time, bit_rate, exact_time, flag_rate, flag_time, megasamples, number, rate, rate_unit,
    significant, time, time_unit, two_digits,
};
pub use wiregauge_record::{grouped, grouped_digits};
