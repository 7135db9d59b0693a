//! The frames of CAN that `wiregauge limits` was asked about.

use super::best::{Best, Kind};
use crate::args::LimitsArgs;
use wiregauge_limits::{Can, CanRates, Refused};

/// Usual bit rates, for the overview.
const RATES: [u64; 4] = [125_000, 250_000, 500_000, 1_000_000];

/// Every combination that was asked for: classic frames, and those of CAN FD if there is a data bit rate.
pub fn resolve(args: &LimitsArgs) -> anyhow::Result<Vec<Best>> {
    let nominal = match args.bitrate.as_slice() {
        [] => &RATES,
        rates => rates,
    };
    let narrow = |rate: u64| u32::try_from(rate).unwrap_or(u32::MAX);
    let data = args.data_bitrate.map(narrow);
    let mut all = Vec::new();
    let mut refused = None;
    for nominal in nominal.iter().copied().map(narrow) {
        for data in [None, data]
            .into_iter()
            .take(1 + usize::from(data.is_some()))
        {
            let largest = if data.is_some() { 64 } else { 8 };
            let sizes = args
                .bytes
                .as_ref()
                .map_or(vec![largest], |sizes| sizes.0.clone());
            for bytes in sizes {
                for extended in [false, true] {
                    let rates = CanRates { nominal, data };
                    let can = Can {
                        rates,
                        extended,
                        bytes,
                    };
                    match can.check() {
                        Ok(()) => all.extend(best(can, args)?),
                        // A size of CAN FD only is no mistake if CAN FD was asked for.
                        Err(why @ Refused::CanPayload { fd: false, .. }) => refused = Some(why),
                        Err(why) => return Err(why.into()),
                    }
                }
            }
        }
    }
    match refused {
        Some(why) if data.is_none() || all.is_empty() => Err(why.into()),
        _ => Ok(all),
    }
}

/// None where the exchange fits only frames of the other kind.
fn best(can: Can, args: &LimitsArgs) -> Result<Option<Best>, Refused> {
    let exchange_ns = match (args.out_size, args.in_size) {
        (Some(out), Some(in_)) => {
            for bytes in [out, in_] {
                match (Can { bytes, ..can }).check() {
                    Err(Refused::CanPayload { fd: false, .. }) if args.data_bitrate.is_some() => {
                        return Ok(None);
                    }
                    checked => checked?,
                }
            }
            Some(can.exchange_ns(out, in_))
        }
        _ => None,
    };
    Ok(Some(Best {
        limit: can.limit(),
        kind: Kind::Can(can),
        exchange_ns,
        exchange_parts: None,
    }))
}
