//! The values of the flags that only a responder has: the largest frame, faults, limits of a command.

use wiregauge_program::values::{duration, size};
use wiregauge_responder::FaultRate;

/// The maximum size of a frame: [`size`], up to that of the protocol.
pub fn max_size(text: &str) -> Result<u32, String> {
    let too_large = || format!("`{text}` is too large: the maximum is 16M");
    let digits = text.strip_suffix(['G', 'g', 'T', 't']);
    if digits.is_some_and(|digits| digits.parse::<u32>().is_ok()) {
        return Err(too_large());
    }
    match size(text)? {
        bytes if bytes > wiregauge_wire::MAX_FRAME => Err(too_large()),
        bytes => Ok(bytes),
    }
}

/// `0.01`, `1%`, `every=100`.
pub fn often(text: &str) -> Result<FaultRate, String> {
    let wrong = || {
        format!(
            "`{text}` is not a valid rate: use a probability (0.01, 1%) or every=N, such as \
            every=100"
        )
    };
    if let Some(number) = text.strip_prefix("every=") {
        let number: u64 = number.parse().map_err(|_| wrong())?;
        return if number == 0 {
            Err(wrong())
        } else {
            Ok(FaultRate::Every(number))
        };
    }
    let chance: f64 = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().map_err(|_| wrong())? / 100.0,
        None => text.parse().map_err(|_| wrong())?,
    };
    if (0.0..=1.0).contains(&chance) {
        Ok(FaultRate::Chance(chance))
    } else {
        Err(wrong())
    }
}

/// `every=1000:400ms`.
pub fn stall(text: &str) -> Result<(FaultRate, u64), String> {
    let (when, long) = text.split_once(':').ok_or_else(|| {
        format!("`{text}` is not a valid stall: use RATE:TIME, such as every=1000:400ms")
    })?;
    Ok((often(when)?, duration(long)?.as_nanos() as u64))
}

/// `-10..10`.
pub fn range(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once("..");
    let ends = ends.and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    ends.filter(|(low, high): &(f64, f64)| low < high)
        .ok_or_else(|| format!("`{text}` is not a valid range: use LOW..HIGH, such as -10..10"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_often_is_a_chance_or_a_count() {
        assert_eq!(often("1%").unwrap(), FaultRate::Chance(0.01));
        assert_eq!(often("every=3").unwrap(), FaultRate::Every(3));
        for text in ["every=0", "2", "101%", "-0.1", "often"] {
            assert!(often(text).is_err(), "{text}");
        }
        assert_eq!(
            stall("every=9:400ms").unwrap(),
            (FaultRate::Every(9), 400_000_000)
        );
    }

    #[test]
    fn ranges_are_numbers_in_order() {
        assert_eq!(range("-10..1.5e3"), Ok((-10.0, 1500.0)));
        assert_eq!(range("-inf..0"), Ok((f64::NEG_INFINITY, 0.0)));
        for text in ["", "3", "..", "1..", "2..1", "1..1", "nan..1", "1..2..3"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
