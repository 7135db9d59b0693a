//! Asks the search what to measure, measures it, and tells the search, until there is nothing more to
//! ask, the time is up, the user has had enough, or the link is dead.

use super::bench::{Bench, Tried};
use super::found::{Ended, Failing, Found};
use super::longer;
use super::taken::Taken;
use super::task::{Kind, Task};
use crate::args::KeepArgs;
use crate::caller::{Session, remark};
use crate::commands::measure::remove;
use crate::failure::StorageFailed;
use crate::output::progress::Meter;
use crate::output::style::{CAUTION, RESET};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use wiregauge_link::LinkError;
use wiregauge_record::{Figure, Times};
use wiregauge_tune::{Candidate, Effort, Measured, Probe, Purpose, Search};

/// How often, and how far apart, it is asked for one: a USB device that was reset is back after a
/// second or so.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(300);
/// The part of exhaustive search's exchanges that a search may spend.
const SHARE: f64 = 0.2;

/// Where the runs that confirm are kept.
pub struct Places {
    passing: Option<TempDir>,
    store: Option<PathBuf>,
    address: String,
    used: u32,
}

impl Places {
    /// As the user wants it; not stored means: in a directory that is gone afterwards.
    pub fn new(keep: &KeepArgs, address: &str) -> anyhow::Result<Places> {
        let passing = match keep.no_store {
            true => Some(tempfile::tempdir().context("cannot create a directory")?),
            false => None,
        };
        let store = match &passing {
            Some(passing) => Some(passing.path().join("run")),
            None => keep.store.clone(),
        };
        Ok(Places {
            passing,
            store,
            address: address.to_owned(),
            used: 0,
        })
    }

    /// A directory for the next run.
    fn next(&mut self) -> PathBuf {
        self.used += 1;
        match &self.store {
            None => wiregauge_run::new_run_dir(&wiregauge_run::runs_home(), &self.address),
            Some(dir) if self.used == 1 => dir.clone(),
            Some(dir) => {
                let mut name = dir.as_os_str().to_owned();
                name.push(format!("-{}", self.used));
                name.into()
            }
        }
    }

    /// The directory that is gone at the end of the command.
    pub fn passing(&mut self) -> &mut Option<TempDir> {
        &mut self.passing
    }

    /// True if the runs stay.
    pub fn are_kept(&self) -> bool {
        self.passing.is_none()
    }
}

/// A search, ready to be made.
pub struct Hunt<'a> {
    /// What is asked for.
    pub task: Task,
    /// Raised when the user wants an end.
    pub stop: &'a AtomicBool,
    /// No probe begins after this.
    pub budget: Option<Duration>,
    /// No progress.
    pub quiet: bool,
    /// Who asked.
    pub session: &'a Session<'a>,
}

/// A bar that a run may hold a while: it fills a part of it.
#[derive(Clone)]
struct Shared {
    meter: Arc<Mutex<Box<dyn Meter>>>,
    from: f64,
    to: f64,
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, Box<dyn Meter>> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn part(&self, from: f64, to: f64) -> Shared {
        let meter = Arc::clone(&self.meter);
        Shared { meter, from, to }
    }
}

impl Meter for Shared {
    fn says(&mut self, what: String) {
        self.locked().says(what);
    }

    fn update(&mut self, part: f64) {
        let whole = self.from + (self.to - self.from) * part;
        self.locked().update(whole);
    }

    fn warn(&mut self, text: &str) {
        self.locked().warn(text);
    }

    /// Of a run that ends before the search does.
    fn clear(&mut self) {}
}

/// What was measured until now.
struct State {
    begun: Instant,
    taken: Vec<Option<Taken>>,
    /// The runs that confirmed, with their settings.
    confirmations: Vec<(Candidate, PathBuf)>,
    failing: Vec<Failing>,
    spent: u64,
    /// A setting that was measured, to see later whether the link still lives.
    sound: Candidate,
}

