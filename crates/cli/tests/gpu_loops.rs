//! Loops by way of a GPU, on a software stand-in for CUDA's driver (tests/standin): the calls and their order,
//! the arithmetic of the kernels, what is freed, every way that it can fail. Not one figure of it is a GPU's.

#![cfg(all(target_os = "linux", feature = "gpu"))]

use crate::common;

use common::{Background, Desk, Ended, has_all, until};
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use wiregauge_record::{Aim, LoopPath, LoopSummary};
use wiregauge_run::{Loop, RunFile};

/// Blocks of 5 ms and a ring of a third of a second, which outlast the moods of a busy machine; so long that
/// the ring goes round.
const SHORT: &str = "--rate 100k --notify 1k --ring 64k --duration 400ms --settle 20ms \
                     --no-calibration";

/// The directory with the stand-in, compiled once: the same names as the driver's.
fn standin() -> &'static Path {
    static STANDIN: OnceLock<PathBuf> = OnceLock::new();
    STANDIN.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let source = here.join("tests/standin");
        let kernels = here.join("../loop/src/gpu");
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("standin");
        fs::create_dir_all(&to).expect("a directory");
        let library = to.join(format!("compiled-by-{}", std::process::id()));
        // Products are rounded before they are added, as in the kernels of a GPU.
        let compiled = Command::new("cc")
            .args([
                "-std=c99",
                "-D_GNU_SOURCE",
                "-O2",
                "-g",
                "-Wall",
                "-Wextra",
                "-Werror",
            ])
            .args([
                "-ffp-contract=off",
                "-fvisibility=hidden",
                "-shared",
                "-fPIC",
                "-pthread",
            ])
            .arg("-I")
            .arg(kernels)
            .arg("-I")
            .arg(&source)
            .args(["device.c", "memory.c", "work.c"].map(|file| source.join(file)))
            .arg("-o")
            .arg(&library)
            .output()
            .expect("a C compiler");
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{said}");
        fs::copy(&library, to.join("libcuda.so.new")).expect("copied");
        fs::rename(to.join("libcuda.so.new"), to.join("libcuda.so")).expect("renamed");
        fs::rename(&library, to.join("libcuda.so.1")).expect("renamed");
        to
    })
}

/// A loop on the stand-in, which is wished to behave so.
fn command(desk: &Desk, arguments: &str, wishes: &[(&str, &str)]) -> Command {
    let mut command = desk.command(&format!("loop {arguments}"));
    command
        .env("LD_LIBRARY_PATH", standin())
        .env("STANDIN_LOG", desk.path("standin.log"))
        .envs(wishes.iter().copied());
    command
}

fn ended(desk: &Desk, arguments: &str, wishes: &[(&str, &str)]) -> Ended {
    Background::start(&mut command(desk, arguments, wishes)).ended()
}

/// What the stand-in wrote down.
fn log(desk: &Desk) -> String {
    fs::read_to_string(desk.path("standin.log")).unwrap_or_default()
}

/// No kernel runs any more, everything was given back, and no rule was broken.
#[track_caller]
fn assert_left_clean(desk: &Desk) {
    let log = log(desk);
    let clean = "left: 0 contexts, 0 kernels, 0 streams, 0 memories, 0 host memories, 0 registered";
    assert!(log.lines().last() == Some(clean), "{log}");
    for broken in ["deadlock", "slip", "astray", "gave up"] {
        assert!(!log.contains(broken), "{log}");
    }
    let count = |what: &str| log.lines().filter(|line| line.contains(what)).count();
    assert_eq!(count("stays runs"), count("stays ended: told"), "{log}");
}

/// Loops, which must succeed, and gives the run.
#[track_caller]
fn looped(desk: &Desk, flags: &str) -> RunFile<Loop> {
    let ended = ended(desk, &format!("virtual {flags} --json"), &[]);
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_left_clean(desk);
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("no run was printed ({error}): {ended}"))
}

/// Every sample was in its place, found by this method.
#[track_caller]
fn assert_verified(point: &LoopSummary, method: &str) {
    let found = point.verified.as_ref().expect("verified");
    assert!(
        found.holds() && found.wrong == 0,
        "{} {found:?}",
        point.point
    );
    assert_eq!(found.method, method);
    assert!(found.compared > 10, "{found:?}");
}

