//! What limits an exchange, with the figures that say so, in words that name what to try. A verdict agrees with every
//! other point of its run, and tries nothing that the plan or the device refuses.

use crate::depth::{
    EQUAL, is_telling, most_outstanding, needed, one_at_a_time, silence_ns, unanswered,
};
use crate::exchange::{ExchangeSplit, name_of_rest, split};
use crate::verdict::{BEHIND, Verdict, VerdictKind as Kind, busy_device, full_bus, gain, tries};
use wiregauge_quantity::{about_time, exact_time, percent, time, times};
use wiregauge_record::{
    Conditions, Connect, Ending, Keeping, Limit, Plan, Point, PointSummary, Schedule, Wait, grouped,
};
use wiregauge_stats::Distribution;

/// Part of the RTT from which a side is said to dominate.
const MOST: f64 = 0.5;
/// A TRT within this factor of the period is the period.
const KEPT: f64 = 1.01;
/// A gain that says more than the device's part of the RTT does.
const GAIN: f64 = 1.25;
/// A gain up to this part more than that of the depths may be chance.
const CHANCE: f64 = 1.1;
const TRY_DEPTH: u32 = 4;
/// The setting of a serial link that contains FTDI's latency timer.
const TIMER_SETTING: &str = "latency timer (ms)";
/// A shorter timer is not distinguishable from the frames of the bus.
const LEAST_TIMER_MS: u32 = 4;
/// Requests in the device on average, by its clock, from which a higher depth may only make them wait there.
const OCCUPIED: f64 = 0.90;
/// A full-speed frame.
const FRAME_NS: f64 = 1e6;
/// Part of the time of all places that lost requests hold, from which nothing else is worth a verdict.
const LOSING: f64 = 0.10;

/// Explains an exchange run by its plan, its conditions and the summaries of its points.
pub fn of_exchange(
    plan: &Plan,
    conditions: &Conditions,
    points: &[PointSummary],
) -> Vec<ExchangeSplit> {
    let splits = points.iter().map(|point| split(conditions, point));
    let mut splits: Vec<ExchangeSplit> = splits.collect();
    let rest = name_of_rest(&splits);
    let verdicts = splits.iter().zip(points).map(|(split, here)| {
        let case = Case {
            plan,
            conditions,
            points,
            here,
            split,
        };
        case.verdict(rest)
    });
    let verdicts: Vec<Verdict> = verdicts.collect();
    for (split, verdict) in splits.iter_mut().zip(verdicts) {
        split.words.clone_from(&verdict.words);
        split.verdict = verdict;
    }
    splits
}

/// A point with its run.
struct Case<'a> {
    plan: &'a Plan,
    conditions: &'a Conditions,
    points: &'a [PointSummary],
    here: &'a PointSummary,
    split: &'a ExchangeSplit,
}

