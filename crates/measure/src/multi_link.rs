//! Several links in one run: each measured alone, then all at once, on a thread of their own each.
//! The engines know nothing of it: a run over one link is what they do, and a gate in the sink
//! holds each back until all are ready for the same point.

use crate::sink::RunError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use wiregauge_record::{ControlPlan, LoopPlan, Plan, StreamPlan};

/// Where those who measure together wait for each other at the beginning of each point.
pub struct Gate {
    state: Mutex<GateState>,
    opened: Condvar,
}

struct GateState {
    members: usize,
    waiting: usize,
    /// How often it has opened.
    openings: u64,
}

impl Gate {
    /// A gate that opens when so many wait at it.
    pub fn new(members: usize) -> Gate {
        Gate {
            state: Mutex::new(GateState {
                members,
                waiting: 0,
                openings: 0,
            }),
            opened: Condvar::new(),
        }
    }

    /// Waits until all others wait as well or have left.
    pub fn wait(&self) {
        let mut state = self.locked();
        state.waiting += 1;
        let before = state.openings;
        self.open_if_all_wait(&mut state);
        let _state = self
            .opened
            .wait_while(state, |state| state.openings == before)
            .unwrap_or_else(PoisonError::into_inner);
    }

    /// Nobody needs to wait for the caller any more.
    pub fn leave(&self) {
        let mut state = self.locked();
        state.members -= 1;
        self.open_if_all_wait(&mut state);
    }

    fn open_if_all_wait(&self, state: &mut GateState) {
        if state.waiting > 0 && state.waiting >= state.members {
            state.waiting = 0;
            state.openings += 1;
            self.opened.notify_all();
        }
    }

    fn locked(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leaves the gate even where the one who waits there panics.
struct Member<'a>(&'a Gate);

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// What is to be run now.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// Which link, from 0.
    pub link: usize,
    /// The others that run at the same time; `None` where it runs alone.
    pub gate: Option<&'a Gate>,
}

/// Runs each link alone, one after another, and then all together. `run` measures the points of one
/// turn; where a turn has a gate, its sink waits there at the beginning of each point. Returns as an
/// engine's run does. What fails alone ends the run; what fails together lets the others go on.
pub fn run(
    links: usize,
    stop: &AtomicBool,
    run: impl Fn(Turn<'_>) -> Result<bool, RunError> + Sync,
) -> Result<bool, RunError> {
    for link in 0..links {
        if stop.load(Ordering::Relaxed) || !run(Turn { link, gate: None })? {
            return Ok(false);
        }
    }
    if links < 2 {
        return Ok(true);
    }
    let gate = Gate::new(links);
    let outcomes: Vec<Result<bool, RunError>> = std::thread::scope(|scope| {
        let turns = (0..links).map(|link| {
            let (run, gate) = (&run, &gate);
            scope.spawn(move || {
                let _member = Member(gate);
                run(Turn {
                    link,
                    gate: Some(gate),
                })
            })
        });
        let turns: Vec<_> = turns.collect();
        let ended = turns.into_iter().map(|turn| turn.join());
        ended
            .map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut complete = true;
    for outcome in outcomes {
        complete &= outcome?;
    }
    Ok(complete)
}

/// A plan that can be cut into what each link runs by itself.
pub trait Divisible: Sized {
    /// The part of the plan that one turn runs: a plan for one link, with the points that are its
    /// own.
    fn part(&self, turn: &Turn<'_>) -> Self;
}

impl Turn<'_> {
    /// True of a point of its link, if that runs as the turn does.
    fn has(&self, link: u32, together: bool) -> bool {
        link as usize == self.link && together == self.gate.is_some()
    }

    fn address<'a>(&self, mut links: impl Iterator<Item = &'a str>) -> String {
        links.nth(self.link).unwrap_or_default().to_string()
    }
}

impl Divisible for StreamPlan {
    fn part(&self, turn: &Turn<'_>) -> StreamPlan {
        let mut part = self.clone();
        part.address = turn.address(self.links());
        part.more_links.clear();
        part.points.retain(|p| turn.has(p.link, p.together));
        part
    }
}

/// A control loop has one device.
impl Divisible for ControlPlan {
    fn part(&self, _turn: &Turn<'_>) -> ControlPlan {
        self.clone()
    }
}

/// A digitizer and a generator are one device, looped by themselves.
impl Divisible for LoopPlan {
    fn part(&self, _turn: &Turn<'_>) -> LoopPlan {
        self.clone()
    }
}

impl Divisible for Plan {
    fn part(&self, turn: &Turn<'_>) -> Plan {
        let mut part = self.clone();
        part.address = turn.address(self.links());
        part.more_links.clear();
        part.points.retain(|p| turn.has(p.link, p.together));
        // This host has one floor, and nothing may run beside it.
        part.calibrate &= turn.link == 0 && turn.gate.is_none();
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn nobody_passes_the_gate_before_all_are_there() {
        let gate = Gate::new(3);
        let arrived = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=50 {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        gate.wait();
                        assert!(arrived.load(Ordering::SeqCst) >= 3 * round);
                    }
                });
            }
        });
    }

    #[test]
    fn who_leaves_is_not_waited_for() {
        let stop = AtomicBool::new(false);
        let passed = AtomicUsize::new(0);
        let outcome = run(3, &stop, |turn| {
            let Some(gate) = turn.gate else {
                return Ok(true);
            };
            for round in 0..5 {
                if turn.link == 1 && round == 2 {
                    return Err(RunError::Sink(std::io::Error::other("gone")));
                }
                gate.wait();
                passed.fetch_add(1, Ordering::SeqCst);
            }
            Ok(true)
        });
        assert!(matches!(outcome, Err(RunError::Sink(_))));
        assert_eq!(passed.load(Ordering::SeqCst), 5 + 2 + 5);
    }

    #[test]
    fn a_failure_alone_ends_the_run() {
        let stop = AtomicBool::new(false);
        let turns = AtomicUsize::new(0);
        let outcome = run(2, &stop, |_| {
            turns.fetch_add(1, Ordering::SeqCst);
            Err(RunError::Sink(std::io::Error::other("broken")))
        });
        assert!(outcome.is_err());
        assert_eq!(turns.load(Ordering::SeqCst), 1);
    }
}