#[test]
fn every_way_brings_each_block_back_to_its_place() {
    let desk = Desk::new();
    let run = looped(&desk, &format!("{SHORT} --gpu"));
    let paths: Vec<_> = run.points.iter().map(|point| point.point.path).collect();
    assert_eq!(paths, LoopPath::GPU);
    for point in &run.points {
        assert_verified(point, "sequence");
        assert!((75..=85).contains(&point.blocks), "{}", point.blocks);
    }
    let about = run.conditions.link.settings;
    let gpu = about.iter().find(|(name, _)| name == "gpu").expect("a GPU");
    assert!(gpu.1.starts_with("software stand-in 0 (no GPU)"), "{gpu:?}");
    let shown = desk.output("show last");
    has_all(&shown, &["gpu-streams:4", "GPU software stand-in"]);
    let exported = desk.output("export last --csv");
    assert!(
        exported
            .lines()
            .next()
            .is_some_and(|l| l.ends_with(",path"))
    );
    assert!(
        exported.contains(",gpu-persistent\n"),
        "no path in the rows"
    );
}

#[test]
fn every_way_computes_what_the_processor_does_wherever_blocks_begin() {
    let desk = Desk::new();
    let pace = "--rate 100k --duration 220ms --settle 20ms --no-calibration --gpu";
    for (blocks, process) in [
        // Two filters with something before, between and behind. Of the short one, every tap counts.
        (
            "--notify 1k --ring 64k --channels 2",
            "gain:-0.7,fir:64,gain:2.5,fir:5,gain:2",
        ),
        // More history than a block has samples; a block that is no multiple of anything.
        ("--notify 1002 --ring 64128", "fir:1201,gain:3"),
        ("--notify 1k --ring 64k", "threshold:0.02,fir:6"),
        // Every second block begins where eight samples cannot be taken at once.
        ("--notify 3000 --ring 60000 --channels 3", "copy,gain:0.25"),
    ] {
        let run = looped(&desk, &format!("{pace} {blocks} --process {process}"));
        for point in &run.points {
            assert_verified(point, "reference");
        }
    }
}

#[test]
fn a_preload_under_test_goes_the_same_way() {
    let desk = Desk::new();
    let run = looped(&desk, &format!("{SHORT} --gpu=graph --hold 100ms"));
    assert!(run.points.len() > 1);
    for point in &run.points {
        assert_eq!(point.point.path, LoopPath::Graph);
    }
    assert_eq!(run.points[1].point.aim, Aim::Hold);
}

#[test]
fn a_part_waits_for_what_its_filter_needs_of_the_parts_before() {
    let desk = Desk::new();
    let flags = "--rate 100k --notify 4k --ring 128k --duration 400ms --settle 20ms --no-calibration \
                 --process fir:64,gain:2,fir:5 --gpu=streams:2,streams:16 --json";
    let wish = ("STANDIN_LAST_FIRST", "1");
    let ended = ended(&desk, &format!("virtual {flags}"), &[wish]);
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_left_clean(&desk);
    let run: RunFile<Loop> = serde_json::from_str(&ended.stdout).expect("a run");
    for point in &run.points {
        assert_verified(point, "reference");
    }
}

#[test]
fn a_device_that_moves_by_itself_lends_its_rings_too() {
    let desk = Desk::new();
    for device in ["virtual:thread", "virtual:process"] {
        // The ring holds three seconds: a busy host does not overwrite it.
        let flags = "--rate 20k --notify 1k --ring 256k --duration 1s --settle 20ms --no-calibration \
                     --process fir:9 --gpu=pinned,persistent --json";
        let ended = ended(&desk, &format!("{device} {flags}"), &[]);
        assert_eq!(ended.code, Some(0), "{ended}");
        assert_left_clean(&desk);
        let run: RunFile<Loop> = serde_json::from_str(&ended.stdout).expect("a run");
        for point in &run.points {
            assert_verified(point, "reference");
        }
    }
}

