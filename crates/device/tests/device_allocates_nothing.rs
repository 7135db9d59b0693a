//! Once its buffers have grown to size, an open device asks the system for no memory: counted by an
//! allocator that stands in for the usual one, in the thread that calls.

#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::time::Duration;
use wiregauge_device::{
    ControlPlan, Cycle, Device, DeviceOptions, DeviceProtocol, Framing, Replies, Requests, Timing,
};

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

/// Requests of several sizes, alone, pipelined and in a batch.
fn work(device: &mut Device) {
    for n in 1..200 {
        let request = [7; 200];
        let reply = device.exchange(&request[..n], None).unwrap();
        assert_eq!(reply.payload.len(), n);
    }
    for n in 0..200_u8 {
        device.submit(&[n; 50], None).unwrap();
        if n >= 16 {
            assert_eq!(device.next_reply().unwrap().payload, [n - 16; 50]);
        }
    }
    while device.outstanding() > 0 {
        device.next_reply().unwrap();
    }
    let (mut rows, mut lengths) = ([0; 3_000], [0; 100]);
    let mut timings = [Timing::default(); 100];
    let ends: [usize; 100] = std::array::from_fn(|n| 30 * (n + 1));
    let replies = Replies {
        bytes: &mut rows,
        row_bytes: 30,
        lengths: &mut lengths,
        timings: &mut timings,
    };
    let (bytes, ends) = (&[9; 3_000][..], &ends[..]);
    device
        .exchange_many(Requests { bytes, ends }, replies, 16)
        .unwrap();
    assert_eq!(rows, [9; 3_000]);
}

#[test]
fn exchanges_of_sizes_that_were_seen_before_allocate_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("echo");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 65_536];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            stream.write_all(&buffer[..count]).unwrap();
        }
    });
    let options = DeviceOptions {
        protocol: DeviceProtocol::Framing(Framing::Raw),
        timeout: Duration::from_secs(20),
        ..DeviceOptions::default()
    };
    let mut device = Device::open(&format!("unix://{}", path.display()), &options).unwrap();
    // What the batch lays out is found by the pipeline of the second turn.
    work(&mut device);
    work(&mut device);
    let before = ASKED.get();
    assert!(before > 0, "the allocator counts");
    for _ in 0..3 {
        work(&mut device);
    }
    assert_eq!(ASKED.get(), before);
}

#[test]
fn the_cycles_of_a_loop_allocate_nothing_not_even_the_first() {
    let options = DeviceOptions {
        protocol: DeviceProtocol::Framing(Framing::Raw),
        ..DeviceOptions::default()
    };
    let mut device = Device::open("null://", &options).unwrap();
    let plan = ControlPlan {
        depth: 3,
        ..ControlPlan::default()
    };
    let mut cycles = vec![Cycle::default(); 1_000];
    let mut asked = Vec::with_capacity(cycles.len());
    let ran = device.control(
        &plan,
        &mut |_, _, _| {
            asked.push(ASKED.get());
            Some(100)
        },
        &mut cycles,
    );
    assert_eq!(ran.unwrap(), 1_000);
    assert!(asked.iter().all(|count| *count == asked[0]));
}
