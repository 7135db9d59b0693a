//! Both modes on this host, whatever else it does: what must hold on a busy one as well.

use super::*;
use crate::device::LoopDevice;
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wiregauge_record::{Aim, LoopPath, Stall};

/// Blocks of 1 ms in rings of 400 ms.
fn point(preload_blocks: u64) -> LoopPoint {
    LoopPoint {
        index: 0,
        rate_hz: 1_000_000,
        channels: 2,
        notify_bytes: 4_000,
        ring_bytes: 1_600_000,
        preload_bytes: 4_000 * preload_blocks,
        aim: Aim::Hold,
        path: LoopPath::Cpu,
    }
}

#[test]
#[ignore = "is the device of the tests below, which start it"]
fn the_device_itself() {
    // Started by a person, it has no memory to serve.
    let _ = crate::platform::process::be_device();
}

/// This test program as the device's process; one test at a time, so that what it leaves is its own.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let name = "virtual_device::tests::the_device_itself";
    let arguments = ["--exact", name, "--ignored"].map(Into::into);
    crate::serve_devices_with("/proc/self/exe", arguments.to_vec());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_both_modes(test: impl Fn(VirtualDevice)) {
    let host = HostPlan::default();
    test(VirtualDevice::thread(&host).expect("a thread"));
    let _alone = alone();
    test(VirtualDevice::process(&host).expect("a process"));
}

/// Copies so many blocks, resting before one of them; what the host learned of each, and the end.
fn copied(
    device: &mut VirtualDevice,
    point: &LoopPoint,
    blocks: u64,
    rest: Option<(u64, u64)>,
    how: LoopWait,
) -> (Vec<Xrun>, DeviceEnd) {
    let halt = AtomicBool::new(false);
    device.start(point, true).expect("starts");
    let printed = (0..blocks).map(|k| {
        let arrived = device.wait(how, &halt).expect("waits");
        let arrived = arrived.expect("nobody halts it");
        assert!(arrived.seen_ns >= arrived.due_ns);
        assert_eq!(arrived.due_ns, (k + 1) * 1_000_000);
        if let Some((_, ms)) = rest.filter(|&(at, _)| at == k) {
            std::thread::sleep(Duration::from_millis(ms));
        }
        let (input, output) = device.block();
        output.copy_from_slice(input);
        device.submit().expect("submits").xrun
    });
    let printed = printed.collect();
    (printed, device.stop())
}

/// What the device counted is what the host learned block by block.
fn assert_agree(printed: &[Xrun], end: &DeviceEnd) {
    let under = printed.iter().filter(|xrun| xrun.is_under()).count() as u64;
    let over = printed.iter().filter(|xrun| xrun.is_over()).count() as u64;
    assert_eq!((end.underruns, end.overruns), (under, over), "{end:?}");
    assert_eq!(end.stalls.len() as u64, under + over);
    assert!(end.stalls.is_sorted_by_key(|stall| stall.at_ns));
}

#[test]
fn each_block_leaves_where_the_preload_says_however_it_is_waited_for() {
    in_both_modes(|mut device| {
        let hybrid = LoopWait::Hybrid { margin_ns: 200_000 };
        for how in [LoopWait::Sleep, LoopWait::Spin, hybrid] {
            let (printed, end) = copied(&mut device, &point(100), 180, None, how);
            assert_agree(&printed, &end);
            assert_eq!(end.wrong, 0, "{end:?}");
            // When the last came in, 80 of them had been needed: each was looked at, missed, or lost.
            assert!(end.checked > 0, "{end:?}");
            assert!(end.checked + end.underruns + end.overruns >= 80, "{end:?}");
            assert!(end.checked + end.underruns <= 180, "{end:?}");
            assert!(end.late.is_some_and(|late| late.longest_ns > 0));
            let rings = device.rings().expect("the device rests");
            assert_eq!(rings.blocks, 180);
            assert!(rings.begun >= 180);
        }
    });
}

#[test]
fn a_rest_longer_than_the_preload_starves_the_output_by_the_devices_own_count() {
    in_both_modes(|mut device| {
        let (printed, end) = copied(&mut device, &point(10), 60, Some((20, 50)), LoopWait::Sleep);
        assert_agree(&printed, &end);
        assert!(end.underruns >= 30, "{end:?}");
        let holds = printed[20].is_under() && end.wrong == 0;
        assert!(holds, "{printed:?} {end:?}");
        // Block 20 is needed when block 30 begins to come in, and was there 40 ms later.
        let starved = |stall: &&Stall| (stall.xrun, stall.at_ns) == (Xrun::Underrun, 30_000_000);
        let stall = end.stalls.iter().find(starved).expect("block 20");
        assert!(stall.late_ns >= 40_000_000, "{stall:?}");
    });
}

#[test]
fn a_rest_longer_than_the_ring_loses_input_and_what_is_left_is_in_its_place() {
    in_both_modes(|mut device| {
        let (printed, end) = copied(
            &mut device,
            &point(300),
            500,
            Some((20, 600)),
            LoopWait::Sleep,
        );
        assert_agree(&printed, &end);
        assert_eq!(printed[20], Xrun::Both);
        assert!(end.overruns >= 100 && end.underruns >= 200, "{end:?}");
        // Block 20 is overwritten when block 420 begins to come in.
        let lost = |stall: &&Stall| (stall.xrun, stall.at_ns) == (Xrun::Overrun, 420_000_000);
        assert!(end.stalls.iter().any(|stall| lost(&stall)), "{end:?}");
        assert_eq!(end.wrong, 0, "{end:?}");
    });
}

