//! A recording without a link: slow, failing and stuck storage.

use super::*;
use crate::stream::coordination::Coordination;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use wiregauge_session::stream::Payload;

const BUFFER: usize = 1 << 16;

fn start(file: RecordFile) -> (Recorder, RecordInput) {
    Recorder::start_with(file, &HostPlan::default(), BUFFER).unwrap()
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at % 251) as u8).collect()
}

/// A pipe whose reader does not read yet.
fn pipe() -> (File, File) {
    let (read, write) = std::io::pipe().unwrap();
    (OwnedFd::from(read).into(), OwnedFd::from(write).into())
}

#[test]
fn a_slow_reader_makes_the_receiver_wait_and_loses_nothing() {
    let (mut read, write) = pipe();
    let (recorder, input) = start(RecordFile::open("-", write));
    let (stop, begun) = (AtomicBool::new(false), AtomicU64::new(0));
    let shared = Coordination::new(&stop, &begun);
    recorder.begin();
    let sent = bytes(1 << 20);
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        let mut piece = vec![0; 4096];
        loop {
            std::thread::sleep(Duration::from_micros(500));
            match read.read(&mut piece).unwrap() {
                0 => return all,
                count => all.extend_from_slice(&piece[..count]),
            }
        }
    });
    let mut tap = Tap::new(input, &shared);
    sent.chunks(10_000).for_each(|piece| tap.take(piece));
    let tapped = tap.tapped();
    drop(tap);
    let (recording, failed) = recorder.finish(tapped, || false, || {});
    failed.unwrap();
    assert_eq!(reader.join().unwrap(), sent);
    assert_eq!((recording.bytes, recording.missing_bytes), (1 << 20, 0));
    assert!(tapped.waits > 0 && tapped.waited_ns > 0, "{tapped:?}");
    assert_eq!(recording.peak_waiting_bytes, BUFFER as u64, "it was full");
    assert!(shared.failure().is_none());
}

#[test]
fn a_full_disk_fails_the_point_with_the_systems_words() {
    let (recorder, input) = start(RecordFile::create("/dev/full").unwrap());
    let (stop, begun) = (AtomicBool::new(false), AtomicU64::new(0));
    let shared = Coordination::new(&stop, &begun);
    recorder.begin();
    let mut tap = Tap::new(input, &shared);
    let piece = bytes(1000);
    while shared.failure().is_none() {
        tap.take(&piece);
    }
    let tapped = tap.tapped();
    drop(tap);
    let (recording, failed) = recorder.finish(tapped, || false, || {});
    let said = failed.unwrap_err().to_string();
    assert!(
        said.contains("cannot write /dev/full: No space left"),
        "{said}"
    );
    assert!(said.contains("hint: free some space"), "{said}");
    assert_eq!(
        (recording.bytes, recording.missing_bytes),
        (0, tapped.bytes)
    );
    // The device can still be reached, so that its stream is ended.
    assert!(!shared.is_link_lost());
}

#[test]
fn a_stopped_run_does_not_wait_for_a_reader_that_is_stuck() {
    let (read, write) = pipe();
    let (recorder, input) = start(RecordFile::open("-", write));
    let (stop, begun) = (AtomicBool::new(true), AtomicU64::new(0));
    let shared = Coordination::new(&stop, &begun);
    recorder.begin();
    let mut tap = Tap::new(input, &shared);
    let sent = bytes(1 << 20);
    tap.take(&sent);
    let tapped = tap.tapped();
    drop(tap);
    let (recording, failed) = recorder.finish(tapped, || true, || {});
    failed.unwrap();
    assert_eq!(tapped.bytes, 1 << 20);
    assert_eq!(recording.bytes + recording.missing_bytes, 1 << 20);
    assert!(
        recording.bytes > 0 && recording.missing_bytes > 0,
        "{recording:?}"
    );
    drop(read);
}

#[test]
fn a_recording_that_never_began_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data");
    let (recorder, input) = start(RecordFile::create(path.to_str().unwrap()).unwrap());
    assert!(path.exists());
    drop((recorder, input));
    assert!(!path.exists());
}

#[test]
fn a_recording_whose_run_fails_ends_although_nobody_reads() {
    let (near, _far) = UnixStream::pair().unwrap();
    let (recorder, mut input) = start(RecordFile::open("-", File::from(OwnedFd::from(near))));
    recorder.begin();
    let sent = bytes(BUFFER);
    // More than the socket holds waits.
    for _ in 0..100 {
        let _ = input.ring.push_partial_slice(&sent);
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(input);
    drop(recorder);
}
