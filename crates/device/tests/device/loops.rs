//! The control loop, and streams.

use crate::parts::{
    MAX_WAIT, Responder, assert_echo, line, lines, options, payload, peer, say, waiting,
};
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use wiregauge_device::{ControlPlan, Cycle, CycleStatus, Device, Framing};
use wiregauge_link::LinkErrorKind;
use wiregauge_record::Wait;
use wiregauge_responder::FaultRate;

const MS: u64 = 1_000_000;

fn plan(set: impl FnOnce(&mut ControlPlan)) -> ControlPlan {
    let mut plan = ControlPlan::default();
    set(&mut plan);
    plan
}

/// Does nothing but send four bytes.
fn idle(_: u64, _: Option<&[u8]>, _: &mut [u8]) -> Option<usize> {
    Some(4)
}

/// Runs cycles whose command is their number, and checks that each was made from what it says.
fn run(device: &mut Device, plan: &ControlPlan, count: usize) -> Vec<Cycle> {
    let mut cycles = vec![Cycle::default(); count];
    let mut seen = Vec::new();
    let ran = device.control(
        plan,
        &mut |cycle, newest, request| {
            seen.push(newest.map(|reply| u64::from_le_bytes(reply.try_into().unwrap())));
            request[..8].copy_from_slice(&cycle.to_le_bytes());
            Some(8)
        },
        &mut cycles,
    );
    assert_eq!(ran.unwrap(), count);
    for (cycle, newest) in cycles.iter().zip(&seen) {
        assert_eq!(newest.unwrap_or(u64::MAX), cycle.made_from);
    }
    cycles
}

#[test]
fn a_plan_that_no_device_can_take_is_refused_before_memory_is_laid_out() {
    let responder = Responder::plain("unix");
    let mut device = responder.device_with(&options(None, MAX_WAIT));
    let large = |depth: u32, reply: usize| {
        plan(|plan| {
            plan.largest_request = usize::MAX;
            plan.depth = depth;
            plan.reply_bytes = Some(reply);
        })
    };
    let sound = large(ControlPlan::default().depth, 8);
    for plan in [large(u32::MAX, 8), large(sound.depth, usize::MAX)] {
        let done = device.control(&plan, &mut |_, _, _| Some(8), &mut [Cycle::default()]);
        let (begun, error) = done.unwrap_err();
        assert_eq!((begun, error.kind()), (0, LinkErrorKind::Usage), "{error}");
    }
    // Room beyond what the device takes is not laid out.
    run(&mut device, &sound, 3);
}

#[test]
fn each_command_is_made_from_the_newest_reply() {
    for link in ["tcp", "udp", "unix", "pty"] {
        for wait in [Wait::Block, Wait::Poll, Wait::Spin] {
            let responder = Responder::plain(link);
            let mut device = responder.device_with(&waiting(wait));
            for depth in [1, 2, 5] {
                let cycles = run(&mut device, &plan(|plan| plan.depth = depth), 300);
                for (n, cycle) in cycles.iter().enumerate() {
                    assert_eq!(cycle.status, CycleStatus::Ok);
                    assert_eq!(cycle.intended_ns, cycle.start_ns);
                    assert!(cycle.rtt_ns > 0 && cycle.device_tx_ticks > 0, "{cycle:?}");
                    let n = n as u64;
                    let made_from = cycle.made_from.wrapping_add(1);
                    // Not older than that to the cycle `depth` before, and never of the future.
                    let age = n - made_from;
                    assert!(made_from <= n && age < u64::from(depth), "{n}: {cycle:?}");
                }
            }
        }
    }
}

#[test]
fn the_schedule_does_not_drift_and_what_is_late_is_seen() {
    let stall = Some((FaultRate::Every(50), 30 * MS));
    let responder = Responder::faulty("unix", |faults| faults.stall = stall);
    let mut device = responder.device();
    let cycles = run(&mut device, &plan(|plan| plan.period_ns = 4 * MS), 120);
    for (n, cycle) in cycles.iter().enumerate() {
        assert_eq!(cycle.intended_ns, n as u64 * 4 * MS);
        assert!(cycle.start_ns >= cycle.intended_ns);
        let late = cycle.start_ns - cycle.intended_ns > 4 * MS;
        assert_eq!(cycle.status == CycleStatus::Overrun, late, "{cycle:?}");
    }
    // The exchange that stalls is the 50th, cycle 49; those behind it began late and caught up.
    assert!(cycles[49].rtt_ns >= 30 * MS);
    assert_eq!(cycles[50].status, CycleStatus::Overrun);
    assert_eq!(cycles[50].made_from, 49);
}

