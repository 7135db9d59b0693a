//! Descriptors written by hand after the tables of USB 2.0, chapter 9, in the shape that devices of
//! each sort have.

use super::*;

/// A configuration made of these descriptors; the header is put before them.
fn configuration(parts: &[&[u8]]) -> Vec<u8> {
    let body: Vec<u8> = parts.concat();
    let total = (9 + body.len()) as u16;
    let interfaces = parts.iter().filter(|p| p[1] == 4 && p[3] == 0).count() as u8;
    let mut bytes = vec![9, 2, 0, 0, interfaces, 1, 0, 0x80, 50];
    bytes[2..4].copy_from_slice(&total.to_le_bytes());
    bytes.extend(body);
    bytes
}

const fn interface(number: u8, setting: u8, endpoints: u8, class: u8) -> [u8; 9] {
    [9, 4, number, setting, endpoints, class, 0, 0, 0]
}

const fn endpoint(address: u8, attributes: u8, packet: u16, interval: u8) -> [u8; 7] {
    let [low, high] = packet.to_le_bytes();
    [7, 5, address, attributes, low, high, interval]
}

const BULK: u8 = 2;
const INTERRUPT: u8 = 3;
const ISOCHRONOUS: u8 = 1;

fn facts_of(parts: &[&[u8]]) -> Vec<InterfaceFact> {
    let bytes = configuration(parts);
    facts(&ConfigurationDescriptor::new(&bytes).expect("a right configuration"))
}

fn settings(text: &str) -> Settings {
    crate::usb::address::UsbAddress::parse(&format!("1-1#{text}"))
        .expect("right settings")
        .settings
}

/// A board with a CDC-ACM port (interfaces 0 and 1), a vendor interface (2) and a HID one (3).
fn composite() -> Vec<InterfaceFact> {
    facts_of(&[
        &interface(0, 0, 1, CLASS_COMM),
        &[5, 0x24, 0x00, 0x10, 0x01],
        &[5, 0x24, 0x06, 0, 1],
        &endpoint(0x81, INTERRUPT, 8, 16),
        &interface(1, 0, 2, CLASS_CDC_DATA),
        &endpoint(0x82, BULK, 64, 0),
        &endpoint(0x02, BULK, 64, 0),
        &interface(2, 0, 2, CLASS_VENDOR),
        &endpoint(0x83, BULK, 64, 0),
        &endpoint(0x03, BULK, 64, 0),
        &interface(3, 0, 2, CLASS_HID),
        &endpoint(0x84, INTERRUPT, 64, 1),
        &endpoint(0x04, INTERRUPT, 64, 1),
    ])
}

/// A disk.
fn disk() -> Vec<InterfaceFact> {
    facts_of(&[
        &interface(0, 0, 2, 8),
        &endpoint(0x81, BULK, 512, 0),
        &endpoint(0x02, BULK, 512, 0),
    ])
}

#[test]
fn a_vendor_interface_is_preferred() {
    let choice = choose(&composite(), &Settings::default()).unwrap();
    assert_eq!((choice.interface, choice.setting), (2, 0));
    assert_eq!((choice.in_.address, choice.out.address), (0x83, 0x03));
    assert_eq!(choice.in_.packet_bytes, 64);
    assert_eq!(choice.controlled_by, None);
}

#[test]
fn without_one_the_data_interface_of_a_cdc_port_is_taken_with_its_control_interface() {
    let mut facts = composite();
    facts.retain(|fact| fact.class != CLASS_VENDOR);
    let choice = choose(&facts, &Settings::default()).unwrap();
    assert_eq!((choice.interface, choice.controlled_by), (1, Some(0)));
}

#[test]
fn interrupt_pairs_come_last() {
    let mut facts = composite();
    facts.retain(|fact| fact.number == 3);
    let choice = choose(&facts, &Settings::default()).unwrap();
    assert_eq!(choice.in_.kind, TransferKind::Interrupt);
    let choice = choose(&composite(), &settings("type=interrupt")).unwrap();
    assert_eq!(choice.interface, 3);
}

#[test]
fn the_address_may_name_interface_and_endpoints() {
    let choice = choose(&composite(), &settings("interface=1")).unwrap();
    assert_eq!(choice.in_.address, 0x82);
    let choice = choose(&composite(), &settings("in=0x82,out=0x02")).unwrap();
    assert_eq!(choice.interface, 1);
}

