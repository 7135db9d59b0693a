//! The values of flags: sizes and lists of them, counts, rates. Each parser says what
//! it could not read and shows what it reads.

use clap::builder::{PathBufValueParser, TypedValueParser};
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_link::Address;

pub use wiregauge_program::values::{bit_rate, decimal, duration, host_load, intensity, size};

/// A list of sizes or depths, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<u32>);

/// A number of exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

/// More points than this in a sweep are a slip of the keyboard.
const MOST: usize = 10_000;

/// A file to write. `-` would be a file of that name, where other flags mean standard output.
pub fn file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true => Err("standard output is not possible here: name a file"),
        false => Ok(path),
    })
}

/// The most characters of a note: it is printed above every table of its run.
const LONGEST_NOTE: usize = 1000;

/// A note on a run: text that is printed as it stands.
pub fn note(text: &str) -> Result<String, String> {
    let text = text.replace("\r\n", "\n").replace('\t', " ");
    let text = text.trim();
    let length = text.chars().count();
    if length == 0 {
        return Err("the note is empty".into());
    }
    if length > LONGEST_NOTE {
        return Err(format!(
            "the note has {length} characters: the maximum is {LONGEST_NOTE}"
        ));
    }
    // They could move the cursor of a terminal.
    match text.chars().find(|c| c.is_control() && *c != '\n') {
        Some(c) => Err(format!(
            "the note has the control character {}: only line breaks are allowed",
            c.escape_unicode()
        )),
        None => Ok(text.to_owned()),
    }
}

/// The address of a device, with its scheme: `/dev/ttyACM0` is read as `serial:///dev/ttyACM0`. Whether it is one is checked
/// when it is opened.
pub fn address(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(Address::with_scheme(text))
}

/// `48,100,500..8000:500,16k..64k`; a range without steps goes by doubling.
pub fn sizes(text: &str) -> Result<Sizes, String> {
    list(text, size, doubling)
}

/// `1,2,4`: depths or queues; a range without steps goes by doubling.
pub fn depths(text: &str) -> Result<Sizes, String> {
    list(text, depth, doubling)
}

fn doubling(from: u32, to: u32) -> Vec<u32> {
    let next = |at: &u32| at.checked_mul(2).filter(|next| *next <= to);
    std::iter::successors(Some(from), next).collect()
}

/// A number from 1.
fn depth(text: &str) -> Result<u32, String> {
    match size(text) {
        Ok(0) => Err("0 is not valid: the minimum is 1".into()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!(
            "`{text}` is not a valid number: use a list such as 1,2,4"
        )),
    }
}

/// Sizes to choose from: a range without steps has every multiple of 16 (or of a larger power of
/// two, where those are too many), and both its ends.
pub fn choices_of_sizes(text: &str) -> Result<Sizes, String> {
    list(text, size, |from, to| finely(from, to, 16, 512)).map(sorted)
}

/// Depths or queues to choose from: a range without steps has every number, or every so many.
pub fn choices_of_depths(text: &str) -> Result<Sizes, String> {
    list(text, depth, |from, to| finely(from, to, 1, 64)).map(sorted)
}

fn sorted(Sizes(mut list): Sizes) -> Sizes {
    list.sort_unstable();
    list.dedup();
    Sizes(list)
}

/// From one to the other in multiples of the smallest power of two, `step` at least, that makes no
/// more than `most` of them.
fn finely(from: u32, to: u32, step: u32, most: u32) -> Vec<u32> {
    let mut step = step;
    while (to - from) / step > most {
        step *= 2;
    }
    let first = from - from % step + step;
    let between = (first..to).step_by(step as usize);
    let ends = if from == to { vec![] } else { vec![to] };
    std::iter::once(from).chain(between).chain(ends).collect()
}

