//! What is known of the program behind a device.

use serde::Serialize;

/// What is known of the program behind a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Answer {
    /// It was not asked.
    #[default]
    NotAsked,
    /// It was not asked, but its USB strings say that it is a wiregauge responder.
    SaysSo,
    /// It answered HELLO.
    Responder {
        /// The name that it gave.
        name: String,
    },
    /// It was asked and is no responder, or could not be asked.
    None {
        /// Why.
        why: String,
    },
}

/// True if the strings of a USB device say that a wiregauge responder runs on it.
pub(super) fn says_so(manufacturer: Option<&str>, product: Option<&str>) -> bool {
    [manufacturer, product]
        .into_iter()
        .flatten()
        .any(|text| text.to_ascii_lowercase().contains("wiregauge"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_responder_is_known_by_its_strings() {
        assert!(says_so(Some("Wiregauge"), None));
        assert!(says_so(Some("Acme"), Some("wiregauge bulk")));
        assert!(!says_so(Some("Acme"), Some("gauge")));
        assert!(!says_so(None, None));
    }
}
