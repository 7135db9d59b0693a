//! The settings that tell the points of runs apart, and their words: the same in tables, sentences, legends and
//! comparisons.

use wiregauge_quantity::megasamples;
use wiregauge_record::{Aim, LoopPoint, Point, StreamPoint, Way, grouped};

/// A setting of a point, in the order in which a name lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// Which link, alone or together with the others.
    Link,
    /// The number of the point, where others have the same settings.
    Number,
    /// OUT and IN, where they are always equal.
    Size,
    /// Bytes of a request.
    Out,
    /// Bytes of a response.
    In,
    /// Exchanges outstanding.
    Depth,
    /// The direction of a stream.
    Way,
    /// Bytes of a transfer.
    Transfer,
    /// Transfers submitted at once.
    Queue,
    /// Of a loop, in MS/s.
    Rate,
    /// Of a loop.
    Channels,
    /// What processes the blocks of a loop.
    Path,
    /// Bytes of a block.
    Block,
    /// That was tested; nothing where none was.
    Preload,
}

/// The size of a reply that may have any.
const ANY: &str = "any";

impl Setting {
    /// The head of its column.
    pub fn head(self) -> &'static str {
        match self {
            Setting::Link => "link",
            Setting::Number => "point",
            Setting::Size => "bytes",
            Setting::Out => "OUT B",
            Setting::In => "IN B",
            Setting::Depth => "depth",
            Setting::Way => "direction",
            Setting::Transfer => "transfer B",
            Setting::Queue => "queue",
            Setting::Rate => "MS/s",
            Setting::Channels => "channels",
            Setting::Path => "path",
            Setting::Block => "notify B",
            Setting::Preload => "preload B",
        }
    }

    /// Its name in JSON and in `--points`.
    pub fn key(self) -> &'static str {
        match self {
            Setting::Link => "link",
            Setting::Number => "point",
            Setting::Size => "size",
            Setting::Out => "out",
            Setting::In => "in",
            Setting::Depth => "depth",
            Setting::Way => "way",
            Setting::Transfer => "transfer",
            Setting::Queue => "queue",
            Setting::Rate => "rate",
            Setting::Channels => "channels",
            Setting::Path => "path",
            Setting::Block => "notify",
            Setting::Preload => "preload",
        }
    }

    /// Its name with one value, or with several: `depth 1, 2 and 4`.
    pub fn text(self, values: &[String]) -> String {
        let (tested, untested): (Vec<&String>, Vec<&String>) =
            values.iter().partition(|value| !value.is_empty());
        let values = list(&tested);
        match self {
            Setting::In if values == ANY => "IN any size".into(),
            Setting::Link | Setting::Way | Setting::Path => values,
            Setting::Number => format!("point {values}"),
            Setting::Size => format!("{values} B"),
            Setting::Transfer => format!("transfers of {values} B"),
            Setting::Out => format!("OUT {values} B"),
            Setting::In => format!("IN {values} B"),
            Setting::Depth => format!("depth {values}"),
            Setting::Queue => format!("queue {values}"),
            Setting::Rate => format!("{values} MS/s"),
            Setting::Channels if values == "1" => "1 channel".into(),
            Setting::Channels => format!("{values} channels"),
            Setting::Block => format!("notify {values} B"),
            Setting::Preload => {
                let none = untested.first().map(|_| "no preload".to_owned());
                let some = tested.first().map(|_| format!("preload {values} B"));
                none.into_iter()
                    .chain(some)
                    .collect::<Vec<_>>()
                    .join(" and ")
            }
        }
    }
}

/// `1`, `1 and 2`, `1, 2 and 4`.
fn list(values: &[&String]) -> String {
    let values: Vec<&str> = values.iter().map(|value| value.as_str()).collect();
    match &values[..] {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        values => values.concat(),
    }
}

/// The settings of a point, with their values as they are shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Settings(pub Vec<(Setting, String)>);

impl Settings {
    /// Of a point of an exchange run.
    pub fn of_exchange(point: &Point) -> Settings {
        Settings(vec![
            (Setting::Link, link_name(point.link, point.together)),
            (Setting::Out, grouped(point.out_bytes.into())),
            (Setting::In, response(point.in_bytes)),
            (Setting::Depth, point.depth.to_string()),
        ])
    }

    /// Of one direction of a point of a stream run.
    pub fn of_flow(point: &StreamPoint, way: Way) -> Settings {
        Settings(vec![
            (Setting::Link, link_name(point.link, point.together)),
            (Setting::Way, point.direction.words_of(way).to_owned()),
            (Setting::Transfer, grouped(point.transfer_bytes.into())),
            (Setting::Queue, point.queue.to_string()),
        ])
    }

    /// Of a point of a loop run.
    pub fn of_loop(point: &LoopPoint) -> Settings {
        let preload = match point.aim {
            Aim::Curve => String::new(),
            Aim::Hold => grouped(point.preload_bytes),
        };
        Settings(vec![
            (Setting::Rate, megasamples(point.rate_hz)),
            (Setting::Channels, point.channels.to_string()),
            (Setting::Path, point.path.to_string()),
            (Setting::Block, grouped(point.notify_bytes.into())),
            (Setting::Preload, preload),
        ])
    }

    /// Those that are wanted.
    pub fn only(mut self, is_wanted: impl Fn(Setting) -> bool) -> Settings {
        self.0.retain(|(setting, _)| is_wanted(*setting));
        self
    }

    /// `OUT 16 B, IN 48 B, depth 1`: all that have a value.
    pub fn name(&self) -> String {
        joined(self.0.iter().filter(|(_, value)| !value.is_empty()))
    }

    /// The same without what is so in most runs, the first link, alone; but never nothing.
    pub fn short_name(&self) -> String {
        let usual = link_name(0, false);
        match self.0.len() {
            1 => self.name(),
            _ => joined(self.0.iter().filter(|(_, value)| *value != usual)),
        }
    }

    /// `depth 1`: those alone that are not the same in `all`.
    pub fn name_among(&self, all: &[Settings]) -> String {
        let differs = |part: &&(Setting, String)| all.iter().any(|other| !other.0.contains(*part));
        joined(self.0.iter().filter(differs))
    }
}

fn joined<'a>(parts: impl Iterator<Item = &'a (Setting, String)>) -> String {
    let texts = parts.map(|(setting, value)| setting.text(std::slice::from_ref(value)));
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    texts.join(", ")
}

/// `link 0 alone`: each of several links is measured alone, and together with the others.
pub fn link_name(link: u32, together: bool) -> String {
    format!("link {link} {}", alone_or_together(together))
}

/// How a link was measured.
pub fn alone_or_together(together: bool) -> &'static str {
    if together { "together" } else { "alone" }
}

/// A response of 0 bytes may have any size: it shows itself where it ends.
fn response(bytes: u32) -> String {
    match bytes {
        0 => ANY.into(),
        bytes => grouped(bytes.into()),
    }
}
