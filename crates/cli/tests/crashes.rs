//! A run that is killed while the device (of this test) notes what it answered, and when: of what was answered more than a
//! second before, nothing may be missing. Streams and loops that are killed are in crates/run/tests/cut_short.rs.

use crate::common;

use common::{Background, Desk, until};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wiregauge_run::{Exchange, Run};

/// Rows may be missing that are younger; a busy host adds to the second.
const AGE: Duration = Duration::from_secs(2);

/// When each request was answered.
type Answered = Arc<Mutex<Vec<Instant>>>;

fn echo(mut link: TcpStream, answered: &Answered) {
    let mut request = [0; 48];
    while link.read_exact(&mut request).is_ok() && link.write_all(&request).is_ok() {
        answered.lock().expect("no panic").push(Instant::now());
    }
}

#[test]
fn of_a_run_that_is_killed_only_the_last_second_may_be_missing() {
    let desk = Desk::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    let answered = Answered::default();
    let noted = Arc::clone(&answered);
    std::thread::spawn(move || {
        for link in listener.incoming().flatten() {
            echo(link, &noted);
        }
    });
    let flags = "--protocol echo --out 48 --rate 500 --duration 60s --timeout 10s --no-calibration";
    let command = format!("exchange tcp://{address} {flags} --store run");
    let run = Background::start(&mut desk.command(&command));
    let all = || answered.lock().expect("no panic").clone();
    until("it has answered for a while", || {
        let all = all();
        all.first().is_some_and(|first| first.elapsed() > 2 * AGE)
    });
    run.signal(Signal::KILL);
    let killed = Instant::now();
    assert_eq!(run.ended().code, None);
    let all = all();
    let old = all.iter().filter(|at| **at + AGE < killed).count();
    let run = Run::<Exchange>::open(&desk.path("run")).expect("a run");
    let rows = run.samples(0).expect("its samples");
    let rows = rows.map(|row| row.expect("a row").0.sequence);
    let stored: Vec<u64> = rows.collect();
    assert!(stored.iter().copied().eq(0..stored.len() as u64));
    assert!(
        (old..=all.len()).contains(&stored.len()),
        "{}",
        stored.len()
    );
}
