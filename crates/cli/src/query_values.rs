//! The values of the flags that say what is sent to a device, and where its replies end.

use wiregauge_record::unescape;
use wiregauge_session::pdu::{self, Table};

/// Text with C escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// As it was typed.
    pub text: String,
    /// What it stands for.
    pub bytes: Vec<u8>,
}

/// A Modbus request without its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdu {
    /// As it is shown.
    pub name: String,
    /// Function, addresses and values.
    pub bytes: Vec<u8>,
}

/// `*IDN?\n`.
pub fn bytes(text: &str) -> Result<Bytes, String> {
    let bytes = unescape(text)?;
    match bytes.is_empty() {
        true => Err("an empty text is not valid".into()),
        false => Ok(Bytes {
            text: text.into(),
            bytes,
        }),
    }
}

/// `holding:100+10`.
pub fn reads(text: &str) -> Result<Pdu, String> {
    let wrong = || {
        format!(
            "`{text}` is not TABLE:ADDRESS+COUNT: use holding, input, coil or discrete, such as holding:100+10"
        )
    };
    let (table, place) = text.split_once(':').ok_or_else(wrong)?;
    let table = Table::from_name(table).ok_or_else(wrong)?;
    let (address, count) = place.split_once('+').unwrap_or((place, "1"));
    let address: u16 = address.parse().map_err(|_| wrong())?;
    let count: u32 = count.parse().map_err(|_| wrong())?;
    let mut bytes = Vec::new();
    pdu::read(table, address, count as usize, &mut bytes)
        .map_err(|problem| format!("`{text}`: {problem}"))?;
    Ok(Pdu {
        name: format!("read {text}"),
        bytes,
    })
}

/// `40:1,2,3` or `coil:8:1,0`.
pub fn writes(text: &str) -> Result<Pdu, String> {
    let wrong = || format!("`{text}` is not ADDRESS:VALUES: use 40:1,2,3 or coil:8:1,0");
    let (is_coil, place) = match text.strip_prefix("coil:") {
        Some(place) => (true, place),
        None => (false, text.strip_prefix("holding:").unwrap_or(text)),
    };
    let (address, values) = place.split_once(':').ok_or_else(wrong)?;
    let address: u16 = address.parse().map_err(|_| wrong())?;
    // Signed registers are two's complement.
    let register = |value: &str| -> Option<u16> {
        let signed = || value.parse::<i16>().ok().map(|value| value as u16);
        value.parse().ok().or_else(signed)
    };
    let bit = |value: &str| match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    };
    let mut bytes = Vec::new();
    let made = match is_coil {
        true => {
            let values: Option<Vec<bool>> = values.split(',').map(bit).collect();
            pdu::write_coils(address, &values.ok_or_else(wrong)?, &mut bytes)
        }
        false => {
            let values: Option<Vec<u16>> = values.split(',').map(register).collect();
            pdu::write_registers(address, &values.ok_or_else(wrong)?, &mut bytes)
        }
    };
    made.map_err(|problem| format!("`{text}`: {problem}"))?;
    Ok(Pdu {
        name: format!("write {text}"),
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification (V1.1b3, 6.1, 6.3, 6.5, 6.6, 6.11, 6.12).
    #[test]
    fn modbus_requests_are_those_of_the_specification() {
        let read = |text| reads(text).unwrap().bytes;
        let write = |text| writes(text).unwrap().bytes;
        assert_eq!(read("coil:19+19"), [1, 0, 0x13, 0, 0x13]);
        assert_eq!(read("holding:107+3"), [3, 0, 0x6b, 0, 3]);
        assert_eq!(write("coil:172:1"), [5, 0, 0xac, 0xff, 0]);
        assert_eq!(write("1:3"), [6, 0, 1, 0, 3]);
        assert_eq!(
            write("coil:19:1,0,1,1,0,0,1,1,1,0"),
            [15, 0, 0x13, 0, 10, 2, 0xcd, 1]
        );
        assert_eq!(write("1:10,258"), [16, 0, 1, 0, 2, 4, 0, 10, 1, 2]);
        assert_eq!(write("1:-1"), [6, 0, 1, 0xff, 0xff]);
    }

    #[test]
    fn what_a_request_cannot_carry_is_refused() {
        for wrong in [
            "holding",
            "holding:x",
            "holding:0+126",
            "coil:0+0",
            "coil:65535+2",
            "file:1",
        ] {
            assert!(reads(wrong).is_err(), "{wrong}");
        }
        for wrong in ["1", "1:", "1:65536", "coil:1:2", "65535:1,2"] {
            assert!(writes(wrong).is_err(), "{wrong}");
        }
    }
}
