//! From what was typed to what is searched: space, aim, constraints, and the plan of a run at one
//! candidate.

use crate::args::{TuneArgs, protocol_of};
use crate::commands::plan;
use crate::constraint::Constraint;
use crate::loop_model;
use crate::values::{Count, Effort, Sizes};
use anyhow::bail;
use std::time::Duration;
use wiregauge_model::Setting;
use wiregauge_record::{
    Connect, Direction, Figure, HostLoad, HostPlan, Limit, LinkOptions, Part, Plan, Point,
    Protocol, Responder, Schedule, StreamPlan, StreamPoint, StreamProtocol, Wait, grouped,
};
use wiregauge_stats::Estimate;
use wiregauge_tune::{Bound, Candidate, Sense, Space};

use super::taken::Taken;

/// Exchanges at a setting, were every setting measured.
const COUNT: u64 = 1000;
/// The same of a stream.
const DURATION: Duration = Duration::from_millis(500);
/// Start-up of a stream left out of a probe, and of the run that confirms: buffers fill faster than
/// the wire flows.
const SETTLE: Duration = Duration::from_millis(100);
/// Losses in a row, for each one outstanding, after which a setting counts as one that fails: fewer
/// than those of `exchange`, because each costs a timeout.
const GIVE_UP: u32 = 3;
/// Exchanges for each one outstanding, at least.
const LAPS: u64 = 3;
/// Milliseconds of a stream, at least: a busy host may be away for some of them.
const LEAST_MS: u64 = 100;
/// What is asked for.
pub struct Task {
    /// The device.
    pub address: String,
    /// What is tuned.
    pub kind: Kind,
    /// The aim.
    pub figure: Figure,
    /// Its best end.
    pub sense: Sense,
    /// What must hold.
    pub constraints: Vec<Constraint>,
    /// What may be set.
    pub space: Space,
    /// Exchanges (milliseconds of a stream) at a setting, were all measured.
    pub effort: u64,
    /// The same of the confirmation, if it was said.
    pub confirm: Option<u64>,
    /// The note of the runs that confirm.
    pub note: Option<String>,
    /// If the storage is full, they are measured on.
    pub keep_going: bool,
    timeout: Duration,
    host: HostPlan,
    link: LinkOptions,
}

/// Exchanges or a stream.
pub enum Kind {
    /// Exchanges.
    Exchanges(Exchanges),
    /// A stream.
    Stream(Flowing),
}

/// What is the same for all settings of exchanges.
pub struct Exchanges {
    /// What the ends say.
    pub protocol: Protocol,
    calibrate: bool,
}

/// What is the same for all settings of a stream.
pub struct Flowing {
    /// Which way.
    pub direction: Direction,
}

/// How long a response is awaited.
const TIMEOUT: Duration = Duration::from_secs(1);

impl Task {
    /// What the arguments ask for; refuses what makes no sense before anything is opened.
    pub fn of(args: &TuneArgs) -> anyhow::Result<Task> {
        if args.address.starts_with("can:") {
            anyhow::bail!(
                "tune does not support CAN\n  hint: use wiregauge exchange with a list of sizes and depths"
            );
        }
        plan::check_baud(args.baud, [&args.address])?;
        let streams = args.is_of_streams();
        let (figure, sense) = match (args.maximise, args.minimise) {
            (Some(figure), _) => (figure, Sense::Maximise),
            (None, Some(figure)) => (figure, Sense::Minimise),
            (None, None) => bail!("no goal given: use --maximise FIGURE or --minimise FIGURE"),
        };
        let constraints = args.subject_to.iter().flat_map(|list| &list.0);
        let constraints: Vec<Constraint> = constraints.cloned().collect();
        let named = constraints.iter().map(|c| (c.figure, c.way.is_some()));
        for (figure, way) in named.chain([(figure, false)]) {
            match streams {
                true if !figure.is_of_streams() => bail!(
                    "{figure} is a figure of exchanges, but --direction, --transfer, --queue and --duration \
                     select a stream (docs/tune.md lists the figures of both)"
                ),
                false if !figure.is_of_exchanges() || way => bail!(
                    "{} is a figure of streams: add --transfer or --direction to tune a stream (docs/tune.md \
                     lists the figures of both)",
                    if way {
                        format!("in.{figure} or out.{figure}")
                    } else {
                        figure.to_string()
                    }
                ),
                _ => {}
            }
        }
        let (kind, space) = match streams {
            true => of_streams(args),
            false => of_exchanges(args),
        };
        let confirm = match (args.confirm, streams) {
            (Some(Effort::Count(_)), true) => {
                bail!("--confirm must be a time for a stream, such as 5s")
            }
            (Some(Effort::Time(_)), false) => {
                bail!("--confirm must be a number of exchanges, such as 10k")
            }
            (Some(Effort::Count(0)), _) => bail!("--confirm 0 is not valid: use 1000 or more"),
            (Some(Effort::Count(count)), _) => Some(count),
            (Some(Effort::Time(time)), _) => Some(milliseconds(time)),
            (None, _) => None,
        };
        let effort = match streams {
            true => milliseconds(args.duration.unwrap_or(DURATION)),
            false => args.count.map_or(COUNT, |Count(count)| count),
        };
        Ok(Task {
            address: args.address.clone(),
            kind,
            figure,
            sense,
            constraints,
            space,
            effort,
            confirm,
            note: args.keep.note.clone(),
            keep_going: args.keep.keep_going,
            timeout: args.timeout.unwrap_or(TIMEOUT),
            host: plan::host(&args.host),
            link: LinkOptions {
                baud: args.baud,
                ..LinkOptions::default()
            },
        })
    }

