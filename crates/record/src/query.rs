//! What is sent to a device that knows nothing of wiregauge, and where its replies end.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The queries of a plan, sent in turn: exchange n sends query n modulo their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queries {
    /// What is sent.
    pub list: Vec<Query>,
    /// Where a reply ends.
    pub reply: ReplyEnd,
    /// A regular expression over bytes; a reply that does not match it is unexpected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
}

/// One query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// As it is shown.
    pub name: String,
    /// What is sent, with what the protocol adds except checksums and transaction numbers.
    #[serde(with = "escaped")]
    pub bytes: Vec<u8>,
}

/// Where a reply ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyEnd {
    /// After these bytes.
    Until(#[serde(with = "escaped")] Vec<u8>),
    /// After this many bytes.
    Bytes(u32),
    /// Where a field of the reply says.
    Length(ReplyLength),
    /// After this many nanoseconds of silence.
    IdleNs(u64),
    /// At a newline outside block data (IEEE 488.2).
    Scpi,
    /// Where Modbus says (docs/instruments.md).
    Modbus(ModbusLine),
}

/// The field of a reply that says how long it is: the reply has `offset + bytes + value + added` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyLength {
    /// Bytes of the field: 1, 2 or 4.
    pub bytes: u8,
    /// The most significant byte first.
    pub big_endian: bool,
    /// Bytes before the field.
    pub offset: u32,
    /// Bytes behind the field that its value does not count; less than 0 where it counts bytes before its end.
    pub added: i32,
}

impl FromStr for ReplyLength {
    type Err = String;

    /// `u16be@2+4`: type, offset, and bytes that it does not count.
    fn from_str(text: &str) -> Result<ReplyLength, String> {
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
}

/// Which framing Modbus has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModbusLine {
    /// On TCP: transaction numbers and a length (MBAP).
    Tcp,
    /// On a serial line: a CRC, and this much silence before each request.
    Rtu {
        /// 3.5 characters, in nanoseconds.
        silence_ns: u64,
    },
}

impl Queries {
    /// The query of the exchange with this number.
    pub fn of(&self, sequence: u64) -> &Query {
        &self.list[self.index_of(sequence)]
    }

    /// Its position in the list.
    pub fn index_of(&self, sequence: u64) -> usize {
        (sequence % self.list.len().max(1) as u64) as usize
    }
}

/// The bytes that a text with C escapes stands for: `\n \r \t \0 \a \b \e \f \v \\ \" \'` and `\xHH`. The error names
/// the escape.
pub fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        bytes.push(match rest.next() {
            Some('n') => b'\n',
            Some('r') => b'\r',
            Some('t') => b'\t',
            Some('0') => 0,
            Some('a') => 7,
            Some('b') => 8,
            Some('e') => 0x1b,
            Some('f') => 0x0c,
            Some('v') => 0x0b,
            Some(same @ ('\\' | '"' | '\'')) => same as u8,
            Some('x') => {
                let digits: String = rest.by_ref().take(2).collect();
                let is_hex = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_hexdigit());
                let byte = is_hex.then(|| u8::from_str_radix(&digits, 16).ok());
                byte.flatten()
                    .ok_or_else(|| format!("\\x{digits} is not \\x and two hexadecimal digits"))?
            }
            Some(other) => return Err(format!("unknown escape \\{other}")),
            None => return Err("the text ends with a single \\".into()),
        });
    }
    Ok(bytes)
}

/// Bytes as text with C escapes.
pub fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'"' | b'\'' => text.push(byte as char),
            byte => text.extend(byte.escape_ascii().map(char::from)),
        }
    }
    text
}

mod escaped {
    //! Bytes as JSON text.
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::escape(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        super::unescape(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{Queries, Query, ReplyEnd, ReplyLength, escape, unescape};

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
        assert_eq!("u16be@2+4".parse(), field(2, true, 2, 4));
        assert_eq!("u8".parse(), field(1, false, 0, 0));
        assert_eq!("u32le-4".parse(), field(4, false, 0, -4));
        for wrong in ["", "u16", "u16be@", "u16be@2+", "u8@99999999", "u8@1+x"] {
            assert!(wrong.parse::<ReplyLength>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_byte_survives_escaping() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unescape(&escape(&all)), Ok(all));
        assert_eq!(escape(b"*IDN?\n\"\xff"), "*IDN?\\n\"\\xff");
    }

    #[test]
    fn a_wrong_escape_is_named() {
        for (text, expected) in [
            (r"a\q", r"unknown escape \q"),
            (r"\x4", r"\x4 is not \x and two hexadecimal digits"),
            (r"\x+1", r"\x+1 is not \x and two hexadecimal digits"),
            (r"end\", r"the text ends with a single \"),
        ] {
            assert_eq!(unescape(text), Err(expected.to_string()));
        }
        assert_eq!(unescape("\\e[1m\u{3bc}"), Ok(b"\x1b[1m\xce\xbc".to_vec()));
    }

    #[test]
    fn queries_are_stored_as_text() {
        let queries = Queries {
            list: vec![Query {
                name: "*IDN?".into(),
                bytes: b"*IDN?\r\n\xff".to_vec(),
            }],
            reply: ReplyEnd::Until(b"\r\n".to_vec()),
            expect: None,
        };
        let json = serde_json::to_string(&queries).unwrap();
        assert!(json.contains(r#""bytes":"*IDN?\\r\\n\\xff""#), "{json}");
        assert!(json.contains(r#"{"until":"\\r\\n"}"#), "{json}");
        assert_eq!(serde_json::from_str::<Queries>(&json).unwrap(), queries);
    }
}
