//! The split of exchanges, on summaries made by hand.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;

use common::{conditions_with_floor, exchange_point, plan, says};
use wiregauge_explain::{VerdictKind, name_of_rest, of_exchange};
use wiregauge_record::{
    BusLimit, Conditions, Connect, Limit, Plan, PointSummary, Protocol, Queries, Query, ReplyEnd,
    Responder, Schedule,
};

fn explain(points: &[PointSummary]) -> Vec<wiregauge_explain::ExchangeSplit> {
    of_exchange(&plan(), &conditions_with_floor(20.0), points)
}

#[test]
fn device_host_and_wire_add_up_to_the_rtt() {
    let split = &explain(&[exchange_point(1, 270.0, Some(100.0))])[0];
    assert_eq!(split.device_ns, Some(100_000.0));
    assert_eq!(split.host_ns, Some(20_000.0));
    assert_eq!(split.wire_ns, Some(150_000.0));
    assert_eq!(
        split.floor.as_deref(),
        Some("serial echo on this host, 64 B")
    );
}

#[test]
fn a_floor_above_what_is_left_takes_no_more_than_that() {
    let split = &explain(&[exchange_point(1, 110.0, Some(100.0))])[0];
    assert_eq!((split.host_ns, split.wire_ns), (Some(10_000.0), Some(0.0)));
}

#[test]
fn without_a_device_clock_or_a_floor_nothing_is_made_up() {
    let points = [exchange_point(1, 270.0, None)];
    let split = &of_exchange(&plan(), &Conditions::default(), &points)[0];
    assert_eq!((split.device_ns, split.host_ns), (None, None));
    assert_eq!(split.wire_ns, Some(270_000.0));
    says(&split.words, "not known");
}

#[test]
fn the_rest_contains_the_device_where_any_point_lacks_its_time() {
    let known = exchange_point(1, 270.0, Some(100.0));
    let unknown = exchange_point(4, 270.0, None);
    let mut unanswered = unknown.clone();
    unanswered.rtt = None;
    let name = |points: &[PointSummary]| name_of_rest(&explain(points));
    let all = [known.clone(), unknown];
    assert_eq!(name(&all), "device, wire and waiting");
    assert_eq!(name(&[known, unanswered]), "wire and waiting");
}

#[test]
fn a_device_that_computes_most_of_the_time_limits() {
    let split = &explain(&[exchange_point(1, 270.0, Some(200.0))])[0];
    assert_eq!(split.verdict.kind, VerdictKind::Device);
    says(&split.words, "74.1 %");
}

#[test]
fn an_idle_device_at_depth_1_is_worth_a_deeper_try_or_its_measured_gain() {
    let one = exchange_point(1, 270.0, Some(27.0));
    let alone = &explain(std::slice::from_ref(&one))[0];
    let idle = "the device is idle for 90 % of the RTT. Try";
    assert!(alone.words.starts_with(idle), "{}", alone.words);
    assert!(alone.words.contains("Try --depth 4"), "{}", alone.words);
    let both = explain(&[one, exchange_point(4, 360.0, Some(27.0))]);
    says(
        &both[0].words,
        "At depth 4, throughput is 3.00 times as high",
    );
    assert_eq!(both[1].verdict.kind, VerdictKind::DepthUnknown);
    assert_eq!(both[1].verdict.figure("try_depth"), Some(8.0));
}

#[test]
fn a_device_that_is_busy_from_start_to_start_limits_however_long_the_rtt() {
    // 4 outstanding every 250 us, of which the device computes 230 us.
    let split = &explain(&[exchange_point(4, 1_000.0, Some(230.0))])[0];
    says(&split.words, "230.0 us of the 250.0 us");
    // Its shortest time may include some waiting for the exchange before.
    let split = &explain(&[exchange_point(4, 1_000.0, Some(255.0))])[0];
    assert!(
        split
            .words
            .ends_with("all of the 250.0 us between two starts"),
        "{}",
        split.words
    );
    // More than the TRT: several at once, or requests wait in the device, so that does not tell who limits.
    let split = &explain(&[exchange_point(4, 1_000.0, Some(400.0))])[0];
    assert_eq!(
        split.words,
        "this run does not show whether a higher depth is faster"
    );
    assert_eq!(split.verdict.short, None);
}

