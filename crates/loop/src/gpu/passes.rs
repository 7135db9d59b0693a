//! The stages of a loop as passes over a block in the GPU's memory: one that takes the integers, one for each
//! filter. What lies between two filters is worked in the pass before.

use super::driver::{Driver, check};
use super::memory::{DeviceMemory, Stream};
use crate::check::NO_BIQUAD;
use crate::process::filter_taps;
use cudarc::driver::sys;
use std::ffi::c_void;
use std::ptr;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{LoopPoint, SAMPLE_BYTES, Stage};

/// Threads of a block in a launch.
const THREADS: u32 = 256;

/// Blocks of a launch for each processor of the GPU: threads beyond these take more samples each.
const BLOCKS: u32 = 8;

/// As in kernels.cu.
const GAIN: u32 = 1;
/// As in kernels.cu.
const THRESHOLD: u32 = 2;

/// A stage without a memory. `Op` in kernels.cu.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Op {
    kind: u32,
    value: f32,
}

/// Once over the block. `Pass` in kernels.cu; addresses are the GPU's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Pass {
    /// The line that the filter reads; 0 for the block as it came in.
    from: u64,
    taps: u64,
    /// The line of the next filter; 0 for the block as it goes out.
    to: u64,
    /// The same line as the next block finds it.
    next: u64,
    ops: u64,
    ops_count: u32,
    taps_count: u32,
    /// Floats in front of `to`.
    history: u32,
    stride: u32,
    samples: u32,
    unused: u32,
}

/// All passes of a block, laid out. Blocks take turns: the lines of even and odd ones differ.
pub(super) struct Passes {
    turns: [Vec<Pass>; 2],
    turn: usize,
    /// Samples of a block, all channels.
    pub(super) samples: u32,
    function: sys::CUfunction,
    blocks_most: u32,
    threads: u32,
    lines: Vec<DeviceMemory>,
    /// Kept for as long as the passes point there.
    _constants: Vec<DeviceMemory>,
}

/// A part of a block, in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// The stages by filters: what is worked before the first, and behind each.
#[derive(Debug, Default, PartialEq)]
struct Section {
    /// Taps of the filter that comes first; none in the first section.
    taps: Option<usize>,
    ops: Vec<Op>,
}

fn sections(stages: &[Stage]) -> Result<Vec<Section>, LinkError> {
    let mut sections = vec![Section::default()];
    for stage in stages {
        let last = sections
            .last_mut()
            .expect("there is one from the beginning");
        match *stage {
            Stage::Copy => {}
            Stage::Gain { factor } => last.ops.push(Op {
                kind: GAIN,
                value: factor,
            }),
            Stage::Threshold { level } => last.ops.push(Op {
                kind: THRESHOLD,
                value: level,
            }),
            Stage::Fir { taps } => sections.push(Section {
                taps: Some(taps as usize),
                ops: Vec::new(),
            }),
            Stage::Biquad { .. } => {
                let doing = "cannot allocate the processing of a loop on a GPU";
                return Err(
                    LinkError::new(LinkErrorKind::Usage, doing, NO_BIQUAD.0).hint(NO_BIQUAD.1)
                );
            }
        }
    }
    Ok(sections)
}

impl Passes {
    /// Lays out what the stages need for the blocks of a point. A chain of copies has no pass, unless
    /// `always`: then it has one that copies.
    pub(super) fn new(
        driver: &Driver,
        stages: &[Stage],
        point: &LoopPoint,
        always: bool,
        stream: &Stream,
    ) -> Result<Passes, LinkError> {
        let samples = point.notify_bytes / SAMPLE_BYTES;
        let copies = stages.iter().all(|stage| *stage == Stage::Copy);
        let mut passes = Passes {
            turns: [Vec::new(), Vec::new()],
            turn: 0,
            samples,
            function: driver.pass,
            blocks_most: driver.multiprocessors * BLOCKS,
            threads: THREADS.min(driver.threads),
            lines: Vec::new(),
            _constants: Vec::new(),
        };
        if copies && !always {
            return Ok(passes);
        }
        for section in sections(stages)? {
            passes.add(&section, point.channels, stream)?;
        }
        stream.finish("cannot allocate the filters in the GPU's memory")?;
        Ok(passes)
    }

    fn add(&mut self, section: &Section, channels: u32, stream: &Stream) -> Result<(), LinkError> {
        let ops = DeviceMemory::of(&section.ops, stream)?;
        let mut pass = Pass {
            ops: ops.at,
            ops_count: section.ops.len() as u32,
            stride: channels,
            samples: self.samples,
            ..Pass::default()
        };
        self._constants.push(ops);
        let mut lines = [0, 0];
        if let Some(taps) = section.taps {
            let taps = filter_taps(taps);
            let history = (taps.len() as u32 - 1) * channels;
            let constants = DeviceMemory::of(&taps, stream)?;
            (pass.taps, pass.taps_count) = (constants.at, taps.len() as u32);
            self._constants.push(constants);
            let floats = history as usize + self.samples as usize;
            for line in &mut lines {
                let memory = DeviceMemory::new(floats * size_of::<f32>(), stream)?;
                *line = memory.at;
                self.lines.push(memory);
            }
            for (turn, passes) in self.turns.iter_mut().enumerate() {
                if let Some(before) = passes.last_mut() {
                    before.to = lines[turn];
                    before.next = lines[1 - turn];
                    before.history = history;
                }
            }
        }
        for (turn, passes) in self.turns.iter_mut().enumerate() {
            pass.from = lines[turn];
            passes.push(pass);
        }
        Ok(())
    }

