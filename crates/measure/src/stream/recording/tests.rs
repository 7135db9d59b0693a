//! A recording without a link, whose storage fails or is stuck.

use super::*;
use crate::stream::coordination::Coordination;
use std::fs::File;
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

#[test]
fn a_full_disk_is_no_lost_link() {
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
    let (_, failed) = recorder.finish(tapped, || false, || {});
    assert!(failed.is_err());
    // Its stream is ended then.
    assert!(!shared.is_link_lost());
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