impl Case<'_> {
    /// The first that holds; `rest`: what `wire_ns` is called.
    fn verdict(&self, rest: &str) -> Verdict {
        let (here, depth) = (self.here, self.here.point.depth);
        let (Some(rtt_ns), Some(trt_ns)) = (self.split.rtt_ns, self.split.trt_ns) else {
            return self.too_few();
        };
        if let Schedule::EveryNs(every_ns) = self.plan.schedule {
            return self.scheduled(every_ns.max(1), trt_ns);
        }
        if here.counts.exchanges < needed(depth) {
            return self.too_few();
        }
        let first = self.losses().or_else(|| self.bus());
        if let Some(first) = first.or_else(|| self.latency_timer()) {
            return first;
        }
        let device = self.mostly_device(rtt_ns.max(1.0));
        if self.plan.connect == Connect::Each {
            return device.unwrap_or_else(|| self.connection(rest));
        }
        let depths = Depths::of(self.points, here);
        let faster = |most: f64| self.faster_depth(&depths, most);
        faster(GAIN)
            .or_else(|| self.host_behind(trt_ns))
            .or_else(|| self.busy_device(trt_ns))
            // Of several at a time, the device's part includes requests that wait in it.
            .or_else(|| faster(1.0 / EQUAL).filter(|_| depth > 1))
            .or(device)
            .or_else(|| faster(1.0 / EQUAL))
            .or_else(|| self.slowest_stage(&depths, trt_ns))
            .unwrap_or_else(|| self.depth_unknown(trt_ns))
    }

    fn too_few(&self) -> Verdict {
        let (exchanges, needed) = (self.here.counts.exchanges, needed(self.here.point.depth));
        let words = match self.split.rtt_ns {
            None => "no exchange was answered at this point".to_owned(),
            Some(_) => format!(
                "too few exchanges to find the bottleneck ({}; {} are needed). {}",
                grouped(exchanges),
                grouped(needed),
                enough(self.plan, self.here)
            ),
        };
        Verdict::new(Kind::TooFew, words)
    }

    /// Of a run whose plan says when an exchange starts.
    fn scheduled(&self, every_ns: u64, trt_ns: f64) -> Verdict {
        let (plan, here, period_ns) = (self.plan, self.here, every_ns as f64);
        let late_ns = match here.keeping(plan.schedule).zip(here.lateness) {
            None | Some((Keeping::LateAtEnd, _)) => {
                let words = "this run does not show whether the schedule was kept";
                return Verdict::new(Kind::Schedule, words).with("under_way", None::<f64>);
            }
            Some((Keeping::Kept | Keeping::LateStarts, _)) => {
                let under_way = self.split.total_ns().unwrap_or(0.0) / period_ns;
                let part = match under_way > 1.0 {
                    true => format!("{under_way:.1} periods"),
                    false => format!("{} of its period", percent(under_way)),
                };
                let words =
                    format!("the schedule limits the rate: an exchange is outstanding for {part}");
                return Verdict::new(Kind::Schedule, words).with("under_way", under_way);
            }
            Some((Keeping::FallsBehind, lateness)) => lateness.end_ns as f64,
        };
        let depth = here.point.depth;
        let max = |of: &Option<Distribution>| of.as_ref().map_or(0.0, |of| of.max);
        let awaited_ns = match here.counts.lost + here.counts.late {
            0 => 0.0,
            _ => plan.timeout_ns as f64,
        };
        let longest_ns = max(&here.connect) + max(&here.rtt).max(awaited_ns);
        let silence_ns = silence_ns(plan) as f64;
        // Medians, because a single stall makes both means longer.
        let median = |of: &Option<Distribution>| of.as_ref().map_or(0.0, |of| of.p50.value);
        let exchange_ns = median(&here.connect) + median(&here.rtt) + silence_ns;
        let left_ns = period_ns * f64::from(depth);
        let is_slow = exchange_ns > left_ns || median(&here.trt) > KEPT * period_ns;
        // With exchanges as short as that, there is always one more to start.
        let is_host = longest_ns + silence_ns <= left_ns;
        // What lets exchanges start although earlier ones are outstanding.
        let or = match plan.connect {
            Connect::Each => ", or --connect once",
            Connect::Once if self.may_try_deeper(trt_ns) => ", or a higher --depth",
            Connect::Once => "",
        };
        let why = match (is_host, is_slow) {
            (true, _) => format!(
                "No exchange took longer than {}: the host started them late{}",
                time(longest_ns),
                self.faster_host()
            ),
            (false, true) => format!(
                "One exchange starts every {} on average. Try an --interval above that{or}",
                time(trt_ns)
            ),
            (false, false) => format!(
                "Single exchanges were outstanding for up to {} and delayed later ones. Try a longer --interval{or}",
                time(longest_ns)
            ),
        };
        let words = format!(
            "the schedule was not kept: the last request started {} late, with a period of {}. {why}",
            time(late_ns),
            exact_time(every_ns)
        );
        Verdict::new(Kind::Behind, words)
            .with("late_ns", late_ns)
            .with("longest_ns", longest_ns)
            .with("trt_ns", (!is_host && is_slow).then_some(trt_ns))
    }

    fn losses(&self) -> Option<Verdict> {
        let (timeout_ns, counts) = (self.plan.timeout_ns, &self.here.counts);
        let waited = waited(self.plan, self.here);
        let limit = "losses limit the rate";
        let words = format!(
            "{limit}: {} of {} exchanges got no response within {}",
            grouped(counts.lost + counts.late),
            grouped(counts.exchanges),
            exact_time(timeout_ns)
        );
        let verdict = Verdict::new(Kind::Losses, words).with("waited", waited);
        (waited >= LOSING).then(|| verdict.short(limit))
    }

    fn bus(&self) -> Option<Verdict> {
        let limit = self.here.limit.as_ref()?;
        let used = full_bus(limit)?;
        let (part, source) = (percent(used), &limit.source);
        let words = format!("the bus; {part} of it is used ({source})");
        let verdict = Verdict::new(Kind::Bus, words).short("bottleneck: the bus");
        Some(verdict.with("used", used))
    }

    /// Where the median RTT at depth 1 lies within a frame of the latency timer of an FTDI adapter; at a larger depth, where
    /// it is not shorter either.
    fn latency_timer(&self) -> Option<Verdict> {
        let here = self.here;
        let link = match here.point.link.checked_sub(1) {
            None => &self.conditions.link,
            Some(further) => &self.conditions.more_links.get(further as usize)?.link,
        };
        let setting = link.settings.iter().find(|(key, _)| key == TIMER_SETTING);
        let timer_ms: u32 = setting?.1.parse().ok()?;
        let timer_ns = 1e6 * f64::from(timer_ms);
        let median = |point: &PointSummary| point.rtt.as_ref().map(|rtt| rtt.p50.value);
        let waits = self.points.iter().any(|one| {
            let near = median(one).is_some_and(|ns| (ns - timer_ns).abs() <= FRAME_NS);
            near && one.point.depth == 1 && alike(one.point, here.point)
        });
        let median_ns = median(here)?;
        if timer_ms < LEAST_TIMER_MS || !waits || median_ns < timer_ns - FRAME_NS {
            return None;
        }
        let words = format!(
            "the latency timer of the FTDI adapter, {timer_ms} ms (median RTT {}). Received bytes that do not fill a \
             packet of 62 wait for it, so a higher depth does not shorten the RTT. Try wiregauge doctor --only \
             ftdi-latency --fix",
            time(median_ns)
        );
        let short = format!(
            "bottleneck: the FTDI adapter's latency timer ({timer_ms} ms), which a higher --depth does not shorten"
        );
        let verdict = Verdict::new(Kind::LatencyTimer, words).short(short);
        Some(verdict.with("median_ns", median_ns))
    }

    /// Most of the RTT is the device's.
    fn mostly_device(&self, rtt_ns: f64) -> Option<Verdict> {
        let share = self.split.share(self.split.device_ns);
        share.filter(|&share| share >= MOST)?;
        let device_ns = self.split.device_ns?;
        let part = percent(device_ns / rtt_ns);
        let words = format!(
            "the device; {part} of the RTT is device time, including requests queued in the device"
        );
        let short = format!("bottleneck: the device ({part} of the RTT is device time)");
        let verdict = Verdict::new(Kind::Device, words).short(short);
        Some(verdict.with("device_ns", device_ns))
    }

    /// Enough are outstanding, and the device needs nearly the whole TRT for each by itself.
    fn busy_device(&self, trt_ns: f64) -> Option<Verdict> {
        let device_ns = busy_device(self.here)?;
        let between = format!("{} between two starts", time(trt_ns));
        let words = match device_ns >= trt_ns {
            true => format!("the device; it is busy for all of the {between}"),
            false => format!(
                "the device; it needs at least {} of the {between}",
                time(device_ns)
            ),
        };
        let verdict = Verdict::new(Kind::Device, words)
            .short("bottleneck: the device (it needs nearly the whole TRT)");
        Some(verdict.with("device_ns", device_ns))
    }

    /// What takes most of the time where each exchange opens the link.
    fn connection(&self, rest: &str) -> Verdict {
        let split = self.split;
        let share = split.share(split.connect_ns).unwrap_or(0.0);
        let parts = [
            ("device", split.device_ns),
            ("host", split.host_ns),
            (rest, split.wire_ns),
        ];
        let parts = parts.map(|(name, ns)| (name, split.share(ns).unwrap_or(0.0)));
        let largest = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let larger = largest.filter(|(_, part)| *part > share);
        let of_each = |share| format!("{} of each exchange", percent(share));
        let larger = larger.map(|(name, part)| format!("{name}: {}", of_each(part)));
        let opening = format!("opening the link takes {}", of_each(share));
        let before = larger.as_ref();
        let before = before.map_or(String::new(), |larger| format!("{larger}; "));
        let words = format!(
            "{before}{opening} (--connect each), and exchanges cannot overlap. Try --connect once"
        );
        Verdict::new(Kind::Connection, words)
            .short(larger.unwrap_or(opening))
            .with("share", share)
    }

    /// A larger depth gained more than this, or this point is slower than a smaller one, too.
    fn faster_depth(&self, depths: &Depths, most: f64) -> Option<Verdict> {
        let here = self.here.point.depth;
        let (depth, faster) = depths.faster?;
        let smaller = depths.smaller_faster.filter(|_| faster > 1.0 / EQUAL);
        if smaller.is_none() && faster <= most {
            return None;
        }
        let words = if let Some(smaller) = smaller {
            format!(
                "slower than depth {smaller} and depth {depth} with the same sizes, which depth does not explain: a \
                 disturbance at this point, or scatter. Measure again"
            )
        } else {
            let one_by_one = match here {
                1 => "host, wire and device work one after the other".to_owned(),
                _ => {
                    format!("at depth {here}, host, wire and device all wait for part of the time")
                }
            };
            let ratio = f64::from(depth) / f64::from(here.max(1));
            let other = match faster > CHANCE * ratio {
                true => format!(
                    ". Depth alone explains at most {}: other conditions differed too (load, CPU clock). Measure again",
                    times(ratio)
                ),
                false => String::new(),
            };
            format!(
                "{one_by_one}. At depth {depth}, throughput is {}{other}",
                gain(faster)
            )
        };
        let verdict = Verdict::new(Kind::FasterDepth, words)
            .with("depth", f64::from(depth))
            .with("smaller", smaller.map(f64::from));
        Some(verdict.with("faster", faster))
    }

    /// More at a time were asked for than were outstanding: the host starts them too slowly.
    fn host_behind(&self, trt_ns: f64) -> Option<Verdict> {
        let (achieved, depth) = (self.split.achieved_depth, self.here.point.depth);
        let silent = silence_ns(self.plan) as f64 / trt_ns.max(1.0);
        let reached = achieved + self.here.drained_depth(self.plan.timeout_ns) + silent;
        if reached >= BEHIND * f64::from(depth) {
            return None;
        }
        let decimals = if achieved < 1.0 { 2 } else { 1 };
        let words = format!(
            "the host; {achieved:.decimals$} of {depth} exchanges were outstanding on average{}",
            self.faster_host()
        );
        let short = format!("bottleneck: the host (depth {achieved:.1} of {depth} achieved)");
        let verdict = Verdict::new(Kind::HostBehind, words).short(short);
        Some(verdict.with("achieved", achieved))
    }

    fn slowest_stage(&self, depths: &Depths, trt_ns: f64) -> Option<Verdict> {
        let (other, faster) = depths.saturated?;
        let needs_ns = depths.shortest_ns.unwrap_or(trt_ns);
        let saturated = match other > self.here.point.depth {
            true => format!("no significant gain up to depth {other}"),
            false if faster > 1.0 / EQUAL => {
                format!("depth {other} is {} faster", percent(faster - 1.0))
            }
            false => format!("depth {other} is as fast"),
        };
        let words = format!(
            "saturated: {saturated}. The slowest of device, bus and host needs {} per exchange",
            time(needs_ns)
        );
        Some(Verdict::new(Kind::SlowestStage, words).with("needs_ns", needs_ns))
    }

    /// True if the device allows a larger depth, has no request for part of the time, and no larger depth of the run
    /// failed to keep the schedule.
    fn may_try_deeper(&self, trt_ns: f64) -> bool {
        let (here, schedule) = (self.here.point, self.plan.schedule);
        let mut deeper = self.points.iter().filter(|there| {
            let there = there.point;
            alike(there, here) && there.depth > here.depth
        });
        let falls_behind = |there: &PointSummary| {
            let keeping = there.keeping(schedule);
            matches!(keeping, Some(Keeping::FallsBehind | Keeping::LateAtEnd))
        };
        self.most_outstanding() > here.depth
            && !self.is_occupied(trt_ns)
            && !deeper.any(falls_behind)
    }

    /// True if the device has a request nearly all the time.
    fn is_occupied(&self, trt_ns: f64) -> bool {
        let device_ns = self.split.device_ns.unwrap_or(0.0);
        device_ns > OCCUPIED * trt_ns
    }

    /// The run does not show whether a larger depth is faster.
    fn depth_unknown(&self, trt_ns: f64) -> Verdict {
        let depth = self.here.point.depth;
        if let Some(unfinished) = self.unfinished() {
            let (why, remedy) = self.why_unfinished(unfinished);
            let words = format!(
                "{why}, so this run does not show whether a higher depth is faster. {remedy}"
            );
            let verdict = Verdict::new(Kind::DepthUnknown, words);
            return verdict.with("unfinished", f64::from(unfinished));
        }
        let unknown =
            |words: String| Verdict::new(Kind::DepthUnknown, words).with("unfinished", None::<f64>);
        if self.is_occupied(trt_ns) {
            let words = "this run does not show whether a higher depth is faster";
            return unknown(words.to_owned()).with("try_depth", None::<f64>);
        }
        let deeper = match depth {
            1 => TRY_DEPTH,
            deep => deep.saturating_mul(2),
        };
        let allowed = deeper.min(self.most_outstanding());
        let more = (allowed > depth).then_some(allowed);
        let share = self.split.share(self.split.device_ns);
        let device = match share {
            Some(share) => format!("the device is idle for {} of the RTT", percent(1.0 - share)),
            None => "the part of the device is not known".to_owned(),
        };
        let (words, short) = match (depth, more) {
            (1, Some(more)) => {
                let gains = share.map_or(": what it gains was waiting time", |_| "");
                let words = format!("{device}. Try --depth {more}{gains}");
                (
                    words,
                    "one exchange at a time: a higher --depth may be faster".to_owned(),
                )
            }
            (1, None) => {
                let only = one_at_a_time(self.plan);
                (format!("{device}; {only}"), only)
            }
            (_, Some(more)) => {
                let words = format!(
                    "no bottleneck found; a higher depth may be faster. Try --depth {more}"
                );
                (words, "a higher --depth may be faster".to_owned())
            }
            (_, None) => {
                let words = "the device allows no higher depth".to_owned();
                (words, "the device allows no higher --depth".to_owned())
            }
        };
        unknown(words)
            .short(short)
            .with("try_depth", more.map(f64::from))
    }

    /// The depth that keeps the run from showing whether a larger one is faster: this one, if it has losses and there
    /// are others; else the smallest larger one that is not telling.
    fn unfinished(&self) -> Option<u32> {
        let here = self.here;
        let planned = self.plan.points.iter().copied();
        let all = planned.chain(self.points.iter().map(|other| other.point));
        let mut others =
            all.filter(|there| alike(*there, here.point) && there.depth != here.point.depth);
        if !is_telling(here) {
            return others.next().map(|_| here.point.depth);
        }
        let deeper = others.filter(|there| there.depth > here.point.depth);
        let depths = deeper.map(|there| there.depth);
        depths
            .filter(|&depth| !self.measured(depth).is_some_and(is_telling))
            .min()
    }

    /// Why the run does not show what this depth is worth, and what to do.
    fn why_unfinished(&self, depth: u32) -> (String, String) {
        match self.measured(depth) {
            None => (
                format!("depth {depth} was not measured"),
                "Measure again".into(),
            ),
            Some(few) if few.counts.exchanges < needed(depth) => (
                format!(
                    "depth {depth} has too few exchanges ({}; {} are needed)",
                    grouped(few.counts.exchanges),
                    grouped(needed(depth))
                ),
                enough(self.plan, few),
            ),
            Some(there) => (
                format!(
                    "{} of {} exchanges at depth {depth} got no correct response in time",
                    grouped(unanswered(&there.counts)),
                    grouped(there.counts.exchanges)
                ),
                "Find the cause, then measure again".into(),
            ),
        }
    }

    /// The point of this depth that is like this one otherwise.
    fn measured(&self, depth: u32) -> Option<&PointSummary> {
        let mut points = self.points.iter();
        points.find(|there| alike(there.point, self.here.point) && there.point.depth == depth)
    }

    fn most_outstanding(&self) -> u32 {
        most_outstanding(self.plan, self.conditions, self.here.point.link)
    }

    /// What makes the host start exchanges sooner, and was not used.
    fn faster_host(&self) -> String {
        let host = &self.plan.host;
        tries(&[
            ("--priority", host.priority.is_none()),
            ("--pin", host.pin.is_none()),
            ("--wait spin", self.plan.wait != Wait::Spin),
        ])
    }
}