#[test]
fn what_is_missing_is_answered_with_what_there_is() {
    let said = choose(&composite(), &settings("in=0x8f")).unwrap_err();
    for part in ["0x8f", "IN 0x83 bulk 64 B", "CDC data", "interface 3 (HID)"] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_disk_is_left_to_its_driver_unless_it_is_named() {
    let said = choose(&disk(), &Settings::default()).unwrap_err();
    let holds = said.contains("interface 0 (mass storage) has a pair of endpoints");
    assert!(holds, "{said}");
    assert!(said.contains("append #interface=0"), "{said}");
    // With another interface named, nothing fits.
    let said = choose(&disk(), &settings("interface=1")).unwrap_err();
    assert!(said.contains("no such endpoints"), "{said}");
    assert_eq!(choose(&disk(), &settings("interface=0")).unwrap().class, 8);
}

#[test]
fn an_alternate_setting_is_found_where_the_default_has_no_endpoints() {
    let facts = facts_of(&[
        &interface(0, 0, 0, CLASS_VENDOR),
        &interface(0, 1, 2, CLASS_VENDOR),
        &endpoint(0x81, BULK, 512, 0),
        &endpoint(0x01, BULK, 512, 0),
    ]);
    assert_eq!(choose(&facts, &Settings::default()).unwrap().setting, 1);
    assert!(choose(&facts, &settings("setting=0")).is_err());
}

#[test]
fn isochronous_endpoints_are_listed_but_do_not_exchange() {
    let facts = facts_of(&[
        &interface(0, 0, 2, CLASS_VENDOR),
        &endpoint(0x81, ISOCHRONOUS, 1024, 1),
        &endpoint(0x01, ISOCHRONOUS, 1024, 1),
    ]);
    let said = choose(&facts, &Settings::default()).unwrap_err();
    assert!(said.contains("IN 0x81 isochronous 1024 B"), "{said}");
}

#[test]
fn an_isochronous_endpoint_carries_the_packets_of_a_microframe_or_what_its_companion_says() {
    let facts = facts_of(&[
        &interface(0, 0, 0, CLASS_VENDOR),
        &interface(0, 1, 2, CLASS_VENDOR),
        &endpoint(0x81, ISOCHRONOUS, 1000 | (2 << 11), 4),
        &endpoint(0x02, ISOCHRONOUS, 1024, 1),
        &[6, 0x30, 1, 2, 0x00, 0x18],
    ]);
    assert!(facts[0].isochronous.is_empty());
    let fact = |address, bytes, packets, interval| IsochronousFact {
        address,
        bytes,
        packets,
        interval,
    };
    let expected = [fact(0x81, 3000, 3, 4), fact(0x02, 6144, 6, 1)];
    assert_eq!(facts[1].isochronous, expected);
}

#[test]
fn bursts_and_high_bandwidth_endpoints_tell_their_packets() {
    let facts = facts_of(&[
        &interface(0, 0, 2, CLASS_VENDOR),
        &endpoint(0x81, BULK, 1024, 0),
        &[6, 0x30, 15, 0, 0, 0],
        &endpoint(0x01, INTERRUPT, 1024 | (2 << 11), 1),
    ]);
    assert_eq!(facts[0].endpoints[0].packets, 16);
    assert_eq!(facts[0].endpoints[1].packets, 3);
    assert_eq!(facts[0].endpoints[1].packet_bytes, 1024);
}

#[test]
fn broken_descriptors_do_no_harm() {
    let facts = facts_of(&[
        &interface(0, 0, 3, CLASS_COMM),
        &[3, 0x24, 0x06],
        &interface(1, 0, 2, CLASS_VENDOR),
        &endpoint(0x81, BULK, 0, 0),
        &endpoint(0x01, BULK, 0, 0),
    ]);
    assert!(facts.iter().all(|fact| fact.endpoints.is_empty()));
    assert!(choose(&facts, &Settings::default()).is_err());
}

/// A logic analyser whose vendor interface only sends, beside a keyboard.
fn analyser() -> Vec<InterfaceFact> {
    facts_of(&[
        &interface(0, 0, 1, CLASS_HID),
        &endpoint(0x81, INTERRUPT, 8, 10),
        &interface(1, 0, 0, CLASS_VENDOR),
        &interface(1, 1, 2, CLASS_VENDOR),
        &endpoint(0x86, BULK, 512, 0),
        &endpoint(0x88, INTERRUPT, 64, 1),
    ])
}

#[test]
fn a_device_without_a_pair_has_one_endpoint_chosen() {
    assert!(choose(&analyser(), &Settings::default()).is_err());
    let choice = choose_one(&analyser(), &Settings::default()).unwrap();
    assert_eq!((choice.interface, choice.setting), (1, 1));
    assert_eq!((choice.endpoint.address, choice.way()), (0x86, Way::In));
}

#[test]
fn an_out_endpoint_is_chosen_if_it_is_the_only_one_or_is_named() {
    let only_out = facts_of(&[
        &interface(0, 0, 1, CLASS_VENDOR),
        &endpoint(0x02, BULK, 512, 0),
    ]);
    let choice = choose_one(&only_out, &Settings::default()).unwrap();
    assert_eq!((choice.endpoint.address, choice.way()), (0x02, Way::Out));
    // Both directions, but not in one setting of an interface.
    let apart = facts_of(&[
        &interface(0, 0, 1, CLASS_VENDOR),
        &endpoint(0x02, BULK, 512, 0),
        &interface(1, 0, 1, CLASS_VENDOR),
        &endpoint(0x81, BULK, 512, 0),
    ]);
    assert!(choose(&apart, &Settings::default()).is_err());
    let way = |settings: &Settings| choose_one(&apart, settings).unwrap().way();
    assert_eq!(way(&Settings::default()), Way::In);
    assert_eq!(way(&settings("out=0x02")), Way::Out);
    assert_eq!(way(&settings("interface=0")), Way::Out);
}

#[test]
fn one_endpoint_is_chosen_as_the_address_says() {
    let choice = choose_one(&analyser(), &settings("type=interrupt,interface=1")).unwrap();
    assert_eq!(choice.endpoint.address, 0x88);
    for nothing in ["in=0x82", "out=0x06", "setting=0", "in=0x86,out=0x06"] {
        let chosen = choose_one(&analyser(), &settings(nothing));
        assert_eq!(chosen, None, "{nothing}");
    }
}

#[test]
fn one_endpoint_of_a_disk_or_a_keyboard_is_left_to_its_driver_unless_it_is_named() {
    let mut keyboard = analyser();
    keyboard.retain(|fact| fact.class == CLASS_HID);
    for facts in [disk(), keyboard] {
        assert_eq!(choose_one(&facts, &Settings::default()), None);
        assert!(choose_one(&facts, &settings("in=0x81")).is_some());
    }
}
