//! The trial of batches within a point, in virtual time: between two processors, where one call for all makes host
//! and device take turns, and on one, where each call is a switch to the device and back.

mod common;

use std::collections::VecDeque;
use wiregauge_record::{BatchTrial as Record, Limit, Phase, Plan, Sample, Schedule, Status};
use wiregauge_session::{BatchTrial, Echo, End, Measurement, Next};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;

const SIZE: usize = 64;
const DEPTH: u32 = 16;

/// A system call.
const CALL: u64 = 2 * US;
/// Until one that sleeps runs.
const WAKE: u64 = 6 * US;
/// The device's work for an exchange.
const WORK: u64 = US / 2;

fn plan(limit: Limit) -> Plan {
    Plan {
        limit,
        warmup: 5,
        ..common::plan(100 * MS)
    }
}

/// A device that reads what is there, works, and answers in one call.
struct Device {
    one_processor: bool,
    /// Requests that it has not read, and when they came.
    requests: VecDeque<(u64, Vec<u8>)>,
    /// Answers that the host has not read, and when they were sent.
    answers: VecDeque<(u64, Vec<u8>)>,
    works_until: u64,
    /// It does not answer the request with this number, counted from 0.
    drops: Option<u64>,
    read: u64,
}

/// The oldest, if it came up to this time.
fn pop_until(queue: &mut VecDeque<(u64, Vec<u8>)>, until_ns: u64) -> Option<(u64, Vec<u8>)> {
    let came = queue.front().is_some_and(|(at, _)| *at <= until_ns);
    came.then(|| queue.pop_front())?
}

impl Device {
    /// Does what it begins up to this time.
    fn work(&mut self, until_ns: u64) {
        while let Some(&(first, _)) = self.requests.front() {
            let begin = match self.works_until < first {
                true => first + WAKE,
                false => self.works_until,
            };
            if begin > until_ns {
                return;
            }
            let mut bytes = Vec::new();
            while let Some((_, request)) = pop_until(&mut self.requests, begin) {
                for request in request.chunks(SIZE) {
                    if self.drops != Some(self.read) {
                        bytes.extend_from_slice(request);
                    }
                    self.read += 1;
                }
            }
            self.works_until = begin + CALL + WORK * (bytes.len() / SIZE) as u64;
            self.answers.push_back((self.works_until, bytes));
        }
    }

    /// The host has handed over requests; returns when it goes on.
    fn take(&mut self, now_ns: u64, bytes: &[u8]) -> u64 {
        let now = now_ns + CALL;
        self.requests.push_back((now, bytes.to_vec()));
        if self.one_processor {
            self.work(u64::MAX);
            return self.works_until + WAKE;
        }
        now
    }

    /// What the host receives, and when it has it.
    fn receive(&mut self, now_ns: u64, until_ns: u64) -> (u64, Vec<u8>) {
        self.work(now_ns);
        let mut now = now_ns;
        if self.answers.front().is_none_or(|(at, _)| *at > now) {
            self.work(u64::MAX);
            now = match self.answers.front() {
                Some((at, _)) if *at <= until_ns => at + WAKE,
                _ => return (until_ns, Vec::new()),
            };
        }
        let mut bytes = Vec::new();
        while let Some((_, answer)) = pop_until(&mut self.answers, now) {
            bytes.extend(answer);
        }
        (now + CALL, bytes)
    }
}

/// Runs a point; stops at `stop_ns`.
fn run(plan: &Plan, mut device: Device, stop_ns: u64) -> (Vec<Sample>, Option<Record>, End, u64) {
    let point = common::point(SIZE as u32, SIZE as u32, DEPTH);
    let codec = Echo::new(0, SIZE as u32, false);
    let mut session = Measurement::new(plan, point, false, usize::MAX, codec)
        .with_trial(BatchTrial::of(plan, DEPTH));
    let (mut now, mut samples) = (MS, Vec::new());
    loop {
        if now >= stop_ns {
            session.stop();
        }
        match session.next(now) {
            Next::Send => {
                let bytes = session.outgoing().to_vec();
                session.sent(now, bytes.len());
                now = device.take(now, &bytes);
            }
            Next::Receive { until_ns, .. } => {
                let (at, bytes) = device.receive(now, until_ns);
                now = at;
                session.space()[..bytes.len()].copy_from_slice(&bytes);
                session.received(now, bytes.len());
            }
            Next::Done => {
                let end = session.end().cloned().expect("it is done");
                return (samples, session.trial(), end, now);
            }
            other => panic!("{other:?}"),
        }
        while let Some(row) = session.poll(now) {
            samples.push(row.sample);
        }
    }
}

