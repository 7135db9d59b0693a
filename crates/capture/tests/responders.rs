//! Modelled devices that respond to requests, on a bus whose limit is known.

use crate::made::{Limit, Made, Pipe, Wire, any_speed};
use fastrand::Rng;
use wiregauge_capture::{Speed, frame_ns};

/// A device that responds to requests, and how long it was polled while nothing was requested.
pub struct Responder {
    pub made: Made,
    pub unrequested_ns: u64,
    pub polled: bool,
}

/// A bus with a device that responds to each request: `Limit::Device`, it takes longer than the host needs to request again;
/// `Limit::Host`, the reverse. Most hosts poll the IN endpoint all the time, some only for a response.
pub fn request_response(limit: Limit, seed: u64) -> Responder {
    let mut random = Rng::with_seed(seed);
    let speed = any_speed(&mut random);
    let max_packet = if speed == Speed::High { 512 } else { 64 };
    let address = random.u8(1..128);
    let (to_device, to_host) = (random.u8(1..16), random.u8(1..16));
    let mut requests = Pipe::new(address, to_device, false, false);
    let mut responses = Pipe::new(address, to_host, true, true);
    let polled = random.u32(0..4) > 0;
    let mut wire = Wire::new(speed, Rng::with_seed(seed ^ 0x5eed));
    let again_ns = random.u64(500..frame_ns(speed) / 4);
    let largest = random.u32(1..6 * max_packet);
    let depth = random.usize(1..=3);
    let mut unrequested_ns = 0;
    // NAKs of the IN endpoint until this time.
    let poll = |wire: &mut Wire, pipe: &Pipe, until: u64| {
        while wire.now_ns < until {
            pipe.nak(wire, &[]);
            wire.now_ns += again_ns;
        }
    };
    // The capture begins before the program does.
    let program_ns = random.u64(0..100) * frame_ns(speed);
    poll(&mut wire, &responses, program_ns);
    let mut last_ns = 0;
    for _ in 0..random.usize(40..70) {
        unrequested_ns += std::mem::take(&mut last_ns);
        let begin_ns = wire.now_ns;
        let sizes: Vec<u32> = (0..depth).map(|_| random.u32(1..=largest)).collect();
        for size in &sizes {
            let mut left = *size;
            while left > 0 {
                let bytes = left.min(max_packet);
                requests.send(&mut wire, &vec![0x11; bytes as usize], 0);
                if polled && random.u32(0..4) == 0 {
                    responses.nak(&mut wire, &[]);
                }
                left -= bytes;
            }
        }
        let took = wire.now_ns - begin_ns + 20 * frame_ns(speed) / 100;
        let (device_ns, host_ns) = match limit {
            Limit::Device => (took * random.u64(4..9), random.u64(0..took / 4)),
            _ => (random.u64(0..took / 4), took * random.u64(12..30)),
        };
        for size in &sizes {
            let until = wire.now_ns + device_ns / depth as u64;
            poll(&mut wire, &responses, until);
            let mut left = size % 200 + 1;
            while left > 0 {
                let bytes = left.min(max_packet);
                responses.send(&mut wire, &vec![0x22; bytes as usize], 0);
                left -= bytes;
            }
        }
        let begin_ns = wire.now_ns;
        let until = begin_ns + host_ns;
        if polled {
            poll(&mut wire, &responses, until);
            last_ns = wire.now_ns - begin_ns;
        } else {
            wire.wait_until(until);
        }
    }
    Responder {
        made: Made {
            file: wire.writer.into_inner(),
            truth: wire.truth,
            speed,
            address,
            endpoint: to_host | 0x80,
            max_packet,
        },
        unrequested_ns,
        polled,
    }
}
