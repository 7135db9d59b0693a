//! Load made on purpose while measuring, so that a figure can be had for a busy host.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use wiregauge_record::HostLoad;

/// Larger than the last-level cache of common hosts, so that the copies reach the memory.
const COPIED_BYTES: usize = 64 << 20;

/// Threads that load the host until it is dropped. Made before any priority is raised, because
/// threads inherit the policy of their maker (sched(7)).
pub struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts the load.
    pub fn start(plan: HostLoad) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let computing = (0..plan.cpu).map(|_| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || compute(&stop))
        });
        let copying = (0..plan.memory).map(|_| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || copy(&stop))
        });
        let threads = computing.chain(copying).collect();
        Load { stop, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn compute(stop: &AtomicBool) {
    let mut state = 1_u64;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..10_000 {
            state = black_box(
                state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1),
            );
        }
    }
}

fn copy(stop: &AtomicBool) {
    let from = vec![1_u8; COPIED_BYTES];
    let mut to = vec![0_u8; COPIED_BYTES];
    while !stop.load(Ordering::Relaxed) {
        for (from, to) in from.chunks(1 << 20).zip(to.chunks_mut(1 << 20)) {
            to.copy_from_slice(from);
            black_box(&to);
            if stop.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}