    /// True if nothing is done but to copy.
    pub(super) fn is_empty(&self) -> bool {
        self.turns[0].is_empty()
    }

    /// Passes of a block.
    pub(super) fn len(&self) -> usize {
        self.turns[0].len()
    }

    /// The passes of even and of odd blocks, one behind the other, for a kernel that takes them itself.
    pub(super) fn of_both_turns(&self) -> Vec<Pass> {
        self.turns.concat()
    }

    /// Which lines the next block finds its history in: 0 or 1.
    pub(super) fn turn(&self) -> usize {
        self.turn
    }

    /// A block is done.
    pub(super) fn next_turn(&mut self) {
        self.turn = 1 - self.turn;
    }

    /// All of a block.
    pub(super) fn whole(&self) -> Part {
        Part {
            first: 0,
            count: self.samples,
        }
    }

    /// How a pass of that number is launched on a part of a block, in this turn.
    pub(super) fn launch(
        &self,
        turn: usize,
        number: usize,
        input: sys::CUdeviceptr,
        output: sys::CUdeviceptr,
        part: Part,
    ) -> Launch {
        let pass = self.turns[turn][number];
        // Integers are taken eight at once where that is possible.
        let wanted = match pass.from {
            0 => part.count.div_ceil(8),
            _ => part.count,
        };
        Launch {
            function: self.function,
            blocks: wanted.div_ceil(self.threads).clamp(1, self.blocks_most),
            threads: self.threads,
            pass,
            input,
            output,
            part,
        }
    }

    /// Forgets the blocks before, once the stream has come so far.
    pub(super) fn forget(&self, stream: &Stream) -> Result<(), LinkError> {
        let mut lines = self.lines.iter();
        lines.try_for_each(|line| line.clear(stream))
    }
}

/// One launch of one pass.
pub(super) struct Launch {
    function: sys::CUfunction,
    blocks: u32,
    threads: u32,
    pass: Pass,
    input: sys::CUdeviceptr,
    output: sys::CUdeviceptr,
    part: Part,
}

impl Launch {
    /// Puts it in a stream; null is the driver's default one.
    #[inline]
    pub(super) fn on(&mut self, stream: sys::CUstream) -> Result<(), LinkError> {
        let mut parameters = self.parameters();
        // SAFETY: the parameters are those of the kernel, in its order; they are copied before the call ends.
        let launched = unsafe {
            sys::cuLaunchKernel(
                self.function,
                self.blocks,
                1,
                1,
                self.threads,
                1,
                1,
                0,
                stream,
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        check(launched, "cannot launch a kernel on the GPU")
    }

    /// The same as a node of a graph.
    pub(super) fn add_to(
        &mut self,
        graph: sys::CUgraph,
        behind: &[sys::CUgraphNode],
    ) -> Result<sys::CUgraphNode, LinkError> {
        let mut parameters = self.parameters();
        let kernel = sys::CUDA_KERNEL_NODE_PARAMS {
            func: self.function,
            gridDimX: self.blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: self.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            kernelParams: parameters.as_mut_ptr(),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        };
        let mut node = ptr::null_mut();
        // SAFETY: graph and nodes are there; the parameters are those of the kernel and are copied.
        let added = unsafe {
            sys::cuGraphAddKernelNode_v2(&mut node, graph, behind.as_ptr(), behind.len(), &kernel)
        };
        check(added, "cannot add a kernel to a graph of the GPU")?;
        Ok(node)
    }

    /// Addresses of the kernel's parameters, good while this stays where it is.
    fn parameters(&mut self) -> [*mut c_void; 5] {
        [
            ptr::from_mut(&mut self.pass).cast(),
            ptr::from_mut(&mut self.input).cast(),
            ptr::from_mut(&mut self.output).cast(),
            ptr::from_mut(&mut self.part.first).cast(),
            ptr::from_mut(&mut self.part.count).cast(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_between_two_filters_is_worked_in_the_pass_before() {
        let stages = [
            Stage::Copy,
            Stage::Gain { factor: 0.5 },
            Stage::Fir { taps: 8 },
            Stage::Gain { factor: 3.0 },
            Stage::Threshold { level: 0.1 },
            Stage::Fir { taps: 2 },
        ];
        let sections = sections(&stages).expect("all of them are for a GPU");
        let taps: Vec<_> = sections.iter().map(|section| section.taps).collect();
        assert_eq!(taps, [None, Some(8), Some(2)]);
        let ops: Vec<_> = sections.iter().map(|section| section.ops.len()).collect();
        assert_eq!(ops, [1, 2, 0]);
    }

    #[test]
    fn a_pass_is_laid_out_as_the_kernel_reads_it() {
        assert_eq!(size_of::<Pass>(), 64);
        assert_eq!(std::mem::offset_of!(Pass, ops_count), 40);
        assert_eq!(std::mem::offset_of!(Pass, samples), 56);
        assert_eq!(size_of::<Op>(), 8);
    }
}