fn device(one_processor: bool) -> Device {
    Device {
        one_processor,
        requests: VecDeque::new(),
        answers: VecDeque::new(),
        works_until: 0,
        drops: None,
        read: 0,
    }
}

/// The numbers are those of a point without a trial.
fn assert_numbered(samples: &[Sample], count: u64) {
    let mut numbers: Vec<u64> = samples.iter().map(|sample| sample.sequence).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..1 + 5 + count).collect::<Vec<_>>());
    assert!(samples.iter().all(|sample| sample.status == Status::Ok));
    let of = |phase: Phase| samples.iter().filter(|s| s.phase == phase).count() as u64;
    let phases = [Phase::First, Phase::WarmUp, Phase::Measured];
    assert_eq!(phases.map(of), [1, 5, count]);
    assert_eq!((samples[0].sequence, samples[0].outstanding), (0, 1));
}

#[test]
fn between_two_processors_fewer_are_handed_over_than_all() {
    let plan = plan(Limit::Count(50_000));
    let (samples, trial, ..) = run(&plan, device(false), u64::MAX);
    assert_numbered(&samples, 50_000);
    let trial = trial.expect("there was a trial");
    assert!(trial.chosen.is_some(), "{trial:?}");
    assert_eq!(trial.rates.len(), 3);
    assert!(trial.exchanges <= 5_000, "{trial:?}");
}

#[test]
fn on_one_processor_all_are_handed_over() {
    let plan = plan(Limit::Count(50_000));
    let (samples, trial, ..) = run(&plan, device(true), u64::MAX);
    assert_numbered(&samples, 50_000);
    let trial = trial.expect("there was a trial");
    assert_eq!((trial.chosen, trial.rates.len()), (None, 3), "{trial:?}");
}

#[test]
fn a_duration_begins_after_the_trial() {
    let plan = plan(Limit::DurationNs(1_000 * MS));
    let (samples, trial, ..) = run(&plan, device(false), u64::MAX);
    let trial = trial.expect("there was a trial");
    let measured = samples.iter().filter(|s| s.phase == Phase::Measured);
    let starts: Vec<u64> = measured.map(|sample| sample.start_ns).collect();
    let span = starts.iter().max().zip(starts.iter().min());
    let (last, first) = span.expect("something was measured");
    let lasted_ns = last - first;
    assert!((995 * MS..=1_001 * MS).contains(&lasted_ns), "{trial:?}");
}

#[test]
fn a_short_run_has_no_trial() {
    let count = plan(Limit::Count(40_000));
    let duration = plan(Limit::DurationNs(999 * MS));
    let scheduled = Plan {
        schedule: Schedule::EveryNs(US),
        ..plan(Limit::Count(1_000_000))
    };
    let fixed = Plan {
        batch: Some(2),
        ..plan(Limit::Count(1_000_000))
    };
    for plan in [count, duration, scheduled, fixed] {
        assert!(BatchTrial::of(&plan, DEPTH).is_none(), "{plan:?}");
    }
    assert!(BatchTrial::of(&plan(Limit::Count(1_000_000)), DEPTH).is_some());
}

#[test]
fn a_loss_in_the_trial_ends_it_and_is_no_sample() {
    let plan = Plan {
        timeout_ns: MS,
        ..plan(Limit::Count(50_000))
    };
    let mut device = device(false);
    device.drops = Some(1_000);
    let (samples, trial, end, _) = run(&plan, device, u64::MAX);
    assert_eq!(end, End::Complete);
    assert_numbered(&samples, 50_000);
    let trial = trial.expect("there was a trial");
    assert_eq!((trial.chosen, trial.rates.len()), (None, 0), "{trial:?}");
}

#[test]
fn a_stop_in_the_trial_ends_at_once() {
    let plan = plan(Limit::Count(50_000));
    // Behind the first answer the line is quiet for 5 ms.
    let stop_ns = 7 * MS;
    let (samples, trial, end, now) = run(&plan, device(false), stop_ns);
    assert_eq!((samples.len(), trial, end), (1, None, End::Stopped));
    assert!(now < stop_ns + 100 * US, "{now}");
}
