//! Microsoft OS 2.0 descriptors: those of the RP2040 are, byte for byte, those of `wiregauge serve`.

use wiregauge_firmware_host::rp2040;
use wiregauge_responder::ms_os;

#[test]
fn the_rp2040_gives_the_microsoft_os_descriptors_of_the_responder_in_rust() {
    // Composite: a serial port is beside the vendor interface.
    let set = ms_os::set(&[rp2040::vendor_interface()], true);
    assert_eq!(rp2040::ms_os(), set);
    assert_eq!(rp2040::first(rp2040::BOS), Some(ms_os::bos(set.len())));
}

#[test]
fn the_rp2040_says_that_it_has_a_bos() {
    let device = rp2040::first(rp2040::DEVICE).expect("a device descriptor");
    assert_eq!(device[2..4], ms_os::USB_VERSION.to_le_bytes());
}
