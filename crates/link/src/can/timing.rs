//! Bit rates and state of a CAN interface, as messages of Linux's netlink have them.

/// Of `include/uapi/linux/rtnetlink.h`, `if_link.h` and `can/netlink.h`.
const RTM_NEWLINK: u16 = 16;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const IFLA_CAN_BITTIMING: u16 = 1;
const IFLA_CAN_STATE: u16 = 4;
const IFLA_CAN_DATA_BITTIMING: u16 = 9;

/// The top bits of an attribute's type are flags.
const TYPE_MASK: u16 = 0x3fff;

/// Size of `nlmsghdr`.
pub(crate) const MESSAGE: usize = 16;
/// Size of `ifinfomsg`.
pub(crate) const INFO: usize = 16;

/// What netlink says of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// `can` for a controller; `vcan`, `vxcan`, `slcan`.
    pub kind: Option<String>,
    /// Bits a second.
    pub bitrate: Option<u32>,
    /// Bits a second of the data phase.
    pub data_bitrate: Option<u32>,
    /// State of the controller (`enum can_state`).
    pub state: Option<u32>,
}

impl Timing {
    /// State of the controller in words.
    pub fn state_name(&self) -> Option<&'static str> {
        let names = [
            "error-active",
            "error-warning",
            "error-passive",
            "bus-off",
            "stopped",
            "sleeping",
        ];
        names.get(self.state? as usize).copied()
    }
}

/// Reads a RTM_NEWLINK message.
pub fn timing(message: &[u8]) -> Option<Timing> {
    if u16_at(message, 4)? != RTM_NEWLINK {
        return None;
    }
    let mut timing = Timing::default();
    for (kind, value) in attributes(message.get(MESSAGE + INFO..)?) {
        if kind != IFLA_LINKINFO {
            continue;
        }
        for (kind, value) in attributes(value) {
            match kind {
                IFLA_INFO_KIND => {
                    let text = value.split(|&byte| byte == 0).next().unwrap_or_default();
                    timing.kind = Some(String::from_utf8_lossy(text).into_owned());
                }
                IFLA_INFO_DATA => controller(value, &mut timing),
                _ => {}
            }
        }
    }
    Some(timing)
}

/// The data of a controller; a virtual interface has none, or other data.
fn controller(data: &[u8], timing: &mut Timing) {
    if timing.kind.as_deref() != Some("can") {
        return;
    }
    for (kind, value) in attributes(data) {
        // `struct can_bittiming` begins with the bit rate.
        let number = u32_at(value, 0);
        match kind {
            IFLA_CAN_BITTIMING => timing.bitrate = number.filter(|&rate| rate > 0),
            IFLA_CAN_DATA_BITTIMING => timing.data_bitrate = number.filter(|&rate| rate > 0),
            IFLA_CAN_STATE => timing.state = number,
            _ => {}
        }
    }
}

/// Types and values of attributes, as far as they are whole.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let kind = u16_at(bytes, 2)? & TYPE_MASK;
        let value = bytes.get(4..length)?;
        // Each begins at a multiple of four.
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(info: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; MESSAGE + INFO];
        bytes[4..6].copy_from_slice(&RTM_NEWLINK.to_ne_bytes());
        bytes.extend(attribute(3, b"can0\0"));
        bytes.extend(attribute(IFLA_LINKINFO | 0x8000, info));
        bytes
    }

    #[test]
    fn bit_rates_and_state_of_a_controller_are_read() {
        let rate = |rate: u32| [&rate.to_ne_bytes()[..], &[0; 28]].concat();
        let data = [
            attribute(IFLA_CAN_BITTIMING, &rate(500_000)),
            attribute(IFLA_CAN_DATA_BITTIMING, &rate(2_000_000)),
            attribute(IFLA_CAN_STATE, &3_u32.to_ne_bytes()),
        ];
        let info = [
            attribute(IFLA_INFO_KIND, b"can\0"),
            attribute(IFLA_INFO_DATA, &data.concat()),
        ];
        let timing = timing(&message(&info.concat())).unwrap();
        assert_eq!(timing.bitrate, Some(500_000));
        assert_eq!(timing.data_bitrate, Some(2_000_000));
        assert_eq!(timing.state_name(), Some("bus-off"));
    }

    #[test]
    fn a_virtual_interface_has_no_bit_rate() {
        let timing = timing(&message(&attribute(IFLA_INFO_KIND, b"vcan\0"))).unwrap();
        let expected = Timing {
            kind: Some("vcan".into()),
            ..Timing::default()
        };
        assert_eq!(timing, expected);
    }

    #[test]
    fn a_message_that_was_cut_ends_where_it_was_cut() {
        let whole = message(&attribute(IFLA_INFO_KIND, b"can\0"));
        for length in 0..whole.len() {
            let _ = timing(&whole[..length]);
        }
        assert_eq!(timing(&[0; 64]), None);
    }
}
