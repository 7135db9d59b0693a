//! A way with a graph: copy, passes and copy back are given to the driver once and started at once. Where in
//! the rings the block is changes, so both copies are updated before each start.

use super::copies::Bench;
use super::driver::{Driver, check, is_hung};
use super::method::Method;
use cudarc::driver::sys;
use std::ffi::c_void;
use std::ptr;
use sys::CUmemorytype_enum::{CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
use wiregauge_link::LinkError;

/// What is being done, for errors.
const MAKING: &str = "cannot create a graph of the GPU";

/// One graph for even blocks and one for odd ones, whose filters have their history in other places.
pub(super) struct Graphs {
    /// Goes before what the graphs use.
    turns: [Graph; 2],
    bench: Bench,
    context: sys::CUcontext,
}

impl Graphs {
    /// `input` and `output` are a block of each ring, to begin with.
    pub(super) fn new(
        driver: &Driver,
        bench: Bench,
        input: &[i16],
        output: &mut [i16],
    ) -> Result<Graphs, LinkError> {
        let mut graph = |turn| Graph::new(driver, &bench, turn, input, output);
        Ok(Graphs {
            turns: [graph(0)?, graph(1)?],
            bench,
            context: driver.context,
        })
    }
}

impl Method for Graphs {
    fn run(&mut self, input: &[i16], output: &mut [i16]) -> Result<(), LinkError> {
        let bench = &self.bench;
        let graph = &self.turns[bench.passes.turn()];
        let there = to_gpu(input, bench.input.at);
        let back = to_host(bench.output(), output);
        // SAFETY: nodes and graph belong together; rings and the GPU's memory stay until the stream is
        // finished below.
        unsafe {
            let set = sys::cuGraphExecMemcpyNodeSetParams;
            check(
                set(graph.ready, graph.there, &there, self.context),
                "cannot set the source of a copy in a GPU graph",
            )?;
            check(
                set(graph.ready, graph.back, &back, self.context),
                "cannot set the target of a copy in a GPU graph",
            )?;
            check(
                sys::cuGraphLaunch(graph.ready, bench.stream.0),
                "cannot start a graph of the GPU",
            )?;
        }
        bench.stream.finish("cannot wait for a graph of the GPU")?;
        self.bench.passes.next_turn();
        Ok(())
    }

    fn forget(&mut self) -> Result<(), LinkError> {
        self.bench.forget()
    }
}

/// Copies and passes, ready to be started.
struct Graph {
    graph: sys::CUgraph,
    ready: sys::CUgraphExec,
    there: sys::CUgraphNode,
    back: sys::CUgraphNode,
}

impl Graph {
    fn new(
        driver: &Driver,
        bench: &Bench,
        turn: usize,
        input: &[i16],
        output: &mut [i16],
    ) -> Result<Graph, LinkError> {
        let mut made = Graph {
            graph: ptr::null_mut(),
            ready: ptr::null_mut(),
            there: ptr::null_mut(),
            back: ptr::null_mut(),
        };
        // SAFETY: writes a handle; 0 are no flags.
        check(unsafe { sys::cuGraphCreate(&mut made.graph, 0) }, MAKING)?;
        let add_copy = |behind: &[sys::CUgraphNode], copy: &sys::CUDA_MEMCPY3D| {
            let mut node = ptr::null_mut();
            // SAFETY: graph, nodes and context are there; what is copied is copied later.
            let added = unsafe {
                sys::cuGraphAddMemcpyNode(
                    &mut node,
                    made.graph,
                    behind.as_ptr(),
                    behind.len(),
                    copy,
                    driver.context,
                )
            };
            check(added, "cannot add a copy to a graph of the GPU").map(|()| node)
        };
        let there = add_copy(&[], &to_gpu(input, bench.input.at))?;
        let mut last = there;
        for number in 0..bench.passes.len() {
            let (whole, to) = (bench.passes.whole(), bench.output());
            let mut launch = bench.passes.launch(turn, number, bench.input.at, to, whole);
            last = launch.add_to(made.graph, &[last])?;
        }
        let back = add_copy(&[last], &to_host(bench.output(), output))?;
        (made.there, made.back) = (there, back);
        // SAFETY: writes a handle; 0 are no flags.
        let ready = unsafe { sys::cuGraphInstantiateWithFlags(&mut made.ready, made.graph, 0) };
        check(ready, MAKING)?;
        Ok(made)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if is_hung() {
            return;
        }
        // SAFETY: made above, given back once; what was not made is null.
        unsafe {
            if !self.ready.is_null() {
                sys::cuGraphExecDestroy(self.ready);
            }
            if !self.graph.is_null() {
                sys::cuGraphDestroy(self.graph);
            }
        }
    }
}

/// A copy of a block in one piece, as graphs describe it.
fn copy(bytes: usize) -> sys::CUDA_MEMCPY3D {
    sys::CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: CU_MEMORYTYPE_DEVICE,
        srcHost: ptr::null(),
        srcDevice: 0,
        srcArray: ptr::null_mut(),
        reserved0: ptr::null_mut(),
        srcPitch: bytes,
        srcHeight: 1,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: CU_MEMORYTYPE_DEVICE,
        dstHost: ptr::null_mut(),
        dstDevice: 0,
        dstArray: ptr::null_mut(),
        reserved1: ptr::null_mut(),
        dstPitch: bytes,
        dstHeight: 1,
        WidthInBytes: bytes,
        Height: 1,
        Depth: 1,
    }
}

fn to_gpu(input: &[i16], to: sys::CUdeviceptr) -> sys::CUDA_MEMCPY3D {
    sys::CUDA_MEMCPY3D {
        srcMemoryType: CU_MEMORYTYPE_HOST,
        srcHost: input.as_ptr().cast::<c_void>(),
        dstDevice: to,
        ..copy(size_of_val(input))
    }
}

fn to_host(from: sys::CUdeviceptr, output: &mut [i16]) -> sys::CUDA_MEMCPY3D {
    sys::CUDA_MEMCPY3D {
        srcDevice: from,
        dstMemoryType: CU_MEMORYTYPE_HOST,
        dstHost: output.as_mut_ptr().cast::<c_void>(),
        ..copy(size_of_val(output))
    }
}
