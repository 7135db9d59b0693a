//! Microsoft OS descriptors: with them Windows binds WinUSB to a vendor interface by itself, without an .inf file.
//!
//! A device that answers its own control requests gives version 2.0 (Microsoft OS 2.0 Descriptors Specification): a
//! capability in its BOS, and the descriptor set by a vendor request. `firmware/rp2040/descriptors.c` has the same bytes,
//! and a test of `firmware/host` compares the two. A gadget of Linux has version 1.0, because the kernel answers requests
//! for the BOS itself and has no capability of version 2.0.

/// bMS_VendorCode: bRequest by which Windows asks for the descriptors.
pub const VENDOR_CODE: u8 = 0x20;

/// wIndex of the request for the descriptor set of version 2.0 (MS_OS_20_DESCRIPTOR_INDEX).
pub const DESCRIPTOR_INDEX: u16 = 7;

/// Which driver is to be bound.
pub const COMPATIBLE_ID: [u8; 8] = *b"WINUSB\0\0";

/// The GUID by which programs for Windows find the interface; generated for wiregauge, the same on all its devices.
pub const INTERFACE_GUID: &str = "{5D3F1F3E-6C0B-4C52-9E0A-7A3D2B8F41C6}";

/// bcdUSB of a device with a BOS: 2.1.
pub const USB_VERSION: u16 = 0x0210;

/// The value in the registry that holds [`INTERFACE_GUID`], a list of strings.
const PROPERTY: &str = "DeviceInterfaceGUIDs";
const REG_MULTI_SZ: u16 = 7;

/// D8DD60DF-4589-4CC7-9CD2-659D9E648A9F (table 4).
const CAPABILITY: [u8; 16] = [
    0xdf, 0x60, 0xdd, 0xd8, 0x89, 0x45, 0xc7, 0x4c, 0x9c, 0xd2, 0x65, 0x9d, 0x9e, 0x64, 0x8a, 0x9f,
];

/// dwWindowsVersion: Windows 8.1, the first that asks for these descriptors.
const WINDOWS_8_1: u32 = 0x0603_0000;

// wDescriptorType (table 9).
const SET_HEADER: u16 = 0;
const CONFIGURATION_SUBSET: u16 = 1;
const FUNCTION_SUBSET: u16 = 2;
const COMPATIBLE_ID_FEATURE: u16 = 3;
const REGISTRY_PROPERTY: u16 = 4;

/// The BOS (USB 3.2, 9.6.2) with the platform capability of version 2.0, for a descriptor set of `set_bytes`.
pub fn bos(set_bytes: usize) -> Vec<u8> {
    const HEADER: u8 = 5;
    const PLATFORM: u8 = 28;
    let mut bytes = vec![HEADER, 15, HEADER + PLATFORM, 0, 1];
    bytes.extend([PLATFORM, 16, 5, 0]);
    bytes.extend(CAPABILITY);
    bytes.extend(WINDOWS_8_1.to_le_bytes());
    bytes.extend((set_bytes as u16).to_le_bytes());
    // The last byte: no alternate enumeration.
    bytes.extend([VENDOR_CODE, 0]);
    bytes
}

/// The descriptor set of a device whose `functions` are vendor interfaces, each named by its number. A composite device
/// has several interfaces, of which Windows makes a device each, so each needs its own descriptors.
pub fn set(functions: &[u8], is_composite: bool) -> Vec<u8> {
    let body = if is_composite {
        let subsets = functions.iter().flat_map(|&first_interface| {
            subset(FUNCTION_SUBSET, [first_interface, 0], &features())
        });
        // Of the first configuration, by its index.
        subset(CONFIGURATION_SUBSET, [0, 0], &subsets.collect::<Vec<u8>>())
    } else {
        features()
    };
    let mut bytes = words([10, SET_HEADER]);
    bytes.extend(WINDOWS_8_1.to_le_bytes());
    bytes.extend(words([10 + body.len() as u16]));
    bytes.extend(body);
    bytes
}

/// A subset with its header (tables 11 and 12).
fn subset(kind: u16, of: [u8; 2], body: &[u8]) -> Vec<u8> {
    let mut bytes = words([8, kind]);
    bytes.extend(of);
    bytes.extend(words([8 + body.len() as u16]));
    bytes.extend(body);
    bytes
}

