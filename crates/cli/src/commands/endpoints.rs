//! `--endpoint` and `--protocol get-status` of `wiregauge exchange`: both say which endpoints of a USB device are used,
//! which its address says otherwise.

use crate::args::EndpointArg;
use anyhow::bail;
use wiregauge_record::Protocol;

/// The addresses of all links: each with each of the endpoints.
pub fn of(
    addresses: &[String],
    endpoints: &[EndpointArg],
    protocol: Protocol,
) -> anyhow::Result<Vec<String>> {
    let is_status = protocol == Protocol::GetStatus;
    if endpoints.is_empty() && !is_status {
        return Ok(addresses.to_vec());
    }
    let flag = match is_status {
        true => "--protocol get-status",
        false => "--endpoint",
    };
    if let Some(other) = addresses.iter().find(|one| !one.starts_with("usb:")) {
        bail!("{flag} requires a USB device, such as usb://1d6b:0104, not {other}");
    }
    if is_status && endpoints.iter().any(|&one| one != EndpointArg::Control) {
        bail!("--protocol get-status uses endpoint 0\n  hint: omit --endpoint");
    }
    let types: Vec<&str> = match is_status {
        true => vec!["get-status"],
        false => endpoints.iter().map(|one| one.name()).collect(),
    };
    let with = |address: &String| {
        let types = types.clone();
        let address = address.clone();
        types.into_iter().map(move |one| with_type(&address, one))
    };
    Ok(addresses.iter().flat_map(with).collect())
}

/// The last of several settings counts.
fn with_type(address: &str, one: &str) -> String {
    let has_settings = address
        .rsplit_once('#')
        .is_some_and(|(_, settings)| settings.contains('='));
    let separator = if has_settings { ',' } else { '#' };
    format!("{address}{separator}type={one}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Vec<String> {
        vec![text.to_string()]
    }

    #[test]
    fn each_device_has_a_link_for_each_endpoint() {
        let all = [
            EndpointArg::Bulk,
            EndpointArg::Interrupt,
            EndpointArg::Control,
        ];
        assert_eq!(
            of(&one("usb://1-1"), &all, Protocol::Wiregauge).unwrap(),
            [
                "usb://1-1#type=bulk",
                "usb://1-1#type=interrupt",
                "usb://1-1#type=control"
            ]
        );
        let named = one("usb://1d6b:0104/a#b#interface=1");
        assert_eq!(
            of(&named, &all[..1], Protocol::Echo).unwrap(),
            ["usb://1d6b:0104/a#b#interface=1,type=bulk"]
        );
    }

    #[test]
    fn a_standard_request_goes_to_endpoint_0_of_any_device() {
        assert_eq!(
            of(&one("usb://1-1"), &[], Protocol::GetStatus).unwrap(),
            ["usb://1-1#type=get-status"]
        );
        let refused = of(&one("usb://1-1"), &[EndpointArg::Bulk], Protocol::GetStatus);
        assert!(refused.is_err());
    }

    #[test]
    fn other_links_have_no_endpoints() {
        let refused = of(&one("tcp://a:1"), &[EndpointArg::Bulk], Protocol::Echo);
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("--endpoint requires a USB device"), "{text}");
        let kept = of(&one("tcp://a:1"), &[], Protocol::Echo).unwrap();
        assert_eq!(kept, ["tcp://a:1"]);
    }
}
