//! What proves an address: the token of a HELLO, also of one that a later version made longer.

use crate::plant::frame;
use wiregauge_responder::Device;
use wiregauge_wire::{HelloRequest, Kind};

/// Later versions may append fields to a HELLO: its token proves the address all the same.
#[test]
fn a_longer_hello_carries_its_token() {
    let token = [1, 2, 3, 4, 5, 6, 7, 8];
    let hello = |appended: usize| {
        let mut payload = HelloRequest { token }.encode().to_vec();
        payload.resize(payload.len() + appended, 0);
        frame(Kind::Hello, 1, &payload, 32)
    };
    assert_eq!(Device::token_in(&hello(0)), Some(token));
    assert_eq!(Device::token_in(&hello(12)), Some(token));
    // Not as long as it says.
    assert_eq!(Device::token_in(&hello(12)[..110]), None);
}
