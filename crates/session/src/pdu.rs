//! The requests of the Modbus application protocol (V1.1b3, 6.1 to 6.12) that read and write values, and what their
//! replies hold: function and data, without the unit.

use std::ops::RangeInclusive;

/// Where values of a device lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Bits that can be read and written.
    Coil,
    /// Bits that can be read.
    Discrete,
    /// Registers that can be read and written.
    Holding,
    /// Registers that can be read.
    Input,
}

impl Table {
    /// By its name: `coil`, `discrete`, `holding` or `input`.
    pub fn from_name(name: &str) -> Option<Table> {
        Some(match name {
            "coil" => Table::Coil,
            "discrete" => Table::Discrete,
            "holding" => Table::Holding,
            "input" => Table::Input,
            _ => return None,
        })
    }

    /// True if its values are bits.
    pub fn has_bits(self) -> bool {
        matches!(self, Table::Coil | Table::Discrete)
    }

    fn read_function(self) -> u8 {
        match self {
            Table::Coil => 1,
            Table::Discrete => 2,
            Table::Holding => 3,
            Table::Input => 4,
        }
    }

    /// Values that one request reads at most.
    fn most_read(self) -> usize {
        if self.has_bits() { 2000 } else { 125 }
    }
}

/// Values that one request writes at most.
const MOST_REGISTERS: usize = 123;
const MOST_COILS: usize = 1968;

/// Unit addresses of Modbus on a serial line; 0 is a broadcast, which no device answers.
const UNITS: RangeInclusive<u8> = 1..=247;

/// What is wrong with the address of a unit, if anything.
pub fn check_unit(unit: u8) -> Result<(), String> {
    // 255 is a device that is addressed by its IP address alone (Modbus Messaging on TCP/IP, 4.4.2.2).
    match UNITS.contains(&unit) || unit == 255 {
        true => Ok(()),
        false => Err(format!(
            "unit {unit} is not valid: {} to {}, or 255 for a device behind no gateway",
            UNITS.start(),
            UNITS.end()
        )),
    }
}

/// Appends the request that reads `count` values.
pub fn read(table: Table, address: u16, count: usize, to: &mut Vec<u8>) -> Result<(), String> {
    check(address, count, table.most_read(), "read")?;
    to.push(table.read_function());
    to.extend(address.to_be_bytes());
    to.extend((count as u16).to_be_bytes());
    Ok(())
}

/// Appends the request that writes holding registers: function 6 for one, else 16.
pub fn write_registers(address: u16, values: &[u16], to: &mut Vec<u8>) -> Result<(), String> {
    check(address, values.len(), MOST_REGISTERS, "write")?;
    match values {
        [one] => {
            to.push(6);
            to.extend(address.to_be_bytes());
            to.extend(one.to_be_bytes());
        }
        several => {
            begin_several(16, address, several.len(), 2 * several.len(), to);
            to.extend(several.iter().flat_map(|value| value.to_be_bytes()));
        }
    }
    Ok(())
}

/// Appends the request that writes coils: function 5 for one, else 15.
pub fn write_coils(address: u16, values: &[bool], to: &mut Vec<u8>) -> Result<(), String> {
    check(address, values.len(), MOST_COILS, "write")?;
    match values {
        [one] => {
            to.push(5);
            to.extend(address.to_be_bytes());
            to.extend([if *one { 0xff } else { 0 }, 0]);
        }
        several => {
            begin_several(15, address, several.len(), several.len().div_ceil(8), to);
            let packed = several.chunks(8).map(|eight| {
                let bits = eight.iter().enumerate();
                bits.fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at)
            });
            to.extend(packed);
        }
    }
    Ok(())
}

fn begin_several(function: u8, address: u16, count: usize, bytes: usize, to: &mut Vec<u8>) {
    to.push(function);
    to.extend(address.to_be_bytes());
    to.extend((count as u16).to_be_bytes());
    to.push(bytes as u8);
}