    /// The bounds of the constraints, in their order.
    pub fn bounds(&self) -> Vec<Bound> {
        self.constraints.iter().map(Constraint::bound).collect()
    }

    /// A candidate that whatever works at all should bear: the smallest, one at a time.
    pub fn mildest(&self) -> Candidate {
        let least = |list: &[u32]| list.iter().copied().min().unwrap_or(1);
        Candidate {
            setting: Setting {
                out_bytes: least(&self.space.out_bytes),
                in_bytes: least(&self.space.in_bytes),
                depth: least(&self.space.depth),
            },
            wait: self.space.wait.first().copied().unwrap_or(Wait::Block),
            connect: self.space.connect.first().copied().unwrap_or(Connect::Once),
        }
    }

    /// Fewer exchanges than this cannot show that a constraint on the tail is kept: below 4,837 independent
    /// ones p99.9 has no upper bound at 95 %, below 483 p99 has none (docs/statistics.md); neighbours are
    /// not independent, so twice as many are taken. Of streams nobody knows before how
    /// many transfers there will be.
    pub fn least_confirmation(&self) -> u64 {
        if matches!(self.kind, Kind::Stream(_)) {
            return 0;
        }
        let least = self.constraints.iter().map(|c| match c.figure {
            Figure::Time(_, Part::P999) => 10_000,
            Figure::Time(_, Part::P99) => 1000,
            _ => 0,
        });
        least.max().unwrap_or(0)
    }

    /// Refuses what the engine cannot measure, before anything is opened.
    pub fn check(&self) -> Result<(), wiregauge_link::LinkError> {
        let most = |list: &[u32]| list.iter().copied().max().unwrap_or(1);
        let mildest = self.mildest();
        let wildest = Candidate {
            setting: Setting {
                out_bytes: most(&self.space.out_bytes),
                in_bytes: most(&self.space.in_bytes),
                // As many as may be outstanding where each exchange opens the link.
                depth: match mildest.connect {
                    Connect::Each => mildest.setting.depth,
                    Connect::Once => most(&self.space.depth),
                },
            },
            ..mildest
        };
        for at in [&mildest, &wildest] {
            match &self.kind {
                Kind::Exchanges(of) => {
                    wiregauge_measure::exchange::check(&of.plan(self, at, 1, false))?;
                }
                Kind::Stream(of) => {
                    wiregauge_measure::stream::check(&of.plan(self, at, 1))?;
                }
            }
        }
        Ok(())
    }

    /// Leaves out what the device said that it cannot take; gives what was left out, in words.
    pub fn heed(&mut self, responder: &Responder) -> Vec<String> {
        if !matches!(self.kind, Kind::Exchanges(_)) {
            return Vec::new();
        }
        let mut printed = Vec::new();
        let most_outstanding = match responder.max_outstanding {
            0 => u32::MAX,
            most => most,
        };
        let space = &mut self.space;
        for (flag, list, most) in [
            ("--out", &mut space.out_bytes, responder.max_out_bytes),
            ("--in", &mut space.in_bytes, responder.max_in_bytes),
            ("--depth", &mut space.depth, most_outstanding),
        ] {
            let before = list.len();
            list.retain(|value| *value <= most);
            if list.len() < before {
                let out = before - list.len();
                let name = &responder.name;
                printed.push(format!(
                    "the device ({name}) supports {flag} up to {most}: {out} of {before} skipped"
                ));
            }
        }
        printed
    }

    /// What tells whether a link lives: some exchanges, or a third of a second of a stream, in which
    /// even a busy host comes back.
    pub fn sign_of_life(&self) -> u64 {
        match &self.kind {
            Kind::Exchanges(_) => 8,
            Kind::Stream(_) => 300,
        }
    }

