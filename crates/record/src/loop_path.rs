//! What processes the blocks of a loop, and how they get there: the processor, or a GPU in one of
//! several ways. In text and files a short name, such as `cpu` or `gpu-pinned`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The way of a block from the input ring to the output ring.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(into = "String", try_from = "String")]
pub enum LoopPath {
    /// The processor itself.
    #[default]
    Cpu,
    /// To a GPU and back with plain copies: the driver goes through buffers of its own.
    Pageable,
    /// With copies out of the rings themselves, whose memory the driver knows and keeps in place.
    Pinned,
    /// The same in parts, each in a stream of its own, so that what goes in, is processed and comes back
    /// overlaps.
    Streams(u32),
    /// Copies and kernels as one graph, started at once.
    Graph,
    /// A kernel a block, which reads and writes the rings themselves, through PCIe.
    Mapped,
    /// The same by one kernel that never ends and watches for blocks.
    Persistent,
}

/// Streams where nothing is said.
const STREAMS: u32 = 4;

impl LoopPath {
    /// Every way by a GPU.
    pub const GPU: [LoopPath; 6] = [
        LoopPath::Pageable,
        LoopPath::Pinned,
        LoopPath::Streams(STREAMS),
        LoopPath::Graph,
        LoopPath::Mapped,
        LoopPath::Persistent,
    ];

    /// True if a GPU is needed.
    pub fn is_gpu(self) -> bool {
        self != LoopPath::Cpu
    }

    /// True if the GPU's driver must know the memory of the rings themselves.
    pub fn needs_rings(self) -> bool {
        !matches!(self, LoopPath::Cpu | LoopPath::Pageable)
    }
}

impl fmt::Display for LoopPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoopPath::Cpu => f.pad("cpu"),
            LoopPath::Pageable => f.pad("gpu-pageable"),
            LoopPath::Pinned => f.pad("gpu-pinned"),
            LoopPath::Streams(streams) => f.pad(&format!("gpu-streams:{streams}")),
            LoopPath::Graph => f.pad("gpu-graph"),
            LoopPath::Mapped => f.pad("gpu-mapped"),
            LoopPath::Persistent => f.pad("gpu-persistent"),
        }
    }
}

/// A text that names no way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchPath(String);

impl fmt::Display for NoSuchPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = LoopPath::GPU.iter().map(ToString::to_string).collect();
        let names = names.join(", ").replace("gpu-", "");
        write!(f, "unknown GPU path `{}`: use {names} or cpu", self.0)
    }
}

impl std::error::Error for NoSuchPath {}

impl FromStr for LoopPath {
    type Err = NoSuchPath;

    /// As it is printed, or without the `gpu-`.
    fn from_str(text: &str) -> Result<LoopPath, NoSuchPath> {
        let unknown = || NoSuchPath(text.into());
        let name = text.strip_prefix("gpu-").unwrap_or(text);
        match name {
            "cpu" if text == name => Ok(LoopPath::Cpu),
            "pageable" => Ok(LoopPath::Pageable),
            "pinned" => Ok(LoopPath::Pinned),
            "streams" => Ok(LoopPath::Streams(STREAMS)),
            "graph" => Ok(LoopPath::Graph),
            "mapped" => Ok(LoopPath::Mapped),
            "persistent" => Ok(LoopPath::Persistent),
            _ => {
                let streams = name.strip_prefix("streams:").ok_or_else(unknown)?;
                streams
                    .parse()
                    .map(LoopPath::Streams)
                    .map_err(|_| unknown())
            }
        }
    }
}

impl From<LoopPath> for String {
    fn from(path: LoopPath) -> String {
        path.to_string()
    }
}

impl TryFrom<String> for LoopPath {
    type Error = NoSuchPath;

    fn try_from(text: String) -> Result<LoopPath, NoSuchPath> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_read_as_it_is_written_and_without_the_word_gpu() {
        for path in LoopPath::GPU.into_iter().chain([LoopPath::Streams(16)]) {
            let text = path.to_string();
            assert_eq!(text.parse(), Ok(path));
            assert_eq!(text["gpu-".len()..].parse(), Ok(path));
        }
        assert_eq!("cpu".parse(), Ok(LoopPath::Cpu));
        assert_eq!("streams".parse(), Ok(LoopPath::Streams(4)));
    }

    #[test]
    fn what_is_no_way_names_those_that_are() {
        for text in ["", "gpu", "gpu-cpu", "warp", "streams:many", "pinned:2"] {
            let error = text.parse::<LoopPath>().expect_err(text).to_string();
            assert!(error.contains("persistent or cpu"), "{error}");
        }
    }

    #[test]
    fn a_point_of_an_early_run_was_processed_by_the_processor() {
        let point = r#"{"index":0,"rate_hz":1,"channels":1,"notify_bytes":2,"ring_bytes":4,"preload_bytes":2,
            "aim":"curve"}"#;
        let point: crate::LoopPoint = serde_json::from_str(point).expect("a point");
        assert_eq!(point.path, LoopPath::Cpu);
        assert!(!point.to_string().contains("cpu"), "{point}");
    }

    #[test]
    fn in_files_it_is_its_name() {
        let json = serde_json::to_string(&LoopPath::Streams(4)).expect("a text");
        assert_eq!(json, "\"gpu-streams:4\"");
        let read: LoopPath = serde_json::from_str(&json).expect("a way");
        assert_eq!(read, LoopPath::Streams(4));
        assert!(serde_json::from_str::<LoopPath>("\"warp\"").is_err());
    }
}
