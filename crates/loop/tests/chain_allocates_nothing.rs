//! While a block waits, the processing of a loop asks the system for nothing: counted by an allocator
//! that stands in for the usual one.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use wiregauge_loop::process::Chain;
use wiregauge_record::Stage;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes on to the system's allocator with the arguments as they came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the caller keeps to the contract of `alloc`, which is that of `System` too.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: it came from `alloc` above, that is from `System`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn no_block_allocates_not_even_the_first() {
    let stages = [
        Stage::Copy,
        Stage::Gain { factor: 0.5 },
        Stage::Fir { taps: 64 },
        Stage::Biquad { corner: 0.1 },
        Stage::Threshold { level: 0.2 },
    ];
    for channels in [1, 2, 3, 8] {
        let samples = 30_000 * channels as usize;
        let input: Vec<i16> = (0..samples).map(|n| (n % 20_000) as i16).collect();
        let mut output = vec![0; samples];
        let before = ASKED.get();
        let mut chain = Chain::new(&stages, channels, 1_000_000, 60_000 * channels).unwrap();
        let laid_out = ASKED.get();
        assert!(laid_out > before, "the allocator counts");
        for _ in 0..3 {
            chain.run(&input, &mut output);
            let seven = ..channels as usize * 7;
            chain.run(&input[seven], &mut output[seven]);
        }
        assert_eq!(ASKED.get(), laid_out, "{channels} channels");
        assert!(output.contains(&i16::MAX), "and something was done");
    }
}
