//! The timer resolution: a timed sleep ends at the next timer interrupt.

use super::super::check::Check;
use crate::{Finding, HostContext, Level, WindowsHost};
use wiregauge_quantity::exact_time;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "the timer resolution, which delays the end of timed sleeps in your own programs",
    look,
};

const NAME: &str = "timer-resolution";

const VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
/// Windows 10, version 2004: from then on a request applies only to the program that makes it.
const PER_PROCESS: u32 = 19041;

/// Windows 11 and Server 2022 only: with this value a request applies to all programs again.
const KERNEL: &str = r"SYSTEM\CurrentControlSet\Control\Session Manager\kernel";
const GLOBAL: &str = "GlobalTimerResolutionRequests";
const GLOBAL_FROM: u32 = 20348;

/// 1 ms, in units of 100 ns.
const FINE: u32 = 10_000;

fn look(context: &HostContext) -> Vec<Finding> {
    // wiregauge asks for precise timers itself, so no run suffers from it.
    let host = context.windows().filter(|_| context.run.is_none());
    host.map(of).into_iter().collect()
}

/// An interval in units of 100 ns.
fn shown(interval: u32) -> String {
    exact_time(100 * u64::from(interval))
}

fn of(host: &dyn WindowsHost) -> Finding {
    let Some(timer) = host.timer() else {
        return Finding::new(NAME, Level::Unknown, "the timer resolution is unknown")
            .seen("NtQueryTimerResolution failed");
    };
    let build = host.text(VERSION, "CurrentBuildNumber");
    let build: Option<u32> = build.and_then(|text| text.parse().ok());
    let is_global = build.is_some_and(|build| {
        let is_set = build >= GLOBAL_FROM && host.number(KERNEL, GLOBAL) == Some(1);
        build < PER_PROCESS || is_set
    });
    let applies = match is_global {
        true => timer.current,
        false => timer.coarsest,
    };
    let seen = format!(
        "timer interrupt every {}; default {}, shortest {}",
        shown(timer.current),
        shown(timer.coarsest),
        shown(timer.finest)
    );
    let whose = match (build, is_global) {
        (Some(build), true) => {
            format!("Windows build {build}: a request of one program applies to all")
        }
        (Some(build), false) => {
            format!("Windows build {build}: a program that requests nothing gets the default")
        }
        (None, _) => {
            "the Windows build is unknown; a program that requests nothing may get the default"
                .into()
        }
    };
    if applies <= FINE {
        return Finding::new(NAME, Level::Good, "timed sleeps end within 1 ms")
            .seen(seen)
            .seen(whose);
    }
    let title = format!(
        "timed sleeps of your own programs end up to {} late unless they request a finer timer",
        shown(applies)
    );
    Finding::new(NAME, Level::Note, title)
        .seen(seen)
        .seen(whose)
        .seen("wiregauge itself uses high-resolution timers")
        .costs(
            format!(
                "a sleep of 1 ms ends at one of the next interrupts, which are {} apart; so does the timeout of a wait",
                shown(applies)
            ),
            "Microsoft, timeBeginPeriod and Sleep; Bruce Dawson, \"Windows Timer Resolution: The Great Rule Change\" \
             (randomascii.wordpress.com, 2020)",
        )
        .remedy("in your program: timeBeginPeriod(1) before the first sleep, timeEndPeriod(1) after the last")
        .remedy(
            "or CreateWaitableTimerExW with CREATE_WAITABLE_TIMER_HIGH_RESOLUTION  # Windows 10 1803 and later",
        )
}
