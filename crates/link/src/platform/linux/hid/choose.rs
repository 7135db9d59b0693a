//! Which reports of a device carry requests and replies.

use crate::hid::address::Settings;
use crate::hid::descriptor::{Report, ReportKind, Reports};

/// The reports that a link uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Carries requests.
    pub out: Report,
    /// Carries replies.
    pub in_: Report,
    /// Each report begins with its number.
    pub numbered: bool,
    /// Both are feature reports.
    pub feature: bool,
}

/// What is chosen, or why nothing can be: the reason and what to do.
pub fn choose(reports: &Reports, settings: &Settings) -> Result<Choice, (String, String)> {
    let (out_kind, in_kind) = match settings.feature {
        true => (ReportKind::Feature, ReportKind::Feature),
        false => (ReportKind::Output, ReportKind::Input),
    };
    let out = one_of(reports, out_kind, "out", settings.out, None)?;
    // A reply has the number of its request as a rule.
    let in_ = one_of(reports, in_kind, "in", settings.in_, Some(out.id))?;
    Ok(Choice {
        out,
        in_,
        numbered: reports.numbered,
        feature: settings.feature,
    })
}

fn one_of(
    reports: &Reports,
    kind: ReportKind,
    flag: &str,
    wanted: Option<u8>,
    rather: Option<u8>,
) -> Result<Report, (String, String)> {
    let all: Vec<Report> = reports.of(kind).copied().collect();
    let with = |id: u8| all.iter().find(|report| report.id == id).copied();
    let name = kind.name();
    match (wanted, &all[..]) {
        (_, []) => Err((
            format!("the device has no {name} report; it has {reports}"),
            match kind {
                ReportKind::Feature => "omit type=feature".into(),
                _ => "if it has feature reports, add #type=feature to the address".into(),
            },
        )),
        (Some(id), _) => with(id).ok_or_else(|| {
            (
                format!("the device has no {name} report {id}; it has {reports}"),
                format!("use {flag}=N with one of its {name} reports, or omit it"),
            )
        }),
        (None, [only]) => Ok(*only),
        (None, _) => rather.and_then(with).ok_or_else(|| {
            (
                format!("the device has several {name} reports: {reports}"),
                format!(
                    "add #{flag}=N to the address, such as #{flag}={}",
                    all[0].id
                ),
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(list: &[(ReportKind, u8, usize)]) -> Reports {
        let report = |&(kind, id, bytes): &_| Report { kind, id, bytes };
        Reports {
            numbered: list.iter().any(|(_, id, _)| *id > 0),
            list: list.iter().map(report).collect(),
            usage: (0xff00, 1),
        }
    }

    use ReportKind::{Feature, Input, Output};

    fn chosen(list: &[(ReportKind, u8, usize)], settings: Settings) -> Result<(u8, u8), String> {
        choose(&reports(list), &settings)
            .map(|choice| (choice.out.id, choice.in_.id))
            .map_err(|(said, hint)| format!("{said} {hint}"))
    }

    #[test]
    fn what_is_clear_needs_no_setting() {
        let none = Settings::default();
        assert_eq!(chosen(&[(Input, 0, 64), (Output, 0, 64)], none), Ok((0, 0)));
        assert_eq!(chosen(&[(Input, 2, 8), (Output, 1, 8)], none), Ok((1, 2)));
        let several = [(Input, 1, 8), (Input, 2, 8), (Output, 2, 8)];
        assert_eq!(chosen(&several, none), Ok((2, 2)));
    }

    #[test]
    fn what_is_not_clear_is_named_by_a_setting_or_refused() {
        let several = [(Input, 1, 8), (Output, 1, 8), (Output, 2, 8)];
        let with = |out| Settings {
            out,
            ..Settings::default()
        };
        assert_eq!(chosen(&several, with(Some(2))), Ok((2, 1)));
        for (out, words) in [
            (None, "several output reports"),
            (None, "#out=1"),
            (Some(7), "no output report 7; it has input 1: 8 B"),
        ] {
            let error = chosen(&several, with(out)).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_device_without_the_reports_is_refused_with_those_that_it_has() {
        let both = [(Input, 0, 4), (Feature, 0, 8)];
        let error = chosen(&both, Settings::default()).unwrap_err();
        let words = "no output report; it has input 4 B, feature 8 B";
        assert!(error.contains(words), "{error}");
        let feature = Settings {
            feature: true,
            ..Settings::default()
        };
        assert_eq!(chosen(&both, feature), Ok((0, 0)));
        let error = chosen(&both[..1], feature).unwrap_err();
        assert!(error.contains("omit type=feature"), "{error}");
    }
}
