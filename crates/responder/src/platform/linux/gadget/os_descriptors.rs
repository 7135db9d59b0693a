//! Microsoft OS 1.0 descriptors of the vendor interfaces, as FunctionFS takes them (linux/usb/functionfs.h, "OSDesc"). The
//! kernel answers Windows' requests with them, names and values as UTF-16.

use crate::ms_os::{COMPATIBLE_ID, INTERFACE_GUID};

/// bcdVersion, in the order in which kernels are asked: 1.0 and, before Linux 6.4, that number with its bytes swapped.
pub const VERSIONS: [u16; 2] = [0x0100, 0x0001];

/// wIndex of the two kinds of descriptors.
const COMPATIBLE_IDS: u16 = 4;
const PROPERTIES: u16 = 5;

/// The value in the registry that holds [`INTERFACE_GUID`]. One string, and not the list `DeviceInterfaceGUIDs` as in
/// [`ms_os::set`](crate::ms_os::set): the kernel takes a list here, but then stalls the request for it (composite.c,
/// `fill_ext_prop`).
const PROPERTY: &str = "DeviceInterfaceGUID";
const REG_SZ: u32 = 1;

/// How many descriptors [`encode`] makes.
pub fn count(interfaces: &[u8]) -> u32 {
    match interfaces.len() as u32 {
        0 => 0,
        interfaces => 1 + interfaces,
    }
}

/// The descriptors of these interfaces, by FunctionFS's own numbers: their driver is WinUSB, and programs find them by
/// [`INTERFACE_GUID`].
pub fn encode(interfaces: &[u8], version: u16) -> Vec<u8> {
    if interfaces.is_empty() {
        return Vec::new();
    }
    let mut ids = Vec::new();
    for &interface in interfaces {
        // The second byte of what is sent is 1: the kernel sets it. Older kernels take nothing but 0 here.
        ids.extend([interface, 0]);
        ids.extend(COMPATIBLE_ID);
        // No subcompatible ID, and reserved bytes.
        ids.extend([0; 8 + 6]);
    }
    let number = interfaces.len() as u16;
    let mut all = descriptor(0, version, COMPATIBLE_IDS, number, &ids);
    let property = property();
    for &interface in interfaces {
        all.extend(descriptor(interface, version, PROPERTIES, 1, &property));
    }
    all
}

fn descriptor(interface: u8, version: u16, kind: u16, number: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![interface];
    bytes.extend((11 + body.len() as u32).to_le_bytes());
    bytes.extend(
        [version, kind, number]
            .into_iter()
            .flat_map(u16::to_le_bytes),
    );
    bytes.extend(body);
    bytes
}

/// Name and value in eight-bit characters.
fn property() -> Vec<u8> {
    let name = format!("{PROPERTY}\0");
    let value = format!("{INTERFACE_GUID}\0");
    let length = (14 + name.len() + value.len()) as u32;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(REG_SZ.to_le_bytes());
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend(name.bytes());
    bytes.extend((value.len() as u32).to_le_bytes());
    bytes.extend(value.bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], at: usize) -> usize {
        usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
    }

    fn long(bytes: &[u8], at: usize) -> usize {
        word(bytes, at) | word(bytes, at + 2) << 16
    }

    #[test]
    fn each_vendor_interface_has_its_driver_and_its_property() {
        for (interfaces, version) in [(&[0][..], 0x0100), (&[0, 2], 0x0001)] {
            let mut rest = &encode(interfaces, version)[..];
            let mut drivers = Vec::new();
            let mut properties = Vec::new();
            for _ in 0..count(interfaces) {
                let (all, after) = rest.split_at(long(rest, 1));
                assert_eq!(word(all, 5), usize::from(version));
                let (kind, number, body) = (word(all, 7), word(all, 9), &all[11..]);
                match kind {
                    4 => {
                        let ids = body.chunks_exact(24);
                        assert_eq!((ids.len(), ids.remainder()), (number, &[][..]));
                        for id in ids {
                            drivers.push(id[0]);
                            assert_eq!(&id[2..10], b"WINUSB\0\0");
                            assert_eq!(id[10..], [0; 14]);
                        }
                    }
                    5 => {
                        properties.push(all[0]);
                        assert_eq!((number, long(body, 0)), (1, body.len()));
                        assert_eq!(long(body, 4), 1, "a string");
                        let (name, value) = body[10..].split_at(word(body, 8));
                        assert_eq!(name, b"DeviceInterfaceGUID\0");
                        assert_eq!(long(value, 0), value.len() - 4);
                        assert_eq!(&value[4..], format!("{INTERFACE_GUID}\0").as_bytes());
                    }
                    kind => panic!("descriptor of kind {kind}"),
                }
                rest = after;
            }
            assert_eq!(rest, []);
            assert_eq!(drivers, interfaces);
            assert_eq!(properties, interfaces);
        }
    }

    #[test]
    fn without_a_vendor_interface_there_are_none() {
        assert_eq!(count(&[]), 0);
        assert_eq!(encode(&[], VERSIONS[0]), []);
    }
}
