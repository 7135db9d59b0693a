//! The values of the flags that say what is sent to a device, and where its replies end.

use wiregauge_record::{ReplyLength, unescape};

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

/// `--read`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reads(pub Pdu);

/// `--write`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writes(pub Pdu);

/// Values that one request reads or writes at most (Modbus Application Protocol V1.1b3, 6.1 to 6.12).
const MOST_READ: (u32, u32) = (125, 2000);
const MOST_WRITTEN: (usize, usize) = (123, 1968);

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

/// `u16be@2+4`: type, offset and bytes that it does not count.
pub fn reply_length(text: &str) -> Result<ReplyLength, String> {
    let wrong = || {
        format!(
            "`{text}` is not a length field: use u8, u16le, u16be, u32le or u32be, with @OFFSET and +ADDED, such \
             as u16be@2+4"
        )
    };
    let at = text.find(['@', '+', '-']).unwrap_or(text.len());
    let (kind, rest) = text.split_at(at);
    let (bytes, big_endian) = match kind {
        "u8" => (1, false),
        "u16le" => (2, false),
        "u16be" => (2, true),
        "u32le" => (4, false),
        "u32be" => (4, true),
        _ => return Err(wrong()),
    };
    let (offset, added) = match rest.strip_prefix('@') {
        None => ("0", rest),
        Some(rest) => rest.split_at(rest.find(['+', '-']).unwrap_or(rest.len())),
    };
    let offset: u32 = offset.parse().map_err(|_| wrong())?;
    let added: i32 = match added {
        "" => 0,
        added => added.parse().map_err(|_| wrong())?,
    };
    match offset <= 1 << 16 && added.unsigned_abs() <= 1 << 16 {
        true => Ok(ReplyLength {
            bytes,
            big_endian,
            offset,
            added,
        }),
        false => Err(wrong()),
    }
}

/// `holding:100+10`.
pub fn reads(text: &str) -> Result<Reads, String> {
    let wrong = || {
        format!(
            "`{text}` is not TABLE:ADDRESS+COUNT: use holding, input, coil or discrete, such as holding:100+10"
        )
    };
    let (table, place) = text.split_once(':').ok_or_else(wrong)?;
    let (function, most) = match table {
        "coil" => (1, MOST_READ.1),
        "discrete" => (2, MOST_READ.1),
        "holding" => (3, MOST_READ.0),
        "input" => (4, MOST_READ.0),
        _ => return Err(wrong()),
    };
    let (address, count) = place.split_once('+').unwrap_or((place, "1"));
    let address: u16 = address.parse().map_err(|_| wrong())?;
    let count: u32 = count.parse().map_err(|_| wrong())?;
    if !(1..=most).contains(&count) {
        return Err(format!(
            "`{text}` reads {count} values: a request reads 1 to {most}"
        ));
    }
    if u32::from(address) + count > 1 << 16 {
        return Err(format!("`{text}` reads beyond address 65535"));
    }
    let mut bytes = vec![function];
    bytes.extend(address.to_be_bytes());
    bytes.extend((count as u16).to_be_bytes());
    Ok(Reads(Pdu {
        name: format!("read {text}"),
        bytes,
    }))
}

/// `40:1,2,3` or `coil:8:1,0`.
pub fn writes(text: &str) -> Result<Writes, String> {
    let wrong = || format!("`{text}` is not ADDRESS:VALUES: use 40:1,2,3 or coil:8:1,0");
    let (is_coil, place) = match text.strip_prefix("coil:") {
        Some(place) => (true, place),
        None => (false, text.strip_prefix("holding:").unwrap_or(text)),
    };
    let (address, values) = place.split_once(':').ok_or_else(wrong)?;
    let address: u16 = address.parse().map_err(|_| wrong())?;
    let value = |value: &str| -> Option<u16> {
        match is_coil {
            true => value.parse().ok().filter(|value| *value <= 1),
            // Signed registers are two's complement.
            false => value
                .parse()
                .ok()
                .or_else(|| value.parse::<i16>().ok().map(|value| value as u16)),
        }
    };
    let values: Option<Vec<u16>> = values.split(',').map(value).collect();
    let values = values.ok_or_else(wrong)?;
    let most = if is_coil {
        MOST_WRITTEN.1
    } else {
        MOST_WRITTEN.0
    };
    if values.len() > most {
        return Err(format!(
            "a request writes 1 to {most} values, not {}",
            values.len()
        ));
    }
    if usize::from(address) + values.len() > 1 << 16 {
        return Err(format!("`{text}` writes beyond address 65535"));
    }
    let count = values.len() as u16;
    let mut bytes = Vec::new();
    let mut begin = |function: u8| {
        bytes.push(function);
        bytes.extend(address.to_be_bytes());
    };
    match (&values[..], is_coil) {
        ([one], true) => {
            begin(5);
            bytes.extend([0xff * *one as u8, 0]);
        }
        ([one], false) => {
            begin(6);
            bytes.extend(one.to_be_bytes());
        }
        (several, true) => {
            begin(15);
            bytes.extend(count.to_be_bytes());
            bytes.push(several.len().div_ceil(8) as u8);
            let packed = several.chunks(8).map(|eight| {
                let bits = eight.iter().enumerate();
                bits.fold(0, |byte, (at, bit)| byte | (*bit as u8) << at)
            });
            bytes.extend(packed);
        }
        (several, false) => {
            begin(16);
            bytes.extend(count.to_be_bytes());
            bytes.push(2 * several.len() as u8);
            bytes.extend(several.iter().flat_map(|value| value.to_be_bytes()));
        }
    }
    Ok(Writes(Pdu {
        name: format!("write {text}"),
        bytes,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_field_has_a_type_an_offset_and_what_it_does_not_count() {
        let field = |bytes, big_endian, offset, added| {
            Ok(ReplyLength {
                bytes,
                big_endian,
                offset,
                added,
            })
        };
        assert_eq!(reply_length("u16be@2+4"), field(2, true, 2, 4));
        assert_eq!(reply_length("u8"), field(1, false, 0, 0));
        assert_eq!(reply_length("u32le-4"), field(4, false, 0, -4));
        for wrong in ["", "u16", "u16be@", "u16be@2+", "u8@99999999", "u8@1+x"] {
            assert!(reply_length(wrong).is_err(), "{wrong}");
        }
    }

    /// The examples of the specification (V1.1b3, 6.1, 6.3, 6.5, 6.6, 6.11, 6.12).
    #[test]
    fn modbus_requests_are_those_of_the_specification() {
        let read = |text| reads(text).unwrap().0.bytes;
        let write = |text| writes(text).unwrap().0.bytes;
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