fn check(address: u16, count: usize, most: usize, verb: &str) -> Result<(), String> {
    if !(1..=most).contains(&count) {
        return Err(format!("a request {verb}s 1 to {most} values, not {count}"));
    }
    match usize::from(address) + count > 1 << 16 {
        true => Err(format!(
            "addresses end at 65535: {count} values from {address} on are beyond"
        )),
        false => Ok(()),
    }
}

/// The registers in the data of a reply to a read, as many as `into` has. False if they are not there.
pub fn take_registers(data: &[u8], into: &mut [u16]) -> bool {
    let Some(words) = data.get(1..1 + 2 * into.len()) else {
        return false;
    };
    for (word, value) in words.as_chunks::<2>().0.iter().zip(into) {
        *value = u16::from_be_bytes(*word);
    }
    true
}

/// The bits in the data of a reply to a read, as many as `into` has. False if they are not there.
pub fn take_bits(data: &[u8], into: &mut [bool]) -> bool {
    let Some(bytes) = data.get(1..1 + into.len().div_ceil(8)) else {
        return false;
    };
    for (at, value) in into.iter_mut().enumerate() {
        *value = bytes[at / 8] >> (at % 8) & 1 == 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification (V1.1b3, 6.1, 6.3, 6.5, 6.6, 6.11, 6.12).
    #[test]
    fn requests_are_those_of_the_specification() {
        let made = |make: &dyn Fn(&mut Vec<u8>) -> Result<(), String>| {
            let mut bytes = Vec::new();
            make(&mut bytes).map(|()| bytes)
        };
        let coils = [1, 0, 1, 1, 0, 0, 1, 1, 1, 0].map(|bit| bit == 1);
        let read_coils = made(&|to| read(Table::Coil, 19, 19, to));
        let read_registers = made(&|to| read(Table::Holding, 107, 3, to));
        let write_coil = made(&|to| write_coils(172, &[true], to));
        let write_ten = made(&|to| write_coils(19, &coils, to));
        let write_register = made(&|to| write_registers(1, &[3], to));
        let write_two = made(&|to| write_registers(1, &[10, 258], to));
        for (request, expected) in [
            (read_coils, &[1, 0, 0x13, 0, 0x13][..]),
            (read_registers, &[3, 0, 0x6b, 0, 3]),
            (write_coil, &[5, 0, 0xac, 0xff, 0]),
            (write_register, &[6, 0, 1, 0, 3]),
            (write_ten, &[15, 0, 0x13, 0, 10, 2, 0xcd, 1]),
            (write_two, &[16, 0, 1, 0, 2, 4, 0, 10, 1, 2]),
        ] {
            assert_eq!(request, Ok(expected.to_vec()));
        }
        for wrong in [
            made(&|to| read(Table::Holding, 0, 126, to)),
            made(&|to| read(Table::Coil, 65535, 2, to)),
            made(&|to| write_registers(0, &[], to)),
            made(&|to| write_registers(0, &[0; 124], to)),
            made(&|to| write_coils(0, &[true; 1969], to)),
        ] {
            assert!(wrong.is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn values_of_replies_are_those_of_the_specification() {
        let mut registers = [0; 3];
        assert!(take_registers(&[6, 2, 0x2b, 0, 0, 0, 0x64], &mut registers));
        assert_eq!(registers, [555, 0, 100]);
        assert!(!take_registers(&[6, 2, 0x2b], &mut registers));
        let mut bits = [false; 10];
        assert!(take_bits(&[2, 0xcd, 1], &mut bits));
        assert_eq!(bits, [1, 0, 1, 1, 0, 0, 1, 1, 1, 0].map(|bit| bit == 1));
        assert!(!take_bits(&[2, 0xcd], &mut bits));
    }

    #[test]
    fn a_broadcast_is_no_unit() {
        for (unit, is_valid) in [
            (0, false),
            (1, true),
            (247, true),
            (248, false),
            (255, true),
        ] {
            assert_eq!(check_unit(unit).is_ok(), is_valid, "{unit}");
        }
    }
}
