//! What a loop does to the samples, where, how fast they come and how it waits for them, as the user writes it:
//! `fir:64,gain:0.5`, `pinned,streams:4`, `62.5M,125M`, `hybrid:50us`.

use crate::values::{self, decimal};
use std::str::FromStr;
use wiregauge_loop::process::{TAPS_MOST, out_of_bounds};
use wiregauge_record::{LoopPath, LoopWait, Stage};

/// What `--process` knows.
const STAGES: &str = "copy, gain[:FACTOR], fir:TAPS, biquad:CORNER, threshold:LEVEL";

/// What `gain` does where no factor is given.
const HALF: f32 = 0.5;

/// The processing of a loop, in the order given.
#[derive(Clone, Debug, PartialEq)]
pub struct StageList(pub Vec<Stage>);

/// What processes the blocks, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathList(pub Vec<LoopPath>);

/// Samples a second, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleRates(pub Vec<u64>);

/// `copy,gain:0.5,fir:64,biquad:0.1,threshold:0.2`.
pub fn stages(text: &str) -> Result<StageList, String> {
    text.split(',')
        .map(stage)
        .collect::<Result<_, _>>()
        .map(StageList)
}

fn stage(text: &str) -> Result<Stage, String> {
    let (name, value) = match text.split_once(':') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let stage = match (name, value) {
        ("copy", None) => Stage::Copy,
        ("copy", Some(_)) => return Err(format!("`{text}` is not valid: copy takes no value")),
        ("gain", None) => Stage::Gain { factor: HALF },
        ("gain", _) => Stage::Gain {
            factor: number(text, value, "a factor, such as gain:0.5")?,
        },
        ("fir", _) => Stage::Fir {
            taps: number(
                text,
                value,
                &format!("a number of taps, 1 to {TAPS_MOST}, such as fir:64"),
            )?,
        },
        ("biquad", _) => Stage::Biquad {
            corner: number(
                text,
                value,
                "a corner frequency as a fraction of the sample rate, below 0.5, such as biquad:0.1",
            )?,
        },
        ("threshold", _) => Stage::Threshold {
            level: number(
                text,
                value,
                "a level as a fraction of full scale, -1 to 1, such as threshold:0.2",
            )?,
        },
        _ => return Err(format!("unknown stage `{text}`: use {STAGES}")),
    };
    match out_of_bounds(&stage) {
        Some(said) => Err(said),
        None => Ok(stage),
    }
}

fn number<T: FromStr>(text: &str, value: Option<&str>, what: &str) -> Result<T, String> {
    value
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| format!("`{text}` needs {what}"))
}

/// `pageable,pinned,streams:4,graph,mapped,persistent`, `cpu` among them; `all` are those of a GPU.
pub fn paths(text: &str) -> Result<PathList, String> {
    if text == "all" {
        return Ok(PathList(LoopPath::GPU.to_vec()));
    }
    let paths = text.split(',').map(str::parse).collect::<Result<_, _>>();
    paths
        .map(PathList)
        .map_err(|error: wiregauge_record::NoSuchPath| error.to_string())
}

/// More points than this in a sweep are a slip of the keyboard.
const MOST: usize = 1_000;

/// `48k`, `62.5M,125M`; k is 1000, as in all rates.
pub fn sample_rates(text: &str) -> Result<SampleRates, String> {
    let rates: Vec<u64> = text.split(',').map(sample_rate).collect::<Result<_, _>>()?;
    if rates.len() > MOST {
        return Err(format!("`{text}` has more than {MOST} values"));
    }
    Ok(SampleRates(rates))
}

fn sample_rate(text: &str) -> Result<u64, String> {
    let is_valid = |rate: &f64| (1.0..=1e12).contains(rate) && (rate - rate.round()).abs() <= 1e-6;
    let rate = decimal(text).filter(is_valid);
    rate.map(|rate| rate.round() as u64).ok_or_else(|| {
        format!(
            "`{text}` is not a valid sample rate: use a whole number from 1 to 1000G, such as 48k, 62.5M or 1G"
        )
    })
}

/// `sleep`, `spin`, `hybrid:50us`.
pub fn loop_wait(text: &str) -> Result<LoopWait, String> {
    match text.split_once(':') {
        None if text == "sleep" => Ok(LoopWait::Sleep),
        None if text == "spin" => Ok(LoopWait::Spin),
        Some(("hybrid", margin)) => Ok(LoopWait::Hybrid {
            margin_ns: values::duration(margin)?.as_nanos() as u64,
        }),
        _ => Err(format!(
            "unknown way to wait `{text}`: use sleep, spin or hybrid:TIME, such as hybrid:50us"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_read_in_the_order_given() {
        let text = "copy,gain:-0.5,fir:64,biquad:0.1,threshold:0.2,copy";
        let list = stages(text).unwrap().0;
        assert_eq!(
            list,
            [
                Stage::Copy,
                Stage::Gain { factor: -0.5 },
                Stage::Fir { taps: 64 },
                Stage::Biquad { corner: 0.1 },
                Stage::Threshold { level: 0.2 },
                Stage::Copy,
            ]
        );
        // And are written as they are read.
        let again: Vec<String> = list.iter().map(|stage| stage.to_string()).collect();
        assert_eq!(again.join(","), text);
    }

    #[test]
    fn ways_to_a_gpu_are_read_in_the_order_given() {
        let list = paths("cpu,gpu-graph,streams:2,pinned").unwrap().0;
        let expected = [
            LoopPath::Cpu,
            LoopPath::Graph,
            LoopPath::Streams(2),
            LoopPath::Pinned,
        ];
        assert_eq!(list, expected);
        assert_eq!(paths("all").unwrap().0, LoopPath::GPU);
        for text in ["", "warp", "pinned,", "all,cpu", "streams:x"] {
            let error = paths(text).unwrap_err();
            assert!(error.contains("streams:4"), "{text}: {error}");
        }
    }

    #[test]
    fn an_unknown_stage_is_told_what_there_is() {
        for text in ["fft:64", "", "copy,", "Copy", "gain=2", "fir:8;gain:1"] {
            let printed = stages(text).unwrap_err();
            assert!(
                printed.contains("threshold:LEVEL") || printed.contains("needs"),
                "{text}: {printed}"
            );
        }
        assert!(stages("copy:1").unwrap_err().contains("no value"));
    }

    #[test]
    fn a_stage_without_its_value_is_told_which_it_needs() {
        for (text, needed) in [
            ("gain:", "factor"),
            ("gain:x", "factor"),
            ("fir", "taps"),
            ("fir:6.5", "taps"),
            ("fir:-1", "taps"),
            ("biquad:x", "corner"),
            ("threshold", "level"),
        ] {
            let printed = stages(text).unwrap_err();
            assert!(printed.contains(needed), "{text}: {printed}");
        }
    }

    #[test]
    fn rates_count_in_powers_of_ten() {
        let rates = sample_rates("48k,62.5M,125M,1G,44100").unwrap().0;
        assert_eq!(
            rates,
            [48_000, 62_500_000, 125_000_000, 1_000_000_000, 44_100]
        );
        assert_eq!(sample_rates("0.1k").unwrap().0, [100]);
        for text in [
            "", "0", "M", "-1k", "nan", "inf", "1.5", "48k,", "2000G", "1,2;3", "48 k",
        ] {
            assert!(sample_rates(text).is_err(), "{text}");
        }
    }
}