    /// What a run at a candidate takes of the host's and the device's time where so much is asked for:
    /// exchanges with those that are not counted, milliseconds of a stream.
    pub fn cost(&self, at: &Candidate, asked: u64) -> u64 {
        match &self.kind {
            // The first one is kept apart.
            Kind::Exchanges(_) => {
                let all = Exchanges::count(at, asked).saturating_add(Exchanges::warmup(at));
                all.saturating_add(1)
            }
            Kind::Stream(_) => asked.max(LEAST_MS),
        }
    }

    /// How much of that enters the statistics.
    pub fn counted(&self, at: &Candidate, cost: u64) -> u64 {
        match &self.kind {
            Kind::Exchanges(_) => cost.saturating_sub(Exchanges::warmup(at) + 1),
            Kind::Stream(_) => cost,
        }
    }

    /// The sizes of a candidate as they stand on the wire: an echo answers what it got.
    pub fn sizes(&self, at: &Candidate) -> (u32, u32) {
        let Setting {
            out_bytes,
            in_bytes,
            ..
        } = at.setting;
        match &self.kind {
            Kind::Exchanges(of) if of.protocol == Protocol::Echo => (out_bytes, out_bytes),
            _ => (out_bytes, in_bytes),
        }
    }

    /// What a stream transfers at once at a candidate.
    pub fn transfer(&self, at: &Candidate) -> u32 {
        at.setting.out_bytes.max(at.setting.in_bytes)
    }

    /// A candidate in words: what may be chosen, and the sizes.
    pub fn name(&self, at: &Candidate) -> String {
        let depth = at.setting.depth;
        let mut name = match &self.kind {
            Kind::Exchanges(_) => {
                let (out_bytes, in_bytes) = self.sizes(at);
                let setting = Setting {
                    out_bytes,
                    in_bytes,
                    depth,
                };
                setting.to_string()
            }
            Kind::Stream(of) => {
                let way = of.direction.name().to_uppercase();
                let bytes = grouped(self.transfer(at).into());
                format!("{way}, transfers of {bytes} B, queue {depth}")
            }
        };
        if self.space.wait.len() > 1 || at.wait != Wait::Block {
            name += &format!(", wait {}", at.wait.name());
        }
        if self.space.connect.len() > 1 || at.connect != Connect::Once {
            name += &format!(", connect {}", at.connect.name());
        }
        name
    }

    /// The baud rate that was asked for.
    pub fn baud(&self) -> Option<u32> {
        self.link.baud
    }

