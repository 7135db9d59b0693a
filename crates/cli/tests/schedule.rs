//! When exchanges start and when a point is over: schedules that are kept (and what a stall then
//! costs), durations, warm-up, and the first exchange apart.

use crate::common;

use common::Desk;
use wiregauge_record::{Limit, Schedule};

const MS: f64 = 1e6;

#[test]
fn an_interval_spaces_the_starts_and_never_starts_one_early() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = desk.measure(&server.address, "--interval 5ms --count 60");
    run.is_clean();
    assert_eq!(run.file.plan.schedule, Schedule::EveryNs(5_000_000));
    let measured: Vec<_> = (run.rows.iter().filter(|row| row.phase == "measured")).collect();
    // The first may start late on a busy host: the time begins there.
    let starts = measured[59].start_us - measured[0].start_us;
    assert!(run.point().elapsed_ns as f64 >= starts * 1e3 - 1.0);
    let mut intended = Vec::new();
    for row in measured {
        assert!(row.start_us >= row.intended_us, "{row:?}");
        intended.push(row.intended_us);
    }
    assert!(
        intended
            .windows(2)
            .all(|two| ((two[1] - two[0]) - 5000.0).abs() < 0.01)
    );
}

#[test]
fn a_rate_is_the_same_as_its_interval() {
    let desk = Desk::new();
    let server = desk.serve("udp://:0");
    let run = desk.measure(&server.address, "--rate 0.5k --count 100");
    run.accounts_for_every_exchange();
    assert_eq!(run.file.plan.schedule, Schedule::EveryNs(2_000_000));
    assert_eq!(run.counts().exchanges, 100);
    assert!(run.point().from_intended.is_some());
    // A busy host starts late, so the rate of the starts is not that of the schedule.
    let measured = run.rows.iter().filter(|row| row.phase == "measured");
    let intended: Vec<f64> = measured.map(|row| row.intended_us).collect();
    assert!(
        intended
            .windows(2)
            .all(|two| ((two[1] - two[0]) - 2000.0).abs() < 0.01)
    );
}

#[test]
fn a_stall_is_charged_to_every_exchange_that_it_held_up() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --stall every=200:300ms");
    let run = desk.measure(
        &server.address,
        "--rate 500 --count 390 --timeout 5s --below 100ms",
    );
    run.is_clean();
    let point = run.point();
    let rtt = point.rtt.as_ref().expect("it answered");
    let from_intended = point.from_intended.as_ref().expect("it has a schedule");
    // One exchange stalled; from the intended start, about 150 of 390 were held up by it.
    assert!(rtt.max >= 300.0 * MS);
    assert!(
        from_intended.p99.value > 100.0 * MS,
        "{}",
        from_intended.p99.value
    );
    assert!(
        from_intended.p99.value > 5.0 * rtt.p50.value,
        "{}",
        rtt.p50.value
    );
    let long = run.rows.iter().filter(|row| row.rtt_us > 100_000.0).count();
    let held_up = run
        .rows
        .iter()
        .filter(|row| row.start_us + row.rtt_us - row.intended_us > 100_000.0)
        .count();
    assert!(held_up > 50 && held_up > 10 * long, "{held_up} {long}");
    // The share below a limit is what a caller with a schedule sees.
    assert!(point.below[0].share < 0.9, "{:?}", point.below);
}

#[test]
fn a_duration_bounds_a_point_in_place_of_a_count() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = desk.measure(&server.address, "--duration 1s --depth 1,4");
    run.accounts_for_every_exchange();
    assert_eq!(run.file.plan.limit, Limit::DurationNs(1_000_000_000));
    let mut alone = run.rows.iter().filter(|row| row.point == 0);
    assert!(alone.all(|row| row.start_us == row.intended_us));
    for point in &run.file.points {
        assert!(point.from_intended.is_none(), "without a schedule");
        assert!(point.counts.exchanges > 10);
        let elapsed = point.elapsed_ns as f64;
        assert!(elapsed > 200.0 * MS, "{elapsed}");
        assert!(elapsed < 5000.0 * MS, "{elapsed}");
    }
}

#[test]
fn a_duration_with_a_schedule_starts_as_many_as_fit() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = desk.measure(&server.address, "--duration 400ms --rate 100");
    run.is_clean();
    let exchanges = run.counts().exchanges;
    assert!((35..=41).contains(&exchanges), "{exchanges}");
}

#[test]
fn a_silent_device_ends_a_duration_too() {
    let desk = Desk::new();
    let server = desk.serve("udp://:0 --drop every=1");
    let (_, ended) = desk.try_measure(&server.address, "--duration 60s --timeout 30ms");
    assert_eq!(ended.code, Some(3), "{ended}");
}

#[test]
fn warm_up_and_the_first_exchange_are_stored_but_not_counted() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let run = desk.measure(&server.address, "--warmup 25 --count 70 --depth 1,8");
    run.is_clean();
    assert_eq!(run.in_phase("first"), 2);
    assert_eq!(run.in_phase("warm-up"), 50);
    assert_eq!(run.in_phase("measured"), 140);
    for point in &run.file.points {
        assert_eq!(point.counts.exchanges, 70);
        assert_eq!(point.rtt.as_ref().map(|rtt| rtt.n), Some(70));
        assert!(point.first_rtt_ns.is_some());
    }
    let warm: Vec<u64> = run
        .rows
        .iter()
        .filter(|row| row.point == 0 && row.phase == "warm-up")
        .map(|row| row.sequence)
        .collect();
    assert_eq!(warm.iter().min(), Some(&1));
    assert_eq!(warm.iter().max(), Some(&25));
}