fn list(
    text: &str,
    number: fn(&str) -> Result<u32, String>,
    between: impl Fn(u32, u32) -> Vec<u32>,
) -> Result<Sizes, String> {
    let mut list = Vec::new();
    for part in text.split(',') {
        let Some((from, rest)) = part.split_once("..") else {
            list.push(number(part)?);
            continue;
        };
        let (to, step) = match rest.split_once(':') {
            Some((to, step)) => (to, Some(number(step)?)),
            None => (rest, None),
        };
        let (from, to) = (number(from)?, number(to)?);
        if from > to || from == 0 || step == Some(0) {
            return Err(format!(
                "`{part}` is not a valid range: use FROM..TO or FROM..TO:STEP, such as 500..8000:500 or 64..4k"
            ));
        }
        match step {
            Some(step) => list.extend((from..=to).step_by(step as usize).take(MOST + 1)),
            None => list.extend(between(from, to)),
        }
        if list.len() > MOST {
            return Err(format!("`{text}` has more than {MOST} values"));
        }
    }
    Ok(Sizes(list))
}

/// How much is measured: a number of exchanges, or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// So many exchanges.
    Count(u64),
    /// So long.
    Time(Duration),
}

/// `10k`, `5s`.
pub fn effort(text: &str) -> Result<Effort, String> {
    let found = count(text).map(|Count(count)| Effort::Count(count));
    let found = found.or_else(|_| duration(text).map(Effort::Time));
    found.map_err(|_| {
        format!("`{text}` is neither a number of exchanges nor a duration, such as 10k or 5s")
    })
}

/// A [`count`] of what is measured.
pub fn positive_count(text: &str) -> Result<Count, String> {
    match count(text)? {
        Count(0) => Err("the minimum is 1".into()),
        positive => Ok(positive),
    }
}

/// `1000`, `10k`, `100M`; k is 1000.
pub fn count(text: &str) -> Result<Count, String> {
    // Sequence numbers on the wire have 32 bits.
    let is_valid = |count: &f64| count.fract() == 0.0 && (0.0..=4e9).contains(count);
    let count = decimal(text).filter(is_valid);
    count.map(|count| Count(count as u64)).ok_or_else(|| {
        format!(
            "`{text}` is not a valid number of exchanges: use a number such as 1000, 10k or 100M"
        )
    })
}

/// Exchanges a second, as the time between two starts.
pub fn rate(text: &str) -> Result<Duration, String> {
    let per_second = decimal(text).filter(|rate| (1e-6..=1e8).contains(rate));
    let interval = per_second.map(|rate| Duration::from_nanos((1e9 / rate).round() as u64));
    interval.ok_or_else(|| {
        format!("`{text}` is not a valid rate: use a number per second, such as 1000 or 2.5k")
    })
}

/// Bytes a second: `24MB/s`, `500kB/s`, `8Mbit/s`; powers of ten.
pub fn byte_rate(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("`{text}` is not a valid rate: use a unit, such as 24MB/s, 500kB/s or 8Mbit/s");
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .ok_or_else(wrong)?;
    let number: f64 = text[..split].parse().map_err(|_| wrong())?;
    let unit = match text[split..].trim() {
        "B/s" => 1.0,
        "kB/s" => 1e3,
        "MB/s" => 1e6,
        "GB/s" => 1e9,
        "kbit/s" => 1e3 / 8.0,
        "Mbit/s" => 1e6 / 8.0,
        "Gbit/s" => 1e9 / 8.0,
        _ => return Err(wrong()),
    };
    let rate = (number * unit).round();
    if !(1.0..=1e12).contains(&rate) {
        return Err(wrong());
    }
    Ok(rate as u64)
}

/// `90%`, `1e-6`.
pub fn share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent
            .trim()
            .parse()
            .ok()
            .map(|percent: f64| percent / 100.0),
        None => text.parse().ok(),
    };
    share
        .filter(|share| (1e-15..1.0).contains(share))
        .ok_or_else(|| {
            format!(
                "`{text}` is not a valid share: use a number between 0 and 1, such as 90% or 1e-6"
            )
        })
}

