//! Sends batches of a program's own bytes and compares what comes back: `batch ADDRESS`, where `wiregauge serve`
//! or a board answers. A responder without an application sends a request back, so each reply must be its request.

use wiregauge_device::{Device, DeviceOptions, Replies, Requests, Timing};
use wiregauge_link::LinkError;

/// Requests of a batch, and sizes around those at which USB packets (64, 512 B) are full, header and check included.
const COUNT: usize = 64;
const SIZES: [usize; 6] = [1, 46, 478, 480, 4096, 20_000];

/// Replies that were their requests, of one size, and the median RTT in nanoseconds.
fn batch(device: &mut Device, size: usize, depth: u32) -> Result<(usize, u64), LinkError> {
    let sent: Vec<u8> = (0..COUNT * size).map(|n| (n * n / 251) as u8).collect();
    let ends: Vec<usize> = (1..=COUNT).map(|n| n * size).collect();
    let mut received = vec![0; sent.len()];
    let (mut lengths, mut timings) = (vec![0; COUNT], vec![Timing::default(); COUNT]);
    let requests = Requests {
        bytes: &sent,
        ends: &ends,
    };
    let replies = Replies {
        bytes: &mut received,
        row_bytes: size,
        lengths: &mut lengths,
        timings: &mut timings,
    };
    let done = device.exchange_many(requests, replies, depth);
    done.map_err(|(_, error)| error)?;
    timings.sort_unstable_by_key(|timing| timing.rtt_ns);
    let rows = sent.chunks(size).zip(received.chunks(size)).zip(lengths);
    let right = rows.filter(|((sent, received), length)| sent == received && *length == size);
    Ok((right.count(), timings[COUNT / 2].rtt_ns))
}

fn all(address: &str) -> Result<bool, LinkError> {
    let mut device = Device::open(address, &DeviceOptions::default())?;
    let mut all_right = true;
    for size in SIZES {
        for depth in [1, 4, 16] {
            let (right, rtt_ns) = batch(&mut device, size, depth)?;
            println!(
                "{size:6} B  depth {depth:2}  {right} of {COUNT} right  RTT p50 {} us",
                rtt_ns / 1000
            );
            all_right &= right == COUNT;
        }
    }
    Ok(all_right)
}

fn main() -> std::process::ExitCode {
    let address = std::env::args().nth(1);
    match all(&address.unwrap_or("tcp://127.0.0.1:7700".into())) {
        Ok(true) => std::process::ExitCode::SUCCESS,
        Ok(false) => std::process::ExitCode::from(1),
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::from(3)
        }
    }
}