#[test]
fn several_at_a_time_that_a_deeper_point_outdoes_are_not_said_to_be_enough() {
    let all = explain(&[
        exchange_point(2, 2_000.0, Some(300.0)),
        exchange_point(4, 2_000.0, Some(300.0)),
        exchange_point(8, 4_000.0, Some(300.0)),
    ]);
    assert!(
        all[0].words.contains("at depth 2") && all[0].words.contains("At depth 8"),
        "{}",
        all[0].words
    );
    let enough = |at: usize| all[at].verdict.kind == VerdictKind::SlowestStage;
    assert!(enough(1) && enough(2), "{:?}", all[1].verdict);
}

#[test]
fn a_depth_that_is_not_reached_is_the_host() {
    let mut point = exchange_point(8, 300.0, Some(10.0));
    point.achieved_depth = 2.1;
    let split = &explain(&[point])[0];
    says(&split.words, "2.1 of 8");
}

#[test]
fn a_schedule_sets_the_pace_itself() {
    let mut scheduled = plan();
    scheduled.schedule = Schedule::EveryNs(1_000_000);
    let mut point = exchange_point(1, 250.0, Some(10.0));
    let words = |point: &PointSummary| {
        let points = std::slice::from_ref(point);
        of_exchange(&scheduled, &Conditions::default(), points)[0]
            .words
            .clone()
    };
    // A run of an earlier version does not contain how late its requests started.
    let unknown = words(&point);
    assert!(unknown.contains("does not show whether"), "{unknown}");
    point.start_delay = common::always(20e3, 1_000);
    point.lateness = common::ended_late(20.0);
    let kept = words(&point);
    assert!(kept.contains("25 % of its period"), "{kept}");
}

/// A distribution of these values, in microseconds.
fn series(values: &[f64]) -> Option<wiregauge_stats::Distribution> {
    let mut series = wiregauge_stats::Series::new();
    let all = values.iter().map(|us| (us * 1e3) as u64);
    all.for_each(|ns| series.push(ns));
    series.distribution()
}

/// Exchanges that take so long and start so late, in microseconds.
fn scheduled(depth: u32, rtts_us: &[f64], late_us: &[f64]) -> PointSummary {
    let mut point = exchange_point(depth, 250.0, None);
    (point.rtt, point.start_delay) = (series(rtts_us), series(late_us));
    point.lateness = late_us.last().and_then(|&us| common::ended_late(us));
    point
}

#[test]
fn the_advice_for_a_schedule_that_was_not_kept_follows_from_what_delayed_the_starts() {
    let mut every_ms = plan();
    every_ms.schedule = Schedule::EveryNs(1_000_000);
    let words =
        |plan: &wiregauge_record::Plan, most: u32, mut point: PointSummary, trts_us: &[f64]| {
            point.trt = series(trts_us);
            let conditions = Conditions {
                responder: Some(Responder {
                    max_outstanding: most,
                    ..Responder::default()
                }),
                ..Conditions::default()
            };
            of_exchange(plan, &conditions, &[point]).remove(0).words
        };
    let late = [36_400.0; 100];
    let slow = scheduled(1, &[2_000.0; 100], &late);
    assert_eq!(
        words(&every_ms, 0, slow.clone(), &[2_010.0; 100]),
        "the schedule was not kept: the last request started 36.40 ms late, with a period of 1 ms. One exchange \
         starts every 2.010 ms on average. Try an --interval above that, or a higher --depth"
    );
    // A device that is busy for 97 % of the time between two starts has no room for more.
    let mut busy = slow.clone();
    busy.device = common::always(1.95e6, 100);
    let busy = words(&every_ms, 0, busy, &[2_010.0; 100]);
    assert!(busy.ends_with("Try an --interval above that"), "{busy}");
    // What the device or the connection does not allow is not tried.
    let one = words(&every_ms, 1, slow.clone(), &[2_010.0; 100]);
    assert!(one.ends_with("Try an --interval above that"), "{one}");
    let mut each = every_ms.clone();
    each.connect = Connect::Each;
    let each = words(&each, 0, slow, &[2_010.0; 100]);
    assert!(
        each.ends_with("Try an --interval above that, or --connect once"),
        "{each}"
    );
    let mut rtts = [250.0; 100];
    rtts[9] = 30_000.0;
    // A stall near the end makes the mean TRT longer than the period, which says nothing of the link.
    let mut trts = [1_000.0; 100];
    trts[99] = 4_000.0;
    let stalled = words(&every_ms, 0, scheduled(1, &rtts, &late), &trts);
    assert!(
        stalled.ends_with(
            "Single exchanges were outstanding for up to 30.00 ms and delayed later ones. Try a longer --interval, or a higher --depth"
        ),
        "{stalled}"
    );
    let host = words(
        &every_ms,
        0,
        scheduled(1, &[250.0; 100], &late),
        &[1_000.0; 100],
    );
    assert!(
        host.ends_with(
            "No exchange took longer than 250.0 us: the host started them late. Try --priority, --pin, --wait spin"
        ),
        "{host}"
    );
}