/// `0.96,0,0.049`: gain, integral time and derivative time in seconds.
pub fn pid(text: &str) -> Result<[f64; 3], String> {
    let numbers: Vec<f64> = text
        .split(',')
        .filter_map(|part| part.trim().parse().ok().filter(|n: &f64| n.is_finite()))
        .collect();
    match (numbers.as_slice(), text.split(',').count()) {
        (&[gain, integral, derivative], 3) if integral >= 0.0 && derivative >= 0.0 => {
            Ok([gain, integral, derivative])
        }
        (&[_, _, _], 3) => Err(format!(
            "`{text}`: the times Ti and Td must not be negative (0: none)"
        )),
        _ => Err(format!(
            "`{text}` is not a PID controller: use K,Ti,Td, such as 0.96,0,0.049 (times in seconds, 0: none)"
        )),
    }
}

/// A step of the reference: a number that is not 0.
pub fn step(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &f64| *number != 0.0 && number.is_finite())
        .ok_or_else(|| {
            format!("`{text}` is not a step: use a number that is not 0, such as 1 or -0.5")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_count_in_steps_or_by_doubling() {
        assert_eq!(sizes("48,100").unwrap().0, [48, 100]);
        assert_eq!(sizes("500..2000:500").unwrap().0, [500, 1000, 1500, 2000]);
        assert_eq!(sizes("1k..5k").unwrap().0, [1024, 2048, 4096]);
        assert_eq!(sizes("1..8,3").unwrap().0, [1, 2, 4, 8, 3]);
    }

    #[test]
    fn a_list_that_ends_nowhere_is_refused() {
        for text in [
            "",
            "5..1",
            "0..8",
            "1..9:0",
            "1..4000000000:1",
            "x",
            "1,,2",
            "9999999999",
        ] {
            assert!(sizes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn choices_go_from_end_to_end_in_round_steps() {
        let Sizes(list) = choices_of_sizes("48..8000").unwrap();
        assert_eq!((&list[..3], list.last()), (&[48, 64, 80][..], Some(&8000)));
        assert!(list.contains(&512) && list.len() < 514, "{}", list.len());
        let Sizes(list) = choices_of_sizes("50..1M").unwrap();
        assert_eq!(
            (&list[..3], list.last()),
            (&[50, 2048, 4096][..], Some(&(1 << 20)))
        );
        assert_eq!(choices_of_sizes("100").unwrap().0, [100]);
        assert_eq!(choices_of_sizes("100..100,64").unwrap().0, [64, 100]);
        assert_eq!(choices_of_depths("1..5").unwrap().0, [1, 2, 3, 4, 5]);
        assert_eq!(choices_of_depths("1..9:4,2").unwrap().0, [1, 2, 5, 9]);
        assert!(choices_of_sizes("1..4000000000").unwrap().0.len() < 600);
    }

    #[test]
    fn rates_of_data_need_a_unit() {
        assert_eq!(byte_rate("24MB/s"), Ok(24_000_000));
        assert_eq!(byte_rate("8Mbit/s"), Ok(1_000_000));
        assert_eq!(byte_rate("1.5 kB/s"), Ok(1_500));
        for text in ["24", "MB/s", "0MB/s", "-1MB/s", "24mb/s", "1e5MB/s"] {
            assert!(byte_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_is_a_number_between_0_and_1() {
        for (text, expected) in [("0.1%", 0.001), ("90%", 0.9), ("0.8", 0.8), ("1e-6", 1e-6)] {
            assert_eq!(share(text), Ok(expected));
        }
        for text in ["0", "1", "100%", "-5%", "often"] {
            assert!(share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_pid_controller_has_three_numbers() {
        assert_eq!(pid("0.96,0,0.049"), Ok([0.96, 0.0, 0.049]));
        assert_eq!(pid("-2, 1e-3, 0"), Ok([-2.0, 1e-3, 0.0]));
        for text in ["", "1", "1,2", "1,2,3,4", "1,-1,0", "1,2,x", "nan,0,0"] {
            assert!(pid(text).is_err(), "{text}");
        }
    }
}
