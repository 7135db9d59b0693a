//! What `explain --predict` was asked for: read from the command line, completed from the run.

use crate::values;
use wiregauge_explain::Modelled;
use wiregauge_model::{Figures, Setting};
use wiregauge_record::Way;

/// A setting as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// As it was typed.
    pub text: String,
    /// Names and values, without the direction.
    parts: Vec<(&'static str, u32)>,
    way: Option<Way>,
}

/// The settings that are numbers, what several values of one are called, and the least value.
const NUMBERS: [(&str, &str, u32); 5] = [
    ("out", "sizes OUT", 0),
    ("in", "sizes IN", 0),
    ("depth", "depths", 1),
    ("transfer", "transfer sizes", 0),
    ("queue", "queues", 1),
];

/// `in=3000,depth=3`, `transfer=8k,queue=2,direction=in`.
pub fn parse(text: &str) -> Result<Asked, String> {
    let mut asked = Asked {
        text: text.to_owned(),
        parts: Vec::new(),
        way: None,
    };
    for part in text.split(',') {
        let wrong = || {
            format!(
                "unknown setting `{part}`: use out=, in=, depth= for exchanges, transfer=, queue=, direction= for streams, \
                 such as in=3000,depth=3"
            )
        };
        let (name, value) = part.split_once('=').ok_or_else(wrong)?;
        let is_twice = if name == "direction" {
            let mut ways = [Way::In, Way::Out].into_iter();
            let way = ways.find(|way| way.name() == value);
            let way = way.ok_or_else(|| format!("unknown direction `{value}`: use in or out"))?;
            asked.way.replace(way).is_some()
        } else {
            let known = NUMBERS.iter().find(|(known, ..)| *known == name);
            let (name, _, least) = *known.ok_or_else(wrong)?;
            let number = values::size(value)?;
            if number < least {
                return Err(format!("{part} is not valid: the minimum is {least}"));
            }
            let is_twice = asked.part(name).is_some();
            asked.parts.push((name, number));
            is_twice
        };
        if is_twice {
            return Err(format!("{name}= is given twice"));
        }
    }
    Ok(asked)
}

impl Asked {
    fn part(&self, wanted: &str) -> Option<u32> {
        let found = self.parts.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, number)| *number)
    }

    /// Whether it can be of such a run at all.
    pub fn check(&self, is_stream: bool) -> anyhow::Result<()> {
        let (kind, [one, other, last]) = match is_stream {
            true => ("a stream", ["transfer", "queue", "direction"]),
            false => ("an exchange run", ["out", "in", "depth"]),
        };
        let direction = self.way.map(|_| "direction");
        let mut names = self.parts.iter().map(|(name, _)| *name).chain(direction);
        if let Some(foreign) = names.find(|name| ![one, other, last].contains(name)) {
            anyhow::bail!(
                "cannot predict {}: this is {kind}, which has no {foreign}; it has {one}=, {other}= and {last}=",
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
        let fill = |name: &str, from: u32, to: u32| match self.part(name) {
            Some(number) => Ok(number),
            None if from == to => Ok(from),
            None => {
                let and = if to - from == 1 { "and" } else { "to" };
                let known = NUMBERS.iter().find(|(known, ..)| *known == name);
                let plural = known.map_or("", |(_, plural, _)| *plural);
                let several = format!("the run has several {plural} ({from} {and} {to})");
                let text = &self.text;
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
                out_bytes: fill("out", from.out_bytes, to.out_bytes)?,
                in_bytes: fill("in", from.in_bytes, to.in_bytes)?,
                depth: fill("depth", from.depth, to.depth)?,
            }));
        };
        if self.way.is_some_and(|wanted| wanted != way) {
            return Ok(None);
        }
        let (mut out_bytes, mut in_bytes) = (0, 0);
        match way {
            Way::Out => out_bytes = fill("transfer", from.out_bytes, to.out_bytes)?,
            Way::In => in_bytes = fill("transfer", from.in_bytes, to.in_bytes)?,
        }
        Ok(Some(Setting {
            out_bytes,
            in_bytes,
            depth: fill("queue", from.depth, to.depth)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_read_with_the_sizes_of_the_other_flags() {
        let asked = parse("in=4k,depth=3").unwrap();
        assert_eq!(asked.part("in"), Some(4096));
        assert_eq!(asked.part("depth"), Some(3));
        assert_eq!(asked.part("out"), None);
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
    }
}