/// True if both differ in depth at most.
fn alike(one: Point, other: Point) -> bool {
    let sizes = (one.out_bytes, one.in_bytes) == (other.out_bytes, other.in_bytes);
    sizes && (one.link, one.together) == (other.link, other.together)
}

/// What gives a point the exchanges that it needs.
fn enough(plan: &Plan, few: &PointSummary) -> String {
    let needed = needed(few.point.depth);
    match plan.limit {
        Limit::Count(count) if count < needed => format!("Try --count {needed}"),
        Limit::DurationNs(_) if few.ending == Ending::Complete => {
            let each_ns = few.elapsed_ns as f64 / few.counts.exchanges.max(1) as f64;
            format!(
                "Try a --duration of {} or more",
                about_time(each_ns * needed as f64)
            )
        }
        _ => "Measure again".into(),
    }
}

/// Part of the time of all places of the queue that is held by requests whose responses did not arrive in time, without the
/// recovery after them: what the answered exchanges leave of the time that all were outstanding, at most the timeout for
/// each, since a loss that ended the run waited less.
fn waited(plan: &Plan, summary: &PointSummary) -> f64 {
    let elapsed_ns = summary.elapsed_ns.max(1) as f64;
    let answered_ns = (summary.rtt.as_ref()).map_or(0.0, |rtt| rtt.mean.value * rtt.n as f64);
    let others_ns = (summary.achieved_depth * elapsed_ns - answered_ns).max(0.0);
    let missing = summary.counts.lost + summary.counts.late;
    let waited_ns = others_ns.min(missing as f64 * plan.timeout_ns as f64);
    let places = f64::from(summary.point.depth.max(1));
    (waited_ns / (places * elapsed_ns)).min(1.0)
}

