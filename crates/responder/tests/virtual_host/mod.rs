//! A host in virtual time: it keeps so many transfers or exchanges outstanding on a modelled bus
//! and notes when it is told of their ends.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use wiregauge_responder::bus::{
    BusTiming, DeviceTiming, Direction, PipeId, PipeSpec, Step, Traffic,
};

/// What one device got through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// When the host was told of each end, in order.
    pub told_ns: Vec<u64>,
    /// From the start of each exchange until then.
    pub rtt_ns: Vec<u64>,
}

impl Seen {
    /// Mean time between two ends, the first tenth left out.
    pub fn period_ns(&self) -> f64 {
        let first = self.told_ns.len() / 10;
        let (begin, end) = (self.told_ns[first], *self.told_ns.last().expect("some"));
        (end - begin) as f64 / (self.told_ns.len() - 1 - first) as f64
    }
}

/// What the host does with each device.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Requests of `out` bytes answered by `answer` bytes.
    Exchange { out: u64, answer: u64, depth: usize },
    /// Transfers of one direction.
    Stream {
        direction: Direction,
        transfer: u64,
        queue: usize,
    },
}

struct Node {
    out: PipeId,
    to_host: PipeId,
    seen: Seen,
    started_ns: VecDeque<u64>,
}

/// Lets `devices` equal ones work on one bus until each has done `count`; returns what each got
/// through until the first had done that.
pub fn run(
    bus: BusTiming,
    device: DeviceTiming,
    devices: usize,
    work: Work,
    count: usize,
) -> Vec<Seen> {
    let mut traffic = Traffic::new(bus);
    let spec = |direction| PipeSpec {
        direction,
        packet_bytes: bus.packet_bytes,
        device,
        interval_ns: 0,
    };
    let mut nodes: Vec<Node> = (0..devices)
        .map(|_| {
            let out = traffic.add(spec(Direction::Out));
            let to_host = traffic.add(spec(Direction::In));
            traffic.pair(out, to_host);
            Node {
                out,
                to_host,
                seen: Seen::default(),
                started_ns: VecDeque::new(),
            }
        })
        .collect();
    let mut ends: BinaryHeap<Reverse<(u64, u64, usize)>> = BinaryHeap::new();
    let mut order = 0;
    for node in &mut nodes {
        let outstanding = match work {
            Work::Exchange { depth, .. } => depth,
            Work::Stream { queue, .. } => queue,
        };
        for _ in 0..outstanding {
            start(&mut traffic, node, work, 0);
        }
    }
    while nodes.iter().all(|node| node.seen.told_ns.len() < count) {
        let until = ends.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        match traffic.step(until) {
            Step::Carried(packet) => {
                let (at, node) = nodes
                    .iter_mut()
                    .enumerate()
                    .find(|(_, node)| node.out == packet.pipe || node.to_host == packet.pipe)
                    .expect("of one of them");
                let Some(told_ns) = packet.told_ns else {
                    continue;
                };
                match work {
                    Work::Exchange { answer, .. } if packet.pipe == node.out => {
                        traffic.offer(node.to_host, answer, true, packet.taken_ns);
                    }
                    _ => {
                        order += 1;
                        ends.push(Reverse((told_ns, order, at)));
                    }
                }
            }
            Step::Idle(_) => {
                let Reverse((told_ns, _, at)) = ends.pop().expect("never without work");
                let node = &mut nodes[at];
                node.seen.told_ns.push(told_ns);
                let started_ns = node.started_ns.pop_front().expect("each end has a start");
                node.seen.rtt_ns.push(told_ns - started_ns);
                start(&mut traffic, node, work, told_ns);
            }
        }
    }
    nodes.into_iter().map(|node| node.seen).collect()
}

fn start(traffic: &mut Traffic, node: &mut Node, work: Work, now_ns: u64) {
    node.started_ns.push_back(now_ns);
    match work {
        Work::Exchange { out, answer, .. } => {
            // Room for the packet of length zero, too.
            traffic.submit(node.to_host, 0, (answer / 512 + 1) * 512, false, now_ns);
            traffic.submit(node.out, 0, out, false, now_ns);
        }
        Work::Stream {
            direction: Direction::In,
            transfer,
            ..
        } => {
            // A device that always has the next one at hand.
            traffic.offer(node.to_host, transfer, false, now_ns);
            traffic.submit(node.to_host, 0, transfer, false, now_ns);
        }
        Work::Stream { transfer, .. } => traffic.submit(node.out, 0, transfer, false, now_ns),
    }
}
