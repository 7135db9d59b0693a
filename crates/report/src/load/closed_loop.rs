//! One point of a loop run: the service delays of its blocks over time and in a histogram.

use super::Room;
use super::points::{Collector, Gather};
use super::types::LoopPoint;
use wiregauge_record::{Block, Phase, Xrun};
use wiregauge_run::{Loop, RunFile};

pub(crate) struct Gatherer(Collector);

impl Gather<Loop> for Gatherer {
    type Point = LoopPoint;

    fn new(_file: &RunFile<Loop>, _at: usize, room: Room) -> Gatherer {
        Gatherer(Collector::new(room))
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["phase", "xrun", "due_ns", "done_ns"]
    }

    /// As `wiregauge_record::LoopSummariser` counts: a block that came too late has a service delay too.
    fn push(&mut self, block: &Block) {
        if block.phase != Phase::Measured {
            return;
        }
        if block.xrun != Xrun::None {
            self.0.bad.push(block.due_ns, block.xrun.name());
        }
        self.0.push(block.due_ns, block.service_ns());
    }

    fn finish(self, missing: Option<String>) -> LoopPoint {
        let (series, service) = self.0.finish();
        LoopPoint {
            missing,
            series,
            service,
        }
    }
}
