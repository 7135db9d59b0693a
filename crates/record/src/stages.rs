//! Where the RTT went: the parts that the kernel's own records divide it into.

use crate::sample::Sample;
use serde::{Deserialize, Serialize};
use wiregauge_stats::{Distribution, Series};

/// The parts of the RTT of those exchanges for which the kernel's records are complete; nanoseconds. Of each
/// exchange they add up to its RTT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stages {
    /// RTT of these exchanges.
    pub rtt: Distribution,
    /// Host: start of sending until the kernel handed the request to the controller or the card.
    pub sending: Distribution,
    /// Bus: until the device had the request; USB only.
    pub request: Option<Distribution>,
    /// The rest of the wire, and the device: until the response was in the kernel.
    pub response: Distribution,
    /// Host: until the program had the response.
    pub receiving: Distribution,
}

/// Takes the samples of one point.
#[derive(Default)]
pub(crate) struct StageTimes {
    rtt: Series,
    sending: Series,
    request: Series,
    response: Series,
    receiving: Series,
}

impl StageTimes {
    /// Takes a sample with an RTT, if it has the times of the kernel.
    pub(crate) fn push(&mut self, sample: &Sample) {
        if sample.kernel_rx_ns == 0 {
            return;
        }
        let on_bus = sample.kernel_tx_done_ns > 0;
        let with_device_ns = match on_bus {
            true => sample.kernel_tx_done_ns,
            false => sample.kernel_tx_ns,
        };
        self.rtt.push(sample.rtt_ns);
        self.sending.push(sample.kernel_tx_ns);
        if on_bus {
            let request_ns = with_device_ns.saturating_sub(sample.kernel_tx_ns);
            self.request.push(request_ns);
        }
        let response_ns = sample.kernel_rx_ns.saturating_sub(with_device_ns);
        self.response.push(response_ns);
        let receiving_ns = sample.rtt_ns.saturating_sub(sample.kernel_rx_ns);
        self.receiving.push(receiving_ns);
    }

    /// `None` without any.
    pub(crate) fn finish(&self) -> Option<Stages> {
        Some(Stages {
            rtt: self.rtt.distribution()?,
            sending: self.sending.distribution()?,
            request: self.request.distribution(),
            response: self.response.distribution()?,
            receiving: self.receiving.distribution()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(tx: u64, tx_done: u64, rx: u64, rtt: u64) -> Sample {
        Sample {
            rtt_ns: rtt,
            kernel_tx_ns: tx,
            kernel_tx_done_ns: tx_done,
            kernel_rx_ns: rx,
            ..Sample::default()
        }
    }

    #[test]
    fn the_parts_of_an_exchange_add_up_to_its_rtt() {
        let mut times = StageTimes::default();
        times.push(&exchange(10_000, 60_000, 200_000, 240_000));
        times.push(&exchange(20_000, 80_000, 300_000, 360_000));
        let stages = times.finish().unwrap();
        let request = stages.request.as_ref().unwrap();
        let means = [
            &stages.sending,
            request,
            &stages.response,
            &stages.receiving,
        ]
        .map(|part| part.mean.value);
        assert_eq!(means, [15_000.0, 55_000.0, 180_000.0, 50_000.0]);
        assert_eq!(means.iter().sum::<f64>(), stages.rtt.mean.value);
    }

    #[test]
    fn an_exchange_without_the_times_of_the_kernel_is_in_no_part() {
        let mut times = StageTimes::default();
        times.push(&exchange(0, 0, 0, 240_000));
        assert_eq!(times.finish(), None);
        times.push(&exchange(10_000, 0, 200_000, 240_000));
        let stages = times.finish().unwrap();
        assert_eq!((stages.rtt.n, stages.request), (1, None));
        assert_eq!(stages.response.mean.value, 190_000.0);
    }
}