/// What the other depths of the same exchange say of a point.
struct Depths {
    /// The fastest larger depth, and how many times as fast it is.
    faster: Option<(u32, f64)>,
    /// The smallest depth that is faster although it is smaller.
    smaller_faster: Option<u32>,
    /// A depth that shows saturation where none is faster: the largest one, else a smaller one that is as
    /// fast; and how many times as fast it is.
    saturated: Option<(u32, f64)>,
    /// The shortest mean TRT of all, in nanoseconds.
    shortest_ns: Option<f64>,
}

impl Depths {
    fn of(points: &[PointSummary], summary: &PointSummary) -> Depths {
        let (point, here) = (summary.point, summary.throughput.exchanges_s);
        let others = points.iter().filter(|other| {
            alike(other.point, point) && here > 0.0 && is_telling(summary) && is_telling(other)
        });
        let rates = || {
            others
                .clone()
                .map(|other| (other.point.depth, other.throughput.exchanges_s / here))
        };
        let deeper = || rates().filter(|&(depth, _)| depth > point.depth);
        let smaller = rates().filter(|&(depth, rate)| depth < point.depth && rate >= EQUAL);
        let deepest = deeper().max_by_key(|(depth, _)| *depth);
        let above = rates().filter(|&(depth, rate)| depth < point.depth && rate > 1.0 / EQUAL);
        let all = others.clone().chain([summary]);
        let trts = all.filter_map(|at| Some(at.trt.as_ref()?.mean.value));
        Depths {
            faster: deeper().max_by(|a, b| a.1.total_cmp(&b.1)),
            smaller_faster: above.map(|(depth, _)| depth).min(),
            saturated: deepest.or_else(|| smaller.min_by_key(|(depth, _)| *depth)),
            shortest_ns: trts.reduce(f64::min),
        }
    }
}
