//! Whether a device is the plant of the model, before the loop begins.

use wiregauge_control::Loop;
use wiregauge_device::Device;
use wiregauge_link::{LinkError, LinkErrorKind};

/// Bytes of a number and of the time.
const NUMBER: usize = 8;

/// More outputs than any plant that is controlled over a link has.
const MANY: usize = 65;

/// Messages that may be lost.
const TRIES: u32 = 5;

/// Fails if the device echoes messages, or simulates a plant with other numbers of inputs and outputs. It stays at rest.
pub fn check(device: &mut Device, model: &Loop) -> Result<(), LinkError> {
    let address = device.about().address.clone();
    let wrong =
        |kind, problem: String| LinkError::new(kind, format!("cannot control {address}"), problem);
    let hint = format!("start it on the device: wiregauge serve {address} --plant FILE or 'G(s)'");
    let largest = device.about().largest_reply;
    let asked = (NUMBER * (1 + MANY)).min(largest);
    let found = match answered(device, &[], asked) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == LinkErrorKind::Protocol => {
            let problem = "it does not simulate a plant: it rejects an empty message".into();
            return Err(wrong(LinkErrorKind::Protocol, problem).hint(hint));
        }
        Err(error) => return Err(error),
    };
    let (inputs, outputs) = (model.plant.inputs(), model.plant.outputs());
    let expected = NUMBER * (1 + outputs);
    if found == asked && asked != expected {
        let problem = "it does not simulate a plant: it echoes messages".into();
        return Err(wrong(LinkErrorKind::Protocol, problem).hint(hint));
    }
    let same = "use the same model on both ends: wiregauge serve ADDRESS --plant FILE";
    if found != expected {
        let problem = match found % NUMBER {
            0 if found > NUMBER => format!(
                "its plant has {}, that of the model has {outputs}",
                counted(found / NUMBER - 1, "output")
            ),
            _ => format!("its reply has {found} B, that of the model's plant {expected} B"),
        };
        return Err(wrong(LinkErrorKind::Usage, problem).hint(same));
    }
    // The plant is at rest: a command of 0 changes nothing.
    match answered(device, &vec![0; NUMBER * inputs], expected) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == LinkErrorKind::Protocol => {
            let problem = format!(
                "its plant does not have {}, as that of the model has",
                counted(inputs, "input")
            );
            Err(wrong(LinkErrorKind::Usage, problem).hint(same))
        }
        Err(error) => Err(error),
    }
}

fn counted(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// Bytes of the reply to a message.
fn answered(device: &mut Device, message: &[u8], asked: usize) -> Result<usize, LinkError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match device.exchange(message, Some(asked)) {
            Ok(reply) => return Ok(reply.payload.len()),
            Err(error) if error.kind() == LinkErrorKind::Timeout && tries < TRIES => {}
            Err(error) => return Err(error),
        }
    }
}
