//! The list of `--profile list`.

use std::fmt::Write;
use wiregauge_responder::bus::PROFILES;

/// What is known of each profile, for people.
pub fn list() -> String {
    let mut text = String::new();
    for profile in PROFILES {
        let bus = match (profile.speed, profile.bus.split_ns) {
            (speed, 0) => speed.name(),
            _ => "full-speed, behind a high-speed hub (EHCI)",
        };
        let lines = [
            ("device", profile.device_name),
            ("host", profile.host_name),
            ("bus", bus),
            ("source", profile.source),
            ("fitted on", profile.fitted_on),
        ];
        let _ = writeln!(text, "{}", profile.name);
        for (what, value) in lines {
            let _ = writeln!(text, "  {what:<10} {value}");
        }
        text.push('\n');
    }
    text + "published figures beside those of the model: docs/models.md\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_listed_with_its_host_and_what_it_was_fitted_on() {
        let text = list();
        for profile in PROFILES {
            let begin = text.find(profile.name).unwrap();
            for part in [profile.host_name, profile.source, profile.fitted_on] {
                assert!(!part.is_empty() && text[begin..].contains(part), "{part}");
            }
        }
    }
}