/// A run that confirmed, and how long it took.
struct Confirmed {
    probe: Probe,
    taken: Taken,
    took: Duration,
}

/// What comes after a try.
enum Next {
    GoOn,
    End(Ended),
}

impl Hunt<'_> {
    /// Searches; `None` if it was stopped before anything was known.
    pub fn run(mut self, places: &mut Places) -> anyhow::Result<Option<Found>> {
        let mut meter = Shared {
            meter: Arc::new(Mutex::new(self.session.caller.meter(self.quiet))),
            from: 0.0,
            to: 1.0,
        };
        let searched = self.search(places, &mut meter);
        meter.locked().clear();
        let Some((search, state, ended)) = searched? else {
            return Ok(None);
        };
        let advice = search.advice();
        let best = advice.best.as_ref().filter(|best| best.confirmed);
        let mut runs = state.confirmations.into_iter().rev();
        let best_run = best.and_then(|best| runs.find(|(at, _)| *at == best.at));
        Ok(Some(Found {
            best_run: best_run.map(|(_, dir)| dir),
            task: self.task,
            advice,
            taken: state.taken,
            failing: state.failing,
            ended,
            took: state.begun.elapsed(),
        }))
    }

    fn search(
        &mut self,
        places: &mut Places,
        meter: &mut Shared,
    ) -> anyhow::Result<Option<(Search, State, Ended)>> {
        let begun = Instant::now();
        meter.says("first contact".into());
        let mildest = self.task.mildest();
        if !self.heed_the_device(&mildest)? {
            return Ok(None);
        }
        let mut search = self.new_search(self.task.confirm)?;
        // As documented: never shorter than --count (--duration), however small the space is.
        let least = self.task.least_confirmation().max(self.task.effort);
        if self.task.confirm.is_none() && search.confirmation() < least {
            search = self.new_search(Some(least))?;
        }
        let allowed = search.budget() as f64;
        let mut state = State {
            begun,
            taken: Vec::new(),
            confirmations: Vec::new(),
            failing: Vec::new(),
            spent: 0,
            sound: mildest,
        };
        let ended = loop {
            if self.stop.load(Ordering::Relaxed) {
                break Ended::Interrupted;
            }
            // One setting is tried at least.
            let is_over = |budget| !state.taken.is_empty() && begun.elapsed() > budget;
            let out_of_time = self.budget.is_some_and(is_over);
            let probe = match out_of_time {
                false => search.next(),
                true => self.last_probe(&search),
            };
            let Some(probe) = probe else {
                break match out_of_time {
                    true => Ended::OutOfTime,
                    false => Ended::Complete,
                };
            };
            let part = |spent: u64| (spent as f64 / allowed).min(1.0);
            let mut share = meter.part(
                part(state.spent),
                part(state.spent.saturating_add(probe.exchanges)),
            );
            share.says(self.printed(&probe));
            match self.make(&probe, &mut search, &mut state, places, share)? {
                Next::GoOn => {}
                Next::End(ended) => break ended,
            }
        };
        Ok(Some((search, state, ended)))
    }

    fn new_search(&self, confirm: Option<u64>) -> anyhow::Result<Search> {
        let effort = Effort {
            exchanges: self.task.effort,
            confirm,
            share: SHARE,
        };
        let space = self.task.space.clone();
        Ok(Search::new(
            space,
            self.task.sense,
            self.task.bounds(),
            effort,
        )?)
    }

    /// Opens the link once, and leaves out what the device said that it cannot take. False if it was
    /// stopped.
    fn heed_the_device(&mut self, mildest: &Candidate) -> anyhow::Result<bool> {
        let bench = self.bench();
        let (tried, responder) = bench.probe(mildest, self.task.sign_of_life(), &mut |_| {})?;
        match tried {
            Tried::Done(taken) => self.check_figures(&taken)?,
            Tried::Failed(error) => return Err(error.into()),
            Tried::Stopped => return Ok(false),
        }
        for text in responder.iter().flat_map(|said| self.task.heed(said)) {
            remark!(self.session, "{CAUTION}note:{RESET} {text}");
        }
        Ok(true)
    }

    /// What this link does not tell cannot be tuned for. A stream may have been too short to tell.
    fn check_figures(&self, taken: &Taken) -> anyhow::Result<()> {
        if matches!(self.task.kind, Kind::Stream(_)) {
            return Ok(());
        }
        let asked = self.task.constraints.iter().map(|c| c.figure);
        for figure in asked.chain([self.task.figure]) {
            if taken.figure(figure).is_none() {
                bail!(
                    "cannot tune {} for {figure}: it cannot be measured here ({})",
                    self.task.address,
                    why_not(figure)
                );
            }
        }
        Ok(())
    }

    fn bench(&self) -> Bench<'_> {
        Bench {
            task: &self.task,
            stop: self.stop,
        }
    }

    /// What is done, for the bar.
    fn printed(&self, probe: &Probe) -> String {
        let doing = match probe.purpose {
            Purpose::Explore => "exploring",
            Purpose::Refine => "refining",
            Purpose::Confirm => "confirming",
        };
        format!("{doing}: {}", self.task.name(&probe.at))
    }

    /// When the time is up: a fresh run of the best, unless that was made.
    fn last_probe(&self, search: &Search) -> Option<Probe> {
        let best = search.advice().best.filter(|best| !best.confirmed)?;
        Some(Probe {
            at: best.at,
            exchanges: search.confirmation(),
            purpose: Purpose::Confirm,
        })
    }

    fn make(
        &self,
        probe: &Probe,
        search: &mut Search,
        state: &mut State,
        places: &mut Places,
        mut meter: Shared,
    ) -> anyhow::Result<Next> {
        match probe.purpose {
            Purpose::Confirm => {
                let dir = places.next();
                let begun = Instant::now();
                let tried = self.confirm(probe, &dir, meter.clone())?;
                if let Tried::Done(_) = &tried {
                    state.confirmations.push((probe.at, dir.clone()));
                }
                let (last, tried) = match tried {
                    Tried::Done(taken) => {
                        let first = Confirmed {
                            probe: *probe,
                            taken,
                            took: begun.elapsed(),
                        };
                        self.confirm_longer(first, &dir, search, state, &meter)?
                    }
                    other => (*probe, other),
                };
                self.heed(&last, tried, search, state)
            }
            Purpose::Explore | Purpose::Refine => {
                let mut update = |part| meter.update(part);
                let (tried, _) = self
                    .bench()
                    .probe(&probe.at, probe.exchanges, &mut update)?;
                self.heed(probe, tried, search, state)
            }
        }
    }

    fn confirm(&self, probe: &Probe, dir: &Path, meter: Shared) -> anyhow::Result<Tried> {
        let meter = Box::new(meter);
        self.bench()
            .confirm(&probe.at, probe.exchanges, dir, meter, self.session)
    }

    /// Confirms again with a new and longer run, while a constraint stays open that one would decide and
    /// there is time for it. Gives the last run that was completed; an earlier one counts as a probe.
    fn confirm_longer(
        &self,
        mut last: Confirmed,
        dir: &Path,
        search: &mut Search,
        state: &mut State,
        meter: &Shared,
    ) -> anyhow::Result<(Probe, Tried)> {
        for _ in 0..longer::REPEATS {
            let Some(exchanges) = self.longer(&last, state) else {
                break;
            };
            let probe = Probe {
                exchanges,
                ..last.probe
            };
            let mut meter = meter.clone();
            meter.says(format!("{}, longer", self.printed(&probe)));
            let mut name = dir.as_os_str().to_owned();
            name.push("-longer");
            let longer_dir = PathBuf::from(name);
            let begun = Instant::now();
            let taken = match self.confirm(&probe, &longer_dir, meter)? {
                Tried::Done(taken) => taken,
                // What is known is kept; a dead link is found by the next probe.
                Tried::Failed(_) | Tried::Stopped => {
                    remove(&longer_dir);
                    break;
                }
            };
            remove(dir);
            std::fs::rename(&longer_dir, dir).map_err(StorageFailed)?;
            let open = Probe {
                purpose: Purpose::Refine,
                ..last.probe
            };
            self.heed(&open, Tried::Done(last.taken), search, state)?;
            last = Confirmed {
                probe,
                taken,
                took: begun.elapsed(),
            };
        }
        Ok((last.probe, Tried::Done(last.taken)))
    }

    /// Exchanges of a longer confirmation, if one is expected to decide what this one left open, and
    /// there is time for it.
    fn longer(&self, last: &Confirmed, state: &State) -> Option<u64> {
        if self.task.confirm.is_some() || state.confirmations.len() > longer::CONFIRMATIONS {
            return None;
        }
        let exchanges = longer::required(&self.task, last.probe.exchanges, &last.taken)?;
        let spent = state.begun.elapsed();
        let allowed = match self.budget {
            Some(budget) => budget.saturating_sub(spent),
            None => longer::TIME.max(spent),
        };
        let times = exchanges as f64 / last.probe.exchanges.max(1) as f64;
        (last.took.as_secs_f64() * times <= allowed.as_secs_f64()).then_some(exchanges)
    }

    /// Tells the search what a probe gave.
    fn heed(
        &self,
        probe: &Probe,
        tried: Tried,
        search: &mut Search,
        state: &mut State,
    ) -> anyhow::Result<Next> {
        let cost = self.task.cost(&probe.at, probe.exchanges);
        state.spent = state.spent.saturating_add(cost);
        match tried {
            Tried::Done(taken) => {
                search.tell(probe, self.measured(probe, &taken));
                state.taken.push(Some(taken));
                state.sound = probe.at;
                Ok(Next::GoOn)
            }
            Tried::Stopped => Ok(Next::End(Ended::Interrupted)),
            Tried::Failed(error) => {
                let constraints = self.task.constraints.len();
                search.tell(probe, Measured::failed(cost, constraints));
                state.taken.push(None);
                state.failing.push(Failing {
                    at: probe.at,
                    error: error.to_string(),
                });
                self.look_for_life(&state.sound, error)
            }
        }
    }

    /// Whether the link bears a setting that it bore before. What it says of one that it cannot take
    /// is of that setting; what it says of this one is of the link.
    fn look_for_life(&self, sound: &Candidate, error: LinkError) -> anyhow::Result<Next> {
        for _ in 0..TRIES {
            let effort = self.task.sign_of_life();
            let (tried, _) = self.bench().probe(sound, effort, &mut |_| {})?;
            match tried {
                Tried::Done(_) => return Ok(Next::GoOn),
                Tried::Stopped => return Ok(Next::End(Ended::Interrupted)),
                Tried::Failed(_) => {}
            }
            std::thread::sleep(PAUSE);
        }
        Ok(Next::End(Ended::Dead(error)))
    }

    fn measured(&self, probe: &Probe, taken: &Taken) -> Measured {
        let constraints = self.task.constraints.iter();
        Measured {
            exchanges: self.task.cost(&probe.at, probe.exchanges),
            observation: taken.observation(&probe.at),
            objective: taken.figure(self.task.figure),
            constraints: constraints.map(|c| self.task.value(c, taken)).collect(),
        }
    }
}

/// Why a point of exchanges has no such figure.
fn why_not(figure: Figure) -> &'static str {
    match figure {
        Figure::Time(Times::Device, _) => {
            "only devices with the wiregauge protocol and a clock report their own time"
        }
        Figure::Time(Times::Connect | Times::Access | Times::Transfer, _) => {
            "it requires --connect each"
        }
        Figure::Time(Times::FromIntended, _) => {
            "it requires a run with a schedule; tune starts each exchange after the previous one"
        }
        Figure::LimitUsed => "the physical limit of this link is unknown",
        _ => "no exchange was answered",
    }
}
