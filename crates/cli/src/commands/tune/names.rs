//! What the ways to wait and to connect are called.

use wiregauge_record::{Connect, Wait};

/// The names of ways to wait, as flags and Python have them, and as C does.
pub fn wait_names(wait: Wait) -> (&'static str, &'static str) {
    match wait {
        Wait::Block => ("block", "WG_WAIT_BLOCK"),
        Wait::Poll => ("poll", "WG_WAIT_POLL"),
        Wait::Spin => ("spin", "WG_WAIT_SPIN"),
    }
}

/// As flags have it.
pub fn connect_name(connect: Connect) -> &'static str {
    match connect {
        Connect::Once => "once",
        Connect::Each => "each",
    }
}
