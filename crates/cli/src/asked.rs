//! What `explain --predict` was asked for: read from the command line, completed from the run.

use crate::similar::did_you_mean;
use crate::values;
use wiregauge_explain::Modelled;
use wiregauge_model::{Figures, Setting};
use wiregauge_record::Way;

/// A setting as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// As it was typed.
    pub text: String,
    parts: Vec<(Key, u32)>,
    way: Option<Way>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Out,
    In,
    Depth,
    Transfer,
    Queue,
}

const KEYS: [(&str, Key); 5] = [
    ("out", Key::Out),
    ("in", Key::In),
    ("depth", Key::Depth),
    ("transfer", Key::Transfer),
    ("queue", Key::Queue),
];

impl Key {
    fn name(self) -> &'static str {
        KEYS.iter()
            .find(|(_, key)| *key == self)
            .map_or("", |(name, _)| name)
    }

    /// Several values of it.
    fn plural(self) -> &'static str {
        match self {
            Key::Out => "sizes OUT",
            Key::In => "sizes IN",
            Key::Depth => "depths",
            Key::Transfer => "transfer sizes",
            Key::Queue => "queues",
        }
    }
}

/// `in=3000,depth=3`, `transfer=8k,queue=2,direction=in`.
pub fn parse(text: &str) -> Result<Asked, String> {
    let mut asked = Asked {
        text: text.to_owned(),
        parts: Vec::new(),
        way: None,
    };
    for part in text.split(',') {
        let wrong = || {
            let name = part.split('=').next().unwrap_or_default();
            let mut names: Vec<&str> = KEYS.iter().map(|(name, _)| *name).collect();
            names.push("direction");
            let hint = match part.contains('=') {
                true => did_you_mean(name, &names),
                false => None,
            };
            let uses = || {
                ": use out=, in=, depth= for exchanges, transfer=, queue=, direction= for streams, such as \
                 in=3000,depth=3"
                    .to_owned()
            };
            format!("unknown setting `{part}`{}", hint.unwrap_or_else(uses))
        };
        let (name, value) = part.split_once('=').ok_or_else(wrong)?;
        if name == "direction" {
            let way = [Way::In, Way::Out]
                .into_iter()
                .find(|way| way.name() == value);
            let way = way.ok_or_else(|| format!("unknown direction `{value}`: use in or out"))?;
            if asked.way.replace(way).is_some() {
                return Err("direction= is given twice".into());
            }
            continue;
        }
        let (_, key) = *KEYS
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(wrong)?;
        if asked.part(key).is_some() {
            return Err(format!("{name}= is given twice"));
        }
        let number = values::size(value)?;
        if number == 0 && matches!(key, Key::Depth | Key::Queue) {
            return Err(format!("{name}=0 is not valid: the minimum is 1"));
        }
        asked.parts.push((key, number));
    }
    Ok(asked)
}

/// `90%`, `0.9`.
pub fn share(text: &str) -> Result<f64, String> {
    let wrong = || {
        format!("`{text}` is not a valid share: use a number between 0 and 1, such as 90% or 0.9")
    };
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
        None => text.parse().map_err(|_| wrong())?,
    };
    (share > 0.0 && share < 1.0)
        .then_some(share)
        .ok_or_else(wrong)
}

impl Asked {
    fn part(&self, wanted: Key) -> Option<u32> {
        self.parts
            .iter()
            .find(|(key, _)| *key == wanted)
            .map(|(_, number)| *number)
    }

    /// Whether it can be of such a run at all.
    pub fn check(&self, is_stream: bool) -> anyhow::Result<()> {
        let foreign: &[Key] = if is_stream {
            &[Key::Out, Key::In, Key::Depth]
        } else {
            &[Key::Transfer, Key::Queue]
        };
        if let Some(key) = foreign.iter().find(|key| self.part(**key).is_some()) {
            let (kind, keys) = if is_stream {
                ("a stream", "transfer=, queue= and direction=")
            } else {
                ("an exchange run", "out=, in= and depth=")
            };
            anyhow::bail!(
                "cannot predict {}: this is {kind}, which has no {}; it has {keys}",
                self.text,
                key.name()
            );
        }
        if !is_stream && self.way.is_some() {
            anyhow::bail!(
                "cannot predict {}: an exchange has no direction; use out=, in= and depth=",
                self.text
            );
        }
        Ok(())
    }

    /// The setting, of this model; `None` where it is of another way.
    pub fn setting(
        &self,
        modelled: &Modelled,
        figures: &Figures,
    ) -> anyhow::Result<Option<Setting>> {
        let (from, to) = (figures.from, figures.to);
        let fill = |key: Key, from: u32, to: u32| match self.part(key) {
            Some(number) => Ok(number),
            None if from == to => Ok(from),
            None => {
                let and = if to - from == 1 { "and" } else { "to" };
                let several = format!("the run has several {} ({from} {and} {to})", key.plural());
                let (text, name) = (&self.text, key.name());
                Err(match &modelled.why_not {
                    Some(why) => anyhow::anyhow!(
                        "cannot predict {text}: no model: {why}\n  hint: add {name}= for a rough prediction: {several}"
                    ),
                    None => anyhow::anyhow!("cannot predict {text}: {several}: add {name}="),
                })
            }
        };
        let Some(way) = modelled.way else {
            return Ok(Some(Setting {
                out_bytes: fill(Key::Out, from.out_bytes, to.out_bytes)?,
                in_bytes: fill(Key::In, from.in_bytes, to.in_bytes)?,
                depth: fill(Key::Depth, from.depth, to.depth)?,
            }));
        };
        if self.way.is_some_and(|wanted| wanted != way) {
            return Ok(None);
        }
        let depth = fill(Key::Queue, from.depth, to.depth)?;
        Ok(Some(match way {
            Way::Out => Setting {
                out_bytes: fill(Key::Transfer, from.out_bytes, to.out_bytes)?,
                in_bytes: 0,
                depth,
            },
            Way::In => Setting {
                out_bytes: 0,
                in_bytes: fill(Key::Transfer, from.in_bytes, to.in_bytes)?,
                depth,
            },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_read_with_the_sizes_of_the_other_flags() {
        let asked = parse("in=4k,depth=3").unwrap();
        assert_eq!(asked.part(Key::In), Some(4096));
        assert_eq!(asked.part(Key::Depth), Some(3));
        assert_eq!(asked.part(Key::Out), None);
        assert_eq!(
            parse("direction=out,transfer=64").unwrap().way,
            Some(Way::Out)
        );
    }

    #[test]
    fn what_is_no_setting_is_reported_with_an_example() {
        for (text, word) in [
            ("depth", "in=3000,depth=3"),
            ("size=3", "out=, in=, depth="),
            ("in=3,in=4", "twice"),
            ("depth=0", "the minimum is 1"),
            ("direction=up", "in or out"),
            ("in=-3", "not a valid size"),
        ] {
            let printed = parse(text).unwrap_err();
            assert!(printed.contains(word), "{text}: {printed}");
        }
        for text in ["0", "100%", "1", "many", "-5%"] {
            assert!(share(text).is_err(), "{text}");
        }
        assert_eq!(share("90%"), Ok(0.9));
        assert_eq!(share("0.8"), Ok(0.8));
    }
}
