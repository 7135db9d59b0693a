//! The two directions of exchanges, from the timestamps of a device whose clock has another zero and another rate.
//!
//! A request that leaves at s and arrives at r (device time), whose response leaves at t (device time) and arrives at e, took
//! r - s + c to the device and e - t - c back, where c is the unknown difference of the clocks. The quickest requests and responses
//! bound it: the lower convex hulls of r - s and of e - t over time give the rates of both clocks (Moon, Skelly & Towsley,
//! *Estimation and removal of clock skew from network delay measurements*, INFOCOM 1999) and the minimum of the sum of both directions. How
//! that sum is divided cannot be known from timestamps; half of it is assumed for each, as NTP does (RFC 5905).

/// Exchanges that are kept; of more every second, fourth ... is.
const MOST_KEPT: usize = 1 << 18;

/// An exchange with fewer is no basis for the rate of a clock.
const FEWEST: usize = 20;

/// The times of an exchange, in nanoseconds of the host's clock and in ticks of the device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// The request left.
    pub start_ns: u64,
    /// The device had received it.
    pub rx_ticks: u64,
    /// The device handed the response over.
    pub tx_ticks: u64,
    /// The response was received.
    pub end_ns: u64,
}

/// Collects the exchanges of a point.
///
/// ```
/// use wiregauge_stats::{Directions, Stamps};
///
/// // A device clock of 1 MHz; 50 to 69 us to the device, 100 us in it, 50 us back.
/// let mut directions = Directions::new(1_000_000, 32);
/// for i in 0..100 {
///     let start_ns = i * 1_000_000;
///     let rx_ticks = 5_000 + i * 1_000 + 50 + i % 20;
///     let tx_ticks = rx_ticks + 100;
///     let end_ns = (tx_ticks + 50 - 5_000) * 1_000;
///     directions.push(Stamps { start_ns, rx_ticks, tx_ticks, end_ns });
/// }
/// let parts = directions.parts().expect("100 exchanges");
/// assert_eq!(parts.fixed_ns, 100_000.0);
/// assert_eq!(parts.to_device_ns.first().copied(), Some(50_000.0));
/// ```
#[derive(Clone, Debug)]
pub struct Directions {
    ns_per_tick: f64,
    tick_hz: u64,
    mask: u64,
    /// The first exchange, from which all times count.
    first: Option<Stamps>,
    /// The last: where the device's counter is.
    last: Option<Unwrapped>,
    kept: Vec<Exchange>,
    seen: usize,
    stride: usize,
}

/// The device's counter without its wraps.
#[derive(Clone, Copy, Debug)]
struct Unwrapped {
    start_ns: u64,
    rx_ticks: i128,
}

/// Nanoseconds since the first request, by the host's clock and by the device's.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    start: f64,
    end: f64,
    to_device: f64,
    in_device: f64,
    from_device: f64,
}

/// The parts of exchanges.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// Request: from its start to the device, in nanoseconds, as the exchanges were pushed.
    pub to_device_ns: Vec<f64>,
    /// In the device, in nanoseconds.
    pub in_device_ns: Vec<f64>,
    /// Response: from the device to its end, in nanoseconds.
    pub from_device_ns: Vec<f64>,
    /// Minimum of the sum of both directions, in nanoseconds. Half of it was assumed for each direction, so that all times of one
    /// direction may be too large, and those of the other too small, by up to half of it.
    pub fixed_ns: f64,
    /// How much faster the device's clock is than the host's, as a part of 1.
    pub rate_error: f64,
}

impl Directions {
    /// For a device clock with so many ticks a second and a counter of so many bits.
    pub fn new(tick_hz: u64, tick_bits: u32) -> Directions {
        Directions {
            ns_per_tick: 1e9 / tick_hz.max(1) as f64,
            tick_hz,
            mask: match tick_bits {
                0 | 64.. => u64::MAX,
                bits => (1 << bits) - 1,
            },
            first: None,
            last: None,
            kept: Vec::new(),
            seen: 0,
            stride: 1,
        }
    }

