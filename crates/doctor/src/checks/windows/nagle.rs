//! What a program that uses TCP must set itself.

use super::super::check::Check;
use super::super::network::nagle;
use crate::Target;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "a socket option that your own program must set for a device on TCP",
    look: |context| match context.target {
        Target::Network { is_tcp: true, .. } => vec![nagle(NAME)],
        _ => Vec::new(),
    },
};

const NAME: &str = "network";
