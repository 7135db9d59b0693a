//! Timer slack: how much later than asked the kernel may end a timed sleep.

use super::check::Check;
use crate::{Finding, HostContext, Level};
use wiregauge_quantity::exact_time;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "timer slack: how late the kernel may wake programs started from this shell",
    look,
};

const NAME: &str = "timer-slack";
const SLACK: &str = "/proc/self/timerslack_ns";

/// Less than this is lost in what a wake-up takes.
const NOTED_NS: i64 = 1_000;

fn look(context: &HostContext) -> Vec<Finding> {
    // wiregauge asks for precise timers itself, so no run suffers from it.
    if context.run.is_some() || !context.exists(SLACK) {
        return Vec::new();
    }
    let Some(slack_ns) = context.number(SLACK) else {
        return vec![
            Finding::new(NAME, Level::Unknown, "the timer slack cannot be read")
                .seen(format!("{SLACK}: not a number")),
        ];
    };
    let seen = format!("{SLACK} = {slack_ns}");
    if slack_ns <= NOTED_NS {
        return vec![Finding::new(NAME, Level::Good, "timed sleeps end on time").seen(seen)];
    }
    let title = format!(
        "timed sleeps of your own programs end up to {} late",
        exact_time(slack_ns.unsigned_abs())
    );
    vec![
        Finding::new(NAME, Level::Note, title)
            .seen(seen)
            .seen("programs started from this shell inherit it; the threads of wiregauge use 1 ns")
            .costs(
                "on the authors' test host a sleep of 1 ms in Python ended 83 us late, and 34 us late with a slack \
                 of 1 ns (medians)",
                "bench/runs/2026-11-22-host; prctl(2), PR_SET_TIMERSLACK",
            )
            .remedy("echo 1 > /proc/$$/timerslack_ns  # in the shell that starts the program"),
    ]
}