    /// Takes an exchange. They come in the order of their requests.
    pub fn push(&mut self, stamps: Stamps) {
        let first = *self.first.get_or_insert(stamps);
        let rx_ticks = self.unwrapped(stamps);
        let place = self.seen;
        self.seen += 1;
        if !place.is_multiple_of(self.stride) {
            return;
        }
        if self.kept.len() == MOST_KEPT {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.stride *= 2;
            if !place.is_multiple_of(self.stride) {
                return;
            }
        }
        let since = |ns: u64| ns as f64 - first.start_ns as f64;
        let (start, end) = (since(stamps.start_ns), since(stamps.end_ns));
        let in_device = (stamps.tx_ticks.wrapping_sub(stamps.rx_ticks) & self.mask) as f64;
        let in_device = in_device * self.ns_per_tick;
        let arrived = (rx_ticks - i128::from(first.rx_ticks)) as f64 * self.ns_per_tick;
        self.kept.push(Exchange {
            start,
            end,
            to_device: arrived - start,
            in_device,
            from_device: end - arrived - in_device,
        });
    }

    /// The counter wraps as often as the host's clock says that it must have.
    fn unwrapped(&mut self, stamps: Stamps) -> i128 {
        let rx_ticks = match self.last {
            None => i128::from(stamps.rx_ticks),
            Some(last) => {
                let passed_ns = i128::from(stamps.start_ns) - i128::from(last.start_ns);
                let expected = last.rx_ticks + passed_ns * i128::from(self.tick_hz) / 1_000_000_000;
                let wrap = i128::from(self.mask) + 1;
                let ahead = (i128::from(stamps.rx_ticks) - expected).rem_euclid(wrap);
                let ahead = if ahead >= wrap / 2 {
                    ahead - wrap
                } else {
                    ahead
                };
                expected + ahead
            }
        };
        self.last = Some(Unwrapped {
            start_ns: stamps.start_ns,
            rx_ticks,
        });
        rx_ticks
    }

    /// The parts of the exchanges; nothing if there are too few of them.
    pub fn parts(&self) -> Option<Parts> {
        if self.kept.len() < FEWEST || self.tick_hz == 0 {
            return None;
        }
        let forth: Vec<(f64, f64)> = (self.kept.iter())
            .map(|one| (one.start, one.to_device))
            .collect();
        let mut back: Vec<(f64, f64)> = (self.kept.iter())
            .map(|one| (one.end, one.from_device))
            .collect();
        // Responses may overtake each other.
        back.sort_by(|a, b| a.0.total_cmp(&b.0));
        let rate_error = (slope_below(&forth) - slope_below(&back)) / 2.0;
        let to_device = |one: &Exchange| one.to_device - rate_error * one.start;
        let from_device = |one: &Exchange| one.from_device + rate_error * one.end;
        let least = |part: &dyn Fn(&Exchange) -> f64| {
            self.kept.iter().map(part).fold(f64::INFINITY, f64::min)
        };
        let (least_forth, least_back) = (least(&to_device), least(&from_device));
        let fixed_ns = (least_forth + least_back).max(0.0);
        let half = fixed_ns / 2.0;
        Some(Parts {
            to_device_ns: (self.kept.iter())
                .map(|one| to_device(one) - least_forth + half)
                .collect(),
            in_device_ns: self.kept.iter().map(|one| one.in_device).collect(),
            from_device_ns: (self.kept.iter())
                .map(|one| from_device(one) - least_back + half)
                .collect(),
            fixed_ns,
            rate_error,
        })
    }
}

