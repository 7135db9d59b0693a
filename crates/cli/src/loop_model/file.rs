//! The file of a loop: its keys, in TOML or in JSON. docs/control.md describes them.

use super::entries::{Entries, TextOr};
use crate::values;
use anyhow::{Context, anyhow};
use serde::de::{Deserialize, Deserializer, Error};
use std::path::Path;
use std::time::Duration;
use wiregauge_control::{OnMiss, Order};

/// All keys of a model.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelFile {
    #[serde(default, deserialize_with = "duration")]
    pub(super) period: Option<Duration>,
    pub(super) plant: Option<TextOr<Matrices>>,
    pub(super) controller: Option<TextOr<ControllerKeys>>,
    #[serde(default)]
    pub(super) noise: NoiseKeys,
    #[serde(default)]
    pub(super) cost: CostKeys,
    #[serde(default)]
    pub(super) limits: LimitKeys,
    #[serde(default)]
    pub(super) misses: MissKeys,
}

/// A system as matrices.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Matrices {
    pub(super) a: Entries,
    pub(super) b: Entries,
    pub(super) c: Entries,
    pub(super) d: Option<Entries>,
}

/// A controller: one of three ways.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ControllerKeys {
    pub(super) pid: Option<[f64; 3]>,
    pub(super) filter: Option<f64>,
    pub(super) transfer: Option<String>,
    pub(super) a: Option<Entries>,
    pub(super) b: Option<Entries>,
    pub(super) c: Option<Entries>,
    pub(super) d: Option<Entries>,
}

/// `[noise]`.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoiseKeys {
    pub(super) input: Option<f64>,
    pub(super) process: Option<Entries>,
    pub(super) measurement: Option<Entries>,
}

/// `[cost]`.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CostKeys {
    pub(super) output: Option<Entries>,
    pub(super) input: Option<Entries>,
    pub(super) state: Option<Entries>,
}

/// `[limits]`.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitKeys {
    pub(super) input: Option<Vec<(f64, f64)>>,
}

/// `[misses]`.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct MissKeys {
    pub(super) order: Option<Order>,
    pub(super) on_miss: Option<OnMiss>,
    #[serde(default, deserialize_with = "duration")]
    pub(super) deadline: Option<Duration>,
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    let read = text.as_deref().map(values::duration).transpose();
    read.map_err(D::Error::custom)
}

impl ModelFile {
    /// Reads a file; errors name it, the key, and where it stands.
    pub(super) fn read(file: &Path) -> anyhow::Result<ModelFile> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let is_json = file
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let read = match is_json {
            true => of_json(&text),
            false => of_toml(&text),
        };
        read.map_err(|why| anyhow!("{}: {why}", file.display()))
    }
}

/// The key and what is wrong with it.
fn named(path: &serde_path_to_error::Path, why: &str) -> String {
    match path.iter().next() {
        Some(_) => format!("{path}: {why}"),
        None => why.to_owned(),
    }
}

fn of_json(text: &str) -> Result<ModelFile, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read: ModelFile = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| named(error.path(), &error.inner().to_string()))?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(read)
}

fn of_toml(text: &str) -> Result<ModelFile, String> {
    let in_words = |error: &toml::de::Error, path: Option<&serde_path_to_error::Path>| {
        let line = error.span().map_or(String::new(), |span| {
            let before = &text[..span.start.min(text.len())];
            format!(" at line {}", before.matches('\n').count() + 1)
        });
        let why = format!("{}{line}", error.message());
        path.map_or(why.clone(), |path| named(path, &why))
    };
    let reader = toml::Deserializer::parse(text).map_err(|error| in_words(&error, None))?;
    serde_path_to_error::deserialize(reader)
        .map_err(|error| in_words(error.inner(), Some(error.path())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_have_the_same_keys() {
        let toml = of_toml(
            "period = '6ms'\nplant = '1/s'\n[controller]\npid = [1, 0, 0]\n[misses]\non-miss = 'zero-at-once'",
        )
        .expect("a model");
        let json = of_json(
            r#"{"period": "6ms", "plant": "1/s", "controller": {"pid": [1, 0, 0]}, "misses": {"on-miss": "zero-at-once"}}"#,
        )
        .expect("a model");
        assert_eq!(format!("{toml:?}"), format!("{json:?}"));
        assert_eq!(toml.period, Some(Duration::from_millis(6)));
        assert_eq!(toml.misses.on_miss, Some(OnMiss::ZeroAtOnce));
    }

    #[test]
    fn an_error_names_the_key_and_the_line() {
        for (text, words) in [
            ("perod = '6ms'", "unknown field `perod`"),
            (
                "[noise]\nprocess = [[1, 0], [0]]",
                "noise.process: row 2 has 1 entries, the first row 2 at line 2",
            ),
            (
                "[controller]\npid = [1, 2]",
                "controller.pid: invalid length 2",
            ),
            (
                "plant = 5",
                "plant: invalid type: integer `5`, expected a transfer function as text, or a table",
            ),
            ("period = '6'", "period: `6` is not a duration"),
            ("period = 6", "period: invalid type: integer `6`"),
            (
                "[misses]\norder = 'oldest'",
                "misses.order: unknown variant `oldest`",
            ),
            ("[plant]\na = [[0]]\nb = [[1]]", "plant: missing field `c`"),
            ("plant = '1/s", "at line 1"),
        ] {
            let why = of_toml(text).expect_err(text);
            assert!(why.contains(words), "{text}: {why}");
        }
        for (text, words) in [
            (
                r#"{"cost": {"output": "much"}}"#,
                "cost.output: invalid type: string \"much\", expected a number, or a matrix",
            ),
            (
                r#"{"noise": {"inputs": 1}}"#,
                "noise.inputs: unknown field `inputs`",
            ),
            (r#"{"period": "6ms"} {}"#, "trailing characters"),
        ] {
            let why = of_json(text).expect_err(text);
            assert!(why.contains(words), "{text}: {why}");
        }
    }
}
