//! Connecting to a device that accepts nobody ends after the timeout, and at once when it is interrupted.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use wiregauge_device::{Device, DeviceOptions};
use wiregauge_link::Address;
use wiregauge_link::LinkErrorKind;
use wiregauge_record::LinkOptions;

/// Longer than any test may take: what waits for it hangs.
const NEVER: Duration = Duration::from_secs(600);

/// A listener whose queue is full, with those who wait in it.
fn full() -> (String, TcpListener, Vec<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    rustix::net::listen(&listener, 0).expect("a shorter queue");
    let mut queued = Vec::new();
    while let Ok(link) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        queued.push(link);
    }
    (format!("tcp://{address}"), listener, queued)
}

#[test]
fn connecting_ends_after_the_timeout() {
    let (address, ..) = &full();
    let address = Address::parse(address).expect("an address");
    for timeout in [Duration::from_millis(10), Duration::from_millis(250)] {
        let opened = address.open(&LinkOptions::default(), timeout);
        let error = opened.err().expect("nobody accepts");
        assert_eq!(error.kind(), LinkErrorKind::Timeout, "{error}");
    }
}

#[test]
fn connecting_can_be_interrupted() {
    let (text, ..) = &full();
    let address = Address::parse(text).expect("an address");
    let mut asked = 0;
    let opened = address.open_unless(&LinkOptions::default(), NEVER, &mut || {
        asked += 1;
        asked == 3
    });
    let error = opened.err().expect("it was interrupted");
    assert_eq!(error.kind(), LinkErrorKind::Interrupted, "{error}");
    let options = DeviceOptions {
        timeout: NEVER,
        ..DeviceOptions::default()
    };
    let opened = Device::open_unless(text, &options, Some(Box::new(|| true)));
    let error = opened.err().expect("it was interrupted");
    assert_eq!(error.kind(), LinkErrorKind::Interrupted, "{error}");
}