#[test]
fn no_higher_depth_is_tried_where_one_of_the_run_did_not_keep_the_schedule_either() {
    let mut every_ms = plan();
    every_ms.schedule = Schedule::EveryNs(1_000_000);
    let slow = |depth| {
        let mut point = scheduled(depth, &[2_000.0; 100], &[36_400.0; 100]);
        point.trt = series(&[2_010.0; 100]);
        point
    };
    let words = |points: &[PointSummary]| {
        let splits = of_exchange(&every_ms, &Conditions::default(), points);
        splits.into_iter().next().unwrap().words
    };
    let alone = words(&[slow(1)]);
    assert!(alone.ends_with(", or a higher --depth"), "{alone}");
    let both = words(&[slow(1), slow(4)]);
    assert!(!both.contains("--depth"), "{both}");
}

/// TRTs of a device on a full-speed bus with 4,000 B a response, measured at depths 1, 2 and 4.
fn knee() -> Vec<PointSummary> {
    [(1, 6.1), (2, 3.97), (4, 3.243)]
        .map(|(depth, trt_ms)| exchange_point(depth, f64::from(depth) * trt_ms * 1e3, None))
        .into()
}

#[test]
fn no_advice_contradicts_a_faster_point_of_the_run() {
    let all = explain(&knee());
    let words = &all[1].words;
    assert!(
        words.contains("At depth 4, throughput is 22.4 % higher"),
        "{words}"
    );
    // From 2 to 4 it gained a fifth, so nothing says that 8 gain nothing.
    says(&all[2].words, "Try --depth 8");
    let mut points = knee();
    points.push(exchange_point(8, 8.0 * 3.2e3, None));
    let all = explain(&points);
    says(&all[2].words, "no significant gain up to depth 8");
    says(&all[3].words, "depth 4 is as fast");
}

#[test]
fn a_point_slower_than_its_neighbours_on_both_sides_does_not_speak_of_depth() {
    // 10,000, 5,600 and 10,000 exchanges a second.
    let all = explain(&[
        exchange_point(1, 100.0, None),
        exchange_point(2, 357.0, None),
        exchange_point(4, 400.0, None),
    ]);
    let words: Vec<&str> = all.iter().map(|split| split.words.as_str()).collect();
    assert!(
        words[0].contains("no significant gain up to depth 4"),
        "{}",
        words[0]
    );
    assert!(
        words[1].contains("slower than depth 1 and depth 4"),
        "{}",
        words[1]
    );
    assert!(!words[1].contains("throughput is"), "{}", words[1]);
    assert!(words[2].contains("depth 1 is as fast"), "{}", words[2]);
}