    /// The flags of the link and of the host that every run of the search had.
    pub fn shared_flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        let mut flag = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                flags.extend([name.to_owned(), value]);
            }
        };
        flag("--baud", self.link.baud.map(|baud| baud.to_string()));
        let has_timeout = self.timeout != TIMEOUT;
        flag(
            "--timeout",
            has_timeout.then(|| loop_model::duration(self.timeout)),
        );
        flag("--priority", self.host.priority.map(|n| n.to_string()));
        flag("--pin", self.host.pin.map(|n| n.to_string()));
        let load = self.host.load;
        if load != HostLoad::default() {
            let (cpu, memory) = (load.cpu, load.memory);
            flag("--host-load", Some(format!("cpu={cpu},memory={memory}")));
        }
        if self.host.lock_memory {
            flags.push("--lock-memory".into());
        }
        flags
    }

    /// What starts another program with the priority and on the processor of the search.
    pub fn program_prefix(&self) -> Option<String> {
        let priority = self.host.priority.map(|n| format!("chrt -f {n}"));
        let pin = self.host.pin.map(|n| format!("taskset -c {n}"));
        let words: Vec<String> = priority.into_iter().chain(pin).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The figure of what was taken; of a constraint with a way, of that alone.
    pub fn value(&self, constraint: &Constraint, taken: &Taken) -> Option<Estimate> {
        match (taken, constraint.way) {
            (Taken::Stream(point), Some(way)) => {
                let flow = point.flows.iter().find(|flow| flow.way == way)?;
                constraint.figure.of_flow(flow)
            }
            // It lies among the exchanges that were not answered.
            (Taken::Exchanges { point, .. }, _) if constraint.unanswered_share(point).is_some() => {
                None
            }
            _ => taken.figure(constraint.figure),
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

fn given(sizes: &Option<Sizes>) -> Option<Vec<u32>> {
    sizes.as_ref().map(|Sizes(list)| list.clone())
}

fn of_exchanges(args: &TuneArgs) -> (Kind, Space) {
    let protocol = protocol_of(args.protocol, &args.address);
    let (out, in_) = (given(&args.out), given(&args.in_));
    let (out_bytes, in_bytes) = match protocol {
        Protocol::Wiregauge => (out.unwrap_or(vec![16]), in_.unwrap_or(vec![48])),
        // What comes back is what was sent: one size to choose.
        Protocol::Echo => (out.or(in_).unwrap_or(vec![64]), vec![0]),
        // `tune` has no flag for the protocols with queries.
        Protocol::Lines
        | Protocol::Text
        | Protocol::Scpi
        | Protocol::Modbus
        | Protocol::GetStatus => (
            out.unwrap_or(vec![crate::commands::plan::LINE]),
            in_.unwrap_or(vec![0]),
        ),
    };
    let mut space = Space {
        out_bytes,
        in_bytes,
        depth: Vec::new(),
        wait: args.wait.iter().map(|&wait| wait.into()).collect(),
        connect: args.connect.iter().map(|&each| each.into()).collect(),
    };
    if space.wait.is_empty() {
        space.wait.push(Wait::Block);
    }
    if space.connect.is_empty() {
        space.connect.push(Connect::Once);
    }
    space.depth = given(&args.depth).unwrap_or_else(|| match space.connect[..] {
        [Connect::Each] => vec![1],
        _ => (1..=16).collect(),
    });
    let calibrate = !args.no_calibration;
    (
        Kind::Exchanges(Exchanges {
            protocol,
            calibrate,
        }),
        space,
    )
}

fn of_streams(args: &TuneArgs) -> (Kind, Space) {
    let direction = args.direction.map_or(Direction::In, Direction::from);
    let sizes = given(&args.transfer).unwrap_or_else(|| {
        let doubled = |at: &u32| Some(at * 2).filter(|next| *next <= 1 << 16);
        std::iter::successors(Some(64), doubled).collect()
    });
    let queue = given(&args.queue).unwrap_or_else(|| match args.address.starts_with("usb:") {
        true => (1..=32).collect(),
        false => vec![1],
    });
    let (out_bytes, in_bytes) = match direction {
        Direction::Out => (sizes, vec![0]),
        Direction::In | Direction::Both => (vec![0], sizes),
    };
    let space = Space {
        out_bytes,
        in_bytes,
        depth: queue,
        wait: vec![Wait::Block],
        connect: vec![Connect::Once],
    };
    (Kind::Stream(Flowing { direction }), space)
}

impl Exchanges {
    /// Exchanges that are made at a candidate where so many are asked for: enough to see more than
    /// how the requests ahead come in.
    pub fn count(at: &Candidate, asked: u64) -> u64 {
        asked.max(LAPS * u64::from(at.setting.depth))
    }

    /// Those that are not counted in addition: while they fill what may be outstanding, they start
    /// one right behind the other.
    pub fn warmup(at: &Candidate) -> u64 {
        match at.setting.depth {
            1 => 0,
            depth => u64::from(depth),
        }
    }

    /// A run of one point. `whole`: with the host's floor, and as patient as `exchange`.
    pub fn plan(&self, task: &Task, at: &Candidate, count: u64, whole: bool) -> Plan {
        let (out_bytes, in_bytes) = task.sizes(at);
        Plan {
            address: task.address.clone(),
            more_links: Vec::new(),
            protocol: self.protocol,
            queries: None,
            connect: at.connect,
            points: vec![Point {
                index: 0,
                out_bytes,
                in_bytes,
                depth: at.setting.depth,
                link: 0,
                together: false,
            }],
            limit: Limit::Count(Exchanges::count(at, count)),
            warmup: Exchanges::warmup(at),
            schedule: Schedule::AsFastAsPossible,
            timeout_ns: nanoseconds(task.timeout),
            give_up: if whole { 10 } else { GIVE_UP },
            wait: at.wait,
            below_ns: Vec::new(),
            keep_data: false,
            batch: None,
            calibrate: whole && self.calibrate,
            host: task.host.clone(),
            link: task.link.clone(),
        }
    }
}

impl Flowing {
    /// A run of one point, so many milliseconds long.
    pub fn plan(&self, task: &Task, at: &Candidate, milliseconds: u64) -> StreamPlan {
        StreamPlan {
            address: task.address.clone(),
            protocol: StreamProtocol::Wiregauge,
            pattern: None,
            more_links: Vec::new(),
            points: vec![StreamPoint {
                index: 0,
                direction: self.direction,
                transfer_bytes: task.transfer(at),
                queue: at.setting.depth,
                link: 0,
                together: false,
            }],
            duration_ns: milliseconds.max(LEAST_MS).saturating_mul(1_000_000),
            settle_ns: nanoseconds(SETTLE),
            check: true,
            timeout_ns: nanoseconds(task.timeout),
            rates_bytes_s: Vec::new(),
            loss: 1e-6,
            host: task.host.clone(),
            link: task.link.clone(),
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
