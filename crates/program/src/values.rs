//! The values of flags that both programs have: sizes, times, rates. Each parser says what it could not read and shows what
//! it reads.

use std::time::Duration;
use wiregauge_record::HostLoad;

/// `64`, `4k`, `1M`; k is 1024.
pub fn size(text: &str) -> Result<u32, String> {
    let wrong = || format!("`{text}` is not a valid size: use bytes, such as 64, 4k or 1M");
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M') => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let number: u32 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).ok_or_else(wrong)
}

/// `300ms`, `1.5s`, `40us`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "`{text}` is not a duration: use a number and a unit, such as 300ms, 1.5s, 40us or 2min"
        )
    };
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .ok_or_else(wrong)?;
    let number: f64 = text[..split].parse().map_err(|_| wrong())?;
    let unit_ns = match &text[split..] {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "h" => 3600e9,
        _ => return Err(wrong()),
    };
    let ns = number * unit_ns;
    // A year and more is a slip of the keyboard, and would not fit 64 bits of nanoseconds for long.
    if !(1.0..=3.2e16).contains(&ns) {
        return Err(format!("`{text}` is out of range: 1 ns to 1 year"));
    }
    Ok(Duration::from_nanos(ns.round() as u64))
}

/// A number, with `k`, `M` or `G` behind it for powers of ten: `48k`, `2.5M`.
pub fn decimal(text: &str) -> Option<f64> {
    let units = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9)];
    let mut units = units.into_iter();
    let found = units.find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (digits, factor) = found.unwrap_or((text, 1.0));
    Some(digits.parse::<f64>().ok()? * factor)
}

/// Bits a second: `10M`, `2.5G`, `100Mbit/s`; powers of ten.
pub fn bit_rate(text: &str) -> Result<u64, String> {
    let rate = decimal(text.strip_suffix("bit/s").unwrap_or(text)).map(f64::round);
    let rate = rate.filter(|rate| (1.0..=1e13).contains(rate));
    rate.map(|rate| rate as u64).ok_or_else(|| {
        format!("`{text}` is not a valid bit rate: use bit/s, such as 10M, 100M or 2.5G")
    })
}

/// `cpu=4,memory=4`.
pub fn host_load(text: &str) -> Result<HostLoad, String> {
    let wrong = || format!("`{text}` is not a valid load: use a list such as cpu=4,memory=4");
    let mut load = HostLoad::default();
    for part in text.split(',') {
        let (name, number) = part.split_once('=').ok_or_else(wrong)?;
        let number: u32 = number
            .parse()
            .ok()
            .filter(|&n| n <= 256)
            .ok_or_else(wrong)?;
        match name {
            "cpu" => load.cpu = number,
            "memory" => load.memory = number,
            _ => return Err(wrong()),
        }
    }
    Ok(load)
}

/// The intensity of noise: `1`, `2.5e-3`.
pub fn intensity(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &f64| *number >= 0.0 && number.is_finite())
        .ok_or_else(|| {
            format!("`{text}` is not a valid intensity: use a number from 0, such as 1 or 2.5e-3")
        })
}

/// `cc` or `0xcc`.
pub fn hex_byte(text: &str) -> Result<u8, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    match digits.starts_with('+') {
        false => u8::from_str_radix(digits, 16).ok(),
        true => None,
    }
    .ok_or_else(|| format!("`{text}` is not a hexadecimal byte, such as cc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_a_unit() {
        assert_eq!(duration("1.5ms").unwrap(), Duration::from_micros(1500));
        assert_eq!(duration("40us").unwrap(), Duration::from_micros(40));
        for text in ["5", "ms", "-1s", "0s", "1e9s", "1 s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_of_bits_are_powers_of_ten() {
        assert_eq!(bit_rate("10M"), Ok(10_000_000));
        assert_eq!(bit_rate("2.5Gbit/s"), Ok(2_500_000_000));
        assert_eq!(bit_rate("9600"), Ok(9_600));
        for text in ["", "M", "-1M", "0", "10MB/s", "1e20", "nan", "10 M"] {
            assert!(bit_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn intensities_are_numbers_from_zero() {
        assert_eq!(intensity("2.5e-3"), Ok(2.5e-3));
        for text in ["", "-1", "inf", "nan", "much", "1 W"] {
            assert!(intensity(text).is_err(), "{text}");
        }
    }
}