#[test]
fn a_depth_that_is_slower_than_a_smaller_one_is_not_said_to_be_as_fast() {
    // 26.1 and 34.8 ms from start to start: a stage that needed 34.8 ms would allow no 26.1.
    let mut fast = exchange_point(1, 26_100.0, None);
    let slow = exchange_point(4, 4.0 * 34_800.0, None);
    let needs = "The slowest of device, bus and host needs 26.10 ms per exchange";
    // A rate counts to the last response, so it is a little lower than 1 / TRT.
    fast.throughput.exchanges_s *= 0.99;
    let all = explain(&[fast, slow.clone()]);
    assert!(
        all.iter().all(|split| split.words.ends_with(needs)),
        "{}",
        all[1].words
    );
    let all = explain(&[exchange_point(1, 26_100.0, None), slow]);
    assert_eq!(
        all[1].words,
        "saturated: depth 1 is 33.3 % faster. The slowest of device, bus and host needs 26.10 ms per exchange"
    );
}

#[test]
fn a_host_that_starts_the_next_exchange_late_is_the_bottleneck_also_at_depth_1() {
    let mut point = exchange_point(1, 300.0, Some(10.0));
    point.achieved_depth = 0.054;
    let split = &explain(std::slice::from_ref(&point))[0];
    assert_eq!(
        split.words,
        "the host; 0.05 of 1 exchanges were outstanding on average. Try --priority, --pin, --wait spin"
    );
    // What the run did already is no advice.
    let mut spun = plan();
    spun.wait = wiregauge_record::Wait::Spin;
    spun.host.priority = Some(50);
    let split = &of_exchange(&spun, &Conditions::default(), &[point])[0];
    assert!(
        split.words.ends_with("on average. Try --pin"),
        "{}",
        split.words
    );
}

#[test]
fn a_device_is_not_the_bottleneck_of_a_depth_that_a_larger_one_outdoes() {
    // The device needs 300 of the 441 us from start to start; its 460 us include requests that wait in it.
    let mut two = exchange_point(2, 882.0, Some(460.0));
    two.device.as_mut().unwrap().min = 300_000.0;
    let all = explain(&[two, exchange_point(4, 1_552.0, Some(939.0))]);
    says(&all[0].words, "At depth 4, throughput is 13.7 % higher");
}

#[test]
fn a_link_opened_for_each_exchange_has_its_time_in_the_split_and_no_depth_to_try() {
    let mut each = plan();
    each.connect = Connect::Each;
    let mut point = exchange_point(1, 100.0, Some(10.0));
    point.connect = common::always(300e3, 1_000);
    let split = &of_exchange(&each, &conditions_with_floor(20.0), &[point])[0];
    assert_eq!(split.connect_ns, Some(300_000.0));
    assert_eq!(split.total_ns(), Some(400_000.0));
    assert_eq!(split.share(split.device_ns), Some(0.025));
    assert!(
        split
            .words
            .starts_with("opening the link takes 75 % of each exchange"),
        "{}",
        split.words
    );
    assert!(!split.words.contains("--depth"), "{}", split.words);
    // What takes most comes first.
    let mut point = exchange_point(1, 1_000.0, Some(10.0));
    point.connect = common::always(25e3, 1_000);
    let points = std::slice::from_ref(&point);
    let split = &of_exchange(&each, &conditions_with_floor(20.0), points)[0];
    assert!(
        split
            .words
            .starts_with("wire and waiting: 94.6 % of each exchange; opening the link takes 2.4 %"),
        "{}",
        split.words
    );
    point.device = None;
    let split = &of_exchange(&each, &conditions_with_floor(20.0), &[point])[0];
    assert!(
        split
            .words
            .starts_with("device, wire and waiting: 95.6 % of each exchange; "),
        "{}",
        split.words
    );
}

#[test]
fn no_depth_is_tried_that_the_device_refuses() {
    let mut conditions = conditions_with_floor(20.0);
    let mut words = |most: u32, depth: u32| {
        conditions.responder = Some(Responder {
            max_outstanding: most,
            ..Responder::default()
        });
        let points = [exchange_point(depth, 270.0, Some(27.0))];
        of_exchange(&plan(), &conditions, &points)[0].words.clone()
    };
    assert!(words(0, 1).contains("Try --depth 4"));
    assert!(words(2, 1).contains("Try --depth 2"));
    assert!(words(1, 1).ends_with("; the device allows only one exchange at a time"));
    assert!(words(6, 4).contains("Try --depth 6"));
    assert!(words(4, 4).contains("allows no higher depth"));
}

