//! The GPU stage of a loop: each block goes from the input ring to a GPU, is processed there, and comes back
//! into the output ring, in one of several ways. Everything is allocated, registered, compiled and run once
//! before the loop begins.

mod copies;
mod driver;
mod facts;
mod graph;
mod mapped;
mod memory;
mod method;
mod passes;
mod persistent;

#[cfg(test)]
mod tests;

use super::check::NOT_LENT;
use super::device::LentRings as HostRings;
use copies::{Bench, Pageable, Pinned, Streams};
use driver::Driver;
use graph::Graphs;
use mapped::{LentRings, Mapped};
use memory::Lent;
use method::Method;
use persistent::Persistent;
use std::rc::Rc;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{LoopPath, LoopPoint, SAMPLE_BYTES, Stage};

/// Blocks that are run before the loop begins: the driver lays out what it needs at the first ones, and the GPU
/// raises its clock.
const WARM_UP: usize = 64;

/// A GPU, for the thread that opened it.
pub(super) struct Gpu(Driver);

impl Gpu {
    /// Loads the driver and opens the GPU of that number. The driver makes threads of its own: before any
    /// priority is raised.
    pub(super) fn open(number: u32) -> Result<Gpu, LinkError> {
        Driver::open(number).map(Gpu)
    }

    /// What it is, for the conditions of the run.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        facts::settings(&self.0)
    }

    /// Lays out the processing of a point, and runs some blocks. `rings` are those of the device, if it lends
    /// them.
    pub(super) fn lay_out(
        &self,
        stages: &[Stage],
        point: &LoopPoint,
        rings: Option<HostRings<'_>>,
    ) -> Result<GpuChain, LinkError> {
        let block = (point.notify_bytes / SAMPLE_BYTES) as usize;
        let mut own = (vec![0; block], vec![0; block]);
        let (registered, input, output): (_, &[i16], &mut [i16]) = match rings {
            Some(HostRings { input, output }) if point.path.needs_rings() => {
                let registered = LentRings {
                    input: Lent::new(input)?,
                    output: Lent::new(output)?,
                };
                (Some(registered), &input[..block], &mut output[..block])
            }
            _ => (None, &own.0, &mut own.1),
        };
        let lent = registered.map(Rc::new);
        let mut chain = GpuChain {
            way: self.way(stages, point, lent.clone(), input, output)?,
            _rings: lent,
        };
        for _ in 0..WARM_UP {
            chain.way.run(input, output)?;
        }
        chain.way.forget()?;
        Ok(chain)
    }

    fn way(
        &self,
        stages: &[Stage],
        point: &LoopPoint,
        rings: Option<Rc<LentRings>>,
        input: &[i16],
        output: &mut [i16],
    ) -> Result<Box<dyn Method>, LinkError> {
        let driver = &self.0;
        let doing = || format!("cannot allocate {} for a loop", point.path);
        let refuse = |said: &str, hint: &str| {
            Err(LinkError::new(LinkErrorKind::Usage, doing(), said).hint(hint))
        };
        if point.path.needs_rings() && rings.is_none() {
            return refuse(NOT_LENT.0, NOT_LENT.1);
        }
        let bench = || Bench::new(driver, stages, point);
        Ok(match (point.path, rings) {
            (LoopPath::Cpu, _) => return refuse("this is the CPU", "use a path to a GPU"),
            (LoopPath::Pageable, _) => Box::new(Pageable(bench()?)),
            (LoopPath::Pinned, _) => Box::new(Pinned(bench()?)),
            (LoopPath::Streams(streams), _) => Box::new(Streams::new(bench()?, streams)?),
            (LoopPath::Graph, _) => Box::new(Graphs::new(driver, bench()?, input, output)?),
            (LoopPath::Mapped | LoopPath::Persistent, _) if !driver.maps_host => {
                let said = "this GPU cannot access the memory of the host";
                return refuse(said, "--gpu=pinned");
            }
            (LoopPath::Mapped, Some(rings)) => Box::new(Mapped::new(driver, stages, point, rings)?),
            (LoopPath::Persistent, Some(rings)) => {
                Box::new(Persistent::new(driver, stages, point, rings)?)
            }
            (LoopPath::Mapped | LoopPath::Persistent, None) => {
                return refuse(NOT_LENT.0, NOT_LENT.1);
            }
        })
    }
}

/// The processing of one point on a GPU. The output does not depend on where blocks begin.
pub(super) struct GpuChain {
    /// Goes first: it uses the rings.
    way: Box<dyn Method>,
    _rings: Option<Rc<LentRings>>,
}

impl GpuChain {
    /// Processes a block.
    #[inline]
    pub(super) fn run(&mut self, input: &[i16], output: &mut [i16]) -> Result<(), LinkError> {
        self.way.run(input, output)
    }
}