#[test]
fn lost_cycles_are_told_and_do_not_end_the_loop() {
    for link in ["tcp", "udp"] {
        let responder = Responder::faulty(link, |faults| {
            faults.drop = Some(FaultRate::Every(10));
            faults.corrupt = Some(FaultRate::Every(15));
        });
        let mut device = responder.device_with(&options(None, Duration::from_millis(200)));
        let cycles = run(&mut device, &plan(|plan| plan.depth = 2), 60);
        let lost = (1..=60).filter(|n| cycles[n - 1].status == CycleStatus::Lost);
        assert_eq!(lost.collect::<Vec<_>>(), [10, 15, 20, 30, 40, 45, 50, 60]);
        assert!(cycles[9].rtt_ns >= 200 * MS);
    }
}

#[test]
fn a_loop_ends_when_the_step_says_so_or_nothing_answers_any_more() {
    let all = Some(FaultRate::Chance(1.0));
    let responder = Responder::faulty("unix", |faults| faults.drop = all);
    let mut device = responder.device_with(&options(None, Duration::from_millis(20)));
    let plan = plan(|plan| plan.give_up = 3);
    let mut cycles = vec![Cycle::default(); 50];
    let (count, error) = device.control(&plan, &mut idle, &mut cycles).unwrap_err();
    assert_eq!((count, error.kind()), (3, LinkErrorKind::Timeout));
    let lost = &cycles[..3];
    let all_lost = lost.iter().all(|cycle| cycle.status == CycleStatus::Lost);
    assert!(all_lost, "{lost:?}");
    let responder = Responder::plain("unix");
    let mut device = responder.device();
    let mut until_seven = |cycle: u64, _: Option<&[u8]>, _: &mut [u8]| (cycle < 7).then_some(4);
    let ran = device.control(&plan, &mut until_seven, &mut cycles);
    assert_eq!(ran.unwrap(), 7);
    assert_echo(&mut device, b"on");
    let mut too_much = |_: u64, _: Option<&[u8]>, _: &mut [u8]| Some(1000);
    let done = device.control(&plan, &mut too_much, &mut cycles);
    let (count, error) = done.unwrap_err();
    assert_eq!((count, error.kind()), (0, LinkErrorKind::Usage), "{error}");
    let none = ControlPlan { depth: 0, ..plan };
    assert!(device.control(&none, &mut idle, &mut cycles).is_err());
}

#[test]
fn a_foreign_device_that_loses_a_reply_is_controlled_on() {
    let address = peer(|mut stream| {
        for n in 1.. {
            let Some(line) = line(&mut stream) else {
                return;
            };
            if n % 7 != 0 {
                say(&mut stream, &line);
            }
        }
    });
    let options = options(Some(lines()), Duration::from_millis(60));
    let mut device = Device::open(&address, &options).unwrap();
    let mut cycles = vec![Cycle::default(); 20];
    let mut step = |cycle: u64, _: Option<&[u8]>, request: &mut [u8]| {
        let text = cycle.to_string();
        request[..text.len()].copy_from_slice(text.as_bytes());
        Some(text.len())
    };
    let ran = device.control(&ControlPlan::default(), &mut step, &mut cycles);
    assert_eq!(ran.unwrap(), 20);
    for (n, cycle) in cycles.iter().enumerate() {
        let lost = (n + 1) % 7 == 0;
        assert_eq!(cycle.status == CycleStatus::Lost, lost, "{n}: {cycle:?}");
    }
}

