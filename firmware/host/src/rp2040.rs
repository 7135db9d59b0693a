//! The USB descriptors of firmware/rp2040, as the board gives them.

// firmware/rp2040/descriptors.h and firmware/host/rp2040.c
unsafe extern "C" {
    fn descriptor(type_and_index: u16, bytes: *mut usize) -> *const u8;
    fn ms_os_descriptor(bytes: *mut usize) -> *const u8;
    fn rp2040_vendor_interface() -> u8;
}

/// Type of the device descriptor.
pub const DEVICE: u8 = 1;
/// Type of the BOS.
pub const BOS: u8 = 15;

/// The first descriptor of a type, without strings, which the C makes in a buffer.
pub fn first(kind: u8) -> Option<Vec<u8>> {
    assert_ne!(kind, 3, "not a string");
    let mut bytes = 0;
    // SAFETY: it writes the length, and returns NULL or a constant of that length.
    unsafe {
        let found = descriptor(u16::from(kind) << 8, &mut bytes);
        (!found.is_null()).then(|| std::slice::from_raw_parts(found, bytes).to_vec())
    }
}

/// The Microsoft OS 2.0 descriptor set.
pub fn ms_os() -> Vec<u8> {
    let mut bytes = 0;
    // SAFETY: it writes the length, and returns a constant of that length.
    unsafe { std::slice::from_raw_parts(ms_os_descriptor(&mut bytes), bytes).to_vec() }
}

/// The number of the vendor interface.
pub fn vendor_interface() -> u8 {
    // SAFETY: it returns a constant.
    unsafe { rp2040_vendor_interface() }
}