#[test]
fn waiting_for_lost_responses_is_no_missing_overlap() {
    // Ten of a thousand waited for a second each, in 1.29 s at depth 8.
    let mut losing = exchange_point(8, 300.0, None);
    losing.counts.answered -= 10;
    losing.counts.lost = 10;
    losing.rtt = common::always(300_000.0, 990);
    losing.elapsed_ns = 1_290_000_000;
    losing.throughput.exchanges_s = 825.0;
    let deeper = exchange_point(16, 300.0, None);
    let all = explain(&[losing, deeper]);
    assert_eq!(all[0].verdict.kind, VerdictKind::Losses);
    assert_eq!(
        all[0].words,
        "losses limit the rate: 10 of 1,000 exchanges got no response within 1 s"
    );
    let waited = all[0].verdict.figure("waited").unwrap();
    assert!((waited - 10.0 / 10.32).abs() < 1e-6, "{waited}");
    // And it is no evidence of what depth 16 gains.
    assert!(!all[1].words.contains("saturated"), "{}", all[1].words);
}

#[test]
fn no_device_is_the_bottleneck_while_losses_hold_the_places_of_the_queue() {
    // One in fifty waits for 20 ms: half of the time of 4 places, of which the device takes 330 of each 400 us.
    let mut point = exchange_point(4, 400.0, Some(330.0));
    point.counts.answered = 980;
    point.counts.lost = 20;
    point.rtt = common::always(400_000.0, 980);
    point.elapsed_ns = 198_000_000;
    let mut short = plan();
    short.timeout_ns = 20_000_000;
    let verdict = of_exchange(&short, &Conditions::default(), &[point]).remove(0);
    assert_eq!(verdict.verdict.kind, VerdictKind::Losses);
    assert!(
        verdict
            .words
            .ends_with("20 of 1,000 exchanges got no response within 20 ms"),
        "{}",
        verdict.words
    );
}

#[test]
fn a_loss_that_ended_the_run_at_once_is_not_charged_with_the_timeout() {
    // The device closed the link after 31 ms; the timeout is a second.
    let mut failed = exchange_point(1, 44.4, None);
    failed.rtt = common::always(44_377.0, 699);
    failed.counts.exchanges = 700;
    failed.counts.answered = 699;
    failed.counts.lost = 1;
    failed.elapsed_ns = 31_305_498;
    failed.achieved_depth = 0.992_141_83;
    let split = &explain(&[failed])[0];
    assert_ne!(split.verdict.kind, VerdictKind::Losses, "{}", split.words);
}

#[test]
fn a_place_that_waited_for_a_last_loss_with_nothing_left_to_start_is_not_the_host() {
    let mut point = exchange_point(2, 300.0, None);
    point.counts.exchanges += 1;
    point.counts.lost = 1;
    // 150 ms of exchanges, then the loss alone for the rest of its 30 ms.
    let mut short = plan();
    short.timeout_ns = 90_000_000;
    point.elapsed_ns = 240_000_000;
    point.achieved_depth = 1.4;
    let split = &of_exchange(&short, &Conditions::default(), &[point])[0];
    assert_ne!(
        split.verdict.kind,
        VerdictKind::HostBehind,
        "{}",
        split.words
    );
}

/// The plan of queries whose replies end after 5 ms of silence.
fn silent_plan() -> Plan {
    Plan {
        queries: Some(Queries {
            list: vec![Query {
                name: "READ?".into(),
                bytes: b"READ?\n".to_vec(),
            }],
            reply: ReplyEnd::IdleNs(5_000_000),
            expect: None,
        }),
        ..plan()
    }
}

