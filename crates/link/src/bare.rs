//! Addresses without a scheme, as people have them: `/dev/ttyACM0`, `COM3`, `10.0.0.5:7700`, `1d6b:0104`, `can0`.

use std::path::Path;

/// The scheme that such an address means, if it can mean only one. A host with a port means TCP.
pub(crate) fn scheme_of(text: &str) -> Option<&'static str> {
    if let Some(name) = text.strip_prefix("/dev/") {
        return Some(match name {
            name if is_numbered(name, "hidraw") => "hid",
            name if is_numbered(name, "usbtmc") => "usbtmc",
            _ => "serial",
        });
    }
    // `COM10` and above need the prefix in other programs.
    if is_numbered(text.strip_prefix(r"\\.\").unwrap_or(text), "COM") {
        return Some("serial");
    }
    if ["can", "vcan", "slcan"]
        .into_iter()
        .any(|kind| is_numbered(text, kind))
    {
        return Some("can");
    }
    let (host, port) = text.rsplit_once(':')?;
    let is_id = |part: &str| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id(host) && is_id(port) {
        return Some("usb");
    }
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_ipv6 = |text: &str| text.parse::<std::net::Ipv6Addr>().is_ok();
    let is_host = match host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(inner) => is_ipv6(inner),
        None => !host.is_empty() && host.bytes().all(is_name),
    };
    (is_host && port.parse::<u16>().is_ok_and(|port| port > 0)).then_some("tcp")
}

/// The scheme of what a symbolic link leads to, such as the name of a pty outside of `/dev`.
pub(crate) fn scheme_behind(text: &str) -> Option<&'static str> {
    let path = std::path::Path::new(text);
    if !path.is_symlink() {
        return None;
    }
    scheme_of(path.canonicalize().ok()?.to_str()?)
}

/// True of what can only be a host, and no file here: it lacks its port.
pub(crate) fn is_host(text: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_dotted = text.contains('.') && text.bytes().all(is_name);
    (is_dotted && !Path::new(text).exists()) || text == "localhost"
}

/// True for the prefix and a number.
fn is_numbered(text: &str, prefix: &str) -> bool {
    let number = text.strip_prefix(prefix).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_address_means_the_link_that_it_looks_like() {
        for (text, scheme) in [
            ("/dev/ttyACM0", Some("serial")),
            ("/dev/serial/by-id/usb-Arduino-if00", Some("serial")),
            ("/dev/hidraw2", Some("hid")),
            ("/dev/usbtmc0", Some("usbtmc")),
            ("COM3", Some("serial")),
            (r"\\.\COM10", Some("serial")),
            ("can0", Some("can")),
            ("vcan12", Some("can")),
            ("1d6b:0104", Some("usb")),
            ("192.168.1.5:7700", Some("tcp")),
            ("board.local:7", Some("tcp")),
            ("[fd00::5]:7700", Some("tcp")),
            // Nothing that names one link.
            ("192.168.1.5", None),
            ("192.168.1.5:0", None),
            ("board.local:99999", None),
            (":7700", None),
            ("/tmp/device.sock", None),
            ("COM", None),
            ("canada", None),
            ("z!:2", None),
            ("fd00::5:7700", None),
            ("tcp://10.0.0.5:7700", None),
            ("last", None),
            ("", None),
        ] {
            assert_eq!(scheme_of(text), scheme, "{text}");
        }
    }
}