#[test]
fn the_calling_thread_is_afterwards_what_it_was_before() {
    let policy = || {
        // SAFETY: both take the calling thread; neither is given memory.
        unsafe {
            (
                libc::sched_getscheduler(0),
                libc::prctl(libc::PR_GET_TIMERSLACK),
            )
        }
    };
    let before = (policy(), wiregauge_link::host::allowed());
    let responder = Responder::plain("unix");
    let mut device = responder.device();
    run(&mut device, &plan(|plan| plan.pin = Some(before.1[0])), 5);
    assert_eq!((policy(), wiregauge_link::host::allowed()), before);
    let nowhere = plan(|plan| plan.pin = Some(100_000));
    let done = device.control(&nowhere, &mut idle, &mut [Cycle::default()]);
    assert_eq!(done.unwrap_err().1.kind(), LinkErrorKind::Usage);
    assert_eq!((policy(), wiregauge_link::host::allowed()), before);
}

#[test]
fn a_source_fills_the_callers_memory_and_the_link_is_at_rest_again() {
    for link in ["tcp", "udp", "unix", "pty"] {
        // A datagram that the system has no room for is lost; a modelled device is slow enough.
        let responder = Responder::slow(link, if link == "udp" { 300_000 } else { 0 });
        let mut device = responder.device();
        for bytes in [1, 1000, 300_001] {
            let mut into = vec![0; bytes];
            assert_eq!(device.read_stream(&mut into, 1024, 4).unwrap(), bytes);
            let mut expected = vec![0; bytes];
            wiregauge_wire::fill_stream(0, &mut expected);
            assert!(into == expected, "{link}: {bytes}");
            assert_echo(&mut device, b"after");
        }
    }
}

#[test]
fn a_sink_takes_the_callers_memory_whatever_is_in_it() {
    for link in ["tcp", "unix", "pty"] {
        let responder = Responder::plain(link);
        let mut device = responder.device();
        for bytes in [1, 1000, 200_001] {
            let from = payload(5, bytes);
            let written = device.write_stream(&from, 4096, 4).unwrap();
            assert_eq!(written, bytes, "{link}");
            assert_echo(&mut device, b"after");
        }
    }
}

#[test]
fn a_foreign_device_streams_without_orders() {
    let address = peer(|mut stream| {
        let mut all = vec![0; 100_000];
        stream.read_exact(&mut all).unwrap();
        stream.write_all(&all).unwrap();
        let _ = stream.read(&mut all);
    });
    let mut device = Device::open(&address, &options(Some(Framing::Raw), MAX_WAIT)).unwrap();
    let from = payload(3, 100_000);
    assert_eq!(device.write_stream(&from, 3000, 1).unwrap(), 100_000);
    let mut into = vec![0; 100_000];
    assert_eq!(device.read_stream(&mut into[..777], 3000, 1).unwrap(), 777);
    let rest = device.read_stream(&mut into[777..], 3000, 1).unwrap();
    assert_eq!(rest, 100_000 - 777);
    assert!(into == from);
    device.set_timeout(Duration::from_millis(120)).unwrap();
    let (came, error) = device.read_stream(&mut into, 3000, 1).unwrap_err();
    assert_eq!((came, error.kind()), (0, LinkErrorKind::Timeout), "{error}");
    let (_, error) = device.read_stream(&mut into, 0, 1).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Usage);
}

#[test]
fn a_loop_whose_every_wait_is_short_can_be_interrupted() {
    let responder = Responder::plain("unix");
    let mut device = responder.device();
    device.set_interrupt(Some(Box::new(|| true)));
    let mut cycles = vec![Cycle::default(); 1_000_000];
    let plan = ControlPlan::default();
    let mut step = |_: u64, _: Option<&[u8]>, _: &mut [u8]| Some(8);
    let (begun, error) = device.control(&plan, &mut step, &mut cycles).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Interrupted);
    assert!(begun > 0 && begun < cycles.len(), "{begun}");
}

#[test]
fn an_interrupted_stream_leaves_the_link_usable() {
    let responder = Responder::slow("tcp", 100 * MS);
    let mut device = responder.device();
    let begun = Instant::now();
    device.set_interrupt(Some(Box::new(move || {
        begun.elapsed() > Duration::from_secs(1)
    })));
    let mut into = vec![0; 100_000];
    let (came, error) = device.read_stream(&mut into, 1000, 1).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Interrupted);
    assert!(came > 0 && came < 100_000, "{came}");
    device.set_interrupt(None);
    assert_echo(&mut device, b"after");
}