#[test]
fn the_silence_that_ends_a_reply_is_not_the_host_that_starts_the_next_late() {
    let mut point = exchange_point(1, 700.0, None);
    point.trt = common::always(6e6, 1_000);
    point.achieved_depth = 0.12;
    let verdict = |plan: &Plan, point: &PointSummary| {
        let points = std::slice::from_ref(point);
        of_exchange(plan, &Conditions::default(), points).remove(0)
    };
    let split = verdict(&silent_plan(), &point);
    assert_eq!(
        split.words,
        "the part of the device is not known; with --idle, only one exchange at a time is possible"
    );
    let mut scpi = silent_plan();
    scpi.protocol = Protocol::Scpi;
    scpi.queries.as_mut().unwrap().reply = ReplyEnd::Scpi;
    point.achieved_depth = 1.0;
    assert_eq!(
        verdict(&scpi, &point).verdict.short.as_deref(),
        Some("with --protocol scpi, only one exchange at a time is possible")
    );
    point.achieved_depth = 0.12;
    // Neither is a period that the silence does not leave room for.
    let mut scheduled = silent_plan();
    scheduled.schedule = Schedule::EveryNs(5_200_000);
    point.trt = common::always(5.7e6, 1_000);
    point.lateness = common::ended_late(500e3);
    let words = verdict(&scheduled, &point).words;
    assert!(!words.contains("the host"), "{words}");
    // A host that takes as long again as the silence does is.
    point.trt = common::always(12e6, 1_000);
    point.achieved_depth = 0.06;
    let words = verdict(&silent_plan(), &point).words;
    assert!(words.starts_with("the host"), "{words}");
}

#[test]
fn a_few_exchanges_are_too_few_for_a_verdict() {
    let mut point = exchange_point(8, 300.0, None);
    point.counts.exchanges = 12;
    point.counts.answered = 12;
    let points = [point, exchange_point(1, 300.0, None)];
    let all = explain(&points);
    // What was measured with so few refutes nothing, nor is there another depth to try before it is known.
    assert_eq!(
        all[1].words,
        "depth 8 has too few exchanges (12; 80 are needed), so this run does not show whether a higher depth is faster. \
         Measure again"
    );
    // The plan had enough of them.
    let few = "too few exchanges to find the bottleneck (12; 80 are needed). ";
    assert_eq!(all[0].words, format!("{few}Measure again"));
    let words = |limit| {
        let short = wiregauge_record::Plan { limit, ..plan() };
        let all = of_exchange(&short, &Conditions::default(), &points);
        all.into_iter().map(|split| split.words).collect::<Vec<_>>()
    };
    let counted = words(Limit::Count(12));
    assert_eq!(counted[0], format!("{few}Try --count 80"));
    assert!(
        counted[1].ends_with("is faster. Try --count 80"),
        "{}",
        counted[1]
    );
    // 12 took 37.5 ms.
    let timed = words(Limit::DurationNs(37_500_000));
    assert_eq!(timed[0], format!("{few}Try a --duration of 250 ms or more"));
}

/// Some of a thousand exchanges corrupted, which costs no time.
fn corrupted(depth: u32, rtt_us: f64, corrupted: u64) -> PointSummary {
    let mut point = exchange_point(depth, rtt_us, None);
    point.counts.answered -= corrupted;
    point.counts.corrupted = corrupted;
    point
}

#[test]
fn a_point_with_losses_is_not_compared_and_no_other_is_blamed_for_it() {
    let all = explain(&[corrupted(1, 300.0, 50), exchange_point(4, 400.0, None)]);
    assert_eq!(
        all[0].words,
        "50 of 1,000 exchanges at depth 1 got no correct response in time, so this run does not show whether a \
         higher depth is faster. Find the cause, then measure again"
    );
    // A larger depth with losses is named only where none without them shows it.
    let all = explain(&[
        exchange_point(2, 300.0, None),
        exchange_point(4, 300.0, None),
        corrupted(8, 300.0, 50),
    ]);
    says(
        &all[0].words,
        "At depth 4, throughput is 2.00 times as high",
    );
    assert!(
        all[1]
            .words
            .starts_with("50 of 1,000 exchanges at depth 8 got no correct response"),
        "{}",
        all[1].words
    );
    // By itself it is compared with nothing.
    let alone = explain(&[corrupted(1, 300.0, 50)]);
    says(&alone[0].words, "Try --depth 4");
}