/// The driver, and the property by which programs find the interface (tables 13 and 14).
fn features() -> Vec<u8> {
    let mut bytes = words([20, COMPATIBLE_ID_FEATURE]);
    bytes.extend(COMPATIBLE_ID);
    bytes.extend([0; 8]);
    let name = utf16(&format!("{PROPERTY}\0"));
    // One string, and an empty one that ends the list.
    let value = utf16(&format!("{INTERFACE_GUID}\0\0"));
    let length = 10 + name.len() + value.len();
    bytes.extend(words([length as u16, REGISTRY_PROPERTY, REG_MULTI_SZ]));
    bytes.extend(words([name.len() as u16]));
    bytes.extend(name);
    bytes.extend(words([value.len() as u16]));
    bytes.extend(value);
    bytes
}

fn words<const N: usize>(words: [u16; N]) -> Vec<u8> {
    words.into_iter().flat_map(u16::to_le_bytes).collect()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], at: usize) -> usize {
        usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
    }

    fn text(bytes: &[u8]) -> String {
        let units = bytes
            .chunks_exact(2)
            .map(|b| u16::from_le_bytes([b[0], b[1]]));
        String::from_utf16(&units.collect::<Vec<u16>>()).expect("UTF-16")
    }

    /// Splits descriptors by their own length.
    fn parts(mut rest: &[u8]) -> Vec<&[u8]> {
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let (part, after) = rest.split_at(word(rest, 0));
            parts.push(part);
            rest = after;
        }
        parts
    }

    /// Holds that these are the two features of a vendor interface.
    fn hold_features(bytes: &[u8]) {
        let [id, property] = parts(bytes)[..] else {
            panic!("two features, not {bytes:02x?}");
        };
        assert_eq!((id.len(), word(id, 2)), (20, 3));
        assert_eq!(&id[4..], b"WINUSB\0\0\0\0\0\0\0\0\0\0");
        assert_eq!(word(property, 2), 4);
        assert_eq!(word(property, 4), 7, "REG_MULTI_SZ");
        let (name, value) = property[8..].split_at(word(property, 6));
        assert_eq!(text(name), "DeviceInterfaceGUIDs\0");
        assert_eq!(word(value, 0), value.len() - 2);
        let value = text(&value[2..]);
        let guid = value.strip_suffix("\0\0").expect("the end of a list");
        let groups: Vec<&str> = guid
            .strip_prefix('{')
            .and_then(|guid| guid.strip_suffix('}'))
            .expect("braces")
            .split('-')
            .collect();
        let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{guid}");
        let hexadecimal = |c: char| c.is_ascii_digit() || ('A'..='F').contains(&c);
        assert!(groups.concat().chars().all(hexadecimal), "{guid}");
    }

    /// Holds a header, and returns what is behind it.
    fn behind_header(set: &[u8]) -> &[u8] {
        assert_eq!((word(set, 0), word(set, 2)), (10, 0));
        assert_eq!(set[4..8], [0, 0, 3, 6], "Windows 8.1");
        assert_eq!(word(set, 8), set.len());
        &set[10..]
    }

    #[test]
    fn a_device_of_one_interface_has_its_features_behind_the_header() {
        hold_features(behind_header(&set(&[0], false)));
    }

    #[test]
    fn a_composite_device_has_a_subset_for_each_vendor_interface() {
        for functions in [&[2][..], &[0, 1], &[0, 3, 14]] {
            let all = set(functions, true);
            let configuration = behind_header(&all);
            assert_eq!((word(configuration, 0), word(configuration, 2)), (8, 1));
            assert_eq!(configuration[4..6], [0, 0]);
            assert_eq!(word(configuration, 6), configuration.len());
            let mut rest = &configuration[8..];
            for &first_interface in functions {
                assert_eq!((word(rest, 0), word(rest, 2)), (8, 2));
                assert_eq!(rest[4..6], [first_interface, 0]);
                let (function, after) = rest.split_at(word(rest, 6));
                hold_features(&function[8..]);
                rest = after;
            }
            assert_eq!(rest, []);
        }
    }

    #[test]
    fn the_bos_names_the_length_of_the_set_and_the_request_for_it() {
        let bos = bos(set(&[2], true).len());
        assert_eq!(bos[..5], [5, 15, 33, 0, 1]);
        assert_eq!(bos.len(), 33);
        assert_eq!(bos[5..9], [28, 16, 5, 0]);
        assert_eq!(word(&bos, 29), 178);
        assert_eq!(bos[31..], [VENDOR_CODE, 0]);
    }
}