#[test]
fn a_block_that_leaves_elsewhere_is_seen() {
    in_both_modes(|mut device| {
        let halt = AtomicBool::new(false);
        device.start(&point(150), true).expect("starts");
        let mut printed = Vec::new();
        for k in 0..200_u64 {
            device.wait(LoopWait::Sleep, &halt).expect("waits");
            let (input, output) = device.block();
            if k != 7 {
                output.copy_from_slice(input);
            }
            printed.push(device.submit().expect("submits").xrun);
        }
        let end = device.stop();
        let expected = u64::from(printed[7] == Xrun::None);
        assert_eq!(end.wrong, expected, "{end:?}");
    });
}

#[test]
fn a_raised_flag_ends_the_wait() {
    in_both_modes(|mut device| {
        let (halt, slow) = (AtomicBool::new(true), point(20));
        let slow = LoopPoint {
            rate_hz: 10,
            ..slow
        };
        device.start(&slow, true).expect("starts");
        let clock = Clock::start();
        for how in [LoopWait::Sleep, LoopWait::Spin] {
            assert_eq!(device.wait(how, &halt).expect("waits"), None);
        }
        // Nor is a block of 100 s waited for when it is stopped.
        device.stop();
        assert!(clock.now() < 30_000_000_000);
    });
}

#[test]
fn points_of_every_size_follow_each_other() {
    in_both_modes(|mut device| {
        for ring_blocks in [400, 10, 1_000, 10, 2] {
            let mut point = point(2);
            point.ring_bytes = 4_000 * ring_blocks;
            let (printed, end) = copied(&mut device, &point, 5, None, LoopWait::Sleep);
            assert_agree(&printed, &end);
            let rings = device.rings().expect("the device rests");
            assert_eq!(rings.input.len() as u64, 2_000 * ring_blocks);
        }
    });
}

#[test]
fn what_the_device_cannot_move_in_time_is_said_and_not_measured() {
    let mut device = VirtualDevice::thread(&HostPlan::default()).expect("a thread");
    let mut point = point(2);
    point.rate_hz = 1_000_000_000_000;
    device.start(&point, true).expect("starts");
    // Nobody takes the blocks: what the host does not wait for does not hold the device up.
    let clock = Clock::start();
    let error = loop {
        assert!(clock.now() < 60_000_000_000, "it never says so");
        match device.look() {
            Ok(()) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => break error,
        }
    };
    let text = error.to_string();
    let holds = text.contains("longer than their duration") && text.contains("--rate");
    assert!(holds, "{text}");
}

#[test]
fn a_device_that_writes_what_cannot_be_true_is_reported_from_a_slow_host() {
    let start = || {
        let mut device = VirtualDevice::thread(&HostPlan::default()).expect("a thread");
        let mut slow = point(20);
        slow.rate_hz = 1_000;
        device.start(&slow, true).expect("starts");
        device
    };
    let halt = AtomicBool::new(false);
    let mut early = start();
    for _ in 0..4 {
        early.header.positions.tick();
    }
    let error = early.wait(LoopWait::Sleep, &halt).expect_err("too early");
    assert_eq!(error.kind(), LinkErrorKind::Protocol);
    let mut meddling = start();
    meddling.header.positions.hand_over(0);
    let error = meddling.submit().expect_err("not its position");
    assert_eq!(error.kind(), LinkErrorKind::Protocol);
}

/// Descriptors of shared memory that this process holds, and its children.
fn held() -> (usize, Vec<String>) {
    let links = fs::read_dir("/proc/self/fd").expect("descriptors");
    let links = links
        .flatten()
        .filter_map(|fd| fs::read_link(fd.path()).ok());
    let memories = links.filter(|link| link.to_string_lossy().contains("wiregauge-device"));
    let tasks = fs::read_dir("/proc/self/task").expect("threads").flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: String = children.collect();
    let devices = children.split_whitespace().filter(|pid| {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        // That of a zombie is empty.
        command.is_empty() || command.contains("the_device_itself")
    });
    (memories.count(), devices.map(str::to_owned).collect())
}

#[test]
fn twenty_starts_leave_neither_descriptors_nor_processes() {
    let _alone = alone();
    for _ in 0..20 {
        let mut device = VirtualDevice::process(&HostPlan::default()).expect("a process");
        let (printed, end) = copied(&mut device, &point(50), 3, None, LoopWait::Sleep);
        assert_agree(&printed, &end);
        let (memories, devices) = held();
        assert!(memories == 1 && !devices.is_empty(), "{devices:?}");
    }
    assert_eq!(held().0, 0);
    // Other tests may have children as well; none of ours is left, nor any half-dead.
    assert!(!held().1.iter().any(|pid| {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.contains("the_device_itself")
    }));
}

#[test]
fn a_process_that_is_killed_is_noticed_and_what_it_counted_is_kept() {
    let _alone = alone();
    let mut device = VirtualDevice::process(&HostPlan::default()).expect("a process");
    let halt = AtomicBool::new(false);
    device.start(&point(10), true).expect("starts");
    let (_, devices) = held();
    let pid: i32 = devices[0].parse().expect("a number");
    let pid = rustix::process::Pid::from_raw(pid).expect("a process");
    for k in 0.. {
        match device.wait(LoopWait::Sleep, &halt) {
            Ok(_) => {
                if k == 5 {
                    std::thread::sleep(Duration::from_millis(50));
                    let killed = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                    killed.expect("ours");
                }
                device.block();
                device.submit().expect("submits");
            }
            Err(error) => {
                assert_eq!(error.kind(), LinkErrorKind::Disconnected);
                assert!(error.to_string().contains("signal 9"), "{error}");
                break;
            }
        }
    }
    let end = device.stop();
    assert!(end.underruns > 0, "{end:?}");
    assert!(device.rings().is_none());
}