/// The slope of the line below all points that is closest to them on average: the edge of their lower convex hull at their mean
/// time. Points come in time order.
fn slope_below(points: &[(f64, f64)]) -> f64 {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for &point in points {
        while let [.., a, b] = hull[..]
            && (b.0 - a.0) * (point.1 - a.1) <= (b.1 - a.1) * (point.0 - a.0)
        {
            hull.pop();
        }
        hull.push(point);
    }
    let mean = points.iter().map(|point| point.0).sum::<f64>() / points.len() as f64;
    let edge = hull.windows(2).find(|edge| edge[1].0 >= mean);
    edge.map_or(0.0, |edge| {
        let time = edge[1].0 - edge[0].0;
        if time > 0.0 {
            (edge[1].1 - edge[0].1) / time
        } else {
            0.0
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nanoseconds: request, device, response of exchange i.
    fn parts_of(i: u64) -> (u64, u64, u64) {
        (
            40_000 + i * 7919 % 30_011,
            120_000 + i * 31 % 1_009,
            25_000 + i * 104_729 % 90_001,
        )
    }

    /// The parts of exchanges each millisecond, by a device clock with this rate error and this counter.
    fn measured(rate_error: f64, tick_hz: u64, tick_bits: u32, exchanges: u64) -> Parts {
        let mut directions = Directions::new(tick_hz, tick_bits);
        let mask = u64::MAX >> (64 - tick_bits);
        let ticks = |ns: u64| {
            let device_ns = ns as f64 * (1.0 + rate_error) + 3e12;
            ((device_ns * tick_hz as f64 / 1e9) as u64) & mask
        };
        for i in 0..exchanges {
            let start_ns = i * 1_000_000;
            let (forth, inside, back) = parts_of(i);
            directions.push(Stamps {
                start_ns,
                rx_ticks: ticks(start_ns + forth),
                tx_ticks: ticks(start_ns + forth + inside),
                end_ns: start_ns + forth + inside + back,
            });
        }
        directions.parts().expect("enough exchanges")
    }

    fn largest_error(parts: &Parts, shift: f64) -> f64 {
        let errors = (0..).zip(&parts.to_device_ns).zip(&parts.from_device_ns);
        errors
            .map(|((i, forth), back)| {
                let (true_forth, _, true_back) = parts_of(i);
                let forth = (forth - shift - true_forth as f64).abs();
                forth.max((back + shift - true_back as f64).abs())
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn both_directions_vary_as_they_did_whatever_the_rate_of_the_device_clock() {
        for rate_error in [0.0, 80e-6, -80e-6] {
            let parts = measured(rate_error, 1_000_000_000, 64, 20_000);
            let Parts { fixed_ns, .. } = parts;
            assert!((fixed_ns - 65_000.0).abs() < 100.0, "{fixed_ns}");
            let found = parts.rate_error;
            assert!((found - rate_error).abs() < 1e-8, "{found}");
            // Half of 65 us is assumed for the way that takes 40 us at least.
            assert!(largest_error(&parts, -7_500.0) < 200.0);
        }
    }

    #[test]
    fn a_counter_that_wraps_every_65_ms_is_followed_by_the_hosts_clock() {
        let parts = measured(20e-6, 1_000_000, 16, 5_000);
        // A tick is 1 us.
        let Parts { fixed_ns, .. } = parts;
        assert!((fixed_ns - 65_000.0).abs() < 2_000.0, "{fixed_ns}");
        assert!(largest_error(&parts, -7_500.0) < 3_000.0);
    }

    #[test]
    fn a_long_point_keeps_exchanges_of_its_whole_time() {
        let exchanges = MOST_KEPT as u64 * 2 + 5;
        let parts = measured(0.0, 1_000_000_000, 64, exchanges);
        assert!(parts.to_device_ns.len() <= MOST_KEPT);
        assert!(parts.to_device_ns.len() > MOST_KEPT / 2);
        assert!((parts.fixed_ns - 65_000.0).abs() < 100.0);
    }

    #[test]
    fn few_exchanges_have_no_parts() {
        let mut directions = Directions::new(1_000_000, 32);
        for i in 0..19 {
            directions.push(Stamps {
                start_ns: i * 1_000,
                rx_ticks: i,
                tx_ticks: i,
                end_ns: i * 1_000 + 10,
            });
        }
        assert_eq!(directions.parts(), None);
    }
}
