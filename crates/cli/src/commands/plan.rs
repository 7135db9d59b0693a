//! From what was typed to what will run: every default is filled in here and nowhere else.

use crate::args::{ConnectArg, ExchangeArgs, ProtocolArg, WaitArg};
use crate::values::{Count, Every, Sizes};
use wiregauge_record::{
    Connect, HostPlan, Limit, LinkOptions, Plan, Point, Protocol, Schedule, Wait,
};

/// Exchanges at a point when nothing is said.
const COUNT: u64 = 1000;

/// The plan for `wiregauge exchange`.
pub fn of_exchange(args: &ExchangeArgs) -> Plan {
    let protocol = match args.protocol {
        Some(ProtocolArg::Echo) => Protocol::Echo,
        Some(ProtocolArg::Wiregauge) => Protocol::Wiregauge,
        None if args.address.starts_with("null:") => Protocol::Echo,
        None => Protocol::Wiregauge,
    };
    let limit = match (args.duration, args.count) {
        (Some(duration), _) => Limit::DurationNs(duration.as_nanos() as u64),
        (None, Some(Count(count))) => Limit::Count(count),
        (None, None) => Limit::Count(COUNT),
    };
    let schedule = match args.interval.or(args.rate.map(|Every(time)| time)) {
        Some(time) => Schedule::EveryNs(time.as_nanos() as u64),
        None => Schedule::AsFastAsPossible,
    };
    Plan {
        address: args.address.clone(),
        more_links: Vec::new(),
        protocol,
        connect: match args.connect {
            ConnectArg::Once => Connect::Once,
            ConnectArg::Each => Connect::Each,
        },
        points: points(args, protocol),
        limit,
        warmup: args.warmup.0,
        schedule,
        timeout_ns: args.timeout.as_nanos() as u64,
        give_up: args.give_up,
        wait: match args.wait {
            WaitArg::Block => Wait::Block,
            WaitArg::Poll => Wait::Poll,
            WaitArg::Spin => Wait::Spin,
        },
        below_ns: args
            .below
            .iter()
            .map(|limit| limit.as_nanos() as u64)
            .collect(),
        keep_data: args.keep_data,
        calibrate: !args.no_calibration,
        host: HostPlan {
            priority: args.priority,
            pin: args.pin,
            lock_memory: args.lock_memory,
            load: args.host_load.unwrap_or_default(),
        },
        link: LinkOptions {
            baud: args.baud,
            quick_ack: args.quick_ack,
        },
    }
}

/// The sweep: depth within size, so that the rows to compare stand together.
fn points(args: &ExchangeArgs, protocol: Protocol) -> Vec<Point> {
    let given = |sizes: &Option<Sizes>| sizes.as_ref().map(|Sizes(list)| list.clone());
    let (out, in_) = (given(&args.out), given(&args.in_));
    let sizes: Vec<(u32, u32)> = match protocol {
        Protocol::Wiregauge => {
            let (out, in_) = (out.unwrap_or(vec![16]), in_.unwrap_or(vec![48]));
            out.iter()
                .flat_map(|&out| in_.iter().map(move |&in_| (out, in_)))
                .collect()
        }
        // What an echo sends back is what it got. Where both lists are given, they must agree;
        // the engine refuses pairs that do not.
        Protocol::Echo => match (out, in_) {
            (Some(out), Some(in_)) if out != in_ => out
                .iter()
                .flat_map(|&out| in_.iter().map(move |&in_| (out, in_)))
                .collect(),
            (Some(both), _) | (None, Some(both)) => both.into_iter().map(|b| (b, b)).collect(),
            (None, None) => vec![(64, 64)],
        },
    };
    let depths = &args.depth.0;
    sizes
        .iter()
        .flat_map(|&(out_bytes, in_bytes)| {
            depths
                .iter()
                .map(move |&depth| (out_bytes, in_bytes, depth))
        })
        .enumerate()
        .map(|(index, (out_bytes, in_bytes, depth))| Point {
            index: index as u32,
            out_bytes,
            in_bytes,
            depth,
            link: 0,
            together: false,
        })
        .collect()
}
