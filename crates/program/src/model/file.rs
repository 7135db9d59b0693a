//! The file of a loop: its keys, in TOML or in JSON. docs/control.md describes them.

use super::entries::{Entries, TextOr};
use crate::values;
use anyhow::{Context, anyhow};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use wiregauge_control::{OnMiss, Order};

/// All keys of a model.
#[allow(missing_docs)]
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    #[serde(default, deserialize_with = "duration")]
    pub period: Option<Duration>,
    pub plant: Option<TextOr<Matrices>>,
    pub controller: Option<TextOr<ControllerKeys>>,
    #[serde(default)]
    pub noise: NoiseKeys,
    #[serde(default)]
    pub cost: CostKeys,
    #[serde(default)]
    pub limits: LimitKeys,
    #[serde(default)]
    pub misses: MissKeys,
}

/// A system as matrices.
#[allow(missing_docs)]
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrices {
    pub a: Entries,
    pub b: Entries,
    pub c: Entries,
    pub d: Option<Entries>,
}

/// A controller: one of three ways.
#[allow(missing_docs)]
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerKeys {
    pub pid: Option<[f64; 3]>,
    pub filter: Option<f64>,
    pub transfer: Option<String>,
    pub a: Option<Entries>,
    pub b: Option<Entries>,
    pub c: Option<Entries>,
    pub d: Option<Entries>,
}

/// `[noise]`.
#[allow(missing_docs)]
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseKeys {
    pub input: Option<f64>,
    pub process: Option<Entries>,
    pub measurement: Option<Entries>,
}

/// `[cost]`.
#[allow(missing_docs)]
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostKeys {
    pub output: Option<Entries>,
    pub input: Option<Entries>,
    pub state: Option<Entries>,
}

/// `[limits]`.
#[allow(missing_docs)]
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitKeys {
    pub input: Option<Vec<(f64, f64)>>,
}

/// `[misses]`.
#[allow(missing_docs)]
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MissKeys {
    pub order: Option<Order>,
    pub on_miss: Option<OnMiss>,
    #[serde(default, deserialize_with = "duration")]
    pub deadline: Option<Duration>,
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let given: Option<Value> = Option::deserialize(deserializer)?;
    let read = given.map(|given| match given {
        Value::String(text) => values::duration(&text),
        other => Err(format!(
            "`{other}` is not a duration: use a number and a unit in quotes, such as \"1ms\""
        )),
    });
    read.transpose().map_err(D::Error::custom)
}

impl ModelFile {
    /// Reads a file; errors name it, the key, and where it stands.
    pub fn read(file: &Path) -> anyhow::Result<ModelFile> {
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
            (
                "period = 0.001",
                "period: `0.001` is not a duration: use a number and a unit in quotes, such as \"1ms\"",
            ),
            (
                "[misses]\ndeadline = 6",
                "misses.deadline: `6` is not a duration",
            ),
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
            (r#"{"period": 6}"#, "period: `6` is not a duration"),
            (r#"{"period": "6ms"} {}"#, "trailing characters"),
        ] {
            let why = of_json(text).expect_err(text);
            assert!(why.contains(words), "{text}: {why}");
        }
    }
}
