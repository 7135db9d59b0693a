//! Ways with copies: the block is copied to the GPU's memory, processed there and copied back. From memory
//! that the driver does not know, from rings that it does, or in parts that overlap.

use super::driver::{Driver, check};
use super::memory::{DeviceMemory, Event, Stream};
use super::method::Method;
use super::passes::{Part, Passes};
use cudarc::driver::sys;
use std::ptr;
use wiregauge_link::LinkError;
use wiregauge_record::{LoopPoint, SAMPLE_BYTES, Stage};

/// What is being done, for errors.
const IN: &str = "cannot copy a block to the GPU";
/// The same.
const BACK: &str = "cannot copy a block back from the GPU";
/// The same.
const WAITING: &str = "cannot wait for a block from the GPU";

/// Parts begin at a multiple of so many samples: 128 bytes, in which the GPU reaches its memory.
const GRAIN: u32 = 64;

/// The passes, and the GPU's memory for a block before and after.
pub(super) struct Bench {
    /// Goes first: what is still under way, after an error, uses the others.
    pub(super) stream: Stream,
    pub(super) passes: Passes,
    pub(super) input: DeviceMemory,
    /// None where nothing is done but to copy: then the block goes back from where it came to.
    output: Option<DeviceMemory>,
}

impl Bench {
    pub(super) fn new(
        driver: &Driver,
        stages: &[Stage],
        point: &LoopPoint,
    ) -> Result<Bench, LinkError> {
        let stream = Stream::new()?;
        let passes = Passes::new(driver, stages, point, false, &stream)?;
        let bytes = point.notify_bytes as usize;
        let output = match passes.is_empty() {
            true => None,
            false => Some(DeviceMemory::new(bytes, &stream)?),
        };
        let input = DeviceMemory::new(bytes, &stream)?;
        stream.finish("cannot allocate a block in the GPU's memory")?;
        Ok(Bench {
            passes,
            input,
            output,
            stream,
        })
    }

    /// Where the block is that goes back.
    pub(super) fn output(&self) -> sys::CUdeviceptr {
        self.output.as_ref().unwrap_or(&self.input).at
    }

    /// Launches every pass on all of the block.
    #[inline]
    fn launch(&self, stream: sys::CUstream) -> Result<(), LinkError> {
        for number in 0..self.passes.len() {
            let whole = self.passes.whole();
            let (turn, input, output) = (self.passes.turn(), self.input.at, self.output());
            self.passes
                .launch(turn, number, input, output, whole)
                .on(stream)?;
        }
        Ok(())
    }

    pub(super) fn forget(&self) -> Result<(), LinkError> {
        self.passes.forget(&self.stream)?;
        self.stream.finish(WAITING)
    }
}

/// Plain copies in the driver's default stream, of memory that it knows nothing of.
pub(super) struct Pageable(pub(super) Bench);

impl Method for Pageable {
    fn run(&mut self, input: &[i16], output: &mut [i16]) -> Result<(), LinkError> {
        let Pageable(bench) = self;
        let (from, bytes) = (input.as_ptr().cast(), size_of_val(input));
        // SAFETY: both are so long; the block has been read when the call is over.
        let copied = unsafe { sys::cuMemcpyHtoD_v2(bench.input.at, from, bytes) };
        check(copied, IN)?;
        bench.launch(ptr::null_mut())?;
        let (to, bytes) = (output.as_mut_ptr().cast(), size_of_val(output));
        // SAFETY: both are so long; the block is there when the call is over.
        let copied = unsafe { sys::cuMemcpyDtoH_v2(to, bench.output(), bytes) };
        check(copied, BACK)?;
        bench.passes.next_turn();
        Ok(())
    }

    fn forget(&mut self) -> Result<(), LinkError> {
        self.0.forget()
    }
}

/// Copies of rings that the driver knows, in one stream.
pub(super) struct Pinned(pub(super) Bench);

impl Method for Pinned {
    fn run(&mut self, input: &[i16], output: &mut [i16]) -> Result<(), LinkError> {
        let Pinned(bench) = self;
        let stream = bench.stream.0;
        // SAFETY: all are so long and stay until the stream is finished, below or, on an error, by those
        // who free them.
        unsafe {
            let (from, bytes) = (input.as_ptr().cast(), size_of_val(input));
            check(
                sys::cuMemcpyHtoDAsync_v2(bench.input.at, from, bytes, stream),
                IN,
            )?;
            bench.launch(stream)?;
            let (to, bytes) = (output.as_mut_ptr().cast(), size_of_val(output));
            check(
                sys::cuMemcpyDtoHAsync_v2(to, bench.output(), bytes, stream),
                BACK,
            )?;
        }
        bench.stream.finish(WAITING)?;
        bench.passes.next_turn();
        Ok(())
    }

