//! Streams small enough to be summed up by hand, and what holds for every stream.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use wiregauge_record::{
    BusLimit, ByteCounts, Direction, Ending, FlowFacts, FlowSummary, HostPlan, LinkOptions, Phase,
    ResourceUse, StreamPlan, StreamPoint, StreamProtocol, StreamSummariser, StreamSummary,
    Transfer, TransferStatus, Way,
};

const MS: u64 = 1_000_000;

fn plan(direction: Direction, queue: u32, rates: &[u64]) -> StreamPlan {
    StreamPlan {
        address: "usb://1d6b:0104".to_owned(),
        protocol: StreamProtocol::Wiregauge,
        pattern: None,
        more_links: Vec::new(),
        points: vec![StreamPoint {
            index: 0,
            direction,
            transfer_bytes: 1000,
            queue,
            link: 0,
            together: false,
        }],
        duration_ns: 1000 * MS,
        settle_ns: 0,
        check: true,
        timeout_ns: 1000 * MS,
        rates_bytes_s: rates.to_vec(),
        loss: 0.01,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

fn transfer(sequence: u64, submit_ms: u64, complete_ms: u64, pending: u32) -> Transfer {
    Transfer {
        sequence,
        submit_ns: submit_ms * MS,
        complete_ns: complete_ms * MS,
        bytes: 1000,
        pending,
        phase: if sequence == 0 {
            Phase::First
        } else {
            Phase::Measured
        },
        ..Transfer::default()
    }
}

fn summed_up(plan: &StreamPlan, rows: &[Transfer], end_ns: u64) -> StreamSummary {
    let mut summariser = StreamSummariser::new(plan, plan.points[0]);
    rows.iter().for_each(|row| summariser.push(row));
    let facts = plan.points[0]
        .direction
        .ways()
        .iter()
        .map(|&way| FlowFacts {
            way,
            counts: ByteCounts {
                sent: Some(7),
                ..ByteCounts::default()
            },
            cpu_ns: 3_000_000,
            limit: Some(BusLimit {
                bytes_s: 2e6,
                shared: true,
                source: "a bus".to_owned(),
                used: 0.0,
            }),
            ..FlowFacts::default()
        });
    let facts: Vec<FlowFacts> = facts.collect();
    summariser.finish(Ending::Complete, end_ns, &facts, ResourceUse::default())
}

/// The only way of the point.
fn only(summary: &StreamSummary) -> &FlowSummary {
    assert_eq!(summary.flows.len(), 1);
    &summary.flows[0]
}

#[test]
fn a_stream_of_one_transfer_at_a_time() {
    // Transfers of 3 ms with 1 ms between them; the last one comes 2 ms late.
    let rows: Vec<Transfer> = (0..10)
        .map(|i| transfer(i, i * 4, i * 4 + if i == 9 { 5 } else { 3 }, 1))
        .collect();
    let summary = summed_up(&plan(Direction::In, 1, &[500_000, 100_000]), &rows, 42 * MS);
    let flow = only(&summary);
    assert_eq!((flow.way, flow.transfers, flow.bytes), (Way::In, 9, 9000));
    // From the completion of the first at 3 ms to that of the last at 41 ms.
    assert_eq!(summary.elapsed_ns, 38 * MS);
    let rate = flow.rate.unwrap();
    assert!((rate.value - 9000.0 / 0.038).abs() < 1e-6, "{rate:?}");
    let gap = flow.gap.as_ref().unwrap();
    assert_eq!(
        (gap.n, gap.min, gap.max),
        (9, 4.0 * MS as f64, 6.0 * MS as f64)
    );
    let host_gap = flow.host_gap.as_ref().unwrap();
    assert_eq!(
        (host_gap.n, host_gap.min, host_gap.max),
        (9, 1e6, 1e6),
        "each waits for the one before it"
    );
    let time = flow.transfer_time.as_ref().unwrap();
    assert_eq!((time.n, time.min, time.max), (9, 3e6, 5e6));
    assert!((flow.achieved_queue - (8.0 * 3.0 + 5.0) / 38.0).abs() < 1e-12);
    assert_eq!(
        (flow.urb_time.as_ref(), flow.stack_time.as_ref()),
        (None, None)
    );
    assert!((flow.cpu_ns_per_mb - 3_000_000.0 / 0.009).abs() < 1e-3);
    assert_eq!(flow.counts.sent, Some(7));
    // 500 kB/s is more than 1000 B every 4 ms; 100 kB/s fill 600 B in the longest gap of 6 ms.
    assert!(!flow.buffers[0].sustained);
    assert!(flow.buffers[1].sustained);
    assert_eq!(flow.buffers[1].worst_bytes, 600);
    assert_eq!(flow.buffers[1].rate_bytes_s, 100_000);
    assert_eq!(
        flow.buffers[1].for_loss_bytes, None,
        "nine transfers tell nothing of 1 %"
    );
}

#[test]
fn with_a_queue_a_transfer_takes_the_place_of_the_one_a_queue_before_it() {
    // Four pending: submitted at 0, completed one a ms from 10 ms on, each place taken 2 ms after
    // it became free.
    let rows: Vec<Transfer> = (0..40)
        .map(|i| {
            let submit_ms = if i < 4 { 0 } else { i - 4 + 10 + 2 };
            transfer(i, submit_ms, i + 10, (i as u32 + 1).min(4))
        })
        .collect();
    let summary = summed_up(&plan(Direction::In, 4, &[]), &rows, 49 * MS);
    let host_gap = only(&summary).host_gap.clone().unwrap();
    assert_eq!((host_gap.n, host_gap.min, host_gap.max), (36, 2e6, 2e6));
}

#[test]
fn a_link_that_takes_one_at_a_time_has_a_queue_of_one_whatever_was_asked() {
    let rows: Vec<Transfer> = (0..40).map(|i| transfer(i, i * 4, i * 4 + 3, 1)).collect();
    let summary = summed_up(&plan(Direction::In, 32, &[]), &rows, 160 * MS);
    let host_gap = only(&summary).host_gap.clone().unwrap();
    assert_eq!((host_gap.n, host_gap.max), (39, 1e6));
    assert!((only(&summary).achieved_queue - 0.75).abs() < 1e-9);
}

#[test]
fn a_queue_that_is_always_full_is_achieved_exactly_even_where_the_window_cuts_transfers() {
    // Four always pending, each for as long as the four before it take: slow ones in the start-up
    // and fast ones after, or the other way round. The last four are cancelled.
    for (before_ms, after_ms) in [(10, 1), (1, 10), (3, 3)] {
        let complete_ms = |i: u64| match i {
            0..20 => (i + 1) * before_ms,
            _ => 20 * before_ms + (i - 19) * after_ms,
        };
        let rows: Vec<Transfer> = (0..54_u64)
            .map(|i| {
                let submit_ms = i.checked_sub(4).map_or(0, complete_ms);
                let mut row = transfer(i, submit_ms, complete_ms(i), (i as u32 + 1).min(4));
                row.phase = match i {
                    0 => Phase::First,
                    20..50 => Phase::Measured,
                    _ => Phase::WarmUp,
                };
                if i >= 50 {
                    row.status = TransferStatus::Cancelled;
                }
                row
            })
            .collect();
        let end_ns = complete_ms(49) * MS;
        let summary = summed_up(&plan(Direction::In, 4, &[]), &rows, end_ns);
        assert_eq!(only(&summary).transfers, 30);
        let achieved = only(&summary).achieved_queue;
        assert!((achieved - 4.0).abs() < 1e-9, "{achieved} of 4");
    }
}

#[test]
fn the_start_up_is_left_out_of_every_figure() {
    // Buffers swallow 50 transfers in no time; then one passes every 2 ms.
    let mut rows: Vec<Transfer> = (0..50).map(|i| transfer(i, 0, 1, 1)).collect();
    rows[1..]
        .iter_mut()
        .for_each(|row| row.phase = Phase::WarmUp);
    rows.extend((50..150).map(|i| transfer(i, (i - 50) * 2 + 1, (i - 50) * 2 + 3, 1)));
    let summary = summed_up(&plan(Direction::In, 1, &[]), &rows, 201 * MS);
    let flow = only(&summary);
    assert_eq!((flow.transfers, flow.bytes), (100, 100_000));
    assert_eq!(summary.elapsed_ns, 200 * MS);
    assert!((flow.rate.unwrap().value - 500_000.0).abs() < 1e-6);
    // Short points are cut into tenths of a second.
    assert_eq!(flow.rate_step_ns, 100 * MS);
    assert_eq!(flow.rate_bytes_s.len(), 2);
    for rate in &flow.rate_bytes_s {
        assert!((rate - 500_000.0).abs() < 1e-6, "{rate}");
    }
}

#[test]
fn a_link_that_falls_silent_is_not_as_fast_as_before() {
    let rows: Vec<Transfer> = (0..=100).map(|i| transfer(i, i, i, 1)).collect();
    let plan = plan(Direction::Out, 1, &[1000]);
    let rows: Vec<Transfer> = rows
        .into_iter()
        .map(|row| Transfer {
            way: Way::Out,
            ..row
        })
        .collect();
    let steady = summed_up(&plan, &rows, 101 * MS);
    assert!((only(&steady).rate.unwrap().value - 1e6).abs() < 1e-6);
    let silent = summed_up(&plan, &rows, 400 * MS);
    assert!((only(&silent).rate.unwrap().value - 250_000.0).abs() < 1e-6);
    assert_eq!(only(&silent).rate_bytes_s.len(), 4);
    assert_eq!(only(&silent).buffers[0].worst_bytes, 300);
}

#[test]
fn both_ways_are_summed_up_apart_and_share_the_bus() {
    let mut rows = Vec::new();
    for i in 0..=100 {
        rows.push(transfer(i, i, i + 1, 1));
        rows.push(Transfer {
            way: Way::Out,
            bytes: 500,
            urb_submit_ns: i * MS + 1000,
            urb_complete_ns: i * MS + 901_000,
            ..transfer(i, i, i + 1, 1)
        });
    }
    let summary = summed_up(&plan(Direction::Both, 1, &[]), &rows, 101 * MS);
    let [of_in, of_out] = summary.flows.as_slice() else {
        panic!("two ways")
    };
    assert_eq!((of_in.way, of_out.way), (Way::In, Way::Out));
    assert!((of_in.rate.unwrap().value - 1e6).abs() < 1e-6);
    assert!((of_out.rate.unwrap().value - 5e5).abs() < 1e-6);
    for flow in &summary.flows {
        let used = flow.limit.as_ref().unwrap().used;
        assert!((used - 0.75).abs() < 1e-9, "1.5 MB/s of 2 MB/s: {used}");
    }
    assert_eq!(of_in.urb_time, None);
    assert_eq!(of_out.urb_time.as_ref().unwrap().max, 900_000.0);
    assert_eq!(of_out.stack_time.as_ref().unwrap().max, 100_000.0);
}

#[test]
fn what_carried_nothing_is_counted_and_moves_nothing() {
    let mut rows: Vec<Transfer> = (0..20).map(|i| transfer(i, i, i + 1, 1)).collect();
    rows[10].status = TransferStatus::Stalled;
    rows[10].bytes = 0;
    rows[19].status = TransferStatus::Cancelled;
    let summary = summed_up(&plan(Direction::In, 1, &[]), &rows, 20 * MS);
    let flow = only(&summary);
    assert_eq!((flow.transfers, flow.stalls, flow.bytes), (17, 1, 17_000));
    assert_eq!(flow.gap.as_ref().unwrap().max, 2e6, "across the stall");
}

#[test]
fn a_point_without_a_transfer_has_no_figures() {
    let summary = summed_up(&plan(Direction::Both, 4, &[1000]), &[], 100 * MS);
    assert_eq!(summary.elapsed_ns, 0);
    for flow in &summary.flows {
        assert_eq!((flow.transfers, flow.rate, &flow.gap), (0, None, &None));
        assert_eq!(flow.achieved_queue, 0.0);
        assert!(flow.rate_bytes_s.is_empty());
    }
}

#[test]
fn an_old_point_and_plan_had_one_link() {
    let point: wiregauge_record::Point =
        serde_json::from_str(r#"{"index":0,"out_bytes":1,"in_bytes":2,"depth":3}"#).unwrap();
    assert_eq!((point.link, point.together), (0, false));
    let mut value = serde_json::to_value(plan(Direction::In, 1, &[])).unwrap();
    value.as_object_mut().unwrap().remove("more_links");
    let plan: StreamPlan = serde_json::from_value(value).unwrap();
    assert_eq!(plan.links().collect::<Vec<_>>(), ["usb://1d6b:0104"]);
}

/// Gaps and bytes of a stream in order.
fn any_stream() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((0..5 * MS, 0..100_000_u32), 1..300)
}

proptest! {
    #[test]
    fn every_stream_adds_up(stream in any_stream(), rate in 1..100_000_000_u64, queue in 1..20_u32) {
        let mut at_ns = 1;
        let rows: Vec<Transfer> = stream
            .iter()
            .enumerate()
            .map(|(i, &(gap_ns, bytes))| {
                at_ns += gap_ns;
                let phase = if i == 0 { Phase::First } else { Phase::Measured };
                Transfer {
                    sequence: i as u64,
                    submit_ns: at_ns.saturating_sub(1000),
                    complete_ns: at_ns,
                    bytes,
                    pending: (i as u32 + 1).min(queue),
                    phase,
                    ..Transfer::default()
                }
            })
            .collect();
        let summary = summed_up(&plan(Direction::In, queue, &[rate]), &rows, at_ns);
        let flow = only(&summary);
        let moved: u64 = stream[1..].iter().map(|&(_, bytes)| u64::from(bytes)).sum();
        let elapsed_ns = rows[rows.len() - 1].complete_ns - rows[0].complete_ns;
        prop_assert_eq!(flow.bytes, moved);
        prop_assert_eq!(summary.elapsed_ns, elapsed_ns);
        let whole_steps = elapsed_ns / flow.rate_step_ns;
        prop_assert_eq!(flow.rate_bytes_s.len() as u64, whole_steps);
        let in_steps: f64 = flow.rate_bytes_s.iter().sum::<f64>() * flow.rate_step_ns as f64 / 1e9;
        prop_assert!(in_steps <= moved as f64 + 1e-3, "{} of {}", in_steps, moved);
        if let Some(estimate) = flow.rate {
            prop_assert!((estimate.value * elapsed_ns as f64 / 1e9 - moved as f64).abs() < 1e-3);
        }
        let longest = stream[1..].iter().map(|&(gap_ns, _)| gap_ns).max().unwrap_or(0);
        let need = flow.buffers[0];
        let longest_makes = u128::from(rate) * u128::from(longest);
        prop_assert!(u128::from(need.worst_bytes) * 1_000_000_000 >= longest_makes);
        let all_makes = u128::from(rate) * u128::from(elapsed_ns);
        prop_assert!(u128::from(need.worst_bytes) <= all_makes.div_ceil(1_000_000_000));
        // One transfer, and 100 ppm.
        let largest = stream[1..].iter().map(|&(_, bytes)| u64::from(bytes)).max().unwrap_or(0);
        let carried = u128::from(moved + largest) * 1_000_000_000 + all_makes / 10_000;
        prop_assert_eq!(need.sustained, all_makes <= carried);
    }
}

/// What a stored file claims may be anything.
#[test]
fn no_row_brings_it_down() {
    let wild = |n: u64| Transfer {
        sequence: n,
        submit_ns: u64::MAX - n,
        complete_ns: if n.is_multiple_of(2) { u64::MAX } else { n },
        urb_complete_ns: 1,
        urb_submit_ns: u64::MAX,
        bytes: u32::MAX,
        pending: u32::MAX,
        ..Transfer::default()
    };
    let rows: Vec<Transfer> = (0..10).map(wild).collect();
    let plan = plan(Direction::In, u32::MAX, &[u64::MAX, 0]);
    let summary = summed_up(&plan, &rows, u64::MAX);
    assert_eq!(only(&summary).transfers, 10);
}
