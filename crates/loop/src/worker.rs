//! What processes the blocks of a point: the processor, or a GPU. Chosen and laid out before the start.

use super::device::LoopDevice;
#[cfg(feature = "gpu")]
use super::gpu::{Gpu, GpuChain};
use super::process::Chain;
use wiregauge_link::LinkError;
use wiregauge_record::{LoopPlan, LoopPoint};

/// The GPU of a run, if one of its points needs one.
#[derive(Default)]
pub(super) struct Workers {
    #[cfg(feature = "gpu")]
    gpu: Option<Gpu>,
}

impl Workers {
    /// Opens what the points of the plan need, for the calling thread, before it takes any priority.
    pub(super) fn open(plan: &LoopPlan) -> Result<Workers, LinkError> {
        if !plan.points.iter().any(|point| point.path.is_gpu()) {
            return Ok(Workers::default());
        }
        #[cfg(feature = "gpu")]
        {
            let gpu = Some(Gpu::open(plan.gpu_device)?);
            Ok(Workers { gpu })
        }
        #[cfg(not(feature = "gpu"))]
        Err(not_built_in())
    }

    /// What there is beside the processor, for the conditions of the run.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            return gpu.settings();
        }
        Vec::new()
    }

    /// Lays out all that the processing of a point needs.
    pub(super) fn lay_out(
        &self,
        plan: &LoopPlan,
        point: &LoopPoint,
        device: &mut dyn LoopDevice,
    ) -> Result<Worker, LinkError> {
        if !point.path.is_gpu() {
            let chain = Chain::new(
                &plan.process,
                point.channels,
                point.rate_hz,
                point.notify_bytes,
            )?;
            return Ok(Worker::Cpu(chain));
        }
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            let rings = device.lend(point)?;
            return Ok(Worker::Gpu(gpu.lay_out(&plan.process, point, rings)?));
        }
        let _ = device;
        Err(not_built_in())
    }
}

/// Where the program was built without CUDA's interface.
fn not_built_in() -> LinkError {
    let said = "this wiregauge was built without the Cargo feature `gpu`";
    LinkError::new(
        wiregauge_link::LinkErrorKind::NotFound,
        "cannot open a GPU for a loop",
        said,
    )
    .hint("build with this feature (the default), or omit --gpu")
}

/// The processing of one point.
pub(super) enum Worker {
    Cpu(Chain),
    #[cfg(feature = "gpu")]
    Gpu(GpuChain),
}

impl Worker {
    /// Processes a block, and is done with it when it returns.
    #[inline]
    pub(super) fn run(&mut self, input: &[i16], output: &mut [i16]) -> Result<(), LinkError> {
        match self {
            Worker::Cpu(chain) => {
                chain.run(input, output);
                Ok(())
            }
            #[cfg(feature = "gpu")]
            Worker::Gpu(chain) => chain.run(input, output),
        }
    }
}
