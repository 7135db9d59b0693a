//! How long the bus is busy with our own frames: without stuff bits, and with as many as there can be.

use crate::can::timing::Timing;
use std::ops::{Add, Mul};
use wiregauge_limits::{CAN_FD_SIZES, Can, CanRates};
use wiregauge_record::{BusLimit, CanId, CanOptions, IsoTp};

/// Data of a frame at most.
const MOST: usize = 64;

/// A time on the bus, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusTime {
    /// Without stuff bits.
    pub least_ns: u64,
    /// With as many as there can be.
    pub most_ns: u64,
}

impl Add for BusTime {
    type Output = BusTime;

    fn add(self, other: BusTime) -> BusTime {
        BusTime {
            least_ns: self.least_ns + other.least_ns,
            most_ns: self.most_ns + other.most_ns,
        }
    }
}

impl Mul<usize> for BusTime {
    type Output = BusTime;

    fn mul(self, times: usize) -> BusTime {
        BusTime {
            least_ns: self.least_ns * times as u64,
            most_ns: self.most_ns * times as u64,
        }
    }
}

/// Times of the frames of one sender, by bytes of data.
type Frames = [BusTime; MOST + 1];

/// Times of what a link sends and receives.
pub struct Load {
    requests: Box<Frames>,
    responses: Box<Frames>,
    isotp: Option<IsoTp>,
    /// Data of a frame at most.
    most: usize,
}

impl Load {
    /// Of a link; `None` where the bit rate is not known.
    pub fn new(options: &CanOptions, timing: &Timing) -> Option<Load> {
        let rates = rates(options, timing)?;
        Some(Load {
            requests: frames(options.request_id, rates),
            responses: frames(options.response_id, rates),
            isotp: options.isotp,
            most: if options.fd { MOST } else { 8 },
        })
    }

    /// Of a request with this many bytes.
    pub fn request(&self, bytes: usize) -> BusTime {
        self.message(&self.requests, &self.responses, bytes)
    }

    /// Of a response with this many bytes.
    pub fn response(&self, bytes: usize) -> BusTime {
        self.message(&self.responses, &self.requests, bytes)
    }

    /// A frame, or those of a message of ISO-TP (ISO 15765-2, 9) with flow control. The block size of the device is
    /// assumed to be ours.
    fn message(&self, from: &Frames, peer: &Frames, bytes: usize) -> BusTime {
        let Some(isotp) = self.isotp else {
            return from[bytes.min(MOST)];
        };
        let of = |frames: &Frames, used: usize| {
            let least = if isotp.padding.is_some() { 8 } else { 0 };
            frames[used.max(least).min(self.most)]
        };
        if bytes <= 7 {
            return of(from, bytes + 1);
        }
        if self.most > 8 && bytes <= self.most - 2 {
            return of(from, bytes + 2);
        }
        let rest = bytes - (self.most - 2);
        let (full, last) = (rest / (self.most - 1), rest % (self.most - 1));
        let consecutive = full + usize::from(last > 0);
        let controls = match isotp.block_size {
            0 => 1,
            size => consecutive.div_ceil(size.into()),
        };
        let short = match last {
            0 => BusTime::default(),
            last => of(from, last + 1),
        };
        from[self.most] * (1 + full) + short + of(peer, 3) * controls
    }
}

fn frames(id: CanId, rates: CanRates) -> Box<Frames> {
    let mut all = Box::new([BusTime::default(); MOST + 1]);
    for (bytes, time) in all.iter_mut().enumerate() {
        // A frame has the next size that there is.
        let size = CAN_FD_SIZES
            .into_iter()
            .find(|&size| size as usize >= bytes);
        let can = Can {
            rates,
            extended: id.is_extended(),
            bytes: size.unwrap_or(MOST as u32),
        };
        *time = BusTime {
            least_ns: rates.ns(can.least()).round() as u64,
            most_ns: rates.ns(can.most()).round() as u64,
        };
    }
    all
}

/// Bit rates of the interface, or those that were given; the data phase of CAN FD included.
fn rates(options: &CanOptions, timing: &Timing) -> Option<CanRates> {
    let nominal = timing.bitrate.or(options.bitrate)?;
    let data = timing
        .data_bitrate
        .or(options.data_bitrate)
        .unwrap_or(nominal);
    let rates = CanRates {
        nominal,
        data: options.fd.then_some(data),
    };
    rates.check().ok().map(|()| rates)
}

/// What the bus carries at best: frames of maximum size.
pub fn limit(options: &CanOptions, timing: &Timing) -> Option<BusLimit> {
    let can = Can {
        rates: rates(options, timing)?,
        extended: options.response_id.is_extended(),
        bytes: if options.fd { 64 } else { 8 },
    };
    can.check().ok()?;
    let mut limit = can.limit().for_run();
    if options.isotp.is_some() {
        // The first byte of a consecutive frame is its number (ISO 15765-2, 9.6.4).
        limit.bytes_s *= f64::from(can.bytes - 1) / f64::from(can.bytes);
        limit.source = format!("{}; ISO-TP: {} B of each", limit.source, can.bytes - 1);
    }
    Some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(fd: bool, isotp: Option<IsoTp>, bitrate: Option<u32>) -> Option<Load> {
        let options = CanOptions {
            request_id: "7e0".parse().unwrap(),
            response_id: "18daf110".parse().unwrap(),
            fd,
            isotp,
            bitrate,
            data_bitrate: None,
            timestamps: false,
        };
        Load::new(&options, &Timing::default())
    }

    fn load(fd: bool, isotp: Option<IsoTp>) -> Load {
        made(fd, isotp, Some(500_000)).unwrap()
    }

    const BIT_NS: u64 = 2_000;

    #[test]
    fn a_frame_takes_its_bits() {
        let load = load(false, None);
        for (message, least, most) in [(load.request(8), 111, 135), (load.response(1), 75, 90)] {
            let found = (message.least_ns, message.most_ns);
            assert_eq!(found, (least * BIT_NS, most * BIT_NS));
        }
    }

    #[test]
    fn a_message_takes_its_frames_and_the_flow_control_of_the_other_side() {
        let plain = load(false, Some(IsoTp::default()));
        assert_eq!(plain.request(7).least_ns, 111 * BIT_NS);
        // 6 + 7 + 7 bytes; flow control of 3 B with 29-bit identifier.
        assert_eq!(plain.request(20).least_ns, (3 * 111 + 91) * BIT_NS);
        // 6 + 2 bytes.
        assert_eq!(plain.request(8).least_ns, (111 + 71 + 91) * BIT_NS);
        let blocks = IsoTp {
            block_size: 2,
            padding: Some(0xcc),
            ..IsoTp::default()
        };
        // 6 + 7 + 7 + 7 bytes: two blocks.
        let padded = load(false, Some(blocks)).request(27);
        assert_eq!(padded.least_ns, (4 * 111 + 2 * 131) * BIT_NS);
        let fd = load(true, Some(IsoTp::default()));
        assert_eq!(fd.request(62), load(true, None).request(64));
        assert_eq!(fd.request(9), load(true, None).request(12));
    }

    #[test]
    fn without_a_bit_rate_there_is_no_load() {
        assert!(made(false, None, None).is_none());
    }
}
