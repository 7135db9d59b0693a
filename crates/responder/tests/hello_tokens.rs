//! What proves an address: the token of a HELLO, also of one that a later version made longer.

use wiregauge_responder::Device;
use wiregauge_wire as wire;
use wiregauge_wire::{Kind, Request};

/// Later versions may append fields to a HELLO: its token proves the address all the same.
#[test]
fn a_longer_hello_carries_its_token() {
    let token = [1, 2, 3, 4, 5, 6, 7, 8];
    let frame = |appended: usize| {
        let mut payload = wire::HelloRequest { token }.encode().to_vec();
        payload.resize(payload.len() + appended, 0);
        let mut header = [0; wire::REQUEST_HEADER];
        Request {
            kind: Kind::Hello,
            sequence: 1,
            out_payload: payload.len() as u32,
            in_bytes: 32,
        }
        .encode(&mut header);
        [&header[..], &payload].concat()
    };
    assert_eq!(Device::token_in(&frame(0)), Some(token));
    assert_eq!(Device::token_in(&frame(12)), Some(token));
    // Not as long as it says.
    assert_eq!(Device::token_in(&frame(12)[..110]), None);
}
