//! Idle states: how long a processor that has fallen asleep takes until it runs again.

use super::check::Check;
use crate::host::is_virtual;
use crate::{Change, Finding, HostContext, Level};

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "wake-up time of idle CPUs",
    look,
};

const NAME: &str = "idle-states";
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// A state that takes longer to leave is worth a word, in microseconds; one that takes as long as an
/// exchange over a socket of the same host does hurts.
const NOTED_US: i64 = 10;
const HURTS_US: i64 = 50;

/// Keeps all processors from states that take time to leave for as long as somebody holds the file open
/// (Documentation/admin-guide/pm/cpuidle.rst, "Power Management Quality of Service").
const HOLD: &str =
    r#"sudo bash -c 'exec 3>/dev/cpu_dma_latency; printf "\0\0\0\0" >&3; sleep infinity'"#;

/// One idle state as all processors have it.
struct State {
    name: String,
    latency_us: i64,
    /// Files that switch it off, of the processors that may use it.
    switches: Vec<String>,
}

fn look(context: &HostContext) -> Vec<Finding> {
    if !context.is_of_this_host() {
        return Vec::new();
    }
    let processors: Vec<String> = context
        .names(PROCESSORS)
        .into_iter()
        .filter(|name| {
            name.strip_prefix("cpu")
                .is_some_and(|n| n.parse::<u32>().is_ok())
        })
        .filter(|name| context.exists(format!("{PROCESSORS}/{name}/cpuidle")))
        .collect();
    if processors.is_empty() {
        let unknown = Finding::new(NAME, Level::Unknown, "the idle states are not visible")
            .seen(format!("{PROCESSORS}/cpu*/cpuidle does not exist"));
        return match is_virtual(context) {
            true => Vec::new(),
            false => vec![unknown],
        };
    }
    vec![match states(context, &processors) {
        Some(states) => judged(&states, processors.len()),
        None => Finding::new(NAME, Level::Unknown, "the idle states cannot be read").seen(format!(
            "{PROCESSORS}/{}/cpuidle/state*/latency is not a number",
            processors[0]
        )),
    }]
}

/// `None` if not one of them can be read.
fn states(context: &HostContext, processors: &[String]) -> Option<Vec<State>> {
    let mut states: Vec<State> = Vec::new();
    for processor in processors {
        let dir = format!("{PROCESSORS}/{processor}/cpuidle");
        for state in context.names(&dir) {
            let file = |name: &str| format!("{dir}/{state}/{name}");
            let latency = context.number(file("latency")).filter(|&us| us >= 0);
            let (Some(latency_us), Some(disabled)) = (latency, context.number(file("disable")))
            else {
                continue;
            };
            let name = context.read(file("name")).unwrap_or(state.clone());
            let known = states
                .iter()
                .position(|known| known.name == name && known.latency_us == latency_us);
            let at = known.unwrap_or_else(|| {
                states.push(State {
                    name,
                    latency_us,
                    switches: Vec::new(),
                });
                states.len() - 1
            });
            if disabled == 0 {
                states[at].switches.push(file("disable"));
            }
        }
    }
    (!states.is_empty()).then_some(states)
}

fn judged(states: &[State], processors: usize) -> Finding {
    let enabled = || states.iter().filter(|state| !state.switches.is_empty());
    let seen = enabled().map(|state| {
        let State {
            name, latency_us, ..
        } = state;
        let on = state.switches.len();
        format!("{name}: exit latency {latency_us} us, used on {on} of {processors} CPUs")
    });
    let deep: Vec<&State> = enabled()
        .filter(|state| state.latency_us > NOTED_US)
        .collect();
    let Some(deepest) = deep.iter().max_by_key(|state| state.latency_us) else {
        let mut good = Finding::new(
            NAME,
            Level::Good,
            format!("every CPU wakes up within {NOTED_US} us"),
        );
        good.evidence = seen.collect();
        return good;
    };
    let latency = deepest.latency_us;
    let level = match latency >= HURTS_US {
        true => Level::Hurts,
        false => Level::Note,
    };
    let title = format!("an idle CPU takes up to {latency} us to wake up");
    let changes: Vec<Change> = deep
        .iter()
        .flat_map(|state| &state.switches)
        .map(|path| Change {
            path: path.into(),
            from: "0".into(),
            to: "1".into(),
        })
        .collect();
    let mut finding = Finding::new(NAME, level, title)
        .costs(
            format!(
                "up to {latency} us in each wait that sleeps (--wait block); disabling the idle states costs \
                 power and heat, and reduces turbo on the other CPUs"
            ),
            "the value given by the idle driver, state*/latency (Linux, Documentation/admin-guide/pm/cpuidle.rst)",
        )
        .remedy(HOLD);
    finding.evidence = seen.collect();
    finding.changes(changes)
}