#[test]
fn a_block_that_comes_back_changed_in_its_middle_is_seen() {
    let desk = Desk::new();
    for process in ["copy", "gain:0.5"] {
        let flags = format!("virtual {SHORT} --gpu=pinned,graph --process {process}");
        let ended = ended(&desk, &flags, &[("STANDIN_SPOIL", "1")]);
        assert_eq!(ended.code, Some(0), "{ended}");
        let said = ended.stdout.clone() + &ended.stderr;
        assert!(said.contains("is not the processed input"), "{ended}");
        assert!(!said.contains("positions compared"), "{ended}");
    }
}

/// Fails with exit code 3, says this, and what to try; leaves nothing on the GPU.
#[track_caller]
fn fails(desk: &Desk, flags: &str, wish: (&str, &str), says: &[&str]) {
    let _ = fs::remove_file(desk.path("standin.log"));
    let ended = ended(desk, &format!("virtual {SHORT} {flags}"), &[wish]);
    assert_eq!(ended.code, Some(3), "{ended}");
    for says in says.iter().chain(&["hint: "]) {
        assert!(ended.stderr.contains(says), "no {says}: {ended}");
    }
    if log(desk).contains("stays runs") {
        assert!(log(desk).contains("stays ended"), "{}", log(desk));
    }
}

/// Calls of the driver that fail, with the error and from which call on, and what is said; for each way to the GPU.
const FAILING: &str = "
    pinned      cuInit:304  => cannot open GPU 0 | error 304 | /dev/nvidia
    pinned      cuDevicePrimaryCtxRetain:46  => error 46 | a program has exclusive use
    pinned      cuModuleLoadDataEx:218  => cannot compile the kernels | CUDA_ERROR_INVALID_PTX | takes no kernels today
    pinned      cuMemHostRegister_v2:712  => cannot register a ring of 65536 B | already mapped
    pageable    cuMemAlloc_v2:2  => cannot allocate 1024 B | out of memory | --notify
    pageable    cuMemcpyHtoD_v2:1  => cannot copy a block to the GPU | invalid argument
    streams     cuMemcpyDtoHAsync_v2:700@90  => cannot copy a block back | illegal memory access
    graph       cuGraphInstantiateWithFlags:1  => cannot create a graph
    graph       cuGraphExecMemcpyNodeSetParams:1@4  => the target of a copy | invalid argument
    mapped      cuLaunchKernel:700@100  => cannot launch a kernel | illegal memory access
    mapped      cuStreamSynchronize:702@10  => cannot wait for a kernel | without a display
    persistent  cuLaunchCooperativeKernel:720  => cannot start the persistent kernel | error 720
    persistent  cuMemHostAlloc:2  => memory that the GPU watches | out of memory
";

#[test]
fn what_the_driver_says_is_reported_with_what_was_being_done() {
    let desk = Desk::new();
    for line in FAILING.trim().lines() {
        let (failing, says) = line.split_once("=>").expect("a call and words");
        let (path, call) = failing.trim().split_once(' ').expect("a way and a call");
        let says: Vec<&str> = says.split(" | ").map(str::trim).collect();
        let wish = ("STANDIN_FAIL", call.trim());
        fails(&desk, &format!("--gpu={path}"), wish, &says);
        if !log(&desk).is_empty() {
            assert_left_clean(&desk);
        }
    }
}

#[test]
fn a_failure_on_the_way_keeps_the_blocks_before_it() {
    let desk = Desk::new();
    // Some calls to lay things out, 64 blocks to warm up, then those of the loop.
    let wish = ("STANDIN_FAIL", "cuGraphLaunch:700@84");
    fails(
        &desk,
        "--gpu=graph",
        wish,
        &["cannot start a graph", "illegal memory access"],
    );
    let rows = desk.output("export last --csv").lines().count();
    assert_eq!(rows, 1 + 19);
}

