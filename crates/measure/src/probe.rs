//! Asks HELLO of all that could be a responder, all at once.

use crate::hello::hello;
use std::time::Duration;
use wiregauge_link::devices::{Answer, NetworkDevice, PORT, Survey, neighbours};
use wiregauge_link::{Address, LinkErrorKind};
use wiregauge_record::LinkOptions;

/// Timeout of each HELLO attempt. A board that resets when its port is opened needs some.
const SERIAL: Duration = Duration::from_millis(800);
const OTHERS: Duration = Duration::from_millis(300);

/// Opens every USB and serial device that could be a responder and asks it HELLO, and so this host and its neighbours
/// on the default port. Notes the answers in the survey.
pub fn probe(survey: &mut Survey) {
    let mut network = survey.network.split_off(0);
    for scheme in ["tcp", "udp"] {
        let here = format!("{scheme}://127.0.0.1:{PORT}");
        let six = format!("{scheme}://[::1]:{PORT}");
        if !network
            .iter()
            .any(|n| n.address == here || n.address == six)
        {
            network.push(candidate(here, "this host"));
        }
        for neighbour in neighbours() {
            network.push(candidate(
                format!("{scheme}://{neighbour}:{PORT}"),
                "neighbour",
            ));
        }
    }
    let Survey { usb, serial, .. } = survey;
    std::thread::scope(|scope| {
        for device in usb.iter_mut() {
            if let (Some(address), true) = (&device.address, device.may_be_asked) {
                let (address, answer) = (address.clone(), &mut device.answer);
                scope.spawn(move || *answer = ask(&address, OTHERS));
            }
        }
        for port in serial.iter_mut() {
            if port.is_console {
                port.answer = Answer::None {
                    why: "not probed, it is the console of this system".into(),
                };
                continue;
            }
            let (address, answer) = (port.address.clone(), &mut port.answer);
            scope.spawn(move || *answer = ask(&address, SERIAL));
        }
        for one in &mut network {
            let (address, answer) = (one.address.clone(), &mut one.answer);
            scope.spawn(move || *answer = ask(&address, OTHERS));
        }
    });
    // Of the network only responders are worth a line.
    network.retain(|one| matches!(one.answer, Answer::Responder { .. }));
    survey.network = network;
}

fn candidate(address: String, place: &str) -> NetworkDevice {
    NetworkDevice {
        address,
        place: place.into(),
        answer: Answer::NotAsked,
    }
}

fn ask(text: &str, timeout: Duration) -> Answer {
    let asked = Address::parse(text).and_then(|address| {
        let mut link = address.open(&LinkOptions::default(), timeout)?;
        hello(
            link.as_mut(),
            text,
            address.kind().datagram,
            timeout,
            &mut || false,
        )
    });
    match asked {
        Ok(responder) => Answer::Responder {
            name: responder.name,
        },
        Err(error) => Answer::None {
            why: match error.kind() {
                LinkErrorKind::Timeout => "silent",
                LinkErrorKind::Protocol => "responds, but not with the wiregauge protocol",
                LinkErrorKind::PermissionDenied => "permission denied",
                LinkErrorKind::Busy => "in use",
                LinkErrorKind::Usage => "cannot be opened",
                _ => "failed",
            }
            .into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn who_does_not_answer_is_no_responder() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("tcp://{}", port.local_addr().unwrap());
        let answer = ask(&address, Duration::from_millis(30));
        assert_eq!(
            answer,
            Answer::None {
                why: "silent".into()
            }
        );
    }
}