#[test]
fn no_depth_of_the_plan_is_tried_but_measured_again_where_the_run_did_not_come_to_it() {
    let one = exchange_point(1, 300.0, Some(10.0));
    let mut cut = plan();
    cut.points = [1, 4, 8]
        .map(|depth| exchange_point(depth, 300.0, None).point)
        .to_vec();
    let words = |plan: &wiregauge_record::Plan| {
        let points = std::slice::from_ref(&one);
        of_exchange(plan, &Conditions::default(), points)[0]
            .words
            .clone()
    };
    let unknown = words(&cut);
    assert!(!unknown.contains("Try --depth"), "{unknown}");
    assert!(
        unknown.starts_with("depth 4 was not measured") && unknown.contains("Measure again"),
        "{unknown}"
    );
    // Of other sizes, a point says nothing.
    cut.points.iter_mut().for_each(|point| point.in_bytes = 500);
    assert!(words(&cut).contains("Try --depth 4"));
}

#[test]
fn a_full_bus_is_used_up_to_its_limit_and_one_beyond_it_is_no_real_bus() {
    let verdict = |used: f64| {
        let mut point = exchange_point(4, 300.0, None);
        point.limit = Some(BusLimit {
            bytes_s: 1.216e6,
            shared: true,
            source: "USB full-speed bulk".into(),
            used,
        });
        explain(&[point]).remove(0)
    };
    assert_eq!(
        verdict(1.03).words,
        "the bus; 100 % of it is used (USB full-speed bulk)"
    );
    assert_ne!(verdict(1.4).verdict.kind, VerdictKind::Bus);
}

#[test]
fn an_rtt_of_several_periods_is_no_percentage_of_one() {
    let mut scheduled = plan();
    scheduled.schedule = Schedule::EveryNs(200_000);
    let mut deep = exchange_point(4, 500.0, None);
    deep.start_delay = common::always(10e3, 1_000);
    deep.lateness = common::ended_late(10.0);
    let split = &of_exchange(&scheduled, &Conditions::default(), &[deep])[0];
    says(&split.words, "2.5 periods");
}

#[test]
fn a_median_at_the_latency_timer_of_an_adapter_is_the_timer_and_no_deeper_try_is_proposed() {
    let explain = |timer: &str, rtt_us: f64| {
        let mut conditions = conditions_with_floor(20.0);
        let setting = ("latency timer (ms)".to_owned(), timer.to_owned());
        conditions.link.settings.push(setting);
        let points = [exchange_point(1, rtt_us, Some(27.0))];
        of_exchange(&plan(), &conditions, &points).remove(0)
    };
    for (timer, rtt_us) in [("16", 16_020.0), ("16", 15_100.0), ("40", 40_900.0)] {
        let split = explain(timer, rtt_us);
        says(&split.words, "latency timer");
        says(&split.words, "does not shorten");
        assert!(!split.words.contains("--depth "), "{}", split.words);
    }
    // A larger depth that is not faster either waits for it too; by itself it proves nothing.
    let mut conditions = conditions_with_floor(20.0);
    let setting = ("latency timer (ms)".to_owned(), "16".to_owned());
    conditions.link.settings.push(setting);
    let deep = exchange_point(4, 35_000.0, Some(27.0));
    let both = [exchange_point(1, 16_000.0, Some(27.0)), deep.clone()];
    let splits = of_exchange(&plan(), &conditions, &both);
    assert!(
        splits
            .iter()
            .all(|split| split.words.contains("latency timer"))
    );
    let alone = of_exchange(&plan(), &conditions, &[deep]);
    assert!(!alone[0].words.contains("latency timer"));
    for (timer, rtt_us) in [
        ("16", 12_000.0),
        ("16", 20_000.0),
        ("1", 1_000.0),
        ("?", 16_000.0),
    ] {
        let split = explain(timer, rtt_us);
        assert!(!split.words.contains("latency timer"), "{}", split.words);
    }
}