#[test]
fn without_a_gpu_it_says_what_was_looked_for() {
    let desk = Desk::new();
    let nothing = desk.path("nothing");
    fs::create_dir(&nothing).expect("a directory");
    // Found before any driver that this machine may have, and none.
    for name in ["libcuda.so", "libcuda.so.1"] {
        fs::write(nothing.join(name), "statically linked").expect("written");
    }
    let command = format!("loop virtual {SHORT} --gpu=pinned");
    desk.wiregauge(&command)
        .env("LD_LIBRARY_PATH", &nothing)
        .assert()
        .code(3)
        .stdout("")
        .stderr(
            contains("cannot load the CUDA driver")
                .and(contains("libcuda.so.1 cannot be loaded"))
                .and(contains("nvidia-smi")),
        );
    assert_eq!(desk.stored(), Vec::<String>::new(), "an empty run is left");
    // Nobody else misses it.
    desk.wiregauge(&format!("loop virtual {SHORT}"))
        .env("LD_LIBRARY_PATH", &nothing)
        .assert()
        .success();
}

#[test]
fn a_driver_without_a_gpu_or_without_that_one_says_so() {
    let desk = Desk::new();
    let none = ("STANDIN_DEVICES", "0");
    fails(
        &desk,
        "--gpu",
        none,
        &["no CUDA-capable device", "nvidia-smi"],
    );
    let two = ("STANDIN_DEVICES", "2");
    let says = &[
        "cannot open GPU 2",
        "there are 2 GPUs",
        "hint: use --gpu-device 0 to 1",
    ];
    fails(&desk, "--gpu --gpu-device 2", two, says);
    let flags = format!("virtual {SHORT} --gpu=pinned --gpu-device 1 --json");
    let second = ended(&desk, &flags, &[two]);
    assert!(
        second.stdout.contains("software stand-in 1 (no GPU)"),
        "{second}"
    );
}

#[test]
fn a_kernel_does_not_stay_where_a_display_would_hang() {
    let desk = Desk::new();
    let wish = ("STANDIN_DISPLAY", "1");
    fails(
        &desk,
        "--gpu=persistent",
        wish,
        &["drives a display", "--gpu=mapped"],
    );
    assert!(!log(&desk).contains("stays runs"));
}

#[test]
fn a_kernel_that_hears_nothing_ends_by_itself() {
    let desk = Desk::new();
    // Its timeout of 5 s pass in 1 ms, the blocks come in every 5.
    let wish = ("STANDIN_CLOCK", "5000");
    fails(
        &desk,
        "--gpu=persistent",
        wish,
        &["cannot wait for the persistent kernel", "received nothing"],
    );
    assert!(
        log(&desk).contains("stays ended: gave up"),
        "{}",
        log(&desk)
    );
}

#[test]
fn ctrl_c_ends_the_kernel_that_stays() {
    let desk = Desk::new();
    for flags in ["--wait sleep", "--wait spin"] {
        let long = "virtual --rate 100k --notify 1k --duration 20s --settle 20ms --no-calibration";
        let arguments = format!("{long} {flags} --gpu=persistent,mapped");
        let run = Background::start(&mut command(&desk, &arguments, &[]));
        until("the loop runs", || desk.measures());
        until("the kernel runs", || log(&desk).contains("stays runs"));
        run.signal(Signal::INT);
        let ended = run.ended();
        assert_eq!(ended.code, Some(130), "{ended}");
        assert_left_clean(&desk);
        fs::remove_dir_all(desk.runs()).expect("cleared for the next");
        fs::remove_file(desk.path("standin.log")).expect("cleared for the next");
    }
}

#[test]
fn what_a_gpu_cannot_do_is_refused_before_it_is_looked_for() {
    let desk = Desk::new();
    desk.refuses(
        "loop --duration 100ms --no-calibration",
        2,
        "
        virtual --gpu=warp         => unknown GPU path | persistent or cpu
        virtual --gpu=streams:0    => 1 to 16 streams | hint: use --gpu=streams:1
        virtual --gpu=streams:17   => 1 to 16 streams | hint: use --gpu=streams:1
        virtual --gpu --process fir:8,biquad:0.1 => each sample depends | hint: use fir:TAPS
        virtual --gpu --notify 64k --ring 32k    => does not fit in a ring | hint: use --ring
        virtual --gpu-device 1     => --gpu | required
        alsa:hw:0 --gpu=pinned     => cannot be registered | hint: use --gpu=pageable
        ",
    );
}