    fn forget(&mut self) -> Result<(), LinkError> {
        self.0.forget()
    }
}

/// The same in parts, each in a stream of its own.
pub(super) struct Streams {
    /// Go first, as the stream of a bench.
    lanes: Vec<Lane>,
    bench: Bench,
}

/// What a part goes through.
struct Lane {
    part: Part,
    stream: Stream,
    /// For each pass: this part and all before have been through it. The filter of the next pass reads what
    /// they left.
    through: Vec<Event>,
}

impl Streams {
    /// In so many parts, or fewer where the block is too short for as many.
    pub(super) fn new(bench: Bench, streams: u32) -> Result<Streams, LinkError> {
        let lanes = parts(bench.passes.samples, streams)
            .into_iter()
            .map(|part| {
                let through = (0..bench.passes.len()).map(|_| Event::new());
                Ok(Lane {
                    part,
                    stream: Stream::new()?,
                    through: through.collect::<Result<_, LinkError>>()?,
                })
            });
        let lanes = lanes.collect::<Result<_, LinkError>>()?;
        Ok(Streams { bench, lanes })
    }

    fn launch(&self, at: usize) -> Result<(), LinkError> {
        let (lane, passes) = (&self.lanes[at], &self.bench.passes);
        let (input, output) = (self.bench.input.at, self.bench.output());
        for number in 0..passes.len() {
            passes
                .launch(passes.turn(), number, input, output, lane.part)
                .on(lane.stream.0)?;
            if number + 1 == passes.len() {
                break;
            }
            if at > 0 {
                lane.stream.wait_for(&self.lanes[at - 1].through[number])?;
            }
            lane.through[number].record(&lane.stream)?;
        }
        Ok(())
    }
}

/// A block of so many samples in at most so many parts of about one size.
fn parts(samples: u32, most: u32) -> Vec<Part> {
    let size = samples
        .div_ceil(most.max(1))
        .next_multiple_of(GRAIN)
        .max(GRAIN);
    let part = |at: usize| Part {
        first: at as u32,
        count: size.min(samples - at as u32),
    };
    (0..samples as usize)
        .step_by(size as usize)
        .map(part)
        .collect()
}

impl Method for Streams {
    fn run(&mut self, input: &[i16], output: &mut [i16]) -> Result<(), LinkError> {
        let sample = u64::from(SAMPLE_BYTES);
        for (at, lane) in self.lanes.iter().enumerate() {
            let Part { first, count } = lane.part;
            let (place, offset) = (first as usize, u64::from(first) * sample);
            let from = &input[place..place + count as usize];
            let to = self.bench.input.at + offset;
            // SAFETY: the part is so long here and there, and stays until its stream is finished.
            let copied = unsafe {
                let (from, bytes) = (from.as_ptr().cast(), size_of_val(from));
                sys::cuMemcpyHtoDAsync_v2(to, from, bytes, lane.stream.0)
            };
            check(copied, IN)?;
            self.launch(at)?;
            let to = &mut output[place..place + count as usize];
            let from = self.bench.output() + offset;
            // SAFETY: the same.
            let copied = unsafe {
                let (to, bytes) = (to.as_mut_ptr().cast(), size_of_val(to));
                sys::cuMemcpyDtoHAsync_v2(to, from, bytes, lane.stream.0)
            };
            check(copied, BACK)?;
        }
        for lane in &self.lanes {
            lane.stream.finish(WAITING)?;
        }
        self.bench.passes.next_turn();
        Ok(())
    }

    fn forget(&mut self) -> Result<(), LinkError> {
        self.bench.forget()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_parts_are_the_block_in_order_and_not_more_than_asked_for(
            samples in 1..100_000_u32,
            most in 0..40_u32,
        ) {
            let parts = parts(samples, most);
            prop_assert!(parts.len() <= most.max(1) as usize);
            let mut end = 0;
            for part in parts {
                prop_assert_eq!(part.first, end);
                prop_assert!(part.count > 0);
                prop_assert!(part.first.is_multiple_of(GRAIN));
                end += part.count;
            }
            prop_assert_eq!(end, samples);
        }
    }
}
